#pragma once
// The noise of a step of weak order 2, of as few values as its moments allow: W_k has the values ±√(3h),
// a sixth of the steps each, and 0; beside it there is a sign s_k, and together they stand for the
// mixed integrals of two noises,
//
//     I_kl = (W_k W_l − h s_k s_l)/2 for k < l,    (W_k W_l + h s_k s_l)/2 for k > l
//
// (Debrabant & Rößler 2009, doi:10.1016/j.apnum.2008.03.012). We depart from it where it has one sign
// s_min(k,l): then I_kl and I_kl' are correlated, h²/4 for 0, which is order 1 for three noises and
// more; products of two signs are not. Both are read off the path's increment of that noise, a normal of
// deviation √h: by its size it is in one of three parts of the probabilities 2/3, 1/6 and 1/6. The two
// outer ones make W_k, and s_k is the sign in the first, and which of the two it is beyond: a fair coin
// always, so that s_k does not depend on W_k and costs no draw of its own.
// Test: tests/steppers/weak_general.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/steppers/brownian/increments.hpp>

namespace eddy::inline v0 {

namespace detail {

/// Bounds of the parts, in deviations: the quantiles of 5/6 and of 11/12.
inline constexpr double outer_third = 0.9674215661017014, outer_sixth = 1.382994127100638;
inline constexpr double root_3 = 1.7320508075688772;

/// ±`size`, a sixth of the probability each, and 0, of a normal of deviation `root`.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real three_points(const Real& w, const Real& root,
                                                           const Real& size) {
    const Real bound = Real(static_cast<ScalarOf<Real>>(outer_third)) * root;
    return select(w > bound, size, select(w < -bound, -size, Real(0)));
}
/// ±1, independent of these.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real sign_beside(const Real& w, const Real& root) {
    using Scalar = ScalarOf<Real>;
    const Real inner = Real(static_cast<Scalar>(outer_third)) * root;
    const Real outer = Real(static_cast<Scalar>(outer_sixth)) * root;
    const Real size = abs(w);
    const Real coin = select(size > inner, size - outer, w);
    return select(coin > Real(0), Real(1), Real(-1));
}

}  // namespace detail

template <class Real, int num_noises>
class WeakNoise {
  public:
    WeakNoise() = default;
    template <class Path>
    EDDY_INLINE EDDY_HD explicit WeakNoise(const Path& of_step)
        : root_(of_step.template root_of_size<Real>()) {
        const auto path = of_step.template increments<Real, num_noises, 0>();
        for_components<num_noises>([&](int k) EDDY_INLINE {
            three_[k] = detail::three_points(path.w[k], root_, constant(detail::root_3));
            sign_[k] = detail::sign_beside(path.w[k], root_);
        });
    }

    /// √h.
    [[nodiscard]] EDDY_INLINE EDDY_HD const Real& root() const { return root_; }
    /// W_k.
    [[nodiscard]] EDDY_INLINE EDDY_HD Real w(int k) const { return root_ * three_[k]; }
    /// (W_k² − h)/(2√h).
    [[nodiscard]] EDDY_INLINE EDDY_HD Real square(int k) const {
        return root_ * select(three_[k] != Real(0), Real(1), constant(-0.5));
    }
    /// I_kl/√h, of two noises.
    template <int k, int l>
    [[nodiscard]] EDDY_INLINE EDDY_HD Real cross() const {
        static_assert(k != l);
        const Real product = three_[k] * three_[l], sign = sign_[k] * sign_[l];
        return constant(0.5) * root_ * (k < l ? product - sign : product + sign);
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static Real constant(double x) {
        return Real(static_cast<ScalarOf<Real>>(x));
    }

    Real root_;
    Real three_[num_noises];  // W_k/√h
    Real sign_[num_noises];   // s_k
};

}  // namespace eddy::inline v0
