#include <cmath>
#include <eddy/solvers/all.hpp>

#include "steppers/any_stepper.hpp"

namespace {

using eddy::Dual, eddy::Vec;
using support::Autonomous, support::check_gradient, support::Driven, support::observed_order,
    support::Step, support::StepperOf;

/// y' = λ (y − cos t) − sin t.
template <int minus_lambda>
struct ProtheroRobinson {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return eddy::vec(-double(minus_lambda) * (y[0] - eddy::cos(t)) - eddy::sin(t));
    }
};
/// The state at `theta` of the last of `count` steps to t = 2, from a start that is wrong by `offset`.
template <class Method, int minus_lambda>
double prothero_robinson_error(int count, double theta = 1, double offset = 0) {
    using Stepper = StepperOf<Method, ProtheroRobinson<minus_lambda>>;
    Vec<double, 1> y{{1 + offset}};
    const double none[1] = {}, h = 2. / count;
    const double* const p = none;
    const eddy::StepSize<double, double> size{h, h};
    for (int i = 0;; ++i) {
        const eddy::StepInput in{i * h, y, p, size, eddy::NoPath{}};
        typename Stepper::template Trial<double> trial;
        Stepper::attempt(in, eddy::NoMemory{}, trial);
        if (i == count - 1)
            return std::abs(Stepper::interpolant(in, trial).at(theta)[0] -
                            std::cos((i + theta) * h));
        y = trial.next;
    }
}

/// Flat far from zero, steep at zero: a chord of the slope at the start finds no solution.
struct Saturating {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0], -p[0] * y[1] / eddy::sqrt(1.0 + y[1] * y[1]));
    }
};

}  // namespace

TEST_CASE("esdirk: the error falls with the order of the method, in a problem with time") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        static_assert(eddy::ValidEsdirkTableau<Method>::value);
        CAPTURE(Method::order);
        CHECK(observed_order<Method>(1) == Approx(Method::order).margin(0.2));
    });
}

TEST_CASE("esdirk: dense output is of its order") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        constexpr int order = Method::interpolant.order;
        // In one step wrong by O(h^(order+1)), from a start that is wrong by O(h^(order of the method)).
        constexpr int wanted = order + 1 < Method::order ? order + 1 : Method::order;
        CAPTURE(Method::order);
        CHECK(observed_order<Method>(0.4) > wanted - 0.25);
    });
}

TEST_CASE("esdirk: what is said of the methods") {
    STATIC_REQUIRE(eddy::filters_error<eddy::TRBDF2>);
    STATIC_REQUIRE_FALSE(eddy::filters_error<eddy::Kvaerno3> ||
                         eddy::filters_error<eddy::Kvaerno5>);
    eddy::EsdirkMethods::for_each([]<class Method>() {
        using Stepper = StepperOf<Method, Driven>;
        STATIC_REQUIRE(eddy::Stepper<Stepper> && eddy::IteratesWithinSteps<Stepper>);
        CHECK(std::abs(eddy::esdirk_stability_at_infinity<Method>) < 1e-14);
    });
    CHECK(StepperOf<eddy::TRBDF2, Driven>::error_order == 3);
    CHECK(StepperOf<eddy::Kvaerno5, Driven>::error_order == 5);
}

TEST_CASE("esdirk: iterations begin at the stage of their time, or on a parabola") {
    using Rows = eddy::EsdirkRows<eddy::Kvaerno5>;
    CHECK(Rows::first_guess(1, 0) == 1);
    CHECK(Rows::first_guess(6, 5) == 1);  // both at the end of the step
    for (int i = 1; i < 6; ++i) {
        double sum = 0, time = 0;
        for (int j = 0; j < i; ++j) {
            sum += Rows::first_guess(i, j);
            time += Rows::first_guess(i, j) * eddy::Kvaerno5::coefficients.c[j];
        }
        CAPTURE(i);
        CHECK(sum == Approx(1));
        if (i > 1) CHECK(time == Approx(eddy::Kvaerno5::coefficients.c[i]));
    }
}

TEST_CASE("esdirk: errors of fast components are damped in one step, and do not grow within it") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        CAPTURE(Method::order);
        CHECK(prothero_robinson_error<Method, 1000000000>(20, 1, 1) < 1e-3);
        CHECK(prothero_robinson_error<Method, 1000000000>(1, 1, 1) < 1e-5);
        for (const double theta : {0.2, 0.5, 0.8}) {
            CHECK(prothero_robinson_error<Method, 1000000000>(1, theta, 1) < 1.3);
            CHECK(prothero_robinson_error<Method, 1000000000>(10, theta, 1) < 1e-3);
        }
    });
}

TEST_CASE("esdirk: on fast components the order is that of the stages, 2") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        const auto error = [](int count) { return prothero_robinson_error<Method, 10000>(count); };
        CAPTURE(Method::order);
        CHECK(std::log2(error(16) / error(64)) / 2 == Approx(2).margin(0.2));
    });
    // A reference of 40 digits for Kvaerno5 in 64 steps is 5.3e-9.
    CHECK(prothero_robinson_error<eddy::Kvaerno5, 10000>(64) < 6e-9);
}

TEST_CASE("esdirk: the adjoint of a step is that of its numbers, in state, parameters, times") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        CAPTURE(Method::order);
        check_gradient<Method, Driven>();
        check_gradient<Method, Autonomous>();
    });
}

TEST_CASE("esdirk: a replay has the bits of the attempt, and values do not see tangents") {
    eddy::EsdirkMethods::for_each([]<class Method>() {
        const Step<Method, Driven> step;
        using Stepper = StepperOf<Method, Driven>;
        step.with_input(step.y, step.p, [&](const auto& in) {
            typename Stepper::template Trial<double> trial;
            Stepper::attempt(in, eddy::NoMemory{}, trial);
            CHECK(trial.next == Stepper::step(in, eddy::NoMemory{}));
            CHECK_FALSE(trial.failed);
            return 0;
        });
        Vec<Dual<double>, 3> y{};
        Vec<Dual<double>, 4> p{};
        for (int i = 0; i < 3; ++i) y[i] = {step.y[i], 0.1 * i};
        for (int i = 0; i < 4; ++i) p[i] = {step.p[i], 1};
        CHECK(step.value(y, p).value == step.value());
    });
}

TEST_CASE("esdirk: a step whose iteration does not converge fails, alone in its pack") {
    using Stepper = StepperOf<eddy::Kvaerno3, Saturating>;
    using Number = eddy::Pack<double, 4>;
    const double atol[] = {1e-6, 1e-6};
    const eddy::StepTolerances<double> tolerances{1e-6, atol, 1e-2};
    Vec<Number, 2> y{{Number(1), Number(5)}};
    Vec<Number, 1> p{{Number(1)}};
    p[0].set(2, 1000);
    const eddy::StepSize<Number, Number> size{Number(0.1), Number(0.1)};
    Stepper::Trial<Number> together;
    Stepper::attempt(eddy::StepInput{Number(0), y, p, size, eddy::NoPath{}, tolerances},
                     eddy::NoMemory{}, together);

    for (int lane = 0; lane < 4; ++lane) {
        const Vec<double, 2> from{{1, 5}};
        const Vec<double, 1> rate{{p[0][lane]}};
        const eddy::StepSize<double, double> one{0.1, 0.1};
        Stepper::Trial<double> alone;
        Stepper::attempt(eddy::StepInput{0., from, rate, one, eddy::NoPath{}, tolerances},
                         eddy::NoMemory{}, alone);
        CAPTURE(lane);
        CHECK(alone.failed == (lane == 2));
        CHECK(together.failed[lane] == alone.failed);
        CHECK(together.next[0][lane] == alone.next[0]);
        if (lane != 2) CHECK(alone.next[1] == Approx(4.902).epsilon(1e-4));
    }
}
