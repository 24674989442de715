#pragma once
// What a gradient writes, on its way to the caller: opened before the kernels run, summed over lanes after
// them. Of the user's types it knows sizes, so that it is compiled once, in src/.
// Test: tests/solve/oracle_gradients.cpp, tests/solve/outputs.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/block_sums.hpp>
#include <eddy/solve/call/gradient_outputs.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/shared_sums.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/back_cost.hpp>
#include <eddy/solve/ranks/rank_share.hpp>
#include <limits>
#include <span>
#include <vector>

namespace eddy::inline v0::detail {

/// What a gradient's results depend on, whatever the call.
struct GradientKind {
    std::ptrdiff_t state_size = 0;
    ParameterShape parameters;
    bool has_loss = false, with_times = false;
    /// May the report tell of lanes whose steps do not carry their derivatives?
    bool is_marked = false;
};
/// The sizes of what the gradient of one call has.
struct GradientExtent {
    LaneBlocks lanes;
    std::ptrdiff_t num_save_times = 0;  // save points that have derivatives of their own
    std::ptrdiff_t num_impulses = 0;    // of each lane
};

/// `Lane` is float or double, or a dual number of either.
template <class Lane>
class EDDY_EXPORT GradientResults {
  public:
    using Real = ScalarOf<Lane>;

    ValueAndGradient<Real> result;
    Gradient<Real> tangent;  // of a dual number
    GradientTarget<Real> target;
    SharedSums<Lane> shared_sums;
    std::vector<BackCost> costs;  // (worker)
    GradientInto<Real> given;     // what the caller wants written into arrays of its own
    EnsembleView<Real> loss;      // (lane, 1), of a loss
    // (block) where it lies on a device, which may have added them up; empty where it does not
    std::vector<double> loss_sums;
    double loss_total = std::numeric_limits<double>::quiet_NaN();  // until a device says otherwise

    explicit GradientResults(const GradientKind& kind);
    GradientResults(const GradientResults&) = delete;  // kernels refer to what is in here
    GradientResults& operator=(const GradientResults&) = delete;
    ~GradientResults();

    /// Arrays that were given are of the right shape, and lie apart from each other and from `inputs`.
    void require_outputs(const GradientExtent& extent, const AnyMemory& memory, CallArrays& inputs,
                         const char* where) const;
    /// The loss of each lane, zero so far.
    void open_loss(std::ptrdiff_t num_lanes, const AnyMemory& memory);
    /// All else, zero so far; outcomes of lanes that come later are not touched until then.
    void open(const GradientExtent& extent, std::ptrdiff_t num_groups, std::ptrdiff_t num_workers,
              const AnyMemory& memory, std::int64_t num_paths, bool comes_later);
    /// The losses of each block of lanes anew, where they are kept: their sum may have taken their place.
    void sum_blocks(const EnsembleArray<Real>& losses);
    /// Room for what finish_sums adds up; taken before the work where all of it will be wanted.
    void open_sums(const LaneBlocks& lanes);
    /// Sums over lanes, of all ranks where there are some; the loss of a lane that failed is NaN, and counts as zero.
    void finish_sums(const GatherSums& gather, const char* where, const RankShare& ranks = {});
    /// The sum of a component of shared parameters, once it has been added up; its tangent lies
    /// behind all of them.
    [[nodiscard]] Real total_of_p(std::ptrdiff_t i) const;
    /// Makes the sums of the loss from the sum over those lanes that count; the outcomes of `lanes`
    /// are known.
    void set_loss(double sum, std::span<const LaneOutcome> lanes);

  protected:
    bool shared_is_added_ = false, loss_is_added_ = false;  // where they were computed
    std::ptrdiff_t first_group_ = 0;                        // among those of all ranks

  private:
    // Columns of sums: the loss, how many lanes it counts, how many have failed; then parameters.
    enum Column : int { of_loss, of_counted, of_failed, num_columns_of_loss };
    /// Lanes that have a loss, and that have failed: of several paths some may have.
    struct Tally {
        double counted = 0, failed = 0;
        bool add(std::int64_t failed_paths, std::int64_t paths) {
            const bool counts = failed_paths < paths;
            counted += counts ? 1 : 0;
            failed += failed_paths > 0 ? 1 : 0;
            return counts;
        }
    };
    void add_losses();
    void add_over(const RankShare& ranks);
    void put_loss(double sum, const Tally& tally);
    [[nodiscard]] std::ptrdiff_t first_column_of_p() const {
        return kind_.has_loss ? num_columns_of_loss : 0;
    }
    [[nodiscard]] GradientShapes shapes_of(const GradientExtent& extent) const;

    GradientKind kind_;
    LaneBlocks lanes_;
    BlockSums block_sums_;
};
/// What the workers' ways back cost.
EDDY_EXPORT void set_costs(GradientReport& report, const std::vector<BackCost>& costs);
/// What a gradient of some lanes cost beside that of all.
inline void add_cost(GradientReport& report, const GradientReport& part) {
    add(report.counters, part.counters);
    report.evaluations_back += part.evaluations_back;
    report.bytes_kept += part.bytes_kept;
}

extern template class EDDY_EXPORT EmptyUnlessDone<ValueAndGradient<float>>;
extern template class EDDY_EXPORT EmptyUnlessDone<ValueAndGradient<double>>;

}  // namespace eddy::inline v0::detail
