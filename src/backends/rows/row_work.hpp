#pragma once
// What calls on rows share: the checked problem, how wide tiles are, and what becomes a group.

#include <cstdint>
#include <eddy/backends/rows/row_call.hpp>
#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/solve/ask/input_plan.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0::detail {

/// A problem, and what it refers to besides the caller's arrays.
template <class Real>
class PreparedRows {
  public:
    PreparedRows() = default;
    PreparedRows(const PreparedRows&) = delete;  // the problem refers to what is in here
    PreparedRows& operator=(const PreparedRows&) = delete;

    /// Checks everything that a call is given. Further calls are of the same equation, method and options, but for values of
    /// inputs and amounts of impulses, whose edition is then another.
    void prepare(const RowCall& call, const RowArrays<Real>& arrays, const char* where);

    RowProblem<Real> problem;
    [[nodiscard]] const TimePlan& times() const { return times_; }
    [[nodiscard]] std::ptrdiff_t num_lanes() const { return problem.y0.num_lanes; }

  private:
    void plan(const RowCall& call, const char* where);
    void renew(const RowCall& call, const char* where);

    TimePlan times_;
    InputPlan<Real> inputs_;
    std::vector<Real> atol_;
    std::vector<int> counted_;
    std::uint64_t planned_edition_ = 0;
};

/// The shapes of y0 and p of an equation, and that what all trajectories share is finite.
template <class Real>
void require_arrays_of(const FieldSizes& sizes, const RowArrays<Real>& arrays, const char* where);

[[nodiscard]] inline InputUse use_of(const InputSizes& inputs) {
    return {inputs.size, inputs.degree, inputs.room()};
}
/// Do tiles of a call have shared parameters as numbers, and add up their cotangents?
template <class Real>
[[nodiscard]] bool sums_in_tiles(const RowCall& call, bool shares_parameters);
/// The same of a gradient. Of few parameters, and no products with them, each lane has rows of its own: a sum over lanes
/// at each stage takes longer.
template <class Real>
[[nodiscard]] bool sums_back_in_tiles(const RowCall& call, bool shares_parameters);
/// Does a solve have shared parameters as numbers? Also where a long attempt reads them as it goes, beside those that
/// gradients would sum over a tile.
[[nodiscard]] bool reads_numbers(const RowCall& call, bool shares_parameters, bool sums_tile);
/// The equation, or the loss, on a tile. Throws where it is asked for in single precision, and given in double alone.
template <class Real>
[[nodiscard]] std::unique_ptr<FieldOnTileOf<Real>> tile_of(const FieldMaker& field,
                                                           const RowProblem<Real>& problem,
                                                           int width);

/// Lanes of a tile, of so many. `sums_tile`: is p numbers, which layers multiply by?
[[nodiscard]] int row_width(const FieldMaker& field, const MethodOnRows& method,
                            std::ptrdiff_t num_lanes, bool goes_back, bool sums_tile,
                            std::size_t bytes_of_number);

/// What an attempt takes beside evaluations of f.
[[nodiscard]] inline AttemptCost cost_of_attempt(const MethodOnRows& method) {
    return method.is_implicit() ? AttemptCost{1, 1} : AttemptCost{};
}

}  // namespace eddy::inline v0::detail
