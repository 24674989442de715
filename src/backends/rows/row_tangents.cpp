#include "row_tangents.hpp"
#include <algorithm>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/call/start_values.hpp>
#include "../../ad/rows/tangents_at_event.hpp"
#include "row_work.hpp"

namespace eddy::inline v0::detail {

std::shared_ptr<const FieldMaker> with_tangents(const std::shared_ptr<const FieldMaker>& field,
                                                const std::vector<Direction>& directions,
                                                const char* where) {
    if (!field) return nullptr;
    auto both = field->with_tangents(directions);
    require_argument(
        both != nullptr,
        "{}: the equation, what is observed of it or its loss is given without forward "
        "mode; make it by trace_field or parse_field, or give its FieldMaker a "
        "with_tangents",
        where);
    return both;
}

void require_steps_of_state(const RowCall& call, const char* where) {
    require_argument(!call.options.tangents_in_error_norm,
                     "{}: tangents_in_error_norm = true, but all derivatives share the steps of "
                     "the state; leave it out, or call pushforward",
                     where);
}
void require_no_time(const RowCall& call, const FieldMaker* reader, const char* where) {
    if (!call.events || !reader || !reader->graph()) return;
    const auto& ends = call.events->are_terminal;
    const List<Node>& nodes = reader->graph()->nodes;
    const bool reads_time = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
        return node.op == Op::argument && node.index == 0;
    });
    require_argument(!reads_time || std::find(ends.begin(), ends.end(), 1) == ends.end(),
                     "{}: an event ends trajectories over rows, and what is observed there, or the "
                     "loss, reads t, whose tangent it does not get; make t a component of y, or "
                     "give a compile-time functor without Rows",
                     where);
}
namespace {

/// Events of y alone, which move its tangents too.
std::shared_ptr<const EventsOnRows> events_with_tangents(const RowCall& call, FieldSizes sizes,
                                                         const std::vector<Direction>& directions,
                                                         const char* where) {
    if (!call.events) return nullptr;
    const Graph* const field = call.field->graph();
    require_argument(field && sizes.inputs.size == 0,
                     "{}: tangents through events over rows take an equation without inputs, made "
                     "by trace_field or parse_field; give such a one, or a compile-time functor "
                     "without Rows",
                     where);
    EventsOnRows events = *call.events;
    Graph functions = *events.functions->graph();
    for (std::size_t i = 0; i < events.jumps.size(); ++i) {
        const auto& jump = events.jumps[i];
        if (!jump && !events.are_terminal[i]) continue;  // it changes nothing
        const Graph moved = tangents_at_event(
            {*field, functions, static_cast<int>(i), jump ? jump->graph() : nullptr}, directions);
        events.jumps[i] = graph_field(moved, sizes, call.level);
    }
    functions.arguments[1].size = sizes.states;
    functions.arguments[2].size = sizes.parameters;
    events.functions = graph_field(functions, sizes, call.level);
    return std::make_shared<const EventsOnRows>(std::move(events));
}

}  // namespace

template <class Real>
const RowCall& RowTangents<Real>::with_tangents(const RowCall& call,
                                                const std::vector<Direction>& directions,
                                                const char* where) {
    if (call_.field) return call_;
    require_no_time(call, call.observed.get(), where);
    RowCall both = call;
    both.field = detail::with_tangents(call.field, directions, where);
    both.own_field = call.field;
    both.events = events_with_tangents(call, both.field->sizes(), directions, where);
    both.observed = detail::with_tangents(call.observed, directions, where);
    return call_ = std::move(both);
}

template <class Real>
const RowArrays<Real>& RowTangents<Real>::with_tangent(const RowCall& call,
                                                       const RowArrays<Real>& given,
                                                       const RowArrays<Real>& along,
                                                       const char* where) {
    const FieldSizes& sizes = call.field->sizes();
    const GivenParameters<Real>& p = given.p;
    GivenParameters<Real> of_p = along.p;
    of_p.is_shared = p.is_shared;
    const std::ptrdiff_t lanes =
        given.start ? lanes_of_start(call.options.t0, p.num_lanes(), given.num_started, where)
                    : given.y0.num_lanes;
    if (given.start || p.has_table)
        require_parameters(p, lanes, sizes.parameters, "p", where);
    else
        require_arrays_of(sizes, given, where);
    arrays_ = {.p = {.is_shared = p.is_shared}, .num_started = lanes};
    if (sizes.parameters > 0) {
        require_parameters(of_p, lanes, sizes.parameters, "the tangent of p", where);
        if (!of_p.has_table) require_finite(of_p.rows, "the tangent of p", where);
    }
    join(p_, p.is_shared ? 1 : lanes, sizes.parameters, p, of_p);
    arrays_.p.rows = ensemble_view(p_);
    if (given.start) {
        if (start_of_y0_ != given.start)
            start_ = detail::with_tangents(given.start, {Direction::given}, where);
        start_of_y0_ = given.start;
        arrays_.start = start_;
        return arrays_;
    }
    require_shape(array_shape(along.y0), {lanes, sizes.states}, "the tangent of y0", where);
    require_finite(along.y0, "the tangent of y0", where);
    join(y0_, lanes, sizes.states, given.y0, along.y0);
    arrays_.y0 = ensemble_view(y0_);
    return arrays_;
}
/// Rows of values, then of their tangents.
template <class Real>
void RowTangents<Real>::join(EnsembleArray<Real>& both, std::ptrdiff_t rows, std::ptrdiff_t size,
                             const auto& values, const auto& tangents) {
    both.assign(rows, 2 * size, Real(0));
    for (std::ptrdiff_t i = 0; i < size; ++i)
        for (std::ptrdiff_t row = 0; row < rows; ++row) {
            both(row, i) = values(row, i);
            both(row, size + i) = tangents(row, i);
        }
}

template <class Real>
const RowArrays<Real>& RowTangents<Real>::with_ones(const RowArrays<Real>& given,
                                                    const std::vector<int>& places) {
    const std::ptrdiff_t lanes = given.y0.num_lanes, size = given.y0.num_components;
    y0_.assign(lanes, size * static_cast<std::ptrdiff_t>(1 + places.size()), Real(0));
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < size; ++i) y0_(lane, i) = given.y0(lane, i);
        std::ptrdiff_t first = size;
        for (const int place : places) {
            if (place >= 0) y0_(lane, first + place) = 1;
            first += size;
        }
    }
    arrays_ = given;
    arrays_.y0 = ensemble_view(y0_);
    return arrays_;
}

template class RowTangents<double>;
template class RowTangents<float>;

}  // namespace eddy::inline v0::detail
