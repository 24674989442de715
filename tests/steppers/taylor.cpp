#include <cmath>
#include <eddy/solvers/taylor.hpp>

#include "steppers/any_stepper.hpp"

namespace {

using eddy::Taylor, eddy::Vec;
using support::StepperOf;

/// An even function of time: every other term vanishes at the start.
struct Bell {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return eddy::vec(-2 * t * y[0]);
    }
};

template <class Stepper, int size>
auto attempt_from(const Vec<double, size>& y, double h) {
    const double none[1] = {};
    const double* const p = none;
    const eddy::StepSize<double, double> step{h, h};
    typename Stepper::template Trial<double> trial;
    Stepper::attempt(eddy::StepInput{0., y, p, step, eddy::NoPath{}}, eddy::NoMemory{}, trial);
    return trial;
}

}  // namespace

TEST_CASE("taylor: the error falls with the order of the method, within steps as well") {
    CHECK(support::observed_order<Taylor<2>>(1) == Approx(2).margin(0.2));
    CHECK(support::observed_order<Taylor<5>>(1) == Approx(5).margin(0.2));
    CHECK(support::observed_order<Taylor<5>>(0.4) > 4.75);
    CHECK(support::observed_order<Taylor<8>>(1) == Approx(8).margin(0.3));
}

TEST_CASE("taylor: the adjoint of a step is that of its numbers, in state, parameters, times") {
    support::check_gradient<Taylor<2>, support::Driven>();
    support::check_gradient<Taylor<6>, support::Driven>();
    support::check_gradient<Taylor<6>, support::Autonomous>();
}

TEST_CASE("taylor: the error is told where every other term vanishes") {
    using Stepper = StepperOf<Taylor<7>, Bell>;
    STATIC_REQUIRE(eddy::Stepper<Stepper>);

    for (const double h : {0.25, 0.5, 1.}) {
        const auto trial = attempt_from<Stepper>(Vec<double, 1>{{1}}, h);
        const double error = std::abs(trial.next[0] - std::exp(-h * h));
        // The first term left out is h⁸/4!, the last taken h⁶/3!, 16 of which count as one.
        CHECK(trial.error[0] == Approx(std::pow(h, 6) / 96));
        CHECK(error < 1.1 * std::pow(h, 8) / 24);
    }
}

TEST_CASE("taylor: what is said of the method") {
    using Stepper = StepperOf<Taylor<9>, Bell>;
    CHECK(Stepper::order == 9);
    CHECK(Stepper::error_order == 9);
    CHECK(Stepper::evaluations_per_attempt == 1);
    STATIC_REQUIRE_FALSE(Stepper::steps_to_save_points);
    // A replay gives the bits of the attempt.
    const Vec<double, 1> y{{0.7}};
    const double none[1] = {};
    const double* const p = none;
    const eddy::StepSize<double, double> size{0.3, 0.3};
    CHECK(Stepper::step(eddy::StepInput{0., y, p, size, eddy::NoPath{}}, eddy::NoMemory{})[0] ==
          attempt_from<Stepper>(y, 0.3).next[0]);
}
