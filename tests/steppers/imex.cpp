#include <cmath>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno5.hpp>

#include "steppers/any_stepper.hpp"

namespace {

using eddy::Vec;
using support::check_gradient, support::Driven, support::StepperOf;

/// The field of the other tests, in parts that share time, state and parameters.
struct Parts {
    static constexpr int state_size = 3, parameter_size = 4;
    constexpr auto stiff(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], y[0] * y[0], -0.5 * y[2] + p[3] * t);
    }
    constexpr auto non_stiff(auto t, const auto& y, const auto& p) const {
        using eddy::exp, eddy::sin;
        return eddy::vec(sin(p[1] * t) * y[1], -exp(-t) * y[1] * y[2], y[1] * y[2] + p[2]);
    }
};

/// The state at t = 1, of the last step at θ, in steps of 1/count.
template <class Method, class Field>
Vec<double, 3> state_in_steps(int count, double theta = 1) {
    using Stepper = StepperOf<Method, Field>;
    Vec<double, 3> y{{0.8, -0.6, 1.3}};
    const Vec<double, 4> p{{1.5, 2.1, 0.3, -0.8}};
    const double h = 1. / count;
    const eddy::StepSize<double, double> size{h, h};
    for (int i = 0;; ++i) {
        const eddy::StepInput in{i * h, y, p, size, eddy::NoPath{}};
        typename Stepper::template Trial<double> trial;
        Stepper::attempt(in, eddy::NoMemory{}, trial);
        if (i == count - 1 && theta < 1) return Stepper::interpolant(in, trial).at(theta);
        y = trial.next;
        if (i == count - 1) return y;
    }
}
double distance(const Vec<double, 3>& x, const Vec<double, 3>& y) {
    return std::sqrt(eddy::dot(x - y, x - y));
}

}  // namespace

TEST_CASE("imex: only a pair takes a field apart, and only one that is given in parts") {
    STATIC_REQUIRE(eddy::splits_field<Parts, eddy::KenCarp4>);
    STATIC_REQUIRE_FALSE(eddy::splits_field<Driven, eddy::KenCarp4>);
    STATIC_REQUIRE_FALSE(eddy::splits_field<Parts, eddy::Kvaerno5>);
    using Steps = eddy::Esdirk<Parts, eddy::KenCarp4>;
    CHECK(Steps::Model::num_nonzeros == 3);  // of the stiff part: two on the diagonal
    CHECK(Steps::Matrix::num_entries == 4);
    CHECK(eddy::Esdirk<Parts, eddy::Kvaerno5>::Model::num_nonzeros == 7);
}

TEST_CASE("imex: both parts together are of the order of the pair, at the end and within a step") {
    const auto exact = state_in_steps<eddy::Kvaerno5, Driven>(512);
    const auto error = [&](int count) {
        return distance(state_in_steps<eddy::KenCarp4, Parts>(count), exact);
    };
    CHECK(std::log2(error(16) / error(64)) / 2 == Approx(4).margin(0.2));

    const auto dense_error = [&](int count) {
        // The state at the same time, by a step that ends there.
        const double h = 1. / count, theta = 0.4;
        using Stepper = StepperOf<eddy::KenCarp4, Parts>;
        Vec<double, 3> y{{0.8, -0.6, 1.3}};
        const Vec<double, 4> p{{1.5, 2.1, 0.3, -0.8}};
        const auto state_after = [&](double size_of_step) {
            const eddy::StepSize<double, double> size{size_of_step, size_of_step};
            const eddy::StepInput in{0., y, p, size, eddy::NoPath{}};
            typename Stepper::template Trial<double> trial;
            Stepper::attempt(in, eddy::NoMemory{}, trial);
            return std::pair(trial.next, Stepper::interpolant(in, trial).at(theta));
        };
        return distance(state_after(h).second, state_after(theta * h).first);
    };
    CHECK(std::log2(dense_error(8) / dense_error(32)) / 2 > 3.75);  // in one step O(h⁴)
}

TEST_CASE("imex: methods that are no pair take the sum") {
    const auto whole = state_in_steps<eddy::Kvaerno5, Driven>(16);
    const auto parts = state_in_steps<eddy::Kvaerno5, Parts>(16);
    CHECK(distance(whole, parts) < 1e-14);
}

TEST_CASE("imex: the adjoint of a step is that of its numbers, in state, parameters, times") {
    check_gradient<eddy::KenCarp4, Parts>();
}
