#pragma once
// The guests of a group's rounds on their way forward: save points, events, marks, looks for stiffness, prescribed sizes, who cancels.
// Each says by verbs what it makes of a round, and leaves out those that it does not need. The loop (group_forward.hpp) knows the
// verbs only, so that a new guest is one file and one entry in its list. The order of the list is that in which guests are asked:
// what one of them writes into the meaning of a round, the next ones read.
// Test: tests/solve/contracts.cpp, tests/solve/oracle.cpp

#include <eddy/solve/group/forward_memory.hpp>
#include <eddy/solve/group/place_changes.hpp>
#include <eddy/solve/lane/ending.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Recorders of a solve that has no save points.
template <class Recorder>
inline constexpr bool saves_nothing = requires {
    requires Recorder::saves_nothing;
};

/// A chain of a group, as guests are shown it in a round, or before the first one, which is −1.
template <class Spec, class Team>
struct GuestView {
    Team& team;
    const Problem<Spec>& problem;
    const ForwardMemory& memory;
    Chain<Spec>& chain;
    int number;  // of the chain
    std::int64_t round;
};
/// What was tried, from where, and where it leads.
template <class Spec>
struct JudgedAttempt {
    const ChainState<Spec>& from;
    const Attempt<Spec>& attempt;
    const AfterAttempt<Spec>& after;
};
/// What a round that is more than steps means for the places of its chain.
template <class Spec>
struct RoundMeaning {
    BrokenSaves<Spec::num_places> broken{};
    bool cancelled = false;
    PlaceChanges<Spec> changes{};
};

/// The verbs of a guest, none of which does anything; `at` is a GuestView. A guest has its own type in that of its base, so
/// that no two bases are one type: empty ones take no room.
template <class Self>
struct Guest {
    // On the hot path.
    /// Before an attempt from x, whose size it may set.
    EDDY_HD static void prepare(const auto& /*problem*/, const auto& /*team*/,
                                const auto& /*occupants*/, auto& /*x*/) {}
    /// Does something happen to a lane in this attempt that no landing tells of?
    [[nodiscard]] EDDY_HD static constexpr bool sees(const auto& /*problem*/, const auto& /*chain*/,
                                                     const auto& /*attempt*/) {
        return false;
    }

    // Off the hot path.
    /// The state of a place begins: at y0 of a lane, or empty. A replay calls this once more.
    EDDY_HD static void start(auto& /*x*/, int /*place*/, const auto& /*problem*/,
                              LaunchLane /*lane*/, const auto& /*y0*/) {}
    EDDY_HD static void clear(auto& /*x*/, int /*place*/) {}
    /// The lane of a place goes on behind impulses, its steps heading for a tstop. A replay calls this once more.
    EDDY_HD static void go_on(auto& /*x*/, int /*place*/, const auto& /*problem*/,
                              LaunchLane /*lane*/, std::int32_t /*tstop*/) {}
    /// A lane enters a place.
    EDDY_HD static void enter(const auto& /*at*/, int /*place*/, std::int32_t /*lane*/) {}
    /// Is what this guest does all that happens in the round, to any member of the team? Not where another one `sees`.
    [[nodiscard]] EDDY_HD static bool is_all(const auto& /*at*/, const auto& /*judged*/,
                                             bool /*sees*/) {
        return false;
    }
    /// What a round means, for all places of the chain; `all` are the guests.
    EDDY_HD static void mean(const auto& /*at*/, const auto& /*round*/, auto& /*meaning*/,
                             auto& /*all*/) {}
    /// What it means for the lane in a place: RoundFacts.
    EDDY_HD static void judge(const auto& /*at*/, const auto& /*attempt*/, int /*place*/,
                              RoundFacts& /*facts*/) {}
    /// The lane of a place leaves.
    EDDY_HD static void leave(const auto& /*at*/, int /*place*/, LaneOutcome& /*outcome*/) {}
    /// Elapsed time at which something is due next.
    [[nodiscard]] EDDY_HD static double next_time(const auto& /*at*/, int /*place*/) {
        return std::numeric_limits<double>::infinity();
    }
    /// Rounds until something is due, whatever the time.
    [[nodiscard]] EDDY_HD static std::int64_t rounds_left(const auto& /*at*/) {
        return std::numeric_limits<std::int64_t>::max();
    }
    /// Looks ahead after a round, once the chain knows its next check.
    EDDY_HD static void plan_ahead(const auto& /*at*/) {}
};
/// In the place of a guest that a solve does without.
template <int number>
struct NoGuest : Guest<NoGuest<number>> {};

/// All guests, in the order of the list.
template <class... Guests>
struct RoundGuests : Guests... {
    EDDY_INLINE EDDY_HD static void prepare(const auto& problem, const auto& team,
                                            const auto& occupants, auto& x) {
        (Guests::prepare(problem, team, occupants, x), ...);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool sees(const auto& problem, const auto& chain,
                                                       const auto& attempt) {
        return (Guests::sees(problem, chain, attempt) || ...);
    }
    EDDY_HD static void start(auto& x, int place, const auto& problem, LaunchLane lane,
                              const auto& y0) {
        (Guests::start(x, place, problem, lane, y0), ...);
    }
    EDDY_HD static void clear(auto& x, int place) { (Guests::clear(x, place), ...); }
    EDDY_HD static void go_on(auto& x, int place, const auto& problem, LaunchLane lane,
                              std::int32_t tstop) {
        (Guests::go_on(x, place, problem, lane, tstop), ...);
    }
    /// Calls say(guest) with each of them.
    template <class Say>
    EDDY_INLINE EDDY_HD void each(const Say& say) {
        (say(static_cast<Guests&>(*this)), ...);
    }
    template <class Ask>
    [[nodiscard]] EDDY_INLINE EDDY_HD bool any(const Ask& ask) {
        return (ask(static_cast<Guests&>(*this)) || ...);
    }
    /// The least answer, none of which is above `most`.
    template <class Answer, class Ask>
    [[nodiscard]] EDDY_INLINE EDDY_HD Answer least(Answer most, const Ask& ask) const {
        ((most = min(most, ask(static_cast<const Guests&>(*this)))), ...);
        return most;
    }
};

/// The guests among these that a solve does not do without: what is not there is not compiled.
template <class Present, class... Rest>
struct PresentGuests {
    using type = Present;
};
template <class... Present, class First, class... Rest>
struct PresentGuests<RoundGuests<Present...>, First, Rest...>
    : PresentGuests<RoundGuests<Present..., First>, Rest...> {};
template <class... Present, int number, class... Rest>
struct PresentGuests<RoundGuests<Present...>, NoGuest<number>, Rest...>
    : PresentGuests<RoundGuests<Present...>, Rest...> {};
template <class... Guests>
using GuestsAmong = typename PresentGuests<RoundGuests<>, Guests...>::type;

}  // namespace eddy::inline v0::detail
