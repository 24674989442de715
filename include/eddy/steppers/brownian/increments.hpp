#pragma once
// What a step sees of a Brownian path: over an interval of length h the increment W of each noise
// and, where a method wants it, its space-time Lévy area
//
//     H = (1/h) ∫ (W_{s,r} − (r−s)/h · W) dr
//
// (Foster, Lyons & Oberhauser 2020, SIAM J. Numer. Anal. 58(3), def. 3.5), and the moment after that,
//
//     K = (1/h²) ∫ (W_{s,r} − (r−s)/h · W) ((s+t)/2 − r) dr.
//
// All are normal and independent, of variances h, h/12 and h/720. All is said of an interval and its
// parts: differences of values counted from t0 would lose the digits of H.
// Test: tests/steppers/brownian.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// W and H of one noise over an interval. Number: a plain number or a pack.
template <class Number>
struct BrownianPiece {
    using value_type = Number;
    static constexpr int num_normals = 2;  // that make it, or split it
    Number w, h;
};
/// And K.
template <class Number>
struct BrownianMoments {
    using value_type = Number;
    static constexpr int num_normals = 3;
    Number w, h, k;
};

template <class Piece>
struct BrownianHalves {
    Piece left, right;
};

/// The two halves of an interval whose length has the root `root`, given two fresh normals
/// (ibid., thm 3.7 with both halves of one size). The law is exact, and `join` gives the whole back.
template <class Number, class Root>
[[nodiscard]] EDDY_INLINE EDDY_HD inline BrownianHalves<BrownianPiece<Number>> split(
    const BrownianPiece<Number>& whole, const Root& root, const Number& z1, const Number& z2) {
    using Real = ScalarOf<Number>;
    const Number step = Number(Real(0.25)) * root * z1;
    const Number d = mul_add(Number(Real(1.5)), whole.h, step);
    const Number q = Number(Real(0.25)) * whole.h - Number(Real(0.5)) * step;
    const Number e = Number(Real(0.14433756729740644)) * root * z2;  // ½√(h/12)
    const Number half = Number(Real(0.5)) * whole.w;
    return {{half + d, q + e}, {half - d, q - e}};
}

/// The same of all three moments, given three fresh normals. The halves of W have the same form; those of
/// H share what K tells of them.
template <class Number, class Root>
[[nodiscard]] EDDY_INLINE EDDY_HD inline BrownianHalves<BrownianMoments<Number>> split(
    const BrownianMoments<Number>& whole, const Root& root, const Number& z1, const Number& z2,
    const Number& z3) {
    using Real = ScalarOf<Number>;
    const Number step = Number(Real(0.25)) * root * z1;
    const Number d = mul_add(Number(Real(1.5)), whole.h, step);
    const Number q = Number(Real(0.25)) * whole.h - Number(Real(0.5)) * step;
    const Number bend = Number(Real(0.036084391824351615)) * root * z2;  // √(h/768)
    const Number e = mul_add(Number(Real(3.75)), whole.k, bend);
    const Number m = Number(Real(0.125)) * whole.k - Number(Real(0.5)) * bend;
    const Number f = Number(Real(0.018633899812498247)) * root * z3;  // √(h/2880)
    const Number half = Number(Real(0.5)) * whole.w;
    return {{half + d, q + e, m + f}, {half - d, q - e, m - f}};
}

/// The interval made of two adjacent ones of lengths a and b: Chen's relation.
template <class Number>
[[nodiscard]] EDDY_HD inline BrownianPiece<Number> join(const BrownianPiece<Number>& first,
                                                        const Number& a,
                                                        const BrownianPiece<Number>& second,
                                                        const Number& b) {
    using Real = ScalarOf<Number>;
    const Number moment =
        a * first.h + b * second.h + Number(Real(0.5)) * (b * first.w - a * second.w);
    return {first.w + second.w, moment / (a + b)};
}

/// The same of all three moments.
template <class Number>
[[nodiscard]] EDDY_HD inline BrownianMoments<Number> join(const BrownianMoments<Number>& first,
                                                          const Number& a,
                                                          const BrownianMoments<Number>& second,
                                                          const Number& b) {
    using Real = ScalarOf<Number>;
    const BrownianPiece<Number> both = join(BrownianPiece<Number>{first.w, first.h}, a,
                                            BrownianPiece<Number>{second.w, second.h}, b);
    const Number bent = Number(Real(0.5)) * a * b * (first.h - second.h);
    const Number leaning = (b - a) * (b * first.w - a * second.w) * Number(Real(1. / 12));
    const Number length = a + b;
    return {both.w, both.h,
            (a * a * first.k + b * b * second.k + bent + leaning) / (length * length)};
}

/// In place of moments that nobody asks for: of H in BrownianIncrements, and of K.
template <int kind>
struct NoMoment {};

/// W of all noises over a step; and H where `areas` is 1, H and K where it is 2.
template <class Number, int noises, int areas>
struct BrownianIncrements {
    [[no_unique_address]] std::conditional_t<(areas >= 1), Number[noises], NoMoment<1>> h;
    [[no_unique_address]] std::conditional_t<(areas >= 2), Number[noises], NoMoment<2>> k;
    Number w[noises];
};

}  // namespace eddy::inline v0
