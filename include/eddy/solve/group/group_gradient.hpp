#pragma once
// A group of lanes forward and back, seen by one member of its team: the checkpointed sweeps over its
// rounds. Forward, a round is an attempt of every place, and the sizes of accepted steps are logged;
// back, a round is taken again from the log, without attempts or error estimates, and pulled back.
// Where the log would not fit, a replay repeats the attempts from the controller's state in the
// checkpoint. On the way back a place receives the cotangents of a lane's save points as its rounds
// pass them, and hands out the lane's gradient when the round is reached at which the lane began.
// Where the call is cancelled the way back ends as well: lanes whose gradient was handed out keep it,
// the others are cancelled.

#include <eddy/solve/group/group_adjoint.hpp>
#include <eddy/solve/group/round_blocks.hpp>
#include <eddy/solve/group/team_stack.hpp>
#include <eddy/solve/group/wave_end.hpp>

namespace eddy::inline v0::detail {

/// `Recorder` receives states and loss on the way forward, gives the cotangents of save points on the
/// way back, and takes the gradients: see lane/gradient_recorder.hpp. `Stores` says which rounds are
/// kept: see checkpoint/sweeps.hpp.
template <class Spec, class Team, class Recorder, class Stores, bool with_times>
class GroupGradient {
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Loop = LoopState<Spec, Team>;
    using Cotangents = PerChain<State, Team::num_chains>;
    using Memory = GradientMemory<Spec, Team>;
    using Entry = CheckpointLinks::Entry;
    using Back = GroupAdjoint<Spec, Team, Recorder, with_times>;
    using Linearization = typename Back::template Linearization<false>;

  public:
    EDDY_HD GroupGradient(Team& team, const Problem<Spec>& problem, const Memory& memory,
                          Recorder& recorder, Stores& stores)
        : team_(&team),
          recorder_(&recorder),
          stores_(&stores),
          memory_(memory),
          back_(team, problem, memory.forward, memory.assignment, recorder,
                memory.sums + team.member() * Team::num_chains, memory.marks) {}

    /// The gradients of the team's lanes, in waves where they do not all fit. Lanes that began and
    /// have no gradient when the call is cancelled are cancelled here; some may not have begun.
    EDDY_HD void run(BackCost& cost) {
        recorder_->begin(team_->member(), Team::num_members);
        choose_first_sizes(*team_, back_.forward.problem(), memory_.forward);
        back_.clear_sums();
        blocks_.begin(back_.forward.problem(), memory_.plan);
        while (back_.forward.has_waiting_lanes() && !team_->is_cancelled()) {
            const std::int32_t first = team_->num_taken();
            const bool is_complete = run_wave();
            off_the_hot_path([this, first, is_complete, &cost] {
                const WaveEnd<Spec, Team, Recorder, Back> end{*team_, *recorder_, back_, memory_};
                end.add_cost(cost, blocks_.in_rounds(counters_), num_chains(), first);
                // Sums that lanes do not hand out hold parts of all of them: none has its own.
                if (!is_complete) end.drop_lanes(Spec::sums_by_lane ? first : 0);
                if constexpr (Recorder::has_report) end.end_infinite(first);
            });
        }
        team_->sync();
        if (team_->member() == 0) add_up();
    }

  private:
    /// What the sweeps see: their steps are blocks of rounds.
    struct Sweep {
        GroupGradient& group;

        [[nodiscard]] EDDY_HD bool goes_on(const Loop&, std::int64_t) const {
            return group.back_.forward.is_running();
        }
        EDDY_HD void advance(Loop& x, std::int64_t step) const { group.advance(x, step); }
        [[nodiscard]] EDDY_HD bool keeps_going() const { return !group.team_->is_cancelled(); }
        EDDY_HD void again(Loop& x, std::int64_t step) const { group.take_again(x, step); }
        EDDY_HD void recycle(const Loop&) const {}
        EDDY_HD void pull(const Loop& x, std::int64_t step, Cotangents& cotangents) const {
            group.pull(x, step, cotangents);
        }
        EDDY_HD void write(std::int64_t slot, std::int64_t step, const Loop& x) const {
            group.memory_.checkpoints.write(*group.team_, slot, group.blocks_.first(step), x);
        }
        [[nodiscard]] EDDY_HD Loop read(const Entry& entry) const {
            return group.read(entry.slot, group.blocks_.first(entry.step));
        }
        EDDY_HD void will_read(const Entry&) const {}
        EDDY_HD void discard(std::int64_t) const {}
    };

    [[nodiscard]] EDDY_HD int num_chains() const { return Team::num_chains == 1 ? 1 : num_chains_; }

    /// False where the call was cancelled before all gradients were handed out.
    [[nodiscard]] EDDY_HD bool run_wave() {
        counters_ = {};
        blocks_.restart();
        Loop x = back_.forward.begin(memory_.plan.refill);
        num_chains_ = x.count();
        Sweep sweep{*this};
        stores_->restart();
        auto stack = shared_stack(*team_, memory_.stack);
        stack.clear();
        const std::int64_t steps = sweep_forward(sweep, x, *stores_, stack, counters_);
        team_->sync();
        back_.begin(num_chains());
        Cotangents cotangents(num_chains());
        for (int chain = 0; chain < num_chains(); ++chain) cotangents.chain[chain] = State{};
        const bool is_complete = sweep_back(sweep, cotangents, steps, *stores_, stack, counters_);
        team_->sync();
        return is_complete;
    }

    EDDY_HD void advance(Loop& x, std::int64_t step) {
        if constexpr (!may_be_calm) {
            advance_round(x, step);
        } else {
            const std::int64_t first = blocks_.first(step), end = blocks_.first(step + 1);
            if (end > first + 1 && advance_block(x, first)) return blocks_.reach(end);
            for (std::int64_t round = first;
                 round < end && (round == first || back_.forward.is_running()); ++round) {
                advance_round(x, round);
                blocks_.reach(round + 1);
            }
        }
    }
    /// All rounds of a block at once; false where they have to be taken one by one.
    [[nodiscard]] EDDY_HD bool advance_block(Loop& x, std::int64_t first) {
        const int count = x.count();
        const std::int64_t per_round = std::int64_t{count} * Spec::normals_per_step;
        if (!back_.forward.advance_block(x, first, normals_of(first, count), per_round))
            return false;
        PerChain<Time, Team::num_chains> used(count);
        for (int chain = 0; chain < count; ++chain)
            used.chain[chain] = Time(back_.forward.problem().times.dt0);
        for (int i = 0; i < Blocks::most; ++i) memory_.log.write(*team_, first + i, used);
        return true;
    }
    EDDY_HD void advance_round(Loop& x, std::int64_t round) {
        StepLog<Spec, Team>& log = memory_.log;
        if (round == log.rounds()) log.keep_end(*team_, x);
        PerChain<Time, Team::num_chains> used(x.count());
        back_.forward.advance(x, round, used, normals_of(round, x.count()));
        if (round < log.rounds()) log.write(*team_, round, used);
    }

    /// Where the log keeps a round's normals, as far as it goes: those of a cell are those of a step
    /// where it is one.
    [[nodiscard, gnu::always_inline]] EDDY_HD NormalsOfRound<Spec> normals_of(
        [[maybe_unused]] std::int64_t round, [[maybe_unused]] int count) const {
        if constexpr (Spec::normals_per_step > 0) {
            if (round < memory_.log.rounds() && back_.forward.problem().noise.level == 0)
                return memory_.log.normals(*team_, round, count);
        }
        return {};
    }

    /// All places are as they were at a round.
    [[gnu::always_inline]] EDDY_HD void seek(std::int64_t round) {
        if (back_.forward.assignment.is_at(round)) [[likely]]
            return;
        off_the_hot_path([this, round] { change_places(round); });
    }
    EDDY_HD void change_places(std::int64_t round) {
        back_.forward.assignment.seek(round, [&](int chain, int place, const Occupant& occupant) {
            back_.set_occupant(chain_index<Team>(chain), place_index<Spec>(place), occupant);
        });
    }

    EDDY_HD void take_again(Loop& x, std::int64_t step) {
        if constexpr (!may_be_calm) {
            take_round_again(x, step);
        } else {
            const std::int64_t first = blocks_.first(step);
            for (int i = 0; i < blocks_.count(step); ++i) take_round_again(x, first + i);
        }
    }
    /// A round of the way forward, once more: bit for bit what it was.
    EDDY_HD void take_round_again(Loop& x, std::int64_t round) {
        blocks_.take_again(1);
        StepLog<Spec, Team>& log = memory_.log;
        seek(round);
        for (int chain = 0; chain < num_chains(); ++chain) {
            if (round < log.rounds()) {
                back_.forward.steps(chain).replay(x.chain[chain],
                                                  log.read(*team_, round, chain, num_chains()),
                                                  normals_of(round, num_chains()).of(chain));
                continue;
            }
            off_the_hot_path([this, round, chain](auto& at) { repeat(at, round, chain); },
                             x.chain[chain]);
        }
        if (back_.forward.assignment.changes_after_cursor(round)) [[unlikely]]
            off_the_hot_path([this, round](Loop& after) { enter_after(after, round); }, x);
    }
    /// What changed in the places after a round.
    EDDY_HD void enter_after(Loop& x, std::int64_t round) {
        MaskOf<typename Spec::Primal> changed[Team::num_chains];
        for (auto& mask : changed) mask = MaskOf<typename Spec::Primal>(false);
        back_.forward.assignment.visit_after_cursor(round, [&](const LaneChange& change) {
            const int chain = chain_index<Team>(change.chain),
                      place = place_index<Spec>(change.place);
            back_.forward.enter(x.chain[chain], place, change);
            set_lane(changed[chain], place, true);
        });
        if (!reads_memory_at(round + 1)) return;
        change_places(round + 1);
        for (int chain = 0; chain < num_chains(); ++chain)
            back_.forward.steps(chain).renew_memory(x.chain[chain], changed[chain]);
    }
    /// Does a replay of this round read the stepper's memory? Not where it follows from the state
    /// and the log has the size of the step.
    [[nodiscard]] EDDY_HD bool reads_memory_at(std::int64_t round) const {
        return !Stepper::memory_follows_state || round > memory_.log.rounds();
    }
    [[nodiscard]] EDDY_HD Loop read(std::int64_t slot, std::int64_t round) {
        Loop x = memory_.checkpoints.read(*team_, slot, round, num_chains());
        if constexpr (Stepper::memory_follows_state) {
            if (round < memory_.log.rounds()) return x;
            off_the_hot_path([this, round](Loop& at) { renew_memory(at, round); }, x);
        }
        return x;
    }
    EDDY_HD void renew_memory(Loop& x, std::int64_t round) {
        change_places(round);
        for (int chain = 0; chain < num_chains(); ++chain)
            back_.forward.steps(chain).renew_memory(x.chain[chain],
                                                    MaskOf<typename Spec::Primal>(true));
    }
    /// An attempt once more, where there is no log. Returns the sizes of accepted steps.
    [[gnu::noinline]] EDDY_HD Time repeat(ChainState<Spec>& x, std::int64_t round, int chain) {
        // Replayed from the log, x has no controllers where the log ends.
        if (round == memory_.log.rounds()) x = memory_.log.at_end(*team_, chain);
        auto& steps = back_.forward.steps(chain);
        Attempt<Spec> attempt;
        back_.take_given_sizes(x, chain);
        steps.compute(x, attempt);
        steps.move_on(x, attempt, steps.judge(x, attempt));
        return attempt.used;
    }

    EDDY_HD void pull(const Loop& x, std::int64_t step, Cotangents& cotangents) {
        if constexpr (may_be_calm) {
            const std::int64_t first = blocks_.first(step);
            const int count = blocks_.count(step);
            if (blocks_.are_calm(first, count))
                pull_calm(x, first, count, cotangents);
            else if (count == 1)
                pull_round(x, first, cotangents);
            else
                pull_block(x, first, count, cotangents);
        } else {
            pull_round(x, step, cotangents);
        }
    }
    EDDY_HD void pull_round(const Loop& x, std::int64_t round, Cotangents& cotangents) {
        seek(round);
        constexpr bool abreast = are_abreast<Team, Linearization>;
        typename Back::Pulled pulled[Team::num_chains];
        Linearization of_steps[abreast ? Team::num_chains : 1];
        const auto pull_chain = [&](int chain, const Linearization& of_step)
            __attribute__((always_inline)) {
            back_.pull_chain(x.chain[chain], chain, of_step, pulled[chain],
                             cotangents.chain[chain]);
        };
        for (int chain = 0; chain < num_chains(); ++chain) {
            begin_pull(pulled[chain], used_at(x, round, chain), normals_of(round, num_chains()));
            back_.pass_saves(x.chain[chain], chain, pulled[chain], cotangents.chain[chain]);
        }
        for (int chain = 0; chain < num_chains(); ++chain) {
            Linearization& of_step = of_steps[abreast ? chain : 0];
            back_.linearize(x.chain[chain], chain, pulled[chain], of_step);
            if constexpr (!abreast) pull_chain(chain, of_step);
        }
        if constexpr (abreast) {
            for (int chain = 0; chain < num_chains(); ++chain) pull_chain(chain, of_steps[chain]);
        }
        for (int chain = 0; chain < num_chains(); ++chain)
            back_.look(x.chain[chain], chain, pulled[chain].used, cotangents.chain[chain], round);
        if (back_.forward.assignment.changed_before_cursor(round - 1)) [[unlikely]]
            leave(x, round, cotangents);
        if constexpr (may_be_calm)
            off_the_hot_path([this, round](const Loop& at) { look_for_calm(at, round); }, x);
    }

    /// On a host number by number: a copy of the whole would be read before its parts are written, and
    /// waited for. On a device a copy keeps fewer registers.
    [[gnu::always_inline]] EDDY_HD static void begin_pull(typename Back::Pulled& pulled,
                                                          const Time& used,
                                                          const NormalsOfRound<Spec>& normals) {
        if constexpr (compiling_for_device) {
            pulled = {used, normals};
        } else {
            pulled.used = used;
            pulled.normals = normals;
        }
    }

    // A stretch of rounds is calm in which nothing happens but steps of constant size, whose normals the
    // log has: they are pulled back without asking round by round.

    static constexpr bool may_be_calm =
        Spec::normals_per_step > 0 && Team::num_members == 1 && !with_times;
    using Blocks = typename std::conditional_t<may_be_calm, std::type_identity<RoundBlocks<Spec>>,
                                               std::type_identity<SingleRounds>>::type;
    /// Is this round in one? Then all that are before it and have the same occupants are.
    EDDY_HD void look_for_calm(const Loop& x, std::int64_t round) {
        bool is_calm = round < memory_.log.rounds() && back_.forward.problem().noise.level == 0;
        for (int chain = 0; chain < num_chains(); ++chain)
            is_calm = is_calm && back_.is_calm(x.chain[chain], chain);
        blocks_.set_calm(back_.forward.assignment.first_round_at_cursor(), is_calm ? round : 0);
    }
    EDDY_HD void pull_calm(const Loop& x, std::int64_t first, int count, Cotangents& cotangents) {
        const NormalsOfRound<Spec> normals = memory_.log.normals(*team_, first, num_chains());
        const std::int64_t per_round = std::int64_t{num_chains()} * Spec::normals_per_step;
        const auto of = [&](int chain) {
            return back_.calm_chain(x.chain[chain], chain, {normals.of(chain), per_round},
                                    cotangents.chain[chain]);
        };
        if constexpr (Team::num_chains == 3) {
            if (num_chains() == 3) CalmRounds<Spec>::template pull<3>({of(0), of(1), of(2)}, count);
        }
        for (int chain = 0; chain < num_chains() % 3; ++chain)
            CalmRounds<Spec>::template pull<1>({of(chain)}, count);
        blocks_.take_again(count - 1);
    }
    /// A block in which something happens: its rounds are taken again, and pulled back one by one, or as many
    /// at a time as turn out to be calm.
    [[gnu::noinline]] EDDY_HD void pull_block(const Loop& x, std::int64_t first, int count,
                                              Cotangents& cotangents) {
        Loop at[Blocks::most];
        at[0] = x;
        for (int i = 1; i < count; ++i) {
            at[i] = at[i - 1];
            take_round_again(at[i], first + i - 1);
        }
        for (int left = count; left > 0;) {
            const int calm = blocks_.first_calm(first);
            if (calm < left && blocks_.are_calm(first + calm, left - calm)) {
                pull_calm(at[calm], first + calm, left - calm, cotangents);
                left = calm;
            } else {
                --left;
                pull_round(at[left], first + left, cotangents);
            }
        }
    }
    /// The adjoint of a lane's start reads x only where that was solved for; else x stays in registers.
    [[gnu::always_inline]] EDDY_HD void leave([[maybe_unused]] const Loop& x, std::int64_t round,
                                              Cotangents& cotangents) {
        if constexpr (LaneStart<Spec>::is_solved_for) {
            off_the_hot_path(
                [this, round](Cotangents& at_start, const Loop& at) {
                    leave_before(at_start, round, [&](int chain, int place) {
                        return state_of<Spec>(at.chain[chain].y, place);
                    });
                },
                cotangents, x);
        } else {
            off_the_hot_path(
                [this, round](Cotangents& at_start) { leave_before(at_start, round, nullptr); },
                cotangents);
        }
    }
    /// What changed in the places before a round. `state(chain, place)` is that at the round.
    template <class StateAt>
    EDDY_HD void leave_before(Cotangents& cotangents, std::int64_t round, const StateAt& state) {
        back_.forward.assignment.visit_before_cursor(round - 1, [&](const LaneChange& change) {
            if constexpr (with_times) back_.settle_start(change);
            if (change.assigns_a_lane()) {
                const int chain = chain_index<Team>(change.chain);
                back_.hand_out(cotangents.chain[chain], chain, change, state);
            }
        });
    }
    [[nodiscard]] EDDY_HD Time used_at(const Loop& x, std::int64_t round, int chain) {
        const StepLog<Spec, Team>& log = memory_.log;
        if (round < log.rounds()) return log.read(*team_, round, chain, num_chains());
        ChainState<Spec> copy = x.chain[chain];
        return repeat(copy, round, chain);
    }

    /// What all members have brought to shared parameters.
    EDDY_HD void add_up() {
        if constexpr (!Spec::sums_by_lane) {
            for (int i = 0; i < Team::num_chains * Team::num_members; ++i)
                recorder_->add_sums(memory_.sums[i]);
        }
        recorder_->finish();
    }

    Team* team_;
    Recorder* recorder_;
    Stores* stores_;
    Memory memory_;
    Back back_;
    int num_chains_ = 0;
    [[no_unique_address]] Blocks blocks_;
    LoopCounters counters_;  // of the wave, in steps of the sweeps
};

}  // namespace eddy::inline v0::detail
