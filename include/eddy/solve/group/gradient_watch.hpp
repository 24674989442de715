#pragma once
// The way back of a group, watched: a few steps of each lane are looked at, whether the cotangent that
// passes holds a mode that the steps do not resolve (steppers/adjoint_watch.hpp). Which steps are
// looked at depends on the lane alone, by its attempts, and never on its neighbours. Invariant: a look
// changes no bit of what is computed.
// Test: tests/solve/unreliable.cpp

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Does a team watch the way back?
template <class Spec, class Team>
inline constexpr bool team_watches = can_watch<Spec>&& Team::watches.way_back;

/// Watches nothing.
template <class Spec, class Team>
struct NoGradientWatch {
    EDDY_HD explicit NoGradientWatch(const WatchMemory&) {}
    EDDY_HD void set_occupant(int, int) {}
    EDDY_HD static constexpr bool is_due(int, std::int64_t) { return false; }
    EDDY_HD static void look(const auto&...) {}
};

template <class Spec, class Team>
class GradientWatch {
    using Number = typename Spec::Number;
    using Primal = typename Spec::Primal;
    using Watch = typename Spec::Stepper::Watch;
    using State = typename Spec::State;
    using PrimalState = Vec<Primal, Spec::state_size>;
    static constexpr int num_places = Spec::num_places;

  public:
    EDDY_HD explicit GradientWatch(const WatchMemory& memory) : memory_(memory) {
        for (auto& chain : chains_) {
            chain.next = never;
            for (auto& round : chain.next_of) round = never;
        }
    }

    /// A place of the chain has another occupant.
    EDDY_HD void set_occupant(int chain, int place) {
        if (memory_.marks) chains_[chain].next = chains_[chain].next_of[place] = unknown;
    }
    /// May any place of the chain be looked at in this round?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_due(int chain, std::int64_t round) const {
        return round <= chains_[chain].next;
    }

    /// Looks at the lanes that are due in this round, of those that `move`, at the cotangent of the state
    /// before it.
    template <class Input, class Occupants, class Moves>
    EDDY_HD void look(const Input& in, const State& cotangent, const Occupants& occupants,
                      const LaneOutcome* outcomes, const Moves& moves, int chain,
                      std::int64_t round, const typename Spec::Time& t) {
        bool is_due[num_places];
        bool any_due = false;
        Chain& rounds = chains_[chain];
        rounds.next = never;
        for (int place = 0; place < num_places; ++place) {
            is_due[place] =
                round <= rounds.next_of[place] &&
                take_turn(rounds.next_of[place], occupants[place].lane, outcomes, round) &&
                get_lane(moves, place);
            any_due = any_due || is_due[place];
            rounds.next = max(rounds.next, rounds.next_of[place]);
        }
        if (!any_due) return;
        PrimalState y, w;
        for_components<Spec::state_size>([&](int i) {
            y[i] = primal(in.y[i]);
            w[i] = primal(cotangent[i]);
        });
        const Primal ratio = Watch::ratio(in, y, w);
        for (int place = 0; place < num_places; ++place) {
            if (is_due[place])
                mark(occupants[place].lane, static_cast<float>(get_lane(ratio, place)),
                     get_lane(t, place));
        }
    }

  private:
    static constexpr std::int64_t never = -1;
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    /// Rounds of the next looks: of any place, and of each.
    struct Chain {
        std::int64_t next, next_of[num_places];
    };

    /// Is a lane looked at in this round? `next` becomes the round of its next look.
    [[nodiscard]] EDDY_HD bool take_turn(std::int64_t& next, std::int32_t lane,
                                         const LaneOutcome* outcomes, std::int64_t round) const {
        next = never;
        if (lane == no_lane) return false;
        const LaneOutcome& outcome = outcomes[lane];
        const std::int64_t attempts = outcome.accepted + outcome.rejected;
        const std::int64_t first = memory_.first_rounds[lane], attempt = round - first;
        const std::int64_t before = look_before(attempt, attempts);
        if (before >= 0) next = first + before;
        return is_looked_at(attempt, attempts);
    }

    EDDY_HD void mark(std::int32_t lane, float ratio, double t) {
        GradientMark& mark = memory_.marks[lane];
        if (!(ratio > static_cast<float>(Watch::threshold)) || ratio <= mark.ratio) return;
        mark = {t, ratio};
    }

    WatchMemory memory_;
    Chain chains_[Team::num_chains];
};

template <class Spec, class Team>
using GradientWatchFor = std::conditional_t<team_watches<Spec, Team>, GradientWatch<Spec, Team>,
                                            NoGradientWatch<Spec, Team>>;

}  // namespace eddy::inline v0::detail
