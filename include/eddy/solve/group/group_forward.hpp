#pragma once
// A group of lanes on its way forward, seen by one member of its team: a few chains of places, taken in turn. A round
// is one attempt of all places (attempt.hpp). What is rare (a save point, a tstop, the end, a failure) is found by one
// comparison a round and done off the hot path. Invariant: nothing that a lane computes depends on its neighbours.
// Test: tests/solve/oracle.cpp, tests/solve/warps.cpp

#include <eddy/solve/group/cancel_guest.hpp>
#include <eddy/solve/group/carried_saves.hpp>
#include <eddy/solve/group/constant_rounds.hpp>
#include <eddy/solve/group/event_guest.hpp>
#include <eddy/solve/group/prescribed_sizes.hpp>
#include <eddy/solve/group/round_sight.hpp>
#include <eddy/solve/group/round_steps.hpp>
#include <eddy/solve/group/stiffness_looks.hpp>
#include <eddy/solve/group/tangent_watch.hpp>

namespace eddy::inline v0::detail {

/// The guests of a group's rounds, in the order in which they are asked. One that ends a lane at a save point comes before
/// the events, which say nothing about a lane that has ended.
template <class Spec, class Team, class Recorder>
using GuestsOf =
    GuestsAmong<PrescribedSizesFor<Spec, Team, Recorder>, TangentWatchFor<Spec, Team, Recorder>,
                typename SavesFor<Spec, Team, Recorder>::type, CancelGuest,
                std::conditional_t<Spec::has_event, EventGuest<Spec>, NoGuest<3>>,
                StiffnessLooksFor<Spec, Team, Recorder>>;

/// `Recorder` is told of save points: see group/save_points.hpp.
template <class Spec, class Team, class Recorder>
class GroupForward {
    using Time = typename Spec::Time;
    using State = typename Spec::State;
    using Rounds = ConstantRounds<Spec>;
    static constexpr int num_places = Spec::num_places;
    static constexpr int num_chains = Team::num_chains;
    static constexpr bool is_adaptive = Spec::is_adaptive;
    using Guests = GuestsOf<Spec, Team, Recorder>;
    using Changes = PlaceChanges<Spec>;
    using Sizes = PerChain<typename Spec::Used, num_chains>;  // of a round's steps

  public:
    using Loop = LoopState<Spec, Team>;
    using Round = ForwardRound<Spec>;
    using Sight = RoundSight<Spec, keeps_sight<Spec, Team>>;

    /// The lanes of the team's group; their first sizes have been chosen.
    EDDY_HD GroupForward(Team& team, const Problem<Spec>& problem, const ForwardMemory& memory,
                         const LaneAssignment& assignments, Recorder& recorder)
        : assignment(assignments), team_(&team), problem_(&problem), memory_(memory) {
        guests_.begin(recorder, problem, memory.num_saved);
    }

    /// Assigns waiting lanes to all places, before round 0. A lane that ends makes room for another
    /// so long as the longest lane so far would still end within the limits.
    [[nodiscard]] EDDY_HD Loop begin(const RefillLimits& limits) {
        constexpr int of_chain = num_places * Team::num_members;
        const int waiting = team_->num_lanes() - team_->num_taken();
        Loop x(min(num_chains, (waiting + of_chain - 1) / of_chain));
        limits_ = limits;
        longest_ = num_ended_ = total_attempts_ = 0;
        assignment.clear();
        num_occupied_ = 0;
        for (int chain = 0; chain < x.count(); ++chain) {
            chains_[chain].begin(*problem_);
            x.chain[chain] = {{}, {}, {}, Time(0), Time(1), {}};
            Changes changes;
            for (int place = 0; place < num_places; ++place) {
                const std::int32_t lane = team_->take_lane(true);
                if (lane != no_lane) assign(x, chain, place, -1, lane, changes);
                num_occupied_ += static_cast<int>(team_->sum(lane != no_lane ? 1 : 0));
            }
            renew_places(x, chain, changes);
            plan_ahead(x, chain, -1);
        }
        return x;
    }

    /// One round. `used` receives the size of each place's accepted step; zero where none was. An empty place may seem to move.
    EDDY_INLINE EDDY_HD void advance(Loop& x, const Round& round, Sizes& used, Sight& sight) {
        if constexpr (Spec::has_constant_size)
            if (Rounds::take_round(*team_, chains_, x, round, used)) return;
        const auto care = [&](Loop& at) { advance_with_care(at, round, used, sight); };
        // Where such a round is rare it would be in the way of the registers of a host's hot path.
        if (Spec::has_constant_size && !compiling_for_device)
            run_out_of_line(care, x);
        else
            care(x);
    }
    /// What rounds see of the group: anew, where they have changed.
    EDDY_HD void renew(Sight& sight) const { sight.renew(chains_[0], is_running()); }
    /// Is a lane of the team running? As the other `is_running`, for a caller that has a sight.
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_running(const Sight& sight) const {
        return sight.is_running(is_running());
    }

    /// Takes `count` rounds at once, if all chains are far from any landing and stay finite. With noise these
    /// are the rounds drawn at a time: `normals` receives those of the first, and of each further one so many
    /// numbers behind.
    [[nodiscard]] EDDY_HD bool advance_block(Loop& x, std::int64_t round, int count,
                                             [[maybe_unused]] const NormalsOfRound<Spec>& normals,
                                             [[maybe_unused]] std::int64_t per_round) {
        for (int chain = 0; chain < x.count(); ++chain) {
            if (round + count > chains_[chain].constant_until) return false;
        }
        if constexpr (Spec::normals_per_step > 0)
            return Rounds::take_block(chains_, x, normals, per_round, problem_->noise);
        else
            return Rounds::take_if_finite(*team_, chains_, x, count, *problem_);
    }

    /// All rounds until no lane is left, for callers that need none of them again. `problem` is that of the
    /// constructor: the caller knows where it lies.
    EDDY_HD void run(Loop& x, const Problem<Spec>& problem) {
        std::int64_t round = 0;
        Sight sight;
        renew(sight);
        while (is_running(sight)) {
            if constexpr (Spec::has_constant_size) {
                const std::int64_t count = Rounds::take_stretch(*team_, chains_, x, round, problem);
                round += count;
                if (count > 0) continue;
            }
            Sizes used(x.count());
            RoundSteps<Spec, num_chains, saves_nothing<Recorder>> steps;
            steps.keep(x, chains_);
            advance(x, {round++, {}, problem}, used, sight);
            steps.tell(x.count(), used, guests_);
        }
    }

    /// What a change does to the state of its place.
    EDDY_HD void enter(ChainState<Spec>& x, int place, const LaneChange& change) const {
        if (change.to.lane == no_lane || change.assigns_a_lane())
            settle(x, place, change.to.lane);
        else
            meet_impulses(x, place, change);
    }
    [[nodiscard]] EDDY_HD Occupant last_occupant(int chain, int place) const {
        return chains_[chain].occupants[place];
    }
    [[nodiscard]] EDDY_HD ChainStepper<Spec>& steps(int chain) { return chains_[chain].steps; }
    [[nodiscard]] EDDY_HD const ChainStepper<Spec>& steps(int chain) const {
        return chains_[chain].steps;
    }
    /// Are there lanes that have not been assigned?
    [[nodiscard]] EDDY_HD bool has_waiting_lanes() const {
        return team_->num_taken() < team_->num_lanes();
    }
    /// Has any place of the team a lane that has not ended?
    [[nodiscard]] EDDY_HD bool is_running() const { return num_occupied_ > 0; }
    [[nodiscard]] EDDY_HD Team& team() const { return *team_; }
    [[nodiscard]] EDDY_HD const Problem<Spec>& problem() const { return *problem_; }
    [[nodiscard]] EDDY_HD const LaneOutcome* outcomes() const { return memory_.outcomes; }
    LaneAssignment assignment;

  private:
    /// Takes a round, whatever happens in it.
    EDDY_INLINE EDDY_HD void advance_with_care(Loop& x, const Round& round, Sizes& used,
                                               Sight& sight) {
        for (int chain = 0; chain < x.count(); ++chain)
            Rounds::draw_alone(chains_[chain], x.chain[chain].elapsed, round.normals.of(chain),
                               *problem_);
        Attempt<Spec> attempts[num_chains];
        for (int number = 0; number < x.count(); ++number) {
            Guests::prepare(round.problem, *team_, chains_[number].occupants, x.chain[number]);
            steps_for(sight.seen(chains_[number]).steps, round.problem)
                .compute(x.chain[number], attempts[number]);
        }
        for (int number = 0; number < x.count(); ++number) {
            judge(x, number, attempts[number], round, sight);
            used.chain[number] = used_by(attempts[number]);
        }
    }
    EDDY_INLINE EDDY_HD void judge(Loop& x, int number, Attempt<Spec>& attempt, const Round& round,
                                   Sight& sight) {
        Chain<Spec>& chain = sight.seen(chains_[number]);
        const AfterAttempt<Spec> after =
            steps_for(chain.steps, round.problem).judge(x.chain[number], attempt);
        if (!happens(chain, attempt, after, round.number)) [[likely]]
            return chain.steps.move_on(x.chain[number], attempt, after);
        sight.hand_counts(chains_[0]);
        meet(x, number, attempt, after, round.number);
        renew(sight);
    }
    /// Counts a round, and asks whether it is more than a step in some place of the team.
    [[nodiscard]] EDDY_INLINE EDDY_HD bool happens(Chain<Spec>& chain, const Attempt<Spec>& attempt,
                                                   const AfterAttempt<Spec>& after,
                                                   std::int64_t round) {
        if (is_adaptive || Spec::has_event) {
            const auto tried = attempt.size > Time(0), stayed = attempt.used == Time(0);
            chain.rejected = chain.rejected + select(tried & stayed, Time(1), Time(0));
        }
        chain.count_iterations(attempt);
        const bool is_seen = Guests::sees(*problem_, chain, attempt);
        return team_->any(any((after.elapsed >= chain.landing) | attempt.stalled) || is_seen) ||
               round >= chain.next_check;
    }
    /// Moves the chain to where the attempt leads, and sees to what happens.
    EDDY_INLINE EDDY_HD void meet(Loop& x, int number, const Attempt<Spec>& attempt,
                                  const AfterAttempt<Spec>& after, std::int64_t round) {
        off_the_hot_path(
            [this, number, round](Loop& at, const Attempt<Spec>& tried,
                                  const AfterAttempt<Spec>& leads_to) {
                const bool is_seen = Guests::sees(*problem_, chains_[number], tried);
                const bool is_over = guests_.any([&](auto& guest) EDDY_INLINE {
                    return guest.is_all(view(number, round),
                                        JudgedAttempt<Spec>{at.chain[number], tried, leads_to},
                                        is_seen);
                });
                const ChainState<Spec> before = at.chain[number];
                ChainStepper<Spec>::move_on(at.chain[number], tried, leads_to);
                if (!is_over) after_round(before, tried, at, number, round);
            },
            x, attempt, after);
    }

    [[nodiscard]] EDDY_HD GuestView<Spec, Team> view(int number, std::int64_t round) {
        return {*team_, *problem_, memory_, chains_[number], number, round};
    }

    /// Does all that is rare: whatever happened to any lane of a chain in this round.
    EDDY_HD void after_round(const ChainState<Spec>& before, const Attempt<Spec>& attempt, Loop& x,
                             int number, std::int64_t round) {
        Chain<Spec>& chain = chains_[number];
        RoundMeaning<Spec> meaning;
        const RoundOfChain<Spec> of_chain{chain, before, attempt, x.chain[number]};
        const auto at = view(number, round);
        guests_.each([&](auto& guest) EDDY_INLINE { guest.mean(at, of_chain, meaning, guests_); });
        for (int place = 0; place < num_places; ++place) {
            const Occupant& occupant = chain.occupants[place];
            if (occupant.lane == no_lane) continue;
            const std::int64_t attempts = round - chain.first_round[place] + 1;
            RoundFacts facts{.save_is_broken = meaning.broken.is_broken[place],
                             .stalled = get_lane(attempt.stalled, place),
                             .lands = get_lane(x.chain[number].elapsed, place) ==
                                      get_lane(chain.steps.tstop, place),
                             .cancelled = meaning.cancelled,
                             .attempts = attempts};
            guests_.each([&](auto& guest) EDDY_INLINE { guest.judge(at, attempt, place, facts); });
            const Verdict verdict = verdict_of(chain.steps.times_of(place), occupant, facts);
            if (verdict.turn == Turn::goes_on) continue;
            if (verdict.turn == Turn::to_next_tstop) {
                change<false>(x, number, place, round, {occupant.lane, occupant.tstop + 1},
                              meaning.changes);
                continue;
            }
            LaneOutcome& outcome = memory_.outcomes[occupant.lane];
            outcome = outcome_at_end<Spec>(
                *problem_,
                {of_launch(*team_, occupant.lane), place, occupant.tstop, attempts, outcome},
                of_chain, verdict, meaning.broken);
            guests_.each([&](auto& guest) EDDY_INLINE { guest.leave(at, place, outcome); });
            team_->ended(outcome);
            meaning.changes.ends(place, attempts);
        }
        reassign(x, number, round, !meaning.cancelled, meaning.changes);
        renew_places(x, number, meaning.changes);
        plan_ahead(x, number, round);
    }

    /// Waiting lanes take the places whose lanes have ended, so long as there is room for them.
    EDDY_HD void reassign(Loop& x, int number, std::int64_t round, bool may_take,
                          Changes& changes) {
        const auto ended = static_cast<int>(team_->sum(changes.num_ended));
        if (ended == 0) return;
        num_occupied_ -= ended;
        num_ended_ += ended;
        total_attempts_ += team_->sum(changes.attempts);
        longest_ = max(longest_, team_->max(changes.longest));
        const bool takes = may_take && has_waiting_lanes() && refills(round);
        for (int place = 0; place < num_places; ++place) {
            const std::int32_t lane = team_->take_lane(takes && changes.is_free[place]);
            if (changes.is_free[place]) assign(x, number, place, round, lane, changes);
            num_occupied_ += static_cast<int>(team_->sum(lane != no_lane ? 1 : 0));
        }
    }
    /// Is there room for another lane after this round?
    [[nodiscard]] EDDY_HD bool refills(std::int64_t round) const {
        // A lane brings a change for each of its tstops, and one when it leaves.
        const std::int64_t changes_left = (problem_->times.num_tstops + 1) *
                                          (static_cast<std::int64_t>(num_places) * num_chains + 1);
        if (team_->any(!assignment.has_room(changes_left))) return false;
        std::int64_t longest = longest_;
        for (const Chain<Spec>& chain : chains_) {
            for (int place = 0; place < num_places; ++place) {
                if (chain.occupants[place].lane != no_lane)
                    longest = max(longest, round + 1 - chain.first_round[place]);
            }
        }
        longest = team_->max(longest);
        return round < limits_.until(longest, total_attempts_, num_ended_);
    }

    EDDY_HD void assign(Loop& x, int number, int place, std::int64_t round, std::int32_t lane,
                        Changes& changes) {
        if (lane != no_lane) {
            Chain<Spec>& chain = chains_[number];
            chain.first_round[place] = round + 1;
            if (memory_.first_rounds) memory_.first_rounds[lane] = round + 1;
            set_lane(chain.rejected, place, 0.);
            chain.forget_iterations(place);
            chain.steps.assign(place, of_launch(*team_, lane));
            const auto at = view(number, round);
            guests_.each([&](auto& guest) EDDY_INLINE { guest.enter(at, place, lane); });
        }
        change<true>(x, number, place, round, {lane, 0}, changes);
    }
    /// Another lane's place, or that of none; else its lane heads for another tstop.
    template <bool is_assigned>
    EDDY_HD void change(Loop& x, int number, int place, std::int64_t round, const Occupant& to,
                        Changes& changes) {
        Chain<Spec>& chain = chains_[number];
        const LaneChange change{round, number, place, chain.occupants[place], to};
        assignment.record(change);
        if (is_assigned)
            settle<LaneStart<Spec>::begins_together()>(x.chain[number], place, to.lane);
        else
            meet_impulses(x.chain[number], place, change);
        chain.occupants[place] = to;
        chain.steps.head_for(place, to.lane == no_lane ? -1 : to.tstop);
        set_lane(chain.occupied, place, to.lane != no_lane);
        changes.add(change, place);
    }
    /// The state of a place where a lane begins, or none is. `waits`: the lane has no start yet.
    template <bool waits = false>
    EDDY_HD void settle(ChainState<Spec>& x, int place, std::int32_t number) const {
        set_lane(x.elapsed, place, 0.);
        if (number == no_lane) {
            set_lane(x.size, place, 1.);
            Guests::clear(x, place);
            return;
        }
        const LaunchLane lane = of_launch(*team_, number);
        const typename Spec::LaneState y0 =
            waits ? problem_->load_y0(lane) : LaneStart<Spec>::state(*problem_, lane);
        load_state(x.y, place, y0);
        set_lane(x.size, place, first_size_from<Spec>(y0, memory_.first_sizes[number]));
        set_history(x.history, place, {});
        Guests::start(x, place, *problem_, lane, y0);
    }
    /// The lane of a place goes on behind the impulses at its tstop.
    EDDY_HD void meet_impulses(ChainState<Spec>& x, int place, const LaneChange& change) const {
        if (problem_->times.num_impulses == 0) return;
        const LaunchLane lane = of_launch(*team_, change.to.lane);
        const Row row = problem_->row_of(lane);
        const ImpulseRange here = problem_->times.tstop_of(row, change.from.tstop).impulses;
        if (here.is_empty()) return;
        auto y = state_of<Spec>(x.y, place);
        guests_.meet_impulses(problem_->times.impulses_of(row), here, change.to.lane, y);
        load_state(x.y, place, y);
        Guests::go_on(x, place, *problem_, lane, change.to.tstop);
    }
    /// Renews the starts of lanes that begin, and the stepper's memory where steps begin.
    EDDY_HD void renew_places(Loop& x, int number, const Changes& changes) const {
        begin_lanes(*problem_, changes, chains_[number], x.chain[number], memory_.outcomes);
        if (changes.any_changed)
            chains_[number].steps.renew_memory(x.chain[number], changes.changed);
    }

    /// Finds out when something happens next: in elapsed time of each place, and in rounds.
    EDDY_HD void plan_ahead(const Loop& x, int number, std::int64_t round) {
        const SharedTimes& times = problem_->times;
        Chain<Spec>& chain = chains_[number];
        constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
        const auto at = view(number, round);
        std::int64_t next_check = round + guests_.least(never, [&](const auto& guest) EDDY_INLINE {
            return guest.rounds_left(at);
        });
        double nearest = std::numeric_limits<double>::infinity();
        for (int place = 0; place < num_places; ++place) {
            const Occupant& occupant = chain.occupants[place];
            const double landing = guests_.least(
                std::numeric_limits<double>::infinity(),
                [&](const auto& guest) EDDY_INLINE { return guest.next_time(at, place); });
            set_lane(chain.landing, place, landing);
            if (occupant.lane == no_lane) continue;
            next_check = min(next_check, chain.first_round[place] + times.max_steps - 1);
            nearest = min(nearest, landing - get_lane(x.chain[number].elapsed, place));
        }
        chain.next_check = team_->min(next_check);
        guests_.each([&](auto& guest) EDDY_INLINE { guest.plan_ahead(at); });
        if (Spec::has_constant_size) {
            const auto ahead =
                static_cast<std::int64_t>(max(0., min(nearest / times.dt0 - 1.5, 1e15)));
            chain.constant_until = min(chain.next_check, team_->min(round + 1 + ahead));
        }
    }

    Team* team_;
    const Problem<Spec>* problem_;
    ForwardMemory memory_;
    Chain<Spec> chains_[num_chains];
    Guests guests_;
    RefillLimits limits_;
    int num_occupied_ = 0;  // this and the next are the same for all members
    std::int64_t num_ended_ = 0, total_attempts_ = 0;  // of lanes that have ended
    std::int64_t longest_ = 0;  // attempts of the longest lane that has ended
};

}  // namespace eddy::inline v0::detail
