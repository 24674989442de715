#pragma once
// Rounds of a group's way forward once more, from what it has kept, bit for bit as they were; and where the
// places of a member were at any of them.
// Test: tests/solve/checkpoints.cpp, tests/solve/warps.cpp

#include <eddy/solve/group/group_adjoint.hpp>
#include <eddy/solve/group/round_blocks.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Team, class Recorder, bool with_times>
class GroupReplay {
    using Used = typename Spec::Used;
    using Stepper = typename Spec::Stepper;
    using Log = StepLog<Spec, Team>;

  public:
    using Loop = LoopState<Spec, Team>;
    using Back = GroupAdjoint<Spec, Team, Recorder, with_times>;
    using Memory = GradientMemory<Spec, Team>;
    using Entry = CheckpointLinks::Entry;

    EDDY_HD GroupReplay(Team& team, const Problem<Spec>& problem, const Memory& memory,
                        Recorder& recorder)
        : team_(&team),
          memory_(memory),
          back_(team, problem, memory.forward, memory.assignment, recorder,
                memory.sums + team.member() * Team::num_chains, memory.marks) {}

  protected:
    /// A stretch of rounds is calm in which nothing happens but steps of constant size: they are pulled
    /// back several at a time (calm_rounds.hpp). On a host those of noise, whose normals are at hand; there
    /// other steps have neighbours in other chains to fill their gaps.
    static constexpr bool may_be_calm =
        !with_times && !Spec::passes_knots &&
        (Spec::normals_per_step > 0 ? Team::num_members == 1
                                    : Team::num_members > 1 && CalmRounds<Spec>::most > 1);
    using Blocks = typename std::conditional_t<may_be_calm, std::type_identity<RoundBlocks<Spec>>,
                                               std::type_identity<SingleRounds>>::type;
    [[nodiscard]] EDDY_HD int num_chains() const { return Team::num_chains == 1 ? 1 : num_chains_; }

    /// The place in the log of a round's normals, as far as it goes: those of a cell are those of a
    /// step where it is one.
    [[nodiscard]] EDDY_INLINE EDDY_HD NormalsOfRound<Spec> normals_of(std::int64_t round,
                                                                      int count) const {
        if (round < memory_.log.rounds() && back_.forward.problem().takes_whole_cells())
            return memory_.log.normals(*team_, round, count);
        return {};
    }

    /// All places are as they were at a round.
    EDDY_INLINE EDDY_HD void seek(std::int64_t round) {
        if (back_.forward.assignment.is_at(round)) [[likely]]
            return;
        off_the_hot_path([this, round] { change_places(round); });
    }
    EDDY_HD void change_places(std::int64_t round) {
        back_.forward.assignment.seek(round, [&](int chain, int place, const Occupant& occupant) {
            back_.set_occupant(chain_index<Team>(chain), place_index<Spec>(place), occupant);
        });
    }

    /// A round of the way forward, once more: bit for bit what it was.
    EDDY_HD void take_round_again(Loop& x, std::int64_t round) {
        blocks_.take_again(1);
        seek(round);
        for (int chain = 0; chain < num_chains(); ++chain) {
            if (round < memory_.log.rounds()) {
                back_.forward.steps(chain).replay(x.chain[chain], logged_size(x, round, chain),
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
    [[nodiscard]] EDDY_HD Loop read(const GroupCheckpoints<Spec, Team>& checkpoints,
                                    std::int64_t slot, std::int64_t round) {
        Loop x = checkpoints.read(*team_, slot, round, num_chains());
        if (Stepper::memory_follows_state && round >= memory_.log.rounds())
            off_the_hot_path([this, round](Loop& at) { renew_memory(at, round); }, x);
        return x;
    }
    EDDY_HD void renew_memory(Loop& x, std::int64_t round) {
        change_places(round);
        for (int chain = 0; chain < num_chains(); ++chain)
            back_.forward.steps(chain).renew_memory(x.chain[chain],
                                                    MaskOf<typename Spec::Primal>(true));
    }
    /// An attempt once more, where there is no log. Returns the sizes of accepted steps.
    [[gnu::noinline]] EDDY_HD Used repeat(ChainState<Spec>& x, std::int64_t round, int chain) {
        // Replayed from the log, x has no controllers where the log ends.
        if (round == memory_.log.rounds()) x = memory_.log.at_end(*team_, chain);
        auto& steps = back_.forward.steps(chain);
        Attempt<Spec> attempt;
        // In place: a copy of x would take room on the stack of a device.
        if constexpr (may_take_prescribed_steps<Spec, Team, Recorder>)
            PrescribedSizes<Spec, Team>::set(back_.forward.problem(), *team_,
                                             back_.occupants(chain), x);
        steps.compute(x, attempt);
        steps.move_on(x, attempt, steps.judge(x, attempt));
        steps.renew_after_events(x, attempt.used);
        return used_by(attempt);
    }

    [[nodiscard]] EDDY_HD Used used_at(const Loop& x, std::int64_t round, int chain) {
        if (round < memory_.log.rounds()) return logged_size(x, round, chain);
        ChainState<Spec> copy = x.chain[chain];
        return repeat(copy, round, chain);
    }

    /// The sizes of a round's steps, as far as the log goes.
    [[nodiscard]] EDDY_INLINE EDDY_HD Used logged_size(const Loop& x, std::int64_t round,
                                                       int chain) const {
        if (Log::keeps_sizes) return memory_.log.read(*team_, round, chain, num_chains());
        return back_.forward.steps(chain).size_from(x.chain[chain].elapsed);
    }
    /// What the next but one round back begins with, on its way from the memory of the device.
    EDDY_INLINE EDDY_HD void fetch_ahead(const Entry& entry) const {
        const std::int64_t round = blocks_.first(entry.step);
        for (int chain = 0; chain < num_chains(); ++chain) {
            memory_.checkpoints.fetch_ahead(*team_, entry.slot, chain, num_chains());
            if (Log::keeps_sizes && round < memory_.log.rounds())
                team_->fetch_ahead(&memory_.log.read(*team_, round, chain, num_chains()));
        }
    }

    Team* team_;
    Memory memory_;
    Back back_;
    int num_chains_ = 0;
    Blocks
        blocks_;  // has an address: nvcc 13.0 cannot lay out a base that ends with one that has none
};

}  // namespace eddy::inline v0::detail
