#include <cmath>
#include <eddy/ad/gradient.hpp>
#include <eddy/trace/evaluate.hpp>

#include "support/catch.hpp"

namespace {

/// Rosenbrock 1960 in two variables.
struct Rosenbrock {
    constexpr auto operator()(const auto& x) const {
        const auto a = 1.0 - x[0], b = x[1] - x[0] * x[0];
        return a * a + 100.0 * (b * b);
    }
};

struct LogSumExp {
    constexpr auto operator()(const auto& x, const auto& weights) const {
        return eddy::log(eddy::sum(weights * eddy::exp(x)));
    }
};

constexpr auto rosenbrock = eddy::trace<eddy::Vector<2>>(Rosenbrock{});
constexpr auto log_sum_exp = eddy::trace<eddy::Vector<4>, eddy::Vector<4>>(LogSumExp{});

}  // namespace

TEST_CASE("gradient: of Rosenbrock's function is exact at integers") {
    constexpr auto gradient = eddy::gradient(rosenbrock);
    const eddy::Vec<double, 2> x{{-2, 3}};

    // (−2(1 − x) − 400 x (y − x²), 200 (y − x²))
    CHECK(gradient(x) == eddy::Vec<double, 2>{{-2.0 * 3 - 400.0 * -2 * (3 - 4), 200.0 * (3 - 4)}});
}

TEST_CASE("hvp: of Rosenbrock's function is its Hessian times the direction") {
    constexpr auto hvp = eddy::hvp<0>(rosenbrock);
    const eddy::Vec<double, 2> x{{-2, 3}}, direction{{1, 5}};
    const double xx = 2 - 400.0 * 3 + 1200.0 * 4, xy = 800, yy = 200;

    CHECK(hvp(x, direction) == eddy::Vec<double, 2>{{xx + 5 * xy, xy + 5 * yy}});
}

TEST_CASE("hvp: the Hessian is symmetric, and that of log-sum-exp annihilates equal shifts") {
    constexpr auto hvp = eddy::hvp<0>(log_sum_exp);
    const eddy::Vec<double, 4> x{{0.1, -0.7, 0.4, 1.2}}, weights{{1, 2, 0.5, 3}},
        ones{{1, 1, 1, 1}};

    const auto shifted = hvp(x, weights, ones);
    for (double component : shifted) CHECK(std::abs(component) <= 1e-15);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < i; ++j) {
            eddy::Vec<double, 4> e_i{}, e_j{};
            e_i[i] = 1;
            e_j[j] = 1;
            CHECK(std::abs(hvp(x, weights, e_i)[j] - hvp(x, weights, e_j)[i]) <= 1e-15);
        }
    }
}

TEST_CASE("gradient: with respect to one of several arguments, in float") {
    constexpr auto gradient = eddy::gradient<1>(log_sum_exp);
    const eddy::Vec<float, 4> x{{0, 0, 0, 0}}, weights{{1, 2, 1, 4}};

    CHECK(gradient(x, weights) == eddy::Vec<float, 4>{{0.125f, 0.125f, 0.125f, 0.125f}});
}
