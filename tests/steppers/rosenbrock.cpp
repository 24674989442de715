#include <cmath>
#include <eddy/solvers/all.hpp>

#include "steppers/any_stepper.hpp"

namespace {

using eddy::Dual, eddy::Vec;
using support::Autonomous, support::check_gradient, support::Driven, support::observed_order,
    support::Step, support::StepperOf;

struct Rotation {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1], -p[0] * y[0]);
    }
};

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

/// Euler's equations of a rigid body by the textbook's formulas, with a diagonal matrix that has nothing
/// to do with the Jacobian: the state at t = 2.
template <class Method>
Vec<double, 3> rigid_body_with_wrong_matrix(int count) {
    constexpr auto& table = Method::coefficients;
    constexpr int stages = table.num_stages;
    const auto f = [](const Vec<double, 3>& y) {
        return Vec<double, 3>{{-2 * y[1] * y[2], 1.25 * y[0] * y[2], -0.5 * y[0] * y[1]}};
    };
    const double h = 2. / count, wrong[] = {-1, 0.5, -2};
    Vec<double, 3> y{{1, 0, 0.9}};
    for (int step = 0; step < count; ++step) {
        Vec<double, 3> u[stages], next = y;
        for (int i = 0; i < stages; ++i) {
            Vec<double, 3> at = y, coupled{};
            for (int j = 0; j < i; ++j) {
                at = at + table.a[i][j] * u[j];
                coupled = coupled + table.coupling[i][j] / h * u[j];
            }
            const Vec<double, 3> right = f(at) + coupled;
            for (int k = 0; k < 3; ++k) u[i][k] = right[k] / (1 / (table.gamma * h) - wrong[k]);
            next = next + table.m[i] * u[i];
        }
        y = next;
    }
    return y;
}

}  // namespace

TEST_CASE("rosenbrock: W-methods keep their order with any matrix") {
    const auto order = []<class Method>(Method) {
        const auto at = rigid_body_with_wrong_matrix<Method>;
        const auto exact = at(2048), coarse = at(64) - exact, fine = at(128) - exact;
        return std::log2(std::sqrt(eddy::dot(coarse, coarse) / eddy::dot(fine, fine)));
    };
    CHECK(order(eddy::ROS34PW2{}) == Approx(3).margin(0.1));
    CHECK(order(eddy::Rosenbrock23{}) == Approx(2).margin(0.1));
    CHECK(order(eddy::Rodas5P{}) == Approx(2).margin(0.1));
    CHECK(order(eddy::Rodas4{}) == Approx(1).margin(0.1));
}

TEST_CASE("rosenbrock: the error falls with the order of the method, in a problem with time") {
    eddy::RosenbrockMethods::for_each([]<class Method>() {
        static_assert(eddy::ValidRosenbrockTableau<Method>::value);
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
    STATIC_REQUIRE(eddy::is_stiffly_accurate<eddy::ROS34PW2>);
    STATIC_REQUIRE((eddy::w_order<eddy::ROS34PW2> == 3 && eddy::w_order<eddy::Rosenbrock23> == 2 &&
                    eddy::w_order<eddy::Rodas5P> == 2 && eddy::w_order<eddy::Rodas4> == 1));
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
    CHECK(order(eddy::ROS34PW2{}) == Approx(2).margin(0.2));
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
