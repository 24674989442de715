#pragma once
// The way back of a group's rounds, seen by one member: the adjoint of a step for the lanes that made
// it, the cotangents of save points as rounds pass them, and the gradient of a lane at the round where
// it began. What a lane that failed or did not move would bring is left out by masks.
// Test: tests/solve/oracle_gradients.cpp, tests/solve/warps.cpp

#include <eddy/solve/group/calm_rounds.hpp>
#include <eddy/solve/group/gradient_watch.hpp>
#include <eddy/solve/group/group_forward.hpp>
#include <eddy/solve/group/passed_pull.hpp>
#include <eddy/solve/group/time_cotangents.hpp>
#include <eddy/solve/lane/event_adjoint.hpp>

namespace eddy::inline v0::detail {

/// `Recorder` gives the cotangents of save points and takes the gradients: see lane/gradient_recorder.hpp.
template <class Spec, class Team, class Recorder, bool with_times>
class GroupAdjoint {
    using Number = typename Spec::Number;
    using Primal = typename Spec::Primal;
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    using LaneState = typename Spec::LaneState;
    using Stepper = typename Spec::Stepper;
    using TimeMask = MaskOf<Time>;
    using Watch = GradientWatchFor<Spec, Team>;
    using Times = std::conditional_t<with_times, TimeCotangents<Number>, NoTimeCotangents>;
    using DenseCotangent = typename Stepper::template DenseCotangent<Number>;
    static constexpr int num_places = Spec::num_places;

  public:
    using Sums = Vec<Number, Spec::parameter_room>;
    template <bool dense>
    using Linearization = typename Stepper::template Linearization<Number, with_times, dense>;

    EDDY_HD GroupAdjoint(Team& team, const Problem<Spec>& problem, const ForwardMemory& memory,
                         const LaneAssignment& assignment, Recorder& recorder, Sums* sums,
                         GradientMark* marks = nullptr)
        : forward(team, problem, memory, assignment, recorder),
          recorder_(&recorder),
          sums_(sums),
          saves_left_(memory.num_saved),
          watch_(WatchMemory{memory.first_rounds, marks}) {}

    /// The way forward, a part of this and not referred to: an object that holds its own address cannot live in registers.
    GroupForward<Spec, Team, Recorder> forward;

    /// Forgets the sums of the parameters.
    EDDY_HD void clear_sums() {
        for (int chain = 0; chain < Team::num_chains; ++chain) sums_[chain] = Sums{};
    }
    /// Begins at the end of a run, with the occupants that it left.
    EDDY_HD void begin(int num_chains) {
        for (int chain = 0; chain < num_chains; ++chain) {
            chains_[chain] = {};
            for (int place = 0; place < num_places; ++place)
                set_occupant(chain, place, forward.last_occupant(chain, place));
        }
    }

    [[nodiscard]] EDDY_HD const auto& occupants(int chain) const {
        return chains_[chain].occupants;
    }
    /// A place has another lane or heads for another tstop.
    EDDY_HD void set_occupant(int chain, int place, const Occupant& occupant) {
        ChainBack<Spec>& lanes = chains_[chain];
        lanes.occupants[place] = occupant;
        watch_.set_occupant(chain, place);
        auto& steps = forward.steps(chain);
        const bool has_lane = occupant.lane != no_lane;
        const bool alive = has_lane && !is_failure(forward.outcomes()[occupant.lane].result);
        if (has_lane) steps.assign(place, of_launch(forward.team(), occupant.lane));
        steps.head_for(place, has_lane ? occupant.tstop : -1);
        set_lane(lanes.alive, place, alive);
        set_lane(lanes.pending, place, alive ? pending_of(chain, place, occupant.lane) : -1.);
    }
    [[nodiscard]] EDDY_HD double pending_of(int chain, int place, std::int32_t lane) const {
        const std::int32_t left = saves_left_[lane];
        return left > 0 ? forward.steps(chain).times_of(place).saves[left - 1] : -1;
    }

    /// What a chain brings to a round's adjoint.
    struct Pulled {
        Time used;  // sizes of its steps
        [[no_unique_address]] NormalsOfRound<Spec> normals{};
        [[no_unique_address]] KeptIf<Spec::has_several_events, Time> event{};
        [[no_unique_address]] ClockTangent<Spec> by{};
        Times times = Times::zero();
        bool is_done = false;
    };

    // The adjoint of a round, in three parts: each first of all chains.
    /// Adds what the lanes' save points in the round bring to the cotangent of its end. If some are
    /// within a step, all is done with this: the cotangent is then that of the round's start.
    EDDY_INLINE EDDY_HD void pass_saves(const ChainState<Spec>& x, int chain, Pulled& pulled,
                                        State& cotangent) {
        const ChainBack<Spec>& lanes = chains_[chain];
        const TimeMask moves = lanes.alive & (pulled.used != Time(0));
        TimeMask due = (lanes.pending > x.elapsed) & moves;
        const TimeMask meets = moves & (pulled.used < Time(0));
        if (Spec::has_event) {
            due = due | meets;
            pulled.used = abs(pulled.used);
        }
        if (!any(due)) [[likely]]
            return;
        Seeded seeded{meets, cotangent, pulled};
        take_seeds(x, chain, seeded);
        cotangent = seeded.cotangent;
        pulled = seeded.round;
    }
    EDDY_INLINE EDDY_HD void linearize(const ChainState<Spec>& x, int chain, const Pulled& pulled,
                                       Linearization<false>& of_step) {
        const auto use = [&](const auto& in)
                             EDDY_INLINE { Stepper::linearize(in, x.memory, of_step); };
        forward.steps(chain).with_logged_input(x, pulled.used, pulled.by, use,
                                               pulled.normals.of(chain));
    }
    /// The cotangent of the state before a round from that after it.
    EDDY_INLINE EDDY_HD void pull_chain(const ChainState<Spec>& x, int chain,
                                        const Linearization<false>& of_step, Pulled& pulled,
                                        State& cotangent) {
        if (!pulled.is_done) {
            forward.steps(chain).with_logged_input(
                x, pulled.used, pulled.by, [&](const auto& in) EDDY_INLINE {
                    pull_step(chain, pulled.used, cotangent, [&](auto& sums) EDDY_INLINE {
                        return Stepper::pull(in, of_step, cotangent, NoDenseCotangent{}, sums,
                                             pulled.times);
                    });
                });
        }
        if constexpr (with_times)
            add_times_of_step<Spec>(x, forward.steps(chain).tstop, pulled, chains_[chain],
                                    *recorder_);
    }

    [[nodiscard]] EDDY_HD const ChainBack<Spec>& lanes(int chain) const { return chains_[chain]; }
    /// What a chain brings to the adjoint of rounds that are calm, from x on.
    [[nodiscard]] EDDY_HD typename CalmRounds<Spec>::OfChain calm_chain(
        const ChainState<Spec>& x, int chain, const LoggedNormals<Spec>& normals,
        State& cotangent) {
        return {&forward.steps(chain), &x,         normals,
                chains_[chain].alive,  &cotangent, &sums_[chain]};
    }

    /// Looks at the cotangent of the state before a round, where a lane of the chain is due.
    EDDY_INLINE EDDY_HD void look(const ChainState<Spec>& x, int chain, const Time& used,
                                  const State& cotangent, std::int64_t round) {
        if (watch_.is_due(chain, round)) [[unlikely]]
            off_the_hot_path(
                [this, chain, used, round](const State& before, const ChainState<Spec>& from) {
                    look_at_chain(from, chain, used, before, round);
                },
                cotangent, x);
    }
    EDDY_HD void look_at_chain(const ChainState<Spec>& x, int chain, const Time& used,
                               const State& cotangent, std::int64_t round) {
        const ChainBack<Spec>& lanes = chains_[chain];
        forward.steps(chain).with_input(x, used, [&](const auto& in) {
            watch_.look(in, cotangent, lanes.occupants, forward.outcomes(),
                        lanes.alive & (used != Time(0)), chain, round,
                        forward.steps(chain).time_at(x.elapsed));
        });
    }

    /// Steps head for another tstop from here on: what they bring by shifting belongs to the one before.
    EDDY_HD void add_time_of_start(const LaneChange& change) {
        const int chain = chain_index<Team>(change.chain), place = place_index<Spec>(change.place);
        if (change.to.lane == no_lane) return;
        Number& sum = chains_[chain].t_cotangent;
        if (get_lane(chains_[chain].alive, place))
            recorder_->add_tstop(change.to.lane, change.to.tstop, get_lane(sum, place));
        set_lane(sum, place, typename Spec::Lane(0));
    }

    /// Since `begin`.
    [[nodiscard]] EDDY_HD bool has_handed_out(std::int32_t lane) const {
        return saves_left_[lane] == handed_out;
    }
    /// A lane began here, at y0(chain, place): what its place holds is its gradient.
    EDDY_HD void hand_out(State& cotangent, int chain, const LaneChange& change, auto y0) {
        const int place = place_index<Spec>(change.place);
        const std::int32_t lane = change.to.lane;
        const bool alive = get_lane(chains_[chain].alive, place);
        LaneState y_cotangent = state_of<Spec>(cotangent, place);
        load_state(cotangent, place, LaneState{});
        if (alive) pull_to_start(chain, place, lane, y_cotangent);
        if (alive) add_y0(chain, place, lane, y0, y_cotangent);
        if (Spec::sums_by_lane) {
            Vec<typename Spec::Lane, Spec::parameter_room> of_lane{};
            for (int i = 0; i < Spec::parameter_size; ++i) {
                of_lane[i] = get_lane(sums_[chain][i], place);
                set_lane(sums_[chain][i], place, typename Spec::Lane(0));
            }
            if (alive) recorder_->add_p(lane, of_lane);
        }
        saves_left_[lane] = handed_out;
    }

    /// (chain) What the parameters have got, and the inputs behind them.
    [[nodiscard]] EDDY_HD Sums& sums(int chain) { return sums_[chain]; }

  private:
    static constexpr std::int32_t handed_out = -1;
    /// What the save points of a round change.
    struct Seeded {
        [[no_unique_address]] KeptIf<Spec::has_event, TimeMask> meets;  // events at their ends
        State cotangent;
        Pulled round;
    };
    [[nodiscard]] EDDY_HD const SharedTimes& times() const { return forward.problem().times; }

    /// From the cotangent of the state in which a lane begins to that of the one given: save points and impulses at the start.
    EDDY_HD void pull_to_start(int chain, int place, std::int32_t lane, LaneState& cotangent) {
        const auto take_saves = [&] {
            while (saves_left_[lane] > 0) {
                State seed{};
                const std::int32_t k = take_save(chain, place, seed);
                cotangent = cotangent + state_of<Spec>(seed, place);
                if constexpr (with_times)
                    recorder_->add_start_save(lane, k, state_of<Spec>(seed, place));
            }
        };
        if (!times().saves_before_impulses) take_saves();
        if (times().num_impulses > 0)
            recorder_->template pull_impulses_at_start<with_times>(lane, cotangent);
        take_saves();
    }
    /// Hands out the gradient with respect to y0, back through what made the start of the lane consistent.
    EDDY_HD void add_y0(int chain, int place, std::int32_t lane, auto y0, LaneState& cotangent) {
        if constexpr (LaneStart<Spec>::is_solved_for) {
            const auto of_t0 = LaneStart<Spec>::template pull<with_times>(
                forward.problem(), of_launch(forward.team(), lane), y0(chain, place), cotangent,
                PlaceSums<Number, Spec::parameter_room>{sums_[chain], place});
            if (with_times) recorder_->add_tstop(lane, 0, of_t0);
        }
        recorder_->add_y0(lane, cotangent);
    }

    /// The step's adjoint, for the lanes that moved.
    template <class Adjoint>
    EDDY_INLINE EDDY_HD void pull_step(int chain, const Time& used, State& cotangent,
                                       Adjoint adjoint) {
        const Time moved = select(chains_[chain].alive, used, Time(0));
        const auto moves = convert<Primal>(moved) != Primal(0);
        if constexpr (Spec::passes_knots)
            PassedPull<Spec, Recorder>{chains_[chain].occupants, forward.steps(chain), *recorder_}
                .run(moves, cotangent, sums_[chain], adjoint);
        else
            pull_masked<Spec>(moves, cotangent, sums_[chain], adjoint);
    }

    /// A round with save points of some lane. Each part is out of line by itself: none keeps in registers what another computes.
    EDDY_INLINE EDDY_HD void take_seeds(const ChainState<Spec>& x, int chain, Seeded& seeded) {
        DenseCotangent dense{};
        off_the_hot_path(
            [this, chain, &dense](Seeded& at, const ChainState<Spec>& from) {
                with_moved_input<Spec>(forward.steps(chain), from, at.round.used, at.round.by,
                                       [&](const auto& in) {
                                           collect_seeds(in, from, chain, at, dense);
                                           if constexpr (Spec::has_jump)
                                               EventAdjoint<Spec>::pull_jumps(
                                                   in, met(from, at), cotangents(chain, at));
                                       });
            },
            seeded, x);
        if (!seeded.round.is_done) return;
        Linearization<true> of_step;
        off_the_hot_path(
            [this, chain, &of_step](const Seeded& at, const ChainState<Spec>& from) {
                with_moved_input<Spec>(
                    forward.steps(chain), from, at.round.used, at.round.by,
                    [&](const auto& in) { Stepper::linearize(in, from.memory, of_step); });
            },
            seeded, x);
        off_the_hot_path(
            [this, chain, &dense, &of_step](Seeded& at, const ChainState<Spec>& from) {
                with_moved_input<Spec>(
                    forward.steps(chain), from, at.round.used, at.round.by, [&](const auto& in) {
                        if constexpr (Spec::has_event)
                            EventAdjoint<Spec>::clear_sizes(in, of_step, dense, met(from, at),
                                                            at.round.times, cotangents(chain, at));
                        pull_step(chain, at.round.used, at.cotangent, [&](auto& sums) {
                            return Stepper::pull(in, of_step, at.cotangent, dense, sums,
                                                 at.round.times);
                        });
                    });
            },
            seeded, x);
    }

    [[nodiscard]] EDDY_HD static auto met(const ChainState<Spec>& x, const Seeded& seeded) {
        return typename EventAdjoint<Spec>::Met{seeded.meets, seeded.round.event, x.memory};
    }
    [[nodiscard]] EDDY_HD auto cotangents(int chain, Seeded& seeded) {
        return typename EventAdjoint<Spec>::Cotangents{seeded.cotangent, sums_[chain],
                                                       chains_[chain].t_cotangent};
    }
    /// The end of a lane, where it is the only save point, is that of the round that met an event.
    EDDY_HD void take_ends(const ChainState<Spec>& x, const Time& end, int chain, Seeded& seeded) {
        ChainBack<Spec>& lanes = chains_[chain];
        seeded.round.is_done = any(seeded.meets);
        for (int place = 0; place < num_places; ++place) {
            if (!get_lane(seeded.meets, place)) continue;
            const double pending = get_lane(lanes.pending, place), here = get_lane(end, place);
            const bool is_there = pending == here && times().saves_the_end &&
                                  ends_lane<Spec>(seeded.meets, seeded.round.event, place);
            if (!(pending > here || is_there)) continue;
            const std::int32_t lane = lanes.occupants[place].lane, k = --saves_left_[lane];
            typename Spec::Lane of_t(0);
            const LaneState of_lane = recorder_->pull_save(
                lane, k,
                time_after(x, seeded.round.by, forward.steps(chain).time_of(end, place), place),
                add_to_p(chain, place), of_t);
            add_state(seeded.cotangent, place, of_lane);
            set_lane(lanes.t_cotangent, place, get_lane(lanes.t_cotangent, place) + of_t);
            set_lane(lanes.pending, place, pending_of(chain, place, lane));
        }
    }

    /// Takes the save points of this round, last ones first: at its end for the cotangent there, inside for the step's dense output.
    template <class Input>
    EDDY_HD void collect_seeds(const Input& in, const ChainState<Spec>& x, int chain,
                               Seeded& seeded, DenseCotangent& dense) {
        ChainBack<Spec>& lanes = chains_[chain];
        const Time used = seeded.round.used;
        const Time end = forward.steps(chain).elapsed_after(x.elapsed, used);
        if constexpr (Spec::has_event) take_ends(x, end, chain, seeded);
        const TimeMask moves = used != Time(0);
        for (;;) {
            const TimeMask due = (lanes.pending > x.elapsed) & lanes.alive & moves;
            if (!any(due)) return;
            Time theta(0);
            State seed{};  // of one save point of each place
            bool inside[num_places] = {};
            std::int32_t taken[num_places];
            for (int place = 0; place < num_places; ++place) {
                taken[place] = -1;
                if (!get_lane(due, place)) continue;
                const double at = get_lane(lanes.pending, place);
                inside[place] = at != get_lane(end, place) ||
                                ends_lane<Spec>(seeded.meets, seeded.round.event, place);
                const double passed = at - get_lane(x.elapsed, place);
                set_lane(theta, place, inside[place] ? passed / get_lane(used, place) : 1.);
                taken[place] = take_save(chain, place, seed);
            }
            const auto fraction = moving_fraction<Spec>(in, convert<Primal>(theta));
            if constexpr (with_times)
                add_times_of_saves<Spec>(in, forward.steps(chain), fraction, seed, taken, inside,
                                         lanes, *recorder_, seeded.round.times);
            for (int place = 0; place < num_places; ++place) {
                seeded.round.is_done = seeded.round.is_done || inside[place];
                if (inside[place] || taken[place] < 0) continue;
                LaneState of_lane = state_of<Spec>(seed, place);
                if (times().num_impulses > 0)
                    recorder_->pull_save_to_step(lanes.occupants[place], taken[place], of_lane);
                add_state(seeded.cotangent, place, of_lane);
                load_state(seed, place, LaneState{});
            }
            Stepper::pull_interpolant(in, fraction, seed, dense);
        }
    }

    /// Adds to the cotangents of a place's parameters; sums that belong to no lane stay in the places.
    [[nodiscard]] EDDY_HD auto add_to_p(int chain, int place) {
        return [this, chain, place](int i, const typename Spec::Lane& value) {
            if (Spec::sums_by_lane) {
                recorder_->add_p(chains_[chain].occupants[place].lane, i, value);
            } else {
                Number& sum = sums_[chain][i];
                set_lane(sum, place, get_lane(sum, place) + value);
            }
        };
    }
    /// Puts the cotangent of a lane's last save point not yet passed into its place of `seed`; passes the point, and returns its number.
    EDDY_HD std::int32_t take_save(int chain, int place, State& seed) {
        const std::int32_t lane = chains_[chain].occupants[place].lane;
        const std::int32_t k = --saves_left_[lane];
        load_state(seed, place, recorder_->pull_save(lane, k, add_to_p(chain, place)));
        set_lane(chains_[chain].pending, place, pending_of(chain, place, lane));
        return k;
    }

    Recorder* recorder_;
    Sums* sums_;                // (chain) cotangents of the parameters
    std::int32_t* saves_left_;  // (lane) save points not yet passed; or handed_out
    [[no_unique_address]] Watch watch_;
    ChainBack<Spec> chains_[Team::num_chains];
};

}  // namespace eddy::inline v0::detail
