#include "row_work.hpp"
#include <algorithm>
#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/ask/noise_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include "../../steppers/rows/explicit_step.hpp"

namespace eddy::inline v0::detail {

namespace {

template <class Real>
std::unique_ptr<FieldOnTileOf<Real>> make_tile(const FieldMaker& field, int width, bool shares) {
    if constexpr (std::is_same_v<Real, float>)
        return shares ? field.on_shared_float_tile(width) : field.on_float_tile(width);
    else
        return shares ? field.on_shared_tile(width) : field.on_tile(width);
}

}  // namespace

template <class Real>
void require_arrays_of(const FieldSizes& sizes, const RowArrays<Real>& arrays, const char* where) {
    const std::ptrdiff_t lanes = std::max<std::ptrdiff_t>(arrays.y0.num_lanes, 0);
    require_y0_shape(array_shape(arrays.y0), {lanes, sizes.states}, where);
    if (sizes.parameters > 0 || arrays.p.is_shared) {
        const ArrayShape wanted{arrays.p.is_shared ? 1 : lanes, sizes.parameters};
        const bool is_one_row = array_shape(arrays.p.rows) == ArrayShape{1, sizes.parameters};
        require_shape(
            array_shape(arrays.p.rows), wanted, "p", where,
            is_one_row ? ", or eddy::shared(p) for one row that all trajectories use" : "");
    }
    // A trajectory that is given no numbers fails alone. Tangents decide nothing: nobody would hear of theirs.
    if (sizes.tangents > 0) {
        EnsembleView<const Real> tangents = arrays.y0;
        tangents.first += sizes.own_states() * tangents.component_stride;
        tangents.num_components -= sizes.own_states();
        require_finite(tangents, "the tangent of y0", where);
    }
    if (sizes.parameters > 0 && arrays.p.is_shared) require_finite(arrays.p.rows, "p", where);
}

template <class Real>
void PreparedRows<Real>::prepare(const RowCall& call, const RowArrays<Real>& arrays,
                                 const char* where) {
    const FieldMaker& field = *call.field;
    require_times_of(call.options, arrays.y0.num_lanes, where);
    if (times_.tstops.empty())
        plan(call, where);
    else if (call.edition != planned_edition_)
        renew(call, where);
    planned_edition_ = call.edition;
    require_arrays_of(field.sizes(), arrays, where);
    if (field.inputs().size > 0) require_inputs_of(call.options.inputs, arrays.y0.num_lanes, where);
    problem.y0 = arrays.y0;
    problem.p = arrays.p.rows;
    problem.shares_parameters = arrays.p.is_shared;
    problem.sums_tile = sums_in_tiles<Real>(call, arrays.p.is_shared);
}
/// Puts new values of inputs and amounts of impulses into the plan.
template <class Real>
void PreparedRows<Real>::renew(const RowCall& call, const char* where) {
    renew_amounts(call.options.impulses, times_.impulses, where);
    const InputSizes& inputs = call.field->inputs();
    if (inputs.size > 0) renew_inputs(call.options.inputs, use_of(inputs), inputs_, where);
}
/// What depends on the equation, the method and the options alone.
template <class Real>
void PreparedRows<Real>::plan(const RowCall& call, const char* where) {
    const FieldMaker& field = *call.field;
    const SolveOptions& options = call.options;
    const MethodOnRows& method = *call.method;
    const int num_states = field.sizes().own_states();
    require_tolerances(options, num_states, precision_of<Real>(method.estimates_error), where);
    require_no_paths(options.paths, where);
    atol_.clear();
    for (int c = 0; c < num_states; ++c) atol_.push_back(static_cast<Real>(options.atol[c]));
    counted_ = field.counted_components();
    const InputSizes& inputs = field.inputs();
    TimePlan times = plan_times(options,
                                {method.estimates_error, method.steps_to_save_points,
                                 std::is_same_v<Real, float>, inputs.size > 0},
                                where);
    require_possible_on(Machine::rows,
                        Features().with(Feature::own_times_of_joint, call.is_joint && times.is_own),
                        where);
    require_impulses(times.impulses, num_states, where);
    if (inputs.size > 0) inputs_ = plan_inputs<Real>(options.inputs, use_of(inputs), times, where);
    times_ = std::move(times);
    problem.times = times_.view();
    problem.inputs = inputs_.view();
    problem.input_room = inputs.room();
    problem.method = &method;
    problem.control = call.control;
    problem.tolerances = {static_cast<Real>(options.rtol), atol_.data(), counted_.data(),
                          static_cast<int>(counted_.size())};
    problem.is_fused = call.level == RowLevel::fused;
    problem.events = call.events.get();
    problem.differentiates_times = call.differentiates_times || call.events;  // they move times
    problem.state_size = field.num_states();
    problem.num_tangents = field.sizes().tangents;
    problem.counts_tangents = options.tangents_in_error_norm && problem.num_tangents > 0;
    problem.parameter_size = field.num_parameters();
}

template <class Real>
bool sums_in_tiles(const RowCall& call, bool shares_parameters) {
    constexpr int most_by_lane = 64;  // as in other backends
    return shares_parameters && call.field->sizes().own_parameters() > most_by_lane &&
           make_tile<Real>(*call.field, 1, true) != nullptr;
}
template <class Real>
bool sums_back_in_tiles(const RowCall& call, bool shares_parameters) {
    const FieldMaker& field = *call.field;
    const bool are_few = field.num_parameters() <= 4 * field.num_states();
    return sums_in_tiles<Real>(call, shares_parameters) &&
           !(are_few && field.graph() && field.longest_of_products() == 0);
}
template <class Real>
std::unique_ptr<FieldOnTileOf<Real>> tile_of(const FieldMaker& field,
                                             const RowProblem<Real>& problem, int width) {
    auto tile = make_tile<Real>(field, width, problem.sums_tile);
    if constexpr (std::is_same_v<Real, float>)
        require_argument(tile != nullptr,
                         "solve: the equation is given in double alone; give arrays of double, or "
                         "its FieldMaker an on_float_tile");
    return tile;
}

template decltype(require_arrays_of<double>) require_arrays_of<double>;
template decltype(require_arrays_of<float>) require_arrays_of<float>;
template class PreparedRows<double>;
template class PreparedRows<float>;
template decltype(sums_in_tiles<double>) sums_in_tiles<double>;
template decltype(sums_in_tiles<float>) sums_in_tiles<float>;
template decltype(sums_back_in_tiles<double>) sums_back_in_tiles<double>;
template decltype(sums_back_in_tiles<float>) sums_back_in_tiles<float>;
template decltype(tile_of<double>) tile_of<double>;
template decltype(tile_of<float>) tile_of<float>;

bool reads_numbers(const RowCall& call, bool shares_parameters, bool sums_tile) {
    return sums_tile || (shares_parameters && call.field->inputs().size == 0 &&
                         gains_by_long_step(call.field->graph(), *call.method));
}
int row_width(const FieldMaker& field, const MethodOnRows& method, std::ptrdiff_t num_lanes,
              bool goes_back, bool sums_tile, std::size_t bytes_of_number) {
    const int num_states = field.num_states();
    // So few lanes step one after the other sooner than as a part of eight.
    const int most_alone = 1 + (num_states >= 50 ? 1 : 0) + (goes_back && num_states >= 20 ? 1 : 0);
    if (num_lanes <= most_alone) return 1;
    const int longest = sums_tile ? field.longest_of_products() : 0;
    // A wide tile reads each weight that lanes share for more of them. Where there are no products with such weights, a
    // quarter of those bytes is better: with 16 lanes in place of 64 gradients of 20 states took 0.6 to 0.7 of the time.
    const std::int64_t parts = longest > 0 ? 1 : 4;
    int width = most_row_width(parts * num_states, method, goes_back, bytes_of_number);
    // Products and sums over lanes read a vector again and again: its rows stay in the first-level cache.
    const auto bytes_of_row = [&] { return static_cast<std::size_t>(width) * bytes_of_number; };
    while (width > 16 && goes_back && longest > 0 &&
           (bytes_of_row() > 256 || bytes_of_row() * static_cast<std::size_t>(longest) > 32 << 10))
        width /= 2;
    while (width > 8 && width / 2 >= num_lanes) width /= 2;
    // What a long attempt reads, and leaves in rows, stays in the first-level cache, but for eight lanes and more.
    const std::int64_t rows = std::int64_t{num_states} * (method.num_stages + 4);
    const auto is_too_wide = [&] {
        return width > 8 && bytes_of_row() > 64 &&
               static_cast<std::int64_t>(bytes_of_row()) * rows > 32 << 10;
    };
    if (!goes_back && is_too_wide() && gains_by_long_step(field.graph(), method))
        while (is_too_wide()) width /= 2;
    return width;
}

}  // namespace eddy::inline v0::detail
