#pragma once
// Who steps together, and the loop's only sight of a machine. A team is one or more members that make
// each round together; each computes in one type of number, and takes `num_chains` of them in turn. A
// thread of the CPU is a team of one member with packs; a warp is one of 32 members with plain
// numbers. Rounds are the same for all members, and so is every decision about them: what is asked of
// the whole team (`any`, `max`, `sum`, `take_lane`) must be asked by all members at the same place.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

template <class T>
concept Team = requires(T& team, bool flag, std::int64_t number, const LaneOutcome& outcome) {
    { T::num_chains } -> std::convertible_to<int>;
    { T::num_members } -> std::convertible_to<int>;
    { team.member() } -> std::convertible_to<int>;
    { team.any(flag) } -> std::same_as<bool>;  // of the members' flags
    { team.max(number) } -> std::same_as<std::int64_t>;
    { team.min(number) } -> std::same_as<std::int64_t>;
    { team.sum(number) } -> std::same_as<std::int64_t>;
    team.sync();  // what one member has written, the others read

    { team.worker() } -> std::same_as<std::ptrdiff_t>;  // whose memory it works in

    // The lanes of the group: those from `first_lane` on.
    { team.first_lane() } -> std::same_as<std::ptrdiff_t>;
    { team.num_lanes() } -> std::same_as<std::int32_t>;
    { team.num_taken() } -> std::same_as<std::int32_t>;      // lanes that are no longer waiting
    { team.take_lane(flag) } -> std::same_as<std::int32_t>;  // the next waiting lane, or no_lane
    team.ended(outcome);                                     // a lane has

    // The caller.
    { team.attend() } -> std::same_as<bool>;  // false: the call was cancelled
    { team.is_cancelled() } -> std::same_as<bool>;
    { team.patience(number) } -> std::same_as<std::int64_t>;  // rounds until it should attend
};

/// Lanes are taken in their order, or in one that the team has: the k-th that it takes.
template <class Team>
[[nodiscard]] EDDY_HD std::int32_t lane_at(const Team& team, std::int32_t k) {
    if constexpr (requires { team.lane_at(k); })
        return team.lane_at(k);
    else
        return k;
}

/// A member takes the first half of a step for all its chains, and then the second, so that they fill each
/// other's gaps. Not where what the first leaves, one `Half` a chain, crowds the first cache: then both of
/// one chain and both of the next, with the same bits. Gradients of HIRES, 31 KiB, take 9 % less time so.
template <class Team, class Half>
inline constexpr bool are_abreast = Team::num_chains == 1 ||
                                    Team::num_chains * sizeof(Half) <= 8 * 1024;

/// May the lanes of a team be told which steps to make (lane/given_steps.hpp)?
template <class Team>
inline constexpr bool may_be_given_steps = requires {
    requires Team::may_be_given_steps;
};

/// Does a team look whether steps carry derivatives (group/gradient_watch.hpp, lane/tangent_mark.hpp)? It
/// costs the kernel of a device registers.
template <class Team>
inline constexpr bool may_watch = requires {
    requires Team::watches_gradients;
};

/// Does it look at the way back alone?
template <class Team>
inline constexpr bool may_watch_back = may_watch<Team> || requires {
    requires Team::watches_way_back;
};

/// Does a team look whether the call is cancelled once in so many rounds? Who asks it every round counts them.
template <class Team>
inline constexpr bool looks_rarely = requires {
    requires Team::calls_between_looks >
    1;
};

/// Can a team ask for what it will read soon: fetch_ahead(address)?
template <class Team>
inline constexpr bool may_fetch_ahead = requires(const Team& team, const void* address) {
    team.fetch_ahead(address);
};

/// The numbers of a chain and of a place. Where there is only one it is known beforehand: an index that
/// is known only at run time would put registers into memory.
template <class Team>
[[nodiscard]] EDDY_HD constexpr int chain_index(int chain) {
    return Team::num_chains == 1 ? 0 : chain;
}
template <class Spec>
[[nodiscard]] EDDY_HD constexpr int place_index(int place) {
    return Spec::num_places == 1 ? 0 : place;
}

template <class Work, class... Values>
[[gnu::noinline]] EDDY_HD void run_out_of_line(Work& work, Values&... values) {
    work(values...);
}
/// A call with copies of what it works on, side by side: one address to know, and not the caller's.
template <class Work, class Value, class... Given>
struct PackedCall;
template <class Work, class Value>
struct PackedCall<Work, Value> {
    Work work;
    Value value;

    EDDY_HD void operator()() { work(value); }
};
template <class Work, class Value, class First>
struct PackedCall<Work, Value, First> {
    Work work;
    Value value;
    First first;

    EDDY_HD void operator()() { work(value, first); }
};
template <class Work, class Value, class First, class Second>
struct PackedCall<Work, Value, First, Second> {
    Work work;
    Value value;
    First first;
    Second second;

    EDDY_HD void operator()() { work(value, first, second); }
};
/// Runs work(value, given...) out of line, where it would only be in the way of the hot path. A device
/// hands it copies, and takes that of the value back: what a call has the address of lives in memory,
/// and the hot path would find it there.
template <class Work, class Value, class... Given>
EDDY_INLINE EDDY_HD inline void off_the_hot_path(const Work& work, Value& value,
                                                 const Given&... given) {
    if constexpr (compiling_for_device) {
        PackedCall<Work, std::remove_const_t<Value>, Given...> call{work, value, given...};
        run_out_of_line(call);
        if constexpr (!std::is_const_v<Value>) value = call.value;
    } else {
        run_out_of_line(work, value, given...);
    }
}
template <class Work>
EDDY_INLINE EDDY_HD inline void off_the_hot_path(const Work& work) {
    run_out_of_line(work);
}

}  // namespace eddy::inline v0::detail
