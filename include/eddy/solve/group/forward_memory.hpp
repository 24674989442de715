#pragma once
// What a run forward is given: how far it may go, where its memory is, and the sizes of first steps.
// Test: tests/solve/warps.cpp

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/first_step.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>

namespace eddy::inline v0::detail {

/// Until which round an empty place takes another lane: `near` in general, `far` where lanes are so
/// uneven (their mean below 0.6 of the longest) that places would long stay empty, and then no further
/// than eight of the longest lane so far. Counted for 24 places with attempts spread over 1:30, whose
/// mean is 0.28 of the longest: 32 % of the places are busy without refill, 86 % with four of the
/// longest lane, 93 % with eight, 96 % with sixteen, which keep twice the states. Spread over 1:2, with
/// a mean of 0.75, 77 % are busy without.
struct RefillLimits {
    std::int64_t near = 0;
    std::int64_t far = 0;

    /// Until which round for lanes like those so far: the longest, and the attempts of all that have ended.
    [[nodiscard]] EDDY_HD std::int64_t until(std::int64_t longest, std::int64_t attempts,
                                             std::int64_t num_ended) const {
        const bool uneven = static_cast<double>(attempts) <
                            0.6 * static_cast<double>(longest) * static_cast<double>(num_ended);
        return (uneven ? max(near, min(far, 8 * longest)) : near) - longest;
    }
};

/// The memory of a run forward.
struct ForwardMemory {
    double* first_sizes = nullptr;         // (lane) sizes of the first steps, chosen
    std::int32_t* num_saved = nullptr;     // (lane) save points that each has reached
    LaneOutcome* outcomes = nullptr;       // (lane) what becomes of each
    std::int64_t* first_rounds = nullptr;  // (lane) in which each began; null: nobody asks
    TangentMark* tangent_marks = nullptr;  // (lane) of a pushforward; null: nobody watches
    LaneEvents* events = nullptr;          // (lane) of fields that have them
};

/// Asks for what all lanes of the team begin with: else it comes number by number.
template <class Spec, class Team>
EDDY_HD void fetch_starts(const Team& team, const Problem<Spec>& problem) {
    for (std::int32_t k = team.member(); k < team.num_lanes(); k += Team::num_members) {
        const std::ptrdiff_t row = to_index(problem.row_of(of_launch(team, k)));
        for (int i = 0; i < Spec::state_size; ++i) team.fetch_ahead(&problem.y0(row, i));
        for (int i = 0;
             !Spec::shares_parameters && !problem.has_table() && i < Spec::parameter_size; ++i)
            team.fetch_ahead(&problem.p(row, i));
    }
}

/// Chooses the sizes of all first steps of the team's lanes.
template <class Spec, class Team>
EDDY_HD void choose_first_sizes(Team& team, const Problem<Spec>& problem,
                                const ForwardMemory& memory) {
    if constexpr (Team::may_fetch_ahead) fetch_starts(team, problem);
    FirstStep<Spec>::choose(problem, team.first_lane(), team.num_lanes(), memory.first_sizes,
                            team.member(), Team::num_members);
    team.sync();
}

}  // namespace eddy::inline v0::detail
