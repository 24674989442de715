#pragma once
// The rare things in the life of a lane, told by elapsed time and by counts: the next one is found by
// one comparison a round, and what it means for the lane is decided here. Order of what ends a lane: a
// save point that is not finite, a step that cannot go on, an event, the end, the caller, the limit
// of steps.
// Test: tests/solve/landing.cpp

#include <eddy/core/result.hpp>
#include <eddy/solve/lane/times.hpp>

namespace eddy::inline v0::detail {

inline constexpr std::int32_t no_lane = -1;

/// Who is in a place, and the index of the tstop that its steps head for.
struct Occupant {
    std::int32_t lane = no_lane;  // within the group
    std::int32_t tstop = 0;

    friend bool operator==(const Occupant&, const Occupant&) = default;
};

/// Elapsed time of a lane's next save point; infinite where there is none.
[[nodiscard]] EDDY_HD inline double next_save(const LaneTimes& times, std::int32_t num_saved) {
    return num_saved < times.num_saves ? times.saves[num_saved]
                                       : std::numeric_limits<double>::infinity();
}
/// The number of the first of `count` times, in order, that is not before `elapsed`.
template <class TimeOf>
[[nodiscard]] EDDY_HD std::int32_t first_from(double elapsed, std::int32_t count,
                                              const TimeOf& time_of) {
    std::int32_t low = 0, high = count;
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (time_of(middle) < elapsed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
/// The number of the first save point not before `elapsed`.
[[nodiscard]] EDDY_HD inline std::int32_t first_save_from(const LaneTimes& times, double elapsed) {
    return first_from(elapsed, times.num_saves, [&](std::int32_t k) { return times.saves[k]; });
}
/// Is it that of a save point, or of the tstop that steps head for?
[[nodiscard]] EDDY_HD inline bool is_told(const LaneTimes& times, double tstop, double elapsed) {
    return elapsed == tstop || next_save(times, first_save_from(times, elapsed)) == elapsed;
}
/// Elapsed time at which something other than a step comes next.
[[nodiscard]] EDDY_HD inline double next_landing(const LaneTimes& times, const Occupant& occupant,
                                                 std::int32_t num_saved) {
    if (occupant.lane == no_lane) return std::numeric_limits<double>::infinity();
    return min(times.tstops[occupant.tstop].elapsed, next_save(times, num_saved));
}

/// Has a save point at a tstop the state behind the impulses there?
[[nodiscard]] EDDY_HD inline bool is_behind_impulses(const LaneTimes& times, std::int32_t tstop,
                                                     std::int32_t save) {
    const Tstop& at = times.tstops[tstop];
    return !at.impulses.is_empty() && !times.saves_before_impulses &&
           times.saves[save] == at.elapsed;
}

/// What a round did to a lane.
struct RoundFacts {
    bool save_is_broken;  // a save point that is not finite
    bool stalled;         // rejected, and as small as a step may be; or not finite
    bool lands;           // on its tstop
    bool cancelled;
    std::int64_t attempts;  // of the lane, so far
    bool switches = false;  // to the second method of an AutoSwitch
    bool ends = false;      // at an event
};

enum class Turn : std::uint8_t { goes_on, to_next_tstop, breaks_at_save, breaks, ends };

struct Verdict {
    Turn turn;
    Result result = Result::success;  // of a lane that ends
};

[[nodiscard]] EDDY_HD inline Verdict verdict_of(const LaneTimes& times, const Occupant& occupant,
                                                const RoundFacts& round) {
    if (round.save_is_broken) return {Turn::breaks_at_save};
    if (round.stalled) return {Turn::breaks};
    if (round.ends) return {Turn::ends, Result::event};
    if (round.lands && times.is_end(occupant.tstop)) return {Turn::ends};
    if (round.cancelled) return {Turn::ends, Result::cancelled};
    if (round.attempts >= times.max_steps || round.switches)
        return {Turn::ends, Result::max_steps_reached};
    return {round.lands ? Turn::to_next_tstop : Turn::goes_on};
}

}  // namespace eddy::inline v0::detail
