#pragma once
// The places of one Number on their way forward: who is in them, and when something other than a step
// happens next.
// Test: tests/solve/oracle.cpp, tests/solve/lanes.cpp

#include <eddy/solve/lane/attempt.hpp>
#include <eddy/solve/lane/landing.hpp>

namespace eddy::inline v0::detail {

/// What rounds of constant size have drawn for those to come.
template <class Spec>
struct ChainDrawn {
    EDDY_HD void forget_drawn() {}
};
template <class Spec>
requires(Spec::normals_per_step > 0) struct ChainDrawn<Spec> {
    using Drawn = typename ChainPath<Spec>::Drawn;
    /// Are the states after these steps kept as well?
    static constexpr bool keeps_states =
        Drawn::count > 1 && Drawn::count* Spec::state_size <= 4 * longest_unrolled;

    Drawn drawn;
    typename Spec::State ahead[keeps_states ? Drawn::count : 1];
    bool has_states = false;  // all finite
    EDDY_HD void forget_drawn() { drawn.has_begun = has_states = false; }
};

/// How often the iterations within the steps of each place's lane have asked f.
template <class Spec>
struct ChainIterations {
    EDDY_HD void forget_iterations(int) {}
    EDDY_HD void count_iterations(const Attempt<Spec>&) {}
    [[nodiscard]] EDDY_HD static std::int64_t iterations_of(int) { return 0; }
};
template <class Spec>
requires IteratesWithinSteps<typename Spec::Stepper>
struct ChainIterations<Spec> {
    typename Spec::Time evaluations{};  // (place)
    EDDY_HD void forget_iterations(int place) { set_lane(evaluations, place, 0.); }
    [[nodiscard]] EDDY_HD std::int64_t iterations_of(int place) const {
        return static_cast<std::int64_t>(get_lane(evaluations, place));
    }
    EDDY_INLINE EDDY_HD void count_iterations(const Attempt<Spec>& attempt) {
        using Time = typename Spec::Time;
        evaluations = evaluations + select(attempt.size > Time(0),
                                           convert<Time>(attempt.trial.evaluations), Time(0));
    }
};

template <class Spec>
struct Chain : ChainDrawn<Spec>, ChainIterations<Spec> {
    using Time = typename Spec::Time;
    static constexpr int num_places = Spec::num_places;

    ChainStepper<Spec> steps;
    Occupant occupants[num_places];
    std::int64_t first_round[num_places] = {};
    MaskOf<Time> occupied = MaskOf<Time>(false);
    Time landing{};                   // (place) elapsed time at which something happens
    Time rejected{};                  // (place) attempts of the lane that were rejected
    std::int64_t next_check = 0;      // a round
    std::int64_t constant_until = 0;  // rounds before it are far from any landing
    /// (place) Is a tangent watched? Not where nobody asks, or the lane is marked.
    MaskOf<typename Spec::Primal> watched = MaskOf<typename Spec::Primal>(false);

    EDDY_HD void begin(const Problem<Spec>& problem) {
        steps.begin(problem);
        for (int place = 0; place < num_places; ++place) occupants[place] = {};
        occupied = MaskOf<Time>(false);
        rejected = Time(0);
        watched = MaskOf<typename Spec::Primal>(false);
        this->forget_drawn();
    }
    /// Takes what a copy has counted of its rounds.
    EDDY_HD void count_like(const Chain& copy) {
        rejected = copy.rejected;
        static_cast<ChainIterations<Spec>&>(*this) = copy;
    }
    /// Has some lane a state that is not finite?
    [[nodiscard]] EDDY_INLINE EDDY_HD bool is_broken(const typename Spec::State& y) const {
        return any(occupied & (finiteness<Time>(y) != Time(0)));
    }
};

}  // namespace eddy::inline v0::detail
