#pragma once
// What an event makes of y and of tangents of it, as a program of its own. The time τ of the event moves with what the
// tangent goes along: by the implicit function theorem of g(τ, y(τ), p) = 0, dτ = −ġ / (g_t + g_y f). So the state there
// has the tangent ẏ + f dτ; and behind a jump, at a time that stands, the tangent is what the jump makes of that, less
// f dτ of the state behind it. These are the tangents of the equation, not of its steps: they are as near to those
// of steps as steps are to the equation.

#include <eddy/ad/rows/runtime_field.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What is known of an event: f, all functions of events, and which of them has a root there.
struct EventOfGraph {
    const Graph &field, &functions;
    int index;
    const Graph* jump;  // y → the state after it; null: the trajectory ends in y
};

/// (t, y and tangents, p and ṗ where it is given) → the state after the event, then its tangents.
/// Throws InvalidArgument where a function has no forward mode.
[[nodiscard]] Graph tangents_at_event(const EventOfGraph& event,
                                      const std::vector<Direction>& directions);

}  // namespace eddy::inline v0::detail
