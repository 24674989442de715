#pragma once
// What a group keeps of its way forward: the sizes of accepted steps, round by round, as far as the
// log goes; and the states of some rounds. A checkpoint holds states and times only where the log
// knows the steps after it; sizes and controllers as well after the log's end, where a replay repeats
// the attempts. As small as that, a thousand rounds of a small equation stay in the second-level
// cache. Neighbouring members' numbers are neighbours in memory.
// Test: tests/solve/checkpoints.cpp

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/chain_path.hpp>
#include <eddy/solve/lane/chain_state.hpp>

namespace eddy::inline v0::detail {

/// (round, chain, member) sizes of accepted steps, zero where none was, negative where an event follows; of noise by steps of constant
/// size the normals as well, which are cheaper to read than to draw again. A device keeps no sizes that are
/// constant: what each costs is its traffic.
template <class Spec, class Team>
class StepLog {
    using Used = typename Spec::Used;
    using Single = typename Spec::Single;

  public:
    static constexpr bool keeps_sizes = Team::num_members == 1 || !Spec::has_constant_size;
    static constexpr std::int64_t bytes_per_round =
        (std::int64_t{sizeof(Used)} * keeps_sizes +
         std::int64_t{sizeof(Single)} * Spec::normals_per_step) *
        Team::num_chains * Team::num_members;

    StepLog() = default;
    EDDY_HD StepLog(Arena& arena, std::int64_t rounds)
        : sizes_(arena.take<Used>(keeps_sizes ? rounds * Team::num_chains * Team::num_members : 0)),
          normals_(arena.take<Single>(rounds * Team::num_chains * Team::num_members *
                                      Spec::normals_per_step)),
          at_end_(arena.take<ChainState<Spec>>(Team::num_chains * Team::num_members)),
          rounds_(rounds) {}

    /// Rounds that it has room for.
    [[nodiscard]] EDDY_HD std::int64_t rounds() const { return rounds_; }
    EDDY_INLINE EDDY_HD void write(const Team& team, std::int64_t round,
                                   const PerChain<Used, Team::num_chains>& used) const {
        for (int chain = 0; keeps_sizes && chain < used.count(); ++chain)
            sizes_[index(team, round, chain, used.count())] = used.chain[chain];
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD const Used& read(const Team& team, std::int64_t round,
                                                       int chain, int num_chains) const {
        return sizes_[index(team, round, chain, num_chains)];
    }
    /// The place of a round's normals.
    [[nodiscard]] EDDY_INLINE EDDY_HD NormalsOfRound<Spec> normals(
        [[maybe_unused]] const Team& team, [[maybe_unused]] std::int64_t round,
        [[maybe_unused]] int num_chains) const {
        if constexpr (Spec::normals_per_step == 0)
            return {};
        else
            return {normals_ + index(team, round, 0, num_chains) * Spec::normals_per_step,
                    std::int64_t{Team::num_members} * Spec::normals_per_step};
    }
    /// Keeps the state where the log ends, with sizes and controllers: a replay from the log has none.
    EDDY_HD void keep_end(const Team& team, const LoopState<Spec, Team>& x) const {
        off_the_hot_path(
            [log = *this, &team](const LoopState<Spec, Team>& at) {
                for (int i = 0; i < at.count(); ++i) log.at_end(team, i) = at.chain[i];
            },
            x);
    }
    [[nodiscard]] EDDY_HD ChainState<Spec>& at_end(const Team& team, int chain) const {
        return at_end_[chain * Team::num_members + team.member()];
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static std::int64_t index(const Team& team,
                                                                std::int64_t round, int chain,
                                                                int num_chains) {
        return (round * num_chains + chain) * Team::num_members + team.member();
    }
    Used* sizes_ = nullptr;               // (round, chain, member)
    Single* normals_ = nullptr;           // (round, chain, member, normal)
    ChainState<Spec>* at_end_ = nullptr;  // (chain, member)
    std::int64_t rounds_ = 0;
};

/// The slots of the checkpointed sweep.
template <class Spec, class Team>
class GroupCheckpoints {
    using Number = typename Spec::Number;
    using Time = typename Spec::Time;
    using History = typename Spec::History;
    using Memory = typename Spec::Memory;
    static constexpr bool keeps_memory = !Spec::Stepper::memory_follows_state;
    static constexpr std::int64_t bytes_of_events = Spec::has_event ? sizeof(EventSearch<Spec>) : 0;

  public:
    using Loop = LoopState<Spec, Team>;

    /// Bytes of a slot; where the log covers all rounds, without sizes and controllers.
    [[nodiscard]] EDDY_HD static constexpr std::int64_t bytes_per_slot(bool with_control) {
        std::int64_t bytes = sizeof(Number) * Spec::state_size + sizeof(Time);
        if (keeps_memory) bytes += sizeof(Memory);
        if (Spec::moves_times) bytes += sizeof(ClockTangent<Spec>);
        if (with_control) bytes += sizeof(Time) + sizeof(History) + bytes_of_events;
        return bytes * Team::num_chains * Team::num_members;
    }

    GroupCheckpoints() = default;
    /// Slots for rounds of which those before `first_with_control` are replayed from a log;
    /// `last_round` is the last that there may be.
    EDDY_HD GroupCheckpoints(Arena& arena, std::int64_t slots, std::int64_t first_with_control,
                             std::int64_t last_round)
        : first_with_control_(first_with_control) {
        const std::int64_t count = slots * Team::num_chains * Team::num_members;
        y_ = arena.take<Number>(count * Spec::state_size);
        elapsed_ = arena.take<Time>(count);
        const bool has_control = last_round >= first_with_control;
        size_ = arena.take<Time>(has_control ? count : 0);
        history_ = arena.take<History>(has_control ? count : 0);
        events_ = arena.take<EventSearch<Spec>>(has_control && Spec::has_event ? count : 0);
        memory_ = arena.take<Memory>(keeps_memory ? count : 0);
        clock_ = arena.take<ClockTangent<Spec>>(Spec::moves_times ? count : 0);
    }

    EDDY_HD void write(const Team& team, std::int64_t slot, std::int64_t round,
                       const Loop& x) const {
        for (int chain = 0; chain < x.count(); ++chain) {
            const ChainState<Spec>& from = x.chain[chain];
            const std::int64_t i = index(team, slot, chain, x.count());
            for_slot<Spec::state_size>(y_of(team, slot, chain, x.count()), Team::num_members,
                                       [&](int component, Number* y)
                                           EDDY_INLINE { *y = from.y[component]; });
            elapsed_[i] = from.elapsed;
            if (keeps_memory) memory_[i] = from.memory;
            if constexpr (Spec::moves_times) clock_[i] = from.events.clock;
        }
        if (has_control(round)) [[unlikely]]
            off_the_hot_path([slots = *this, &team,
                              slot](const Loop& at) { slots.write_control(team, slot, at); },
                             x);
    }
    [[nodiscard]] EDDY_HD Loop read(const Team& team, std::int64_t slot, std::int64_t round,
                                    int num_chains) const {
        Loop x(num_chains);
        for (int chain = 0; chain < num_chains; ++chain) {
            ChainState<Spec>& to = x.chain[chain];
            const std::int64_t i = index(team, slot, chain, num_chains);
            for_slot<Spec::state_size>(y_of(team, slot, chain, num_chains), Team::num_members,
                                       [&](int component, const Number* y)
                                           EDDY_INLINE { to.y[component] = *y; });
            to.elapsed = elapsed_[i];
            if (keeps_memory) to.memory = memory_[i];
            if constexpr (Spec::moves_times) to.events.clock = clock_[i];
        }
        if (has_control(round)) [[unlikely]]
            off_the_hot_path(
                [slots = *this, &team, slot](Loop& at) { slots.read_control(team, slot, at); }, x);
        return x;
    }

    /// What is read of a slot on the hot path.
    EDDY_INLINE EDDY_HD void fetch_ahead(const Team& team, std::int64_t slot, int chain,
                                         int num_chains) const {
        for_slot<Spec::state_size>(y_of(team, slot, chain, num_chains), Team::num_members,
                                   [&](int, const Number* y) EDDY_INLINE { team.fetch_ahead(y); });
        team.fetch_ahead(elapsed_ + index(team, slot, chain, num_chains));
    }

  private:
    // Sizes and controllers, off the hot path: where the log has the round's steps there are none.

    [[nodiscard]] EDDY_HD bool has_control(std::int64_t round) const {
        return round >= first_with_control_;
    }
    EDDY_HD void write_control(const Team& team, std::int64_t slot, const Loop& x) const {
        for (int chain = 0; chain < x.count(); ++chain) {
            const std::int64_t i = index(team, slot, chain, x.count());
            size_[i] = x.chain[chain].size;
            history_[i] = x.chain[chain].history;
            if (Spec::has_event) events_[i] = x.chain[chain].events;
        }
    }
    EDDY_HD void read_control(const Team& team, std::int64_t slot, Loop& x) const {
        for (int chain = 0; chain < x.count(); ++chain) {
            const std::int64_t i = index(team, slot, chain, x.count());
            x.chain[chain].size = size_[i];
            x.chain[chain].history = history_[i];
            if (Spec::has_event) x.chain[chain].events = events_[i];
        }
    }

    [[nodiscard]] EDDY_HD static std::int64_t index(const Team& team, std::int64_t slot, int chain,
                                                    int num_chains) {
        return (slot * num_chains + chain) * Team::num_members + team.member();
    }
    [[nodiscard]] EDDY_HD Number* y_of(const Team& team, std::int64_t slot, int chain,
                                       int num_chains) const {
        const std::int64_t first = (slot * num_chains + chain) * Spec::state_size;
        return y_ + first * Team::num_members + team.member();
    }

    Number* y_ = nullptr;      // (slot, chain, component, member)
    Time* elapsed_ = nullptr;  // (slot, chain, member), as all that follows
    Time* size_ = nullptr;
    History* history_ = nullptr;
    EventSearch<Spec>* events_ = nullptr;
    Memory* memory_ = nullptr;
    ClockTangent<Spec>* clock_ = nullptr;
    std::int64_t first_with_control_ = 0;
};

}  // namespace eddy::inline v0::detail
