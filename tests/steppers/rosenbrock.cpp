#include <cmath>
#include <eddy/solvers/all.hpp>

#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Dual, eddy::Vec;

/// All that a step may meet: time, parameters that stand in f alone, in the Jacobian, and in the time
/// derivative.
struct Driven {
    static constexpr int state_size = 3, parameter_size = 4;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        using eddy::exp, eddy::sin;
        return eddy::vec(-p[0] * y[0] + sin(p[1] * t) * y[1], y[0] * y[0] - exp(-t) * y[1] * y[2],
                         y[1] * y[2] - 0.5 * y[2] + p[2] + p[3] * t);
    }
};
/// Time and state meet nowhere.
struct Autonomous {
    static constexpr int state_size = 3, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0] + p[1] * y[1] * y[2], y[0] * y[0] - p[2] * y[1],
                         y[1] * y[2] - p[3]);
    }
};

struct Rotation {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1], -p[0] * y[0]);
    }
};

template <class Method, class Field, bool estimates_error = true>
using StepperOf = typename Method::template Stepper<eddy::OdeTerm<Field>, estimates_error>;

/// A step of a field, and of what comes out of it a weighted sum: of the end, and of a point within.
template <class Method, class Field>
struct Step {
    using Stepper = StepperOf<Method, Field>;
    static constexpr double theta = 0.3;
    static constexpr Vec<double, 3> at_end{{1, -0.7, 0.4}}, inside{{-0.3, 0.8, 1.1}};
    double t = 0.4, h = 0.35;
    Vec<double, 3> y{{0.8, -0.6, 1.3}};
    Vec<double, 4> p{{1.5, 2.1, 0.3, -0.8}};

    template <class Number, class Use>
    auto with_input(const Vec<Number, 3>& from, const Vec<Number, 4>& with, Use use) const {
        const eddy::StepSize<double, double> size{h, h};
        return use(eddy::StepInput{t, from, with, size, eddy::NoPath{}});
    }
    template <class Number>
    Number value(const Vec<Number, 3>& from, const Vec<Number, 4>& with) const {
        return with_input(from, with, [&](const auto& in) {
            typename Stepper::template Trial<Number> trial;
            Stepper::attempt(in, eddy::NoMemory{}, trial);
            const auto within = Stepper::interpolant(in, trial).at(theta);
            return eddy::dot(at_end, trial.next) + eddy::dot(inside, within);
        });
    }
    double value() const { return value(y, p); }

    struct Gradient {
        Vec<double, 3> y;
        Vec<double, 4> p{};
        eddy::TimeCotangents<double> times{0, 0};
    };
    Gradient gradient() const {
        return with_input(y, p, [&](const auto& in) {
            Gradient result;
            typename Stepper::template DenseCotangent<double> dense;
            typename Stepper::template Linearization<double, true, true> of_step;
            Stepper::pull_interpolant(in, theta, inside, dense);
            Stepper::linearize(in, eddy::NoMemory{}, of_step);
            result.y = Stepper::pull(in, of_step, at_end, dense, result.p, result.times);
            return result;
        });
    }
};

template <class Method, class Field>
void check_gradient() {
    using Number = Dual<double>;
    const Step<Method, Field> step;
    const auto gradient = step.gradient();
    Vec<Number, 3> y{};
    Vec<Number, 4> p{};
    for (int i = 0; i < 3; ++i) y[i] = {step.y[i], 0};
    for (int i = 0; i < 4; ++i) p[i] = {step.p[i], 0};
    for (int i = 0; i < 3; ++i) {
        y[i].tangent = 1;
        CHECK(gradient.y[i] == Approx(step.value(y, p).tangent).epsilon(1e-12).margin(1e-13));
        y[i].tangent = 0;
    }
    for (int i = 0; i < 4; ++i) {
        p[i].tangent = 1;
        CHECK(gradient.p[i] == Approx(step.value(y, p).tangent).epsilon(1e-12).margin(1e-13));
        p[i].tangent = 0;
    }

    // Central differences are wrong by 1e-10, and by rounding of 1e-11.
    const auto slope = [&](double Step<Method, Field>::*of) {
        Step<Method, Field> more = step, less = step;
        more.*of += 1e-5;
        less.*of -= 1e-5;
        return (more.value() - less.value()) / 2e-5;
    };
    CHECK(gradient.times.t == Approx(slope(&Step<Method, Field>::t)).epsilon(1e-8).margin(1e-9));
    CHECK(gradient.times.dt == Approx(slope(&Step<Method, Field>::h)).epsilon(1e-8).margin(1e-9));
}

/// The error at t = 1 in steps of 1/count, of the state at `theta` of the last step.
template <class Method>
double error_in_steps(int count, double theta) {
    using Problem = support::ExactProblem;
    using Stepper = StepperOf<Method, Problem>;
    using Number = long double;
    auto y = Problem::solution(0);
    const Number none[1] = {};
    const Number* const p = none;
    const Number h = Number(1) / count;
    const eddy::StepSize<Number, Number> size{h, h};
    for (int i = 0;; ++i) {
        const eddy::StepInput in{i * h, y, p, size, eddy::NoPath{}};
        typename Stepper::template Trial<Number> trial;
        Stepper::attempt(in, eddy::NoMemory{}, trial);
        if (i == count - 1 && theta < 1)
            return Problem::error(Stepper::interpolant(in, trial).at(Number(theta)),
                                  (i + Number(theta)) * h);
        y = trial.next;
        if (i == count - 1) return Problem::error(y, 1);
    }
}

template <class Method>
double observed_order(double theta) {
    std::vector<support::ErrorAt> points;
    for (const int count : {24, 32, 48, 64, 96})
        points.push_back({1. / count, error_in_steps<Method>(count, theta)});
    return support::fitted_slope(points);
}

/// y' = λ (y − cos t) − sin t: errors hide behind λ, and methods lose orders.
template <int minus_lambda>
struct ProtheroRobinson {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return eddy::vec(-double(minus_lambda) * (y[0] - eddy::cos(t)) - eddy::sin(t));
    }
};
template <class Method, int minus_lambda>
double prothero_robinson_error(int count) {
    using Stepper = StepperOf<Method, ProtheroRobinson<minus_lambda>, false>;
    Vec<double, 1> y{{1}};
    const double none[1] = {}, h = 2. / count;
    const double* const p = none;
    const eddy::StepSize<double, double> size{h, h};
    for (int i = 0; i < count; ++i)
        y = Stepper::step(eddy::StepInput{i * h, y, p, size, eddy::NoPath{}}, eddy::NoMemory{});
    return std::abs(y[0] - std::cos(2.));
}

}  // namespace

TEST_CASE("rosenbrock: the error falls with the order of the method, in a problem with time") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
        CAPTURE(Method::order);
        CHECK(observed_order<Method>(1) == Approx(Method::order).margin(0.2));
    });
}

TEST_CASE("rosenbrock: dense output is of its order") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
        constexpr int order = Method::interpolant.order;
        // In one step wrong by O(h^(order+1)), from a start that is wrong by O(h^(order of the method)).
        constexpr int wanted = order + 1 < Method::order ? order + 1 : Method::order;
        CAPTURE(Method::order);
        CHECK(observed_order<Method>(0.4) > wanted - 0.25);
    });
}

TEST_CASE("rosenbrock: what is said of the methods") {
    STATIC_REQUIRE(
        eddy::is_stiffly_accurate<eddy::Rodas3> && eddy::is_stiffly_accurate<eddy::Rodas4> &&
        eddy::is_stiffly_accurate<eddy::Rodas4P> && eddy::is_stiffly_accurate<eddy::Rodas5P>);
    STATIC_REQUIRE_FALSE(eddy::is_stiffly_accurate<eddy::Rosenbrock23>);
    using Rodas3 = StepperOf<eddy::Rodas3, Driven>;
    using Rodas5P = StepperOf<eddy::Rodas5P, Driven>;
    using Rosenbrock23 = StepperOf<eddy::Rosenbrock23, Driven>;
    STATIC_REQUIRE(eddy::Stepper<Rodas5P> && eddy::Stepper<Rosenbrock23>);
    CHECK(Rodas3::evaluations_per_attempt == 3);  // of four stages two are at the start
    CHECK(Rodas5P::evaluations_per_attempt == 8);
    CHECK(Rosenbrock23::evaluations_per_attempt == 3);
    CHECK(Rosenbrock23::evaluations_per_replay == 2);  // the third is for the error
    CHECK(Rodas5P::error_order == 5);
    CHECK(Rosenbrock23::error_order == 3);
}

TEST_CASE("rosenbrock: errors of fast components are damped in one step") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
        using Stepper = StepperOf<Method, ProtheroRobinson<1000000000>>;
        const Vec<double, 1> y{{2}};  // 1 away from what it is drawn to
        const double none[1] = {};
        const double* const p = none;
        const eddy::StepSize<double, double> size{0.1, 0.1};
        const auto next =
            Stepper::step(eddy::StepInput{0., y, p, size, eddy::NoPath{}}, eddy::NoMemory{});
        CAPTURE(Method::order);
        CHECK(std::abs(next[0] - std::cos(0.1)) < 1e-3);
    });
}

TEST_CASE("rosenbrock: orders are lost on fast components, few where a method is made for them") {
    const auto error = []<class Method>(Method, int count) {
        return prothero_robinson_error<Method, 10000>(count);
    };
    const auto order = [&](auto method) {
        return std::log2(error(method, 16) / error(method, 64)) / 2;
    };

    CHECK(order(eddy::Rosenbrock23{}) == Approx(2).margin(0.2));  // with any matrix: no reduction
    CHECK(order(eddy::Rodas3{}) == Approx(1).margin(0.3));
    CHECK(order(eddy::Rodas4{}) == Approx(1.4).margin(0.3));
    CHECK(order(eddy::Rodas4P{}) == Approx(3).margin(0.3));
    CHECK(order(eddy::Rodas5P{}) == Approx(3).margin(0.3));
    CHECK(error(eddy::Rodas4{}, 64) > 1000 * error(eddy::Rodas4P{}, 64));
    CHECK(error(eddy::Rodas4{}, 64) > 1000 * error(eddy::Rodas5P{}, 64));
}

TEST_CASE("rosenbrock: the adjoint of a step is that of its numbers, in state, parameters, times") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
        CAPTURE(Method::order);
        check_gradient<Method, Driven>();
        check_gradient<Method, Autonomous>();
    });
}

TEST_CASE("rosenbrock: a replay has the bits of the attempt, and values do not see tangents") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
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

TEST_CASE("rosenbrock: a step whose factors cannot be trusted fails") {
    using Stepper = StepperOf<eddy::Rodas4, Rotation>;
    const Vec<double, 2> y{{1, 0}};
    const eddy::StepSize<double, double> size{1, 1};
    const auto fails = [&](double speed) {
        const double p[1] = {speed};
        const double* const parameters = p;
        Stepper::Trial<double> trial;
        Stepper::attempt(eddy::StepInput{0., y, parameters, size, eddy::NoPath{}}, eddy::NoMemory{},
                         trial);
        return trial.failed;
    };

    CHECK_FALSE(fails(1e4));
    CHECK(fails(1e9));
}
