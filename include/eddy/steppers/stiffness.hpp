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

/// One attempt in so many of a lane is looked at: the first half way to it. Looking at each would be
/// a sixth of the operations of a cheap step.
inline constexpr std::int64_t attempts_per_look = 256;
/// Is the lane's attempt of this number, from 1 on, looked at?
[[nodiscard]] EDDY_HD constexpr bool looks_for_stiffness(std::int64_t attempt) {
    return attempt % attempts_per_look == attempts_per_look / 2;
}
/// The number of the next attempt that is, after so many.
[[nodiscard]] EDDY_HD constexpr std::int64_t next_stiffness_look(std::int64_t attempts) {
    constexpr std::int64_t half = attempts_per_look / 2;
    return attempts < half ? half
                           : half + (attempts - half) / attempts_per_look * attempts_per_look +
                                 attempts_per_look;
}

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
