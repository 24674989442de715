#pragma once
// A group of lanes forward and back, seen by one member of its team: the checkpointed sweeps over its
// rounds. Forward, a round is an attempt of every place, and the sizes of accepted steps are logged;
// back, a round is taken again from the log, without attempts or error estimates, and pulled back.
// Where the log would not fit, a replay repeats the attempts from the controller's state in the
// checkpoint. On the way back a place receives the cotangents of a lane's save points as its rounds
// pass them, and hands out the lane's gradient when the round is reached at which the lane began.
// Where the call is cancelled the way back ends as well: lanes whose gradient was handed out keep it,
// the others are cancelled.
// Test: tests/solve/oracle_gradients.cpp, tests/solve/checkpoints.cpp

#include <eddy/solve/group/group_replay.hpp>
#include <eddy/solve/group/team_stack.hpp>
#include <eddy/solve/group/wave_end.hpp>

namespace eddy::inline v0::detail {

/// `Recorder` receives states and loss on the way forward, gives the cotangents of save points on the
/// way back, and takes the gradients: see lane/gradient_recorder.hpp. `Stores` says which rounds are
/// kept: see checkpoint/sweeps.hpp.
template <class Spec, class Team, class Recorder, class Stores, bool with_times>
class GroupGradient : GroupReplay<Spec, Team, Recorder, with_times> {
    using Replay = GroupReplay<Spec, Team, Recorder, with_times>;
    using Replay::may_be_calm;
    using Replay::num_chains, Replay::normals_of, Replay::seek, Replay::take_round_again,
        Replay::used_at;
    using Replay::team_, Replay::memory_, Replay::back_, Replay::blocks_, Replay::num_chains_;
    using typename Replay::Back, typename Replay::Blocks, typename Replay::Entry,
        typename Replay::Loop, typename Replay::Memory;
    using Used = typename Spec::Used;
    using State = typename Spec::State;
    using Cotangents = PerChain<State, Team::num_chains>;
    using Linearization = typename Back::template Linearization<false>;
    using Sight = typename decltype(Back::forward)::Sight;
    using Sizes = PerChain<Used, Team::num_chains>;
    /// Does the way back read the size of a round's step together with the state before it? A device then waits for
    /// both at once.
    static constexpr bool reads_sizes =
        Team::may_fetch_ahead && Team::num_chains == 1 && StepLog<Spec, Team>::keeps_sizes;
    /// What the way back has at hand.
    struct AtHand {
        std::int64_t step = -1;  // whose sizes they are; −1: of none
        Sizes used;
        int calls_to_poll = 0;  // whether the call is cancelled
    };
    /// A device keeps where states and sizes lie in registers, not in the group.
    template <class Part>
    using SeenPart = std::conditional_t<keeps_places_of_states<Spec, Team>, Part, const Part&>;

  public:
    EDDY_HD GroupGradient(Team& team, const Problem<Spec>& problem, const Memory& memory,
                          Recorder& recorder, Stores& stores)
        : Replay(team, problem, memory, recorder), recorder_(&recorder), stores_(&stores) {}

    /// The gradients of the team's lanes, in waves where they do not all fit. Lanes that began and
    /// have no gradient when the call is cancelled are cancelled here; some may not have begun.
    /// `problem` is that of the constructor: the caller knows where it lies.
    EDDY_HD void run(BackCost& cost, const Problem<Spec>& problem) {
        recorder_->begin(team_->member(), Team::num_members);
        choose_first_sizes(*team_, back_.forward.problem(), memory_.forward);
        back_.clear_sums();
        blocks_.begin(back_.forward.problem(), memory_.plan);
        while (back_.forward.has_waiting_lanes() && !team_->is_cancelled()) {
            const std::int32_t first = team_->num_taken();
            const bool is_complete = run_wave(problem);
            off_the_hot_path([this, first, is_complete, &cost] {
                const WaveEnd<Spec, Team, Recorder, Back> end{*team_, *recorder_, back_, memory_};
                end.add_cost(cost, blocks_.in_rounds(counters_), num_chains(), first);
                // Sums that lanes do not hand out hold addends of all of them: none has its own.
                if (!is_complete) end.drop_lanes(Spec::sums_by_lane ? first : 0);
                if (Recorder::has_report) end.end_infinite(first);
            });
        }
        team_->sync();
        if (team_->member() == 0) add_up();
    }

  private:
    /// What the sweeps see: their steps are blocks of rounds.
    struct Sweep {
        GroupGradient& group;
        const Problem<Spec>& problem;
        Sight& sight;
        AtHand& at_hand;
        SeenPart<StepLog<Spec, Team>> log;
        SeenPart<GroupCheckpoints<Spec, Team>> checkpoints;

        [[nodiscard]] EDDY_HD bool goes_on(const Loop&, std::int64_t) const {
            return group.back_.forward.is_running(sight);
        }
        EDDY_HD void advance(Loop& x, std::int64_t step) const {
            group.advance(x, step, problem, sight, log);
        }
        [[nodiscard]] EDDY_HD bool keeps_going() const {
            if (Team::calls_between_polls > 1) {
                if (--at_hand.calls_to_poll > 0) [[likely]]
                    return true;
                at_hand.calls_to_poll = Team::calls_between_polls;
                return group.team_->attend();
            } else {
                return !group.team_->is_cancelled();
            }
        }
        EDDY_HD void again(Loop& x, std::int64_t step) const { group.take_again(x, step); }
        EDDY_HD void recycle(const Loop&) const {}
        EDDY_HD void pull(const Loop& x, std::int64_t step, Cotangents& cotangents) const {
            if constexpr (reads_sizes) {
                group.seek(step);
                if (at_hand.step != step) [[unlikely]] {
                    off_the_hot_path(
                        [&group = group, step](Sizes& used, const Loop& at) {
                            used.chain[0] = group.used_at(at, step, 0);
                        },
                        at_hand.used, x);
                }
                group.pull_round(x, step, cotangents, at_hand.used);
            } else {
                group.pull(x, step, cotangents);
            }
        }
        EDDY_HD void write(std::int64_t slot, std::int64_t step, const Loop& x) const {
            checkpoints.write(*group.team_, slot, group.blocks_.first(step), x);
        }
        [[nodiscard]] EDDY_HD Loop read(const Entry& entry) const {
            if constexpr (reads_sizes) {
                at_hand.step = entry.step < log.rounds() ? entry.step : -1;
                if (at_hand.step >= 0) [[likely]]
                    at_hand.used.chain[0] = log.read(*group.team_, entry.step, 0, 1);
            }
            return group.read(checkpoints, entry.slot, group.blocks_.first(entry.step));
        }
        EDDY_INLINE EDDY_HD void will_read(const Entry& entry) const {
            if (Team::may_fetch_ahead) group.fetch_ahead(entry);
        }
        EDDY_HD void discard(std::int64_t) const {}
    };

    /// False where the call was cancelled before all gradients were handed out.
    [[nodiscard]] EDDY_HD bool run_wave(const Problem<Spec>& problem) {
        counters_ = {};
        blocks_.restart();
        Loop x = back_.forward.begin(memory_.plan.refill);
        num_chains_ = x.count();
        Sight sight;
        back_.forward.renew(sight);
        AtHand at_hand;
        Sweep sweep{*this, problem, sight, at_hand, memory_.log, memory_.checkpoints};
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

    EDDY_HD void advance(Loop& x, std::int64_t step, const Problem<Spec>& problem, Sight& sight,
                         const StepLog<Spec, Team>& log) {
        if constexpr (!may_be_calm) {
            advance_round(x, step, problem, sight, log);
        } else {
            const std::int64_t first = blocks_.first(step), end = blocks_.first(step + 1);
            if (end > first + 1 && advance_block(x, first, static_cast<int>(end - first)))
                return blocks_.reach(end);
            for (std::int64_t round = first;
                 round < end && (round == first || back_.forward.is_running()); ++round) {
                advance_round(x, round, problem, sight, log);
                blocks_.reach(round + 1);
            }
        }
    }
    /// All rounds of a block at once; false where they have to be taken one by one.
    [[nodiscard]] EDDY_HD bool advance_block(Loop& x, std::int64_t first, int rounds) {
        const int count = x.count();
        const std::int64_t per_round = std::int64_t{count} * Spec::normals_per_step;
        if (!back_.forward.advance_block(x, first, rounds, normals_of(first, count), per_round))
            return false;
        if (!StepLog<Spec, Team>::keeps_sizes) return true;
        PerChain<Used, Team::num_chains> used(count);
        for (int chain = 0; chain < count; ++chain)
            used.chain[chain] = typename Spec::Time(back_.forward.problem().clock.dt0);
        for (int i = 0; i < rounds; ++i) memory_.log.write(*team_, first + i, used);
        return true;
    }
    EDDY_HD void advance_round(Loop& x, std::int64_t round, const Problem<Spec>& problem,
                               Sight& sight, const StepLog<Spec, Team>& log) {
        const bool is_logged = round < log.rounds();
        if (!is_logged && round == log.rounds()) log.keep_end(*team_, x);
        PerChain<Used, Team::num_chains> used(x.count());
        back_.forward.advance(x, {round, normals_of(round, x.count()), problem}, used, sight);
        if (is_logged) log.write(*team_, round, used);
    }

    EDDY_HD void take_again(Loop& x, std::int64_t step) {
        if constexpr (!may_be_calm) {
            take_round_again(x, step);
        } else {
            const std::int64_t first = blocks_.first(step);
            for (int i = 0; i < blocks_.count(step); ++i) take_round_again(x, first + i);
        }
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
        Sizes used(num_chains());
        for (int chain = 0; chain < num_chains(); ++chain)
            used.chain[chain] = used_at(x, round, chain);
        pull_round(x, round, cotangents, used);
    }
    /// Pulls a round back by steps of these sizes; the places are as they were.
    EDDY_INLINE EDDY_HD void pull_round(const Loop& x, std::int64_t round, Cotangents& cotangents,
                                        const Sizes& used) {
        constexpr bool abreast = are_abreast<Team, Linearization>;
        typename Back::Pulled pulled[Team::num_chains];
        Linearization of_steps[abreast ? Team::num_chains : 1];
        const auto pull_chain = [&](int chain, const Linearization& of_step) EDDY_INLINE {
            back_.pull_chain(x.chain[chain], chain, of_step, pulled[chain],
                             cotangents.chain[chain]);
        };
        for (int chain = 0; chain < num_chains(); ++chain) {
            begin_pull(pulled[chain], used.chain[chain], normals_of(round, num_chains()));
            pulled[chain].by = tangents_of_sizes<Spec>(back_.forward.steps(chain), x.chain[chain],
                                                       used.chain[chain]);
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
            pass_changes(x, round, cotangents);
        if constexpr (may_be_calm)
            off_the_hot_path([this, round](const Loop& at) { find_calm(at, round); }, x);
    }

    /// On a host number by number: a copy of the whole would be read before its parts are written, and
    /// waited for. On a device a copy keeps fewer registers.
    EDDY_INLINE EDDY_HD static void begin_pull(typename Back::Pulled& pulled, const Used& used,
                                               const NormalsOfRound<Spec>& normals) {
        if constexpr (compiling_for_device) {
            pulled = {size_in(used), normals};
        } else {
            pulled.used = size_in(used);
            pulled.normals = normals;
        }
        pulled.event = event_in(used);
    }

    // Calm rounds, which are pulled back without asking round by round.

    /// Is this round in one? Then all that are before it are, back to a change of places or a save point.
    EDDY_HD void find_calm(const Loop& x, std::int64_t round) {
        bool is_calm = round < memory_.log.rounds() && back_.forward.problem().takes_whole_cells();
        std::int64_t from = back_.forward.assignment.first_round_at_cursor();
        for (int chain = 0; chain < num_chains(); ++chain) {
            const double dt0 = back_.forward.problem().times.dt0;
            const ChainState<Spec>& at = x.chain[chain];
            is_calm =
                is_calm && back_.lanes(chain).is_calm(at, back_.forward.steps(chain).tstop, dt0);
            // Rounds since the last save point that has not been passed, or fewer.
            from = max(from, round - back_.lanes(chain).rounds_since_save(at, dt0));
        }
        is_calm = !team_->any(!is_calm);
        blocks_.set_calm(team_->max(from), is_calm ? round : 0);
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
        for (int left = count; left > 0;) {
            const int calm = blocks_.first_calm(first);
            const bool is_calm = calm < left && blocks_.are_calm(first + calm, left - calm);
            const int from = is_calm ? calm : left - 1;
            Loop at = x;
            for (int i = 0; i < from; ++i) take_round_again(at, first + i);
            if (is_calm)
                pull_calm(at, first + from, left - from, cotangents);
            else
                pull_round(at, first + from, cotangents);
            left = from;
        }
    }
    /// The adjoint of a lane's start reads x only where that was solved for; else x stays in registers.
    EDDY_INLINE EDDY_HD void pass_changes([[maybe_unused]] const Loop& x, std::int64_t round,
                                          Cotangents& cotangents) {
        if constexpr (LaneStart<Spec>::is_solved_for) {
            off_the_hot_path(
                [this, round](Cotangents& at_start, const Loop& at) {
                    pass_changes_before(at_start, round, [&](int chain, int place) {
                        return state_of<Spec>(at.chain[chain].y, place);
                    });
                },
                cotangents, x);
        } else {
            off_the_hot_path(
                [this, round](Cotangents& at_start) {
                    pass_changes_before(at_start, round, nullptr);
                },
                cotangents);
        }
    }
    /// What changed in the places before a round. `state(chain, place)` is that at the round.
    template <class StateAt>
    EDDY_HD void pass_changes_before(Cotangents& cotangents, std::int64_t round,
                                     const StateAt& state) {
        back_.forward.assignment.visit_before_cursor(round - 1, [&](const LaneChange& change) {
            if (with_times) back_.add_time_of_start(change);
            if (change.assigns_a_lane()) {
                const int chain = chain_index<Team>(change.chain);
                back_.hand_out(cotangents.chain[chain], chain, change, state);
            } else if (change.to.lane != no_lane && has_impulses()) {
                pull_impulses(cotangents, change);
            }
            if constexpr (Spec::input_room > 0) hand_out_inputs(change);
        });
    }
    /// A lane goes on behind the impulses at its tstop.
    EDDY_HD void pull_impulses(Cotangents& cotangents, const LaneChange& change) {
        const int chain = chain_index<Team>(change.chain), place = place_index<Spec>(change.place);
        if (!get_lane(back_.lanes(chain).alive, place)) return;
        auto of_lane = state_of<Spec>(cotangents.chain[chain], place);
        recorder_->pull_impulses(change.to.lane, change.from.tstop, of_lane);
        load_state(cotangents.chain[chain], place, of_lane);
    }
    [[nodiscard]] EDDY_HD bool has_impulses() const {
        return back_.forward.problem().times.num_impulses > 0;
    }
    /// The steps that head for a tstop have all been pulled back: what their inputs have got.
    EDDY_HD void hand_out_inputs(const LaneChange& change) {
        const int chain = chain_index<Team>(change.chain), place = place_index<Spec>(change.place);
        const auto of_inputs = take_input_sums<Spec>(back_.sums(chain), place);
        if (change.to.lane != no_lane && get_lane(back_.lanes(chain).alive, place))
            recorder_->add_inputs(change.to.lane, change.to.tstop, of_inputs);
    }
    /// What all members have brought to shared parameters.
    EDDY_HD void add_up() {
        if (!Spec::sums_by_lane) {
            for (int i = 0; i < Team::num_chains * Team::num_members; ++i)
                recorder_->add_sums(memory_.sums[i]);
        }
        recorder_->finish();
    }

    Recorder* recorder_;
    Stores* stores_;
    LoopCounters counters_;  // of the wave, in steps of the sweeps
};

}  // namespace eddy::inline v0::detail
