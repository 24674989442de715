#pragma once
// The noise of a step as a table weighs it: increments and areas of the path, and the products of
// them that a method asks for. What it does not ask for is not formed.
// Test: tests/steppers/stochastic.cpp, tests/steppers/weak_order.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
#include <eddy/steppers/stochastic/weak_noise.hpp>

namespace eddy::inline v0 {

namespace detail {

/// Those of g of stage j in stage i; in y⁺ where i is the number of stages, in the estimate of the
/// error where it is one more.
struct NoiseWeights {
    double w = 0, h = 0, root = 0, w2 = 0, w3 = 0;
    [[nodiscard]] constexpr bool any() const {
        return w != 0 || h != 0 || root != 0 || w2 != 0 || w3 != 0;
    }
};
template <int i, int j, int stages>
[[nodiscard]] constexpr NoiseWeights noise_weights(const StochasticTableau<stages>& table) {
    if constexpr (i == stages)
        return {table.b_w[j], table.b_h[j], 0, table.b_w2[j], table.b_w3[j]};
    else if constexpr (i > stages)
        return {table.e_w[j], table.e_h[j], 0, 0, table.e_w3[j]};
    else
        return {table.a_w[i][j], table.a_h[i][j], table.a_root[i][j], 0, 0};
}

/// Does the method take ±√(3h), a sixth of the steps each, and 0 in place of W?
template <class Method>
inline constexpr bool takes_three_points = requires {
    requires Method::three_point_noise;
};

}  // namespace detail

template <class Real, int num_noises, class Method>
class StepNoise {
    static constexpr auto needs = detail::needs_of(Method::stochastic);
    static constexpr bool takes_three_points = detail::takes_three_points<Method>;

  public:
    BrownianIncrements<Real, num_noises, needs.area> path;
    Real root;                                   // √h
    Real square[needs.square ? num_noises : 1];  // (W² − h)/(2√h)
    Real cube[needs.cube ? num_noises : 1];      // (W³ − 3hW)/(6h)
    /// W²/2, less h/2 in the sense of Itô; W/2 of noise that commutes, whose slopes have the other W
    Real of_slope[needs.slopes ? num_noises : 1];

    StepNoise() = default;
    template <class Path>
    EDDY_INLINE EDDY_HD explicit StepNoise(const Path& of_step)
        : path(of_step.template increments<Real, num_noises, needs.area>()) {
        if constexpr (takes_three_points || needs.root || needs.square || needs.cube ||
                      needs.slopes) {
            root = of_step.template root_of_size<Real>();
            for_components<num_noises>([&](int k) EDDY_INLINE {
                if constexpr (takes_three_points)
                    path.w[k] =
                        detail::three_points(path.w[k], root, constant(detail::root_3) * root);
                form_products(k);
            });
        }
    }

    /// The factor of g of stage j in stage i, in y⁺ where i is the number of stages, in the estimate
    /// of the error where it is one more, for noise k.
    template <int i, int j>
    [[nodiscard]] EDDY_INLINE EDDY_HD Real weight(int k) const {
        constexpr detail::NoiseWeights of = detail::noise_weights<i, j>(Method::stochastic);
        constexpr double of_w = of.w, of_h = of.h, of_root = of.root, of_square = of.w2,
                         of_cube = of.w3;
        Real sum{};
        if constexpr (of_w == 1)
            sum = path.w[k];
        else if constexpr (of_w != 0)
            sum = constant(of_w) * path.w[k];
        if constexpr (of_h != 0) sum = mul_add(constant(of_h), path.h[k], sum);
        if constexpr (of_root != 0) sum = mul_add(constant(of_root), root, sum);
        if constexpr (of_square != 0) sum = mul_add(constant(of_square), square[k], sum);
        if constexpr (of_cube != 0) sum = mul_add(constant(of_cube), cube[k], sum);
        return sum;
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real constant(double x) {
        return Real(static_cast<ScalarOf<Real>>(x));
    }
    EDDY_INLINE EDDY_HD void form_products(int k) {
        const Real w = path.w[k], h = root * root;
        if constexpr (needs.square) square[k] = constant(0.5) * (w * w - h) / root;
        if constexpr (needs.cube) cube[k] = constant(1. / 6) * (w * w - constant(3) * h) * w / h;
        if constexpr (needs.slopes && Method::noise == NoiseClass::commutative)
            of_slope[k] = constant(0.5) * w;
        else if constexpr (needs.slopes)
            of_slope[k] = constant(0.5) * (Method::calculus == Calculus::ito ? w * w - h : w * w);
    }
};

}  // namespace eddy::inline v0
