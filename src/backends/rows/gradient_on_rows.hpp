#pragma once
// Gradients over rows of as many lanes and of one loss: groups of lanes for the workers of a call, sums over lanes, and
// marked lanes once more.

#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/put_rows.hpp>
#include <memory>
#include <vector>
#include "row_launches.hpp"
#include "row_work.hpp"
#include "sensitive_rows.hpp"

namespace eddy::inline v0::detail {

/// Results whose sizes are known when they are asked for, as those of any
/// other gradient.
template <class Real>
class GradientOnRows : public GradientResults<Real> {
    using Results = GradientResults<Real>;
    using Results::costs, Results::given, Results::shared_sums, Results::target;

  public:
    using Results::result;
    /// Of so many lanes.
    GradientOnRows(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds,
                   std::ptrdiff_t num_lanes)
        : GradientResults<Real>({call.field->num_states(),
                                 {call.field->num_parameters(), arrays.p.is_shared,
                                  !sums_back_in_tiles<Real>(call, arrays.p.is_shared)},
                                 seeds.loss != nullptr,
                                 call.differentiates_times,
                                 are_marked(call)}),
          loss_maker_(seeds.loss),
          num_lanes_(num_lanes),
          shares_parameters_(arrays.p.is_shared) {}

    /// Is this call one of those?
    [[nodiscard]] bool serves(const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds) const {
        return num_lanes_ == arrays.y0.num_lanes && loss_maker_ == seeds.loss &&
               shares_parameters_ == arrays.p.is_shared;
    }
    void run(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds,
             const GradientInto<Real>& into, const Cancellation& cancelled, KeptThreads& threads,
             const char* where);
    /// The same of some lanes of a call, along these steps, if any: nothing of it is the caller's.
    void run_some(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds,
                  const RowList& lanes, const PrescribedSteps& steps, const ThreadLink& link,
                  const char* where);

  private:
    [[nodiscard]] const char* name_of_arrays() const {
        return seeds_->loss ? "data" : "cotangents";
    }
    void prepare(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds,
                 const char* where);
    void open_lanes(const char* where);
    void run_lanes(const ThreadLink& link);
    void solve_marked(const RowArrays<Real>& arrays, const ThreadLink& link, const char* where);
    void bring(const GradientOnRows& second, const BroughtRows& brought);
    [[nodiscard]] RowList left_lanes(const RowList& marked);
    void check_arrays(const char* where);
    void take(const GradientInto<Real>& into, const char* where);
    void plan_groups();
    void plan_back(const FieldOnTileOf<Real>& field);
    [[nodiscard]] RowObjective<Real> objective_of(std::ptrdiff_t worker);
    [[nodiscard]] GradientExtent extent() const {
        const CallTimes& times = prepared_.problem.times;
        return {LaneBlocks::from(0, num_lanes_), times.saves_the_end ? 0 : times.num_saves,
                std::ptrdiff_t{times.num_impulses} * (1 + prepared_.problem.num_tangents)};
    }

    /// Is it told which lanes have derivatives that their steps do not carry?
    [[nodiscard]] static bool are_marked(const RowCall& call) {
        return call.method->estimates_error && !call.method->is_implicit() && !call.is_joint &&
               !call.events;
    }

    std::shared_ptr<const FieldMaker> loss_maker_;
    std::ptrdiff_t num_lanes_;
    bool shares_parameters_;
    PreparedRows<Real> prepared_;
    CallArrays call_arrays_;
    LaunchPlan groups_;
    GradientPlan plan_;  // of no lanes: nothing is planned yet
    int width_ = 0;
    EnsembleArray<Real> of_inputs_;  // (lane, piece · number)
    InputRoom input_numbers_;
    LaunchesOnRows<Real> launches_;
    std::vector<std::unique_ptr<FieldOnTileOf<Real>>> losses_;  // (worker)
    GradientMark* marks_ = nullptr;                             // (lane); null: nobody watches
    bool leaves_out_marked_ = false;
    // Marked lanes once more: their steps, gradients along these, and lanes that have brought nothing else.
    std::unique_ptr<SensitiveRows<Real>> sensitive_;
    std::unique_ptr<GradientOnRows> along_steps_, left_;
    std::vector<Real> any_atol_;  // that every error meets
    const RowCall* call_ = nullptr;
    const RowSeeds<Real>* seeds_ = nullptr;
};

}  // namespace eddy::inline v0::detail
