#pragma once
// What a derivative rule is. One text per operation serves reverse mode, forward mode and dual
// numbers: for an elementwise f(x_0, x_1, …) the partial ∂f/∂x_k acts on a cotangent and on a
// tangent alike, by multiplication.
//
//   Rule<op>::action<k>(index, c, value, x...)       c · ∂f/∂x_k, where value = f(x...)
//   Rule<op>::is_linear                              no x appears in the action, so no NaN of x can
//   Rule<op>::choose(x...), when_true, when_false    instead of an action:
//                                                    f is one of its operands, picked by a mask
//
// An operation without a Rule has derivative zero everywhere (sign, floor, comparisons,
// stop_gradient).
// Test: tests/ad/operations_first.cpp, tests/ad/operations_second.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/trace/functions.hpp>

namespace eddy::inline v0 {

template <Op op>
struct Rule {};

/// `number` as a partner of x in a rule: of the precision of x, without a tangent; a literal where
/// x is traced.
template <class T>
[[nodiscard]] EDDY_HD constexpr auto like(const T&, double number) {
    if constexpr (is_symbolic<T>) {
        return number;
    } else {
        return convert<PrimalOf<T>>(number);
    }
}

template <class R>
concept ChoiceRule = requires {
    R::when_true;
};

template <class R>
concept ActionRule = requires {
    R::is_linear;
};

}  // namespace eddy::inline v0
