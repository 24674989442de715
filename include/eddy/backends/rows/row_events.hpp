#pragma once
// What an equation over rows says of its events, traced when the program runs: by the members that a compile-time field
// has (docs/guide/events.md), of the field itself or of an object that is given beside it.
// Test: tests/backends/row_events.cpp

#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/solve/lane/event_members.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

struct TimedFunction;  // src/backends/rows/row_event_times.hpp

/// The functions whose roots are events, and what is said of each.
struct EventsOnRows {
    static constexpr int most = 32;
    std::shared_ptr<const FieldMaker> functions;  // (t, y, p) → all of them
    std::vector<std::shared_ptr<const FieldMaker>>
        jumps;  // the state after each, also where it ends a lane; null: that before
    std::vector<Crossing> crossings;
    std::vector<char> are_terminal;
    std::vector<std::shared_ptr<const TimedFunction>> timed;  // null: it reads the state

    [[nodiscard]] int count() const { return static_cast<int>(crossings.size()); }
};

/// Those that read nothing of the state, of all. InvalidArgument where one of them has no bounds.
[[nodiscard]] EDDY_EXPORT std::vector<std::shared_ptr<const TimedFunction>> timed_functions(
    const std::vector<Graph>& events, const FieldSizes& sizes, RowLevel level);
/// InvalidArgument where there are none or too many; where the state after one has another size.
EDDY_EXPORT void require_event_count(int count);
EDDY_EXPORT void require_jump(const Graph& jump, int event, const FieldSizes& sizes);

/// How many functions `event` returns; −1 where only a run knows.
template <class Source>
inline constexpr int num_events_of = [] {
    using T = Traced<scalar_shape>;
    using Result = decltype(std::declval<const Source&>().event(
        std::declval<const T&>(), std::declval<const DynamicTraced&>(),
        std::declval<const DynamicTraced&>()));
    return shape_of<Result> == scalar_shape ? 1 : shape_of<Result>;
}();

template <class Source>
class TracedEvents {
  public:
    TracedEvents(const Source& source, const FieldSizes& sizes) : source_(source), sizes_(sizes) {
        sizes_.inputs = {};
    }
    [[nodiscard]] std::shared_ptr<const EventsOnRows> all() const {
        EventsOnRows events;
        const Graph functions = graph_of(
            [&](const auto& t, const auto& y, const auto& p) { return source_.event(t, y, p); });
        const int count = functions.outputs.empty() ? 0 : functions.outputs[0].size;
        require_event_count(count);
        std::vector<Graph> each;
        for (int i = 0; i < count; ++i) {
            each.push_back(graph_of([&](const auto& t, const auto& y, const auto& p) {
                const auto values = source_.event(t, y, p);
                if constexpr (num_events_of<Source> == 1)
                    return values;
                else
                    return values[i];
            }));
            Crossing crossing = Crossing::either;
            if constexpr (requires { source_.event_direction; })
                crossing = said_of(source_.event_direction, i);
            bool is_terminal = !names_at_event<Source>;
            if constexpr (requires { source_.event_terminal; })
                is_terminal = said_of(source_.event_terminal, i);
            events.crossings.push_back(crossing);
            events.are_terminal.push_back(is_terminal ? 1 : 0);
        }
        events.functions = graph_field(functions, sizes_, row_level);
        events.jumps.resize(each.size());
        if constexpr (names_at_event<Source>) add_jumps(events);
        events.timed = timed_functions(each, sizes_, row_level);
        return std::make_shared<const EventsOnRows>(std::move(events));
    }

  private:
    [[nodiscard]] Graph graph_of(const auto& function) const {
        return trace_graph([&](const auto& t, const auto& y,
                               const auto& p) { return as_traced(*t.graph(), function(t, y, p)); },
                           Scalar{}, DynamicVector{sizes_.states},
                           DynamicVector{sizes_.parameters});
    }
    void add_jumps(EventsOnRows& events) const {
        const auto add = [&](int i, const auto& jump) {
            if (events.are_terminal[static_cast<std::size_t>(i)]) return;
            const Graph graph = graph_of(jump);
            require_jump(graph, i, sizes_);
            events.jumps[static_cast<std::size_t>(i)] = graph_field(graph, sizes_, row_level);
        };
        constexpr bool takes_none =
            requires(const Traced<scalar_shape>& t, const DynamicTraced& y) {
            source_.at_event(t, y, y);
        };
        if constexpr (takes_none) {
            for (int i = 0; i < events.count(); ++i)
                add(i, [&](const auto& t, const auto& y, const auto& p) {
                    return source_.at_event(t, y, p);
                });
        } else if constexpr (num_events_of<Source> > 0) {
            static_for<0, num_events_of<Source>>([&]<int i>() {
                add(i, [&](const auto& t, const auto& y, const auto& p) {
                    return source_.at_event(t, y, p, std::integral_constant<int, i>{});
                });
            });
        } else {
            for (int i = 0; i < events.count(); ++i)
                add(i, [&](const auto& t, const auto& y, const auto& p) {
                    return source_.at_event(t, y, p, i);
                });
        }
    }

    const Source& source_;
    FieldSizes sizes_;
};

}  // namespace detail

/// An equation of run-time sizes that has events: see `with_events`.
class RuntimeFieldWithEvents {
  public:
    RuntimeFieldWithEvents(const RuntimeField& field,
                           std::shared_ptr<const detail::EventsOnRows> events)
        : field_(field), events_(std::move(events)) {}

    /// The equation.
    [[nodiscard]] const RuntimeField& field() const { return field_; }
    /// What steppers over rows are given.
    [[nodiscard]] std::shared_ptr<const FieldMaker> maker() const { return field_.maker(); }
    /// What the loop over rows is told of events.
    [[nodiscard]] const std::shared_ptr<const detail::EventsOnRows>& events() const {
        return events_;
    }

  private:
    RuntimeField field_;
    std::shared_ptr<const detail::EventsOnRows> events_;
};

/// The same equation with events: `events` is an object with the members that a compile-time field with events has,
/// `event(t, y, p)`, and `event_direction`, `event_terminal` and `at_event(t, y, p)` where they are wanted. They are traced now, with
/// what the object captures as constants. `at_event` may take the number of the event as well, a constant where `event`
/// returns eddy::vec(…), else an int. Throws InvalidArgument where they do not fit the equation.
template <class Events>
[[nodiscard]] RuntimeFieldWithEvents with_events(const RuntimeField& field, const Events& events) {
    const FieldSizes sizes{field.num_states(), field.num_parameters(), field.reads_time()};
    return {field, detail::TracedEvents<Events>(events, sizes).all()};
}

}  // namespace eddy::inline v0
