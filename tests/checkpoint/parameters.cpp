#include <cmath>
#include <eddy/ad/linearize.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using State = eddy::Vec<double, 2>;
using Parameters = eddy::Vec<double, 3>;

/// One explicit Euler step of a damped, driven pendulum.
struct Pendulum {
    constexpr auto operator()(const auto& x, const auto& p) const {
        return eddy::vec(x[0] + 0.1 * x[1],
                         x[1] - 0.1 * (p[0] * eddy::sin(x[0]) + p[1] * x[1] - p[2]));
    }
};

/// Fifty such steps, unrolled by the tracer: the reference.
struct FiftySteps {
    constexpr auto operator()(const auto& x, const auto& p) const {
        auto next = Pendulum{}(x, p);
        for (int step = 1; step < 50; ++step) next = Pendulum{}(next, p);
        return next;
    }
};

constexpr auto pendulum = eddy::trace<eddy::Vector<2>, eddy::Vector<3>>(Pendulum{});
constexpr auto fifty_steps = eddy::trace<eddy::Vector<2>, eddy::Vector<3>>(FiftySteps{});

/// x -> x − p·x with a vector of run-time size, by hand.
struct Decay {
    using Values = std::vector<double>;
    Values operator()(const Values& x, const Values& p) const {
        Values y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] - p[i] * x[i];
        return y;
    }
    struct Linearized {
        Values x, p, value;
        [[nodiscard]] std::tuple<Values, Values> pullback(const Values& c) const {
            Values of_x(c.size()), of_p(c.size());
            for (std::size_t i = 0; i < c.size(); ++i) {
                of_x[i] = c[i] * (1 - p[i]);
                of_p[i] = -c[i] * x[i];
            }
            return {of_x, of_p};
        }
    };
    [[nodiscard]] Linearized linearize(const Values& x, const Values& p) const {
        return {x, p, (*this)(x, p)};
    }
};

bool agree(double a, double b) { return std::abs(a - b) <= 1e-13 * (1 + std::abs(b)); }

}  // namespace

TEST_CASE("while_loop: parameters are differentiated with the state, as in the unrolled program") {
    const auto loop = eddy::while_loop([](const State&, std::int64_t step) { return step < 50; },
                                       eddy::differentiable(pendulum), {.checkpoints = 5});
    const State x{{1.0, -0.5}}, cotangent{{0.3, 0.7}};
    const Parameters p{{4.0, 0.2, 0.5}};

    auto linearization = loop.linearize(x, p);
    const auto [of_x, of_p] = linearization.pullback(cotangent);
    const auto [expected_x, expected_p] = eddy::vjp(fifty_steps)(x, p, cotangent);

    CHECK(loop(x, p) == linearization.value);
    for (int i = 0; i < 2; ++i) CHECK(agree(of_x[i], expected_x[i]));
    for (int i = 0; i < 3; ++i) CHECK(agree(of_p[i], expected_p[i]));
    CHECK(linearization.counters().peak_checkpoints <= 5);
}

TEST_CASE("while_loop: the parameters' gradient does not depend on the checkpoints, bit for bit") {
    const State x{{1.0, -0.5}}, cotangent{{0.3, 0.7}};
    const Parameters p{{4.0, 0.2, 0.5}};
    const auto gradient = [&](std::int64_t checkpoints) {
        const auto loop =
            eddy::while_loop([](const State&, std::int64_t step) { return step < 50; },
                             eddy::differentiable(pendulum), {.checkpoints = checkpoints});
        return std::get<1>(loop.linearize(x, p).pullback(cotangent));
    };

    const Parameters all = gradient(64);
    for (std::int64_t checkpoints : {1, 2, 7}) CHECK(gradient(checkpoints) == all);
}

TEST_CASE("while_loop: parameters of run-time size, and of a loop that makes no step") {
    const auto loop =
        eddy::while_loop([](const auto& x) { return x[0] > 0.6; }, Decay{}, {.checkpoints = 2});
    const std::vector<double> p{0.5, 0.25}, ones{1, 1};

    // From 1: x = (1 − p)^1, one step. From 0.5: no step.
    const auto [of_x, of_p] = loop.linearize(std::vector<double>{1, 1}, p).pullback(ones);
    CHECK(of_x == std::vector<double>{0.5, 0.75});
    CHECK(of_p == std::vector<double>{-1, -1});
    const auto [idle_x, idle_p] = loop.linearize(std::vector<double>{0.5, 1}, p).pullback(ones);
    CHECK(idle_x == ones);
    CHECK(idle_p == std::vector<double>{0, 0});
}

TEST_CASE("scan: parameters collect the cotangents of every step") {
    // carry' = carry·p + x, y = carry: by hand, as pairs are not traced.
    struct Filter {
        using Pair = std::pair<double, double>;
        Pair operator()(const Pair& in, double p) const {
            return {in.first * p + in.second, in.first};
        }
        struct Linearized {
            Pair in;
            double p;
            Pair value;
            [[nodiscard]] std::tuple<Pair, double> pullback(const Pair& c) const {
                return {Pair{c.first * p + c.second, c.first}, c.first * in.first};
            }
        };
        [[nodiscard]] Linearized linearize(const Pair& in, double p) const {
            return {in, p, (*this)(in, p)};
        }
    };
    const auto filter = eddy::scan(Filter{}, {.checkpoints = 2});
    const std::pair<double, std::vector<double>> input{1.0, {0, 0, 0, 0}};

    auto linearization = filter.linearize(input, 2.0);
    const auto [of_input, of_p] = linearization.pullback({1.0, {0, 0, 0, 0}});

    CHECK(linearization.value.first == 16);  // p⁴
    CHECK(of_input.first == 16);
    CHECK(of_input.second == std::vector<double>{8, 4, 2, 1});
    CHECK(of_p == 32);  // 4 p³
}
