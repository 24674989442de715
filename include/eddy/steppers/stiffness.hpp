#pragma once
// Was the size of an explicit step bounded by stability, not by its error? The last two stages of a step
// are taken near each other, and what separates them holds most of the stiffest mode:
//
//   |λ| ≈ |k_s − k_{s−1}| / |Y_s − Y_{s−1}|,   Y_s − Y_{s−1} = h Σ_j (a_sj − a_{s−1,j}) k_j
//
// (Shampine 1977, Numer. Math. 28; Hairer & Wanner 1996, Solving ODEs II, IV.2). Where |hλ| is as long
// as the method is stable, the controller has found that bound. Norms are largest magnitudes.

#include <cstdint>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/stability_polynomial.hpp>

namespace eddy::inline v0 {

/// Which attempts of a lane, from 1 on, are looked at: `first`, and one in so many after it. Looking at
/// each would be a sixth of the operations of a cheap step.
struct LookSchedule {
    std::int64_t first, every;

    [[nodiscard]] EDDY_HD constexpr bool holds(std::int64_t attempt) const {
        return attempt >= first && (attempt - first) % every == 0;
    }
    /// The number of the next one after so many attempts.
    [[nodiscard]] EDDY_HD constexpr std::int64_t next(std::int64_t attempts) const {
        return attempts < first ? first : first + ((attempts - first) / every + 1) * every;
    }
};
/// Those that are counted: each stands for so many.
inline constexpr std::int64_t attempts_per_look = 256;
inline constexpr LookSchedule counted_looks{96, attempts_per_look};
/// Those that may send a lane to the second method of an AutoSwitch, the counted ones among them.
/// A lane that is stiff from the start is sent with attempt 96, a quarter of what a stiff method takes for
/// it; looks take 3 % of the time of lanes that are not. Twice as many, three in a row, see as much.
inline constexpr LookSchedule switching_looks{32, 64};
/// So many in a row must see that stability bounds the steps, which it may do for a moment in any equation.
inline constexpr int looks_to_switch = 2;

namespace detail {

/// Of an explicit Runge–Kutta method: where the stages of a step say it, for each place.
template <RungeKuttaMethod Method>
struct StiffnessTest {
    static constexpr int last = Method::tableau.num_stages - 1;

    /// a_sj − a_{s−1,j}
    static constexpr double weight(int j) {
        return Method::tableau.a[last][j] - (j < last - 1 ? Method::tableau.a[last - 1][j] : 0);
    }

    template <class State, int room>
    [[nodiscard]] EDDY_HD static auto holds(const State (&k)[room]) {
        using Real = std::remove_cvref_t<decltype(primal(k[0][0]))>;
        constexpr double bound = 0.9 * stability_length<Method>;
        Real slopes(0), states(0);
        for_components<State::size()>([&](int i) {
            Real moved(0);
            static_for<0, last>([&]<int j>() {
                constexpr double a = weight(j);
                if constexpr (a != 0)
                    moved = mul_add(primal(k[j][i]), Real(static_cast<ScalarOf<Real>>(a)), moved);
            });
            slopes = max(slopes, abs(primal(k[last][i]) - primal(k[last - 1][i])));
            states = max(states, abs(moved));
        });
        return slopes > Real(static_cast<ScalarOf<Real>>(bound)) * states;
    }
};

}  // namespace detail

/// A stepper that tells of a trial, for each place, whether stability has bounded its size.
template <class S>
concept TellsStiffness = requires {
    { S::tells_stiffness } -> std::convertible_to<bool>;
    requires S::tells_stiffness;
};

}  // namespace eddy::inline v0
