#pragma once
// What a stepper of any method has to show: the order of its steps and of what lies within them, and an
// adjoint that is that of its numbers.

#include <eddy/ad/dual.hpp>
#include <eddy/steppers/stepper.hpp>
#include <vector>

#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace support {

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
    using Problem = ExactProblem;
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
    std::vector<ErrorAt> points;
    for (const int count : {24, 32, 48, 64, 96})
        points.push_back({1. / count, error_in_steps<Method>(count, theta)});
    return fitted_slope(points);
}

}  // namespace support
