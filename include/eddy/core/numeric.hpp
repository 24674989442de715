#pragma once
// What generic code must know of a scalar type: the plain number inside it, its masks, how to
// convert to it. Packs and duals specialise these where they are defined.
// Test: tests/core/pack.cpp, tests/ad/dual.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/shape.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

template <class Element, int lanes>
struct Pack;

/// The floating-point type inside a scalar type: double for double, Pack<double, 8> and
/// Dual<double>.
template <class Real>
struct ScalarType {
    using type = Real;
};
template <class Element, int lanes>
struct ScalarType<Pack<Element, lanes>> {
    using type = Element;
};
template <class Real>
using ScalarOf = typename ScalarType<Real>::type;

/// The type inside all dual numbers of a scalar type: double for double and Dual<double>,
/// Pack<double, 8> for Dual<Dual<Pack<double, 8>>>.
template <class Real>
struct PrimalType {
    using type = Real;
};
template <class Real>
using PrimalOf = typename PrimalType<Real>::type;

/// What comparisons of a scalar type return.
template <class Real>
using MaskOf = decltype(std::declval<const Real&>() < std::declval<const Real&>());

/// x as a Real.
template <class Real, class T>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real convert(const T& x) {
    if constexpr (std::is_same_v<Real, T>) {
        return x;
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_arithmetic_v<Real>) {
        return Real(static_cast<ScalarOf<Real>>(x));
    } else {
        return static_cast<Real>(x);
    }
}

/// x without its tangents.
template <class T>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto primal(const T& x) {
    if constexpr (requires { x.tangent; }) {
        return primal(x.value);
    } else {
        return x;
    }
}

/// Nesting depth of a scalar type: 0 for numbers; a pack is richer than its numbers, a dual richer
/// than its values.
template <class Real>
inline constexpr int richness = 0;
template <class Element, int lanes>
inline constexpr int richness<Pack<Element, lanes>> = 1;

namespace detail {

template <class A, class B>
struct Richer {
    using type = std::conditional_t<(richness<A> > richness<B>), A, B>;
};
template <class A, class B>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) struct Richer<A, B> {
    using type = std::common_type_t<A, B>;
};

template <class First, class... Rest>
struct Richest {
    using type = First;
};
template <class First, class Second, class... Rest>
struct Richest<First, Second, Rest...> {
    using type = typename Richest<typename Richer<First, Second>::type, Rest...>::type;
};

}  // namespace detail

/// The scalar type that a computation on all of T produces.
template <class... T>
using RichestOf = typename detail::Richest<T...>::type;

/// The number itself: outside a trace no derivative flows through anything but a dual number.
template <class T>
requires(!is_symbolic<T>) [[nodiscard]] EDDY_HD constexpr T stop_gradient(const T& x) { return x; }

/// √s of a sum of squares s: the last step of a norm, whose derivative at 0 is 0 where that of a
/// square root is infinite.
template <class T>
requires(!is_symbolic<T>) [[nodiscard]] EDDY_HD constexpr T root_of_squares(const T& s) {
    return sqrt(s);
}

/// Makes the optimizer forget where `x` came from, so that a recomputation is not merged with the
/// original.
template <class Real>
EDDY_INLINE EDDY_HD constexpr void hide_from_optimizer(Real& x) {
    if (!std::is_constant_evaluated()) {
        if constexpr (std::is_trivially_copyable_v<Real> &&
                      (!compiling_for_device || std::is_arithmetic_v<Real>))
            detail::pass_through_assembly(x);
    }
}

namespace detail {

/// Is it finite, whatever the compiler may assume?
[[nodiscard]] EDDY_HD inline bool is_number(double x) { return x - x == 0; }

}  // namespace detail

}  // namespace eddy::inline v0
