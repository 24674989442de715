#include "row_work.hpp"
#include <algorithm>
#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/ask/noise_plan.hpp>
#include <eddy/solve/ask/validate.hpp>

namespace eddy::inline v0::detail {

void PreparedRows::prepare(const RowCall& call, const char* where) {
    const FieldMaker& field = *call.field;
    require_times_of(call.options, call.y0.num_lanes, where);
    if (times_.tstops.empty()) plan(call, where);
    const std::ptrdiff_t lanes = std::max<std::ptrdiff_t>(call.y0.num_lanes, 0);
    require_y0_shape(array_shape(call.y0), {lanes, field.num_states()}, where);
    if (field.num_parameters() > 0 || call.shares_parameters) {
        const ArrayShape wanted{call.shares_parameters ? 1 : lanes, field.num_parameters()};
        const bool is_one_row = array_shape(call.p) == ArrayShape{1, field.num_parameters()};
        require_shape(
            array_shape(call.p), wanted, "p", where,
            is_one_row ? ", or eddy::shared(p) for one row that all trajectories use" : "");
    }
    require_finite(call.y0, "y0", where);
    if (field.num_parameters() > 0) require_finite(call.p, "p", where);
    problem.y0 = call.y0;
    problem.p = call.p;
    problem.shares_parameters = call.shares_parameters;
    problem.sums_tile = sums_in_tiles(call);
}
/// What depends on the equation, the method and the options alone.
void PreparedRows::plan(const RowCall& call, const char* where) {
    const FieldMaker& field = *call.field;
    const SolveOptions& options = call.options;
    const MethodOnRows& method = *call.method;
    require_tolerances(options, field.num_states(), precision_of<double>(method.estimates_error),
                       where);
    require_no_paths(options.paths, where);
    atol_.clear();
    for (int c = 0; c < field.num_states(); ++c) atol_.push_back(options.atol[c]);
    counted_ = field.counted_components();
    times_ = plan_times(options, {method.estimates_error, method.steps_to_save_points}, where);
    require_possible_on(Machine::rows, Features().with(Feature::impulses, times_.num_impulses > 0),
                        where);
    problem.times = times_.view();
    problem.method = &method;
    problem.control = call.control;
    problem.tolerances = {options.rtol, atol_.data(), counted_.data(),
                          static_cast<int>(counted_.size())};
    problem.is_fused = call.level == RowLevel::fused;
    problem.state_size = field.num_states();
    problem.parameter_size = field.num_parameters();
}

bool sums_in_tiles(const RowCall& call) {
    constexpr int most_by_lane = 64;  // as in other backends
    return call.shares_parameters && call.field->num_parameters() > most_by_lane &&
           call.field->on_shared_tile(1) != nullptr;
}

std::unique_ptr<FieldOnTile> tile_of(const FieldMaker& field, const RowProblem& problem,
                                     int width) {
    return problem.sums_tile ? field.on_shared_tile(width) : field.on_tile(width);
}

int row_width(const RowCall& call, std::ptrdiff_t num_lanes, bool goes_back) {
    // Stages, and rows of the equation's program.
    const std::int64_t rows =
        std::int64_t{call.field->num_states()} * (call.method->num_dense + (goes_back ? 20 : 10));
    constexpr std::int64_t bytes = 512 << 10;
    // So few lanes step one after the other sooner than as a part of eight.
    const int size = call.field->num_states();
    const int most_alone = 1 + (size >= 50 ? 1 : 0) + (goes_back && size >= 20 ? 1 : 0);
    if (num_lanes <= most_alone) return 1;
    int width = 64;
    while (width > 16 && rows * width * std::int64_t{sizeof(double)} > bytes) width /= 2;
    while (width > 8 && width / 2 >= num_lanes) width /= 2;
    return width;
}

}  // namespace eddy::inline v0::detail
