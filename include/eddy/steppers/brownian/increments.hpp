#pragma once
// What a step sees of a Brownian path: over an interval of length h the increment W of each noise
// and, where a method wants it, its space-time Lévy area
//
//     H = (1/h) ∫ (W_{s,r} − (r−s)/h · W) dr
//
// (Foster, Lyons & Oberhauser 2020, SIAM J. Numer. Anal. 58(3), def. 3.5). Both are normal and
// independent, of variances h and h/12. All is said of an interval and its parts: differences of
// values counted from t0 would lose the digits of H.

#include <eddy/core/host_device.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// W and H of one noise over an interval. Number: a plain number or a pack.
template <class Number>
struct BrownianPiece {
    Number w, h;
};

template <class Number>
struct BrownianHalves {
    BrownianPiece<Number> left, right;
};

/// The two halves of an interval whose length has the root `root`, given two fresh normals
/// (ibid., thm 3.7 with both halves of one size). The law is exact, and `join` gives the whole back.
template <class Number, class Root>
[[nodiscard, gnu::always_inline]] EDDY_HD inline BrownianHalves<Number> split(
    const BrownianPiece<Number>& whole, const Root& root, const Number& z1, const Number& z2) {
    using Real = ScalarOf<Number>;
    const Number step = Number(Real(0.25)) * root * z1;
    const Number d = mul_add(Number(Real(1.5)), whole.h, step);
    const Number q = Number(Real(0.25)) * whole.h - Number(Real(0.5)) * step;
    const Number e = Number(Real(0.14433756729740644)) * root * z2;  // ½√(h/12)
    const Number half = Number(Real(0.5)) * whole.w;
    return {{half + d, q + e}, {half - d, q - e}};
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

/// In place of areas that nobody asks for.
struct NoArea {};

/// W and, where asked for, H of all noises over a step.
template <class Number, int noises, bool with_area>
struct BrownianIncrements {
    Number w[noises];
    [[no_unique_address]] std::conditional_t<with_area, Number[noises], NoArea> h;
};

}  // namespace eddy::inline v0
