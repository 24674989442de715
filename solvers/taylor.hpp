#pragma once
#include <eddy/steppers/taylor_stepper.hpp>
namespace eddy::inline v0 {
/// Taylor's method of any order from 2 to 30, for tight tolerances: take about as many orders as
/// digits. It has no stages. Recurrences that follow from the traced equation give the derivatives
/// of the solution up to that order. Dense output of the same order costs nothing.
/// Jorba & Zou 2005, A software package for the numerical integration of ODEs by means of
/// high-order Taylor methods, Experimental Mathematics 14(1), 99–117,
/// doi:10.1080/10586458.2005.10128904.
template <int order_>
struct Taylor {
    static_assert(order_ >= 2 && order_ <= 30, "Taylor: the order must be from 2 to 30");
    static constexpr int order = order_;
    static constexpr bool has_error_estimate = true, takes_noise = false;
    template <class Term, bool estimates_error>
    using Stepper = TaylorStepper<Term, Taylor, estimates_error>;
};
}  // namespace eddy::inline v0
