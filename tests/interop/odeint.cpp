// Systems as Boost.Odeint takes them, and fields: what one writes the other computes.

#include <array>
#include <boost/numeric/odeint/integrate/integrate_n_steps.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/interop/odeint.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rk4.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

namespace odeint = boost::numeric::odeint;
using support::message_of;

constexpr auto lotka_volterra = [](const auto& y, auto& dydt, const auto& p, auto /*t*/) {
    dydt[0] = p[0] * y[0] - p[1] * y[0] * y[1];
    dydt[1] = p[2] * y[0] * y[1] - p[3] * y[1];
};
struct Same {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]);
    }
};
struct Size {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

const eddy::EnsembleArray<double> start(1, 2, 1.);
const std::vector<double> p{1.5, 1, 1, 3};
const eddy::SolveOptions options{.t1 = 2, .dt0 = 1. / 64};

auto gradient_of(const auto& field) {
    return eddy::value_and_gradient(field, eddy::RK4{}, Size{}, start, eddy::shared(p), options,
                                    eddy::ConstantController{}, eddy::Serial{});
}

}  // namespace

TEST_CASE("odeint: a system is a field, with its gradients") {
    const auto of_system = gradient_of(eddy::odeint_field<2, 4>(lotka_volterra));
    const auto of_field = gradient_of(Same{});

    REQUIRE(of_field.report.success());
    CHECK(of_system.loss(0) == of_field.loss(0));
    for (int i = 0; i < 4; ++i) CHECK(of_system.gradient.p(0, i) == of_field.gradient.p(0, i));
}

TEST_CASE("odeint: a field is a system, and the ends of 128 steps are the same") {
    std::vector<double> y{1, 1};
    odeint::integrate_n_steps(odeint::runge_kutta4<std::vector<double>>{},
                              eddy::odeint_system(Same{}, p), y, 0., 1. / 64, 128);
    std::array<double, 2> plain{1, 1};
    odeint::integrate_n_steps(
        odeint::runge_kutta4<std::array<double, 2>>{},
        [](const auto& x, auto& dxdt, double t) { lotka_volterra(x, dxdt, p, t); }, plain, 0.,
        1. / 64, 128);

    // Each step rounds a dozen sums of numbers of size 1, and products are fused in one of the two.
    for (std::size_t i = 0; i < 2; ++i) CHECK(y[i] == Approx(plain[i]).epsilon(1e-13));
    const auto loss = gradient_of(Same{}).loss(0);
    CHECK(y[0] * y[0] + y[1] * y[1] == Approx(loss).epsilon(1e-12));
}

TEST_CASE("odeint: systems without parameters, with time") {
    constexpr auto driven = eddy::odeint_field<1, 0>([](const auto& y, auto& dydt, auto t) {
        using std::cos;
        dydt[0] = cos(t) - y[0];
    });
    std::vector<double> y{2}, dydt{0};
    eddy::odeint_system(driven, std::vector<double>{})(y, dydt, 0.5);
    CHECK(dydt[0] == std::cos(0.5) - 2);
}

TEST_CASE("odeint: a component that is never written is NaN, and its lane says so") {
    constexpr auto forgets =
        eddy::odeint_field<2, 0>([](const auto& y, auto& dydt, auto) { dydt[0] = y[0]; });
    const auto solution =
        eddy::solve(forgets, eddy::RK4{}, start, eddy::EnsembleArray<double>(1, 0), options,
                    eddy::ConstantController{}, eddy::Serial{});
    CHECK(solution.result(0) == eddy::Result::non_finite);
    CHECK(solution.failure(0).component == 1);
}

TEST_CASE("odeint: sizes that do not fit are told") {
    CHECK(message_of([] {
              static_cast<void>(eddy::odeint_system(Same{}, std::vector<double>{1, 2}));
          }) ==
          "odeint_system: 2 parameters for a field of 4; give as many as parameter_size says");
    const auto system = eddy::odeint_system(Same{}, p);
    std::vector<double> y{1, 1}, short_one{0};
    CHECK(message_of([&] { system(y, short_one, 0.); }) ==
          "odeint_system: y has 2 components and dydt 1, the field 2; give both as many as "
          "state_size says");
}
