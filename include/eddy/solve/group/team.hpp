#pragma once
// Who steps together, and the loop's only sight of a machine. A team is one or more members that make
// each round together; each computes in one type of number, and takes `num_chains` of them in turn. A
// thread of the CPU is a team of one member with packs; a warp is one of 32 members with plain
// numbers. Rounds are the same for all members, and so is every decision about them: what is asked of
// the whole team (`any`, `max`, `sum`, `take_lane`) must be asked by all members at the same place.
// Test: tests/solve/contracts.cpp, tests/solve/warps.cpp

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// What a team looks at besides the steps of its lanes. Each costs the kernel of a device registers.
struct Watches {
    bool stiffness = false;  // of the steps (group/stiffness_looks.hpp)
    bool tangents = false;   // do steps carry them (group/tangent_watch.hpp)?
    bool way_back = false;   // do steps carry cotangents (group/gradient_watch.hpp)?
};

template <class T>
concept Team = requires(T& team, bool flag, std::int64_t number, std::int32_t k,
                        const LaneOutcome& outcome, const void* address) {
    { T::num_chains } -> std::convertible_to<int>;
    { T::num_members } -> std::convertible_to<int>;
    { T::watches } -> std::convertible_to<Watches>;
    { T::takes_prescribed_steps } -> std::convertible_to<bool>;  // lane/prescribed_steps.hpp
    // Rounds after which it asks whether the call is cancelled; one that asks every round says 1.
    { T::calls_between_polls } -> std::convertible_to<int>;
    // Has it anything to do with fetch_ahead(address), which asks for what it will read soon?
    { T::may_fetch_ahead } -> std::convertible_to<bool>;
    team.fetch_ahead(address);
    { team.member() } -> std::convertible_to<int>;
    { team.any(flag) } -> std::same_as<bool>;  // of the members' flags
    { team.max(number) } -> std::same_as<std::int64_t>;
    { team.min(number) } -> std::same_as<std::int64_t>;
    { team.sum(number) } -> std::same_as<std::int64_t>;
    { team.from_first(number) } -> std::same_as<std::int64_t>;  // what the first member says
    team.sync();  // what one member has written, the others read

    { team.worker() } -> std::same_as<std::ptrdiff_t>;  // whose memory it works in

    // The lanes of the group: those from `first_lane` on.
    { team.first_lane() } -> std::same_as<std::ptrdiff_t>;
    { team.num_lanes() } -> std::same_as<std::int32_t>;
    { team.num_taken() } -> std::same_as<std::int32_t>;      // lanes that are no longer waiting
    { team.take_lane(flag) } -> std::same_as<std::int32_t>;  // the next waiting lane, or no_lane
    { team.lane_at(k) } -> std::same_as<std::int32_t>;       // the k-th lane that it takes
    team.ended(outcome);                                     // a lane has

    // The caller.
    { team.attend() } -> std::same_as<bool>;  // false: the call was cancelled
    { team.is_cancelled() } -> std::same_as<bool>;
    { team.patience(number) } -> std::same_as<std::int64_t>;  // rounds until it should attend
};

/// A member takes the first half of a step for all its chains, and then the second, so that they fill each
/// other's gaps. Not where what the first leaves, one `Half` a chain, crowds the first cache: then both of
/// one chain and both of the next, with the same bits. Gradients of HIRES, 31 KiB, take 9 % less time so.
template <class Team, class Half>
inline constexpr bool are_abreast = Team::num_chains == 1 ||
                                    Team::num_chains * sizeof(Half) <= 8 * 1024;

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

/// A lane of the team's group, as one of the launch.
template <class Team>
[[nodiscard]] EDDY_HD LaunchLane of_launch(const Team& team, std::int32_t lane) {
    return LaunchLane{team.first_lane() + lane};
}

template <class Work, class... Values>
[[gnu::noinline]] EDDY_HD void run_out_of_line(Work& work, Values&... values) {
    work(values...);
}
/// A call with copies of what it works on, side by side: one address to know, and not the caller's.
template <class Work, class Value, class... Arguments>
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
/// Runs work(value, arguments...) out of line, where it would only be in the way of the hot path. A device
/// hands it copies, and takes that of the value back: what a call has the address of lives in memory,
/// and the hot path would find it there.
template <class Work, class Value, class... Arguments>
EDDY_INLINE EDDY_HD inline void off_the_hot_path(const Work& work, Value& value,
                                                 const Arguments&... arguments) {
    if constexpr (compiling_for_device) {
        PackedCall<Work, std::remove_const_t<Value>, Arguments...> call{work, value, arguments...};
        run_out_of_line(call);
        if constexpr (!std::is_const_v<Value>) value = call.value;
    } else {
        run_out_of_line(work, value, arguments...);
    }
}
template <class Work>
EDDY_INLINE EDDY_HD inline void off_the_hot_path(const Work& work) {
    run_out_of_line(work);
}

}  // namespace eddy::inline v0::detail
