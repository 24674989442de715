#include "row_event_times.hpp"
#include <algorithm>
#include <array>
#include <eddy/ad/jvp.hpp>
#include <eddy/trace/apply.hpp>
#include <eddy/trace/passes/write_out.hpp>
#include <eddy/trace/program.hpp>
#include "../../trace/rows/one_operation.hpp"

namespace eddy::inline v0::detail {
namespace {

bool reads_state(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return node.op == Op::argument && node.index == 1; });
}
ScalarList operations_of(const Graph& graph, int event) {
    const bool is_left = std::any_of(graph.loops.begin(), graph.loops.end(),
                                     [](const Loop& loop) { return loop.num_fixed() > 3; });
    ScalarList list;
    if (!is_left) list = write_out(passes::write_out_loops(finish_code(graph)), {});
    require_argument(!is_left && list.blocks.empty(),
                     "events over rows: event function {} reads no state, and a table, or a loop "
                     "that trajectories leave; such a function has no bounds, by which its roots "
                     "are found: take `.impulses` or `.step_to`",
                     event);
    return list;
}

}  // namespace

void require_event_count(int count) {
    require_argument(count > 0 && count <= EventsOnRows::most,
                     "with_events: event(t, y, p) returns {} numbers; return one, or "
                     "eddy::vec(...) of up to {}",
                     count, EventsOnRows::most);
}
void require_jump(const Graph& jump, int event, const FieldSizes& sizes) {
    const int given = jump.outputs.empty() ? 0 : jump.outputs[0].size;
    require_argument(given == sizes.states,
                     "with_events: at_event(t, y, p) of event {} returns {} numbers for {} states; "
                     "return one for each",
                     event, given, sizes.states);
}

std::vector<std::shared_ptr<const TimedFunction>> timed_functions(const std::vector<Graph>& events,
                                                                  const FieldSizes& sizes,
                                                                  RowLevel level) {
    std::vector<std::shared_ptr<const TimedFunction>> timed(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (reads_state(events[i])) continue;
        const auto event = static_cast<int>(i);
        const Graph slope = passes::simplify(jvp_graph(events[i], {1, 0, 0}));
        timed[i] = std::make_shared<const TimedFunction>(
            TimedFunction{graph_field(events[i], sizes, level), operations_of(events[i], event),
                          operations_of(slope, event)});
    }
    return timed;
}

RowEventTimes::RowEventTimes(const EventsOnRows& events)
    : events_(&events), functions_(events.timed.size()) {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        const TimedFunction* const of = events.timed[i].get();
        if (!of) continue;
        functions_[i] = {of, of->values->on_tile(1)};
        p_.resize(static_cast<std::size_t>(of->values->num_parameters()));
        state_.resize(static_cast<std::size_t>(of->values->num_states()));
        ++count_;
    }
}

template <Op op>
void RowEventTimes::set_bound([[maybe_unused]] const ScalarValue& value, [[maybe_unused]] Bound& to,
                              [[maybe_unused]] const Bound* all) {
    if constexpr (is_elementwise(op)) {
        const auto operand = [&]<int k>(std::integral_constant<int, k>) {
            const Bound& from = all[value.operand[k]];
            if constexpr (reads_mask(op, k))
                return from.holds;
            else
                return from.is;
        };
        const auto first = operand(std::integral_constant<int, 0>{});
        if constexpr (op == Op::powi)
            to.is = pow(first, value.index);
        else if constexpr (op == Op::polygamma)
            to.is = polygamma(value.index, first);
        else
            [&]<int... k>(std::integer_sequence<int, k...>) {
                const auto result = eddy::apply<op>(operand(std::integral_constant<int, k>{})...);
                if constexpr (is_mask(op))
                    to.holds = result;
                else
                    to.is = result;
            }
        (std::make_integer_sequence<int, operand_count(op)>{});
    }
}
Interval RowEventTimes::bound(const ScalarList& list, const Interval& t, double direction) {
    static constexpr auto operations = []<int... op>(std::integer_sequence<int, op...>) {
        return std::array{&RowEventTimes::set_bound<static_cast<Op>(op)>...};
    }
    (std::make_integer_sequence<int, static_cast<int>(last_op) + 1>{});
    bounds_.resize(std::max(bounds_.size(), list.values.size()));
    for (std::size_t v = 0; v < list.values.size(); ++v) {
        const ScalarValue& value = list.values[v];
        const auto component = static_cast<std::size_t>(value.operand[0]);
        Bound& to = bounds_[v];
        if (value.op == Op::constant)
            to.is = Interval(list.shared[component]);
        else if (value.op == Op::argument)
            to.is = value.index == 0   ? t
                    : value.index == 2 ? Interval(p_[component])
                                       : Interval(direction);
        else
            operations[static_cast<std::size_t>(value.op)](value, to, bounds_.data());
    }
    return bounds_[static_cast<std::size_t>(list.results[0].value)].is;
}

/// A function as the search asks for it.
class RowEventTimes::OfLane : public ElapsedTime {
  public:
    OfLane(RowEventTimes& all, Function& function, const LaneTimes& of)
        : ElapsedTime{of}, all_(all), function_(function) {}

    [[nodiscard]] double operator()(double elapsed) const {
        const double at = t(elapsed);
        double value = 0;
        function_.values->f(&at, all_.state_.data(), all_.p_.data(), &value);
        return value;
    }
    [[nodiscard]] Interval bounds(double from, double to) const {
        return all_.bound(function_.of->bounds, between(from, to), 0);
    }
    [[nodiscard]] Interval slopes(double from, double to) const {
        return all_.bound(function_.of->slopes, between(from, to), times.direction);
    }

  private:
    RowEventTimes& all_;
    Function& function_;
};

auto RowEventTimes::with_search(int i, const LaneTimes& times, const auto& use) {
    const auto at = static_cast<std::size_t>(i);
    const OfLane f(*this, functions_[at], times);
    return use(DueSearch<OfLane>{times, f, events_->crossings[at], events_->are_terminal[at] != 0});
}
DueTime RowEventTimes::first(int i, const LaneTimes& times) {
    return with_search(i, times, [](const auto& due) { return due.next(due.from_start()); });
}
DueTime RowEventTimes::renewed(int i, const LaneTimes& times, DueTime due, double elapsed,
                               bool is_met) {
    return with_search(i, times, [&](const auto& search) {
        return renewed_due(
            times, due, elapsed, is_met, [&](double from) { return search.next(from); },
            [&](double of) { return search.next(search.from_behind(of)); });
    });
}

}  // namespace eddy::inline v0::detail
