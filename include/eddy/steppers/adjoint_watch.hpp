#pragma once
// Does the cotangent that a step's adjoint pulls back hold a mode that the steps do not resolve? The
// error control saw the state alone; where a mode of the Jacobian J lies at zero in the state, h may
// pass the bound of stability, and the derivative along it grows from step to step. Two looks:
//
//   suspects   compares two powers (hJᵀ)^q λ, taken from the stage products that the adjoint has
//              anyway (adjoint_powers.hpp): |v_q| > θ² |v_(q−2)|, without a root or a division. Two
//              powers apart, since an oscillator's products are long and short by turns;
//   ratio      confirms: six further products, and the geometric mean of the last four ratios.
//
// A ratio r stands for the modulus |hλ| of the mode that λ holds most of. θ is half the stability
// length of the method. Norms are largest magnitudes, which neither overflow nor underflow.

#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/adjoint_powers.hpp>
#include <eddy/steppers/stability_polynomial.hpp>

namespace eddy::inline v0 {

/// The largest magnitude of a component, without tangents.
template <class Number, int size>
[[nodiscard]] EDDY_HD PrimalOf<Number> largest_magnitude(const Vec<Number, size>& x) {
    PrimalOf<Number> largest = abs(primal(x[0]));
    for_components<size - 1>([&](int i) { largest = max(largest, abs(primal(x[i + 1]))); });
    return largest;
}

/// `Steps` is an ExplicitRungeKutta with the tableau of `Method`.
template <class Steps, RungeKuttaMethod Method>
struct AdjointWatch {
    static constexpr int num_stages = Steps::num_stages;
    static constexpr auto& powers = adjoint_powers<Method, num_stages>;
    /// Beyond the sixth power the weights cancel more digits than the mode gains.
    static constexpr int high = powers.highest < 6 ? powers.highest : 6;
    static constexpr int low = high > 2 ? high - 2 : 0;
    static constexpr double threshold = 0.5 * stability_length<Method>;
    template <class Real>
    using State = Vec<Real, Steps::state_size>;

    /// Where the products of an adjoint step, pulled back from `next_cotangent`, raise a suspicion.
    /// `direction` is what `ratio` begins with.
    template <class Number, class Real = PrimalOf<Number>>
    [[nodiscard]] EDDY_HD static MaskOf<Real> suspects(const State<Number>& next_cotangent,
                                                       const State<Number> (&products)[num_stages],
                                                       State<Real>& direction) {
        constexpr double growth = [] {
            double product = 1;
            for (int q = low; q < high; ++q) product *= threshold;
            return product;
        }();
        direction = power<high, Real>(next_cotangent, products);
        const Real before = largest_magnitude(power<low, Real>(next_cotangent, products));
        return largest_magnitude(direction) > Real(static_cast<ScalarOf<Real>>(growth)) * before;
    }

    /// The geometric mean of four ratios |hJᵀw| / |w|, after two products, with the Jacobian at the
    /// start of the step. NaN where w is zero, or not finite.
    template <class Input, class Real>
    [[nodiscard]] EDDY_HD static Real ratio(const Input& in, const State<Real>& y, State<Real> w) {
        Real product(1);
        for (int k = 0; k < 6; ++k) {
            const Real norm = largest_magnitude(w);
            for_components<Steps::state_size>([&](int i) { w[i] = w[i] / norm; });
            w = Steps::transposed_product(in, y, w);
            if (k >= 2) product = product * largest_magnitude(w);
        }
        return sqrt(sqrt(product));
    }

  private:
    /// v_q, without tangents.
    template <int q, class Real, class Number>
    [[nodiscard]] EDDY_HD static State<Real> power(const State<Number>& next_cotangent,
                                                   const State<Number> (&products)[num_stages]) {
        State<Real> sum{};
        for_components<Steps::state_size>([&](int i) {
            if constexpr (q == 0) {
                sum[i] = primal(next_cotangent[i]);
            } else {
                static_for<0, num_stages>([&]<int stage>() {
                    constexpr double w = powers.weight[q][stage];
                    if constexpr (w != 0)
                        sum[i] = mul_add(Real(static_cast<ScalarOf<Real>>(w)),
                                         primal(products[stage][i]), sum[i]);
                });
            }
        });
        return sum;
    }
};

}  // namespace eddy::inline v0
