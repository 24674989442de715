// Stochastic equations through solve and its gradients: laws, one path whatever the machine, exact
// gradients, failures, bad input.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/milstein.hpp>
#include <eddy/solvers/shark.hpp>
#include <eddy/solvers/spark.hpp>
#include <eddy/solvers/sriw1.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using Geometric = support::GeometricBrownian;
using support::HalfSquares;
using Mixed = support::MixedNoise;
using support::same_bits;

struct OrnsteinUhlenbeck {
    static constexpr int state_size = 1, parameter_size = 3;  // θ, m, σ
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (p[1] - y[0]));
    }
    constexpr auto diffusion(auto, const auto&, const auto& p) const { return eddy::vec(p[2]); }
};
/// Its drift grows faster than any step can follow.
struct Exploding {
    static constexpr int state_size = 1, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-1. * p[0] * y[0] * y[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::vec(y[0] * y[0]);
    }
};

Array filled(std::ptrdiff_t lanes, std::initializer_list<double> row) {
    Array array(lanes, static_cast<std::ptrdiff_t>(row.size()));
    std::ptrdiff_t i = 0;
    for (const double value : row) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) array(lane, i) = value;
        ++i;
    }
    return array;
}

struct Sample {
    double mean = 0, variance = 0, n = 0;
    explicit Sample(const auto& y) {
        n = static_cast<double>(y.rows());
        for (std::ptrdiff_t lane = 0; lane < y.rows(); ++lane) mean += y(lane, 0) / n;
        for (std::ptrdiff_t lane = 0; lane < y.rows(); ++lane)
            variance += std::pow(y(lane, 0) - mean, 2) / (n - 1);
    }
    void require_mean(double expected) const {
        CHECK(std::abs(mean - expected) < 5 * std::sqrt(variance / n));
    }
};

template <class Field, class Method>
auto gradient(const Array& y0, const Array& p, const eddy::SolveOptions& options,
              const auto& backend) {
    return eddy::value_and_gradient(Field{}, Method{}, HalfSquares{}, filled(1, {0.1, 0.3}), y0, p,
                                    options, backend);
}

void require_same(const auto& a, const auto& b) {
    for (std::ptrdiff_t lane = 0; lane < a.gradient.y0.rows(); ++lane) {
        CAPTURE(lane);
        REQUIRE(same_bits(a.loss(lane), b.loss(lane)));
        for (int i = 0; i < a.gradient.y0.cols(); ++i)
            REQUIRE(same_bits(a.gradient.y0(lane, i), b.gradient.y0(lane, i)));
        for (int i = 0; i < a.gradient.p.cols(); ++i)
            REQUIRE(same_bits(a.gradient.p(lane, i), b.gradient.p(lane, i)));
    }
}

}  // namespace

TEST_CASE("stochastic solve: geometric Brownian motion has the moments of Euler's scheme") {
    const Array y0 = filled(20000, {1}), p = filled(20000, {0.05, 0.4});
    const auto solution = eddy::solve(Geometric{}, eddy::EulerMaruyama{}, y0, p,
                                      {.t1 = 1, .dt0 = 1. / 256, .seed = 7});

    const Sample end(solution.y());
    end.require_mean(1.051265963897185);  // (1 + μh)^n: no bias is left
    // The second moment of the scheme less the square of the mean; log-normal: kurtosis about 6.
    const double variance = 1.296771629380895 - 1.051265963897185 * 1.051265963897185;
    CHECK(std::abs(end.variance - variance) < 5 * variance * std::sqrt(6 / end.n));
    CHECK(solution.stats(0).accepted == 256);
}

TEST_CASE("stochastic solve: Ornstein-Uhlenbeck has its law at every save point") {
    const Array y0 = filled(20000, {2}), p = filled(20000, {1.5, 0.8, 0.6});
    const auto solution =
        eddy::solve(OrnsteinUhlenbeck{}, eddy::ShARK{}, y0, p,
                    {.t1 = 1, .save_at = {0.25, 0.3, 1}, .dt0 = 1. / 64, .seed = 3});
    const double times[] = {0.25, 0.3, 1};
    for (int k = 0; k < 3; ++k) {
        const double decay = std::exp(-1.5 * times[k]);
        const Sample there(solution.y(k));
        there.require_mean(0.8 + 1.2 * decay);
        const double variance = 0.12 * (1 - decay * decay);
        CHECK(std::abs(there.variance - variance) < 5 * variance * std::sqrt(2 / there.n) + 1e-4);
    }
}

TEST_CASE("stochastic solve: a path depends on seed and number alone") {
    const Array y0 = filled(37, {0.9, 0.4}), p = filled(37, {0.7, 0.8, 0.3});
    eddy::SolveOptions options{.t1 = 2, .save_at = {0.7, 2}, .dt0 = 1. / 32, .seed = 5};
    const auto serial = eddy::solve(Mixed{}, eddy::SPaRK{}, y0, p, options, eddy::Serial{});
    const auto cpu = eddy::solve(Mixed{}, eddy::SPaRK{}, y0, p, options, eddy::Cpu{.threads = 1});
    const auto two = eddy::solve(Mixed{}, eddy::SPaRK{}, y0, p, options, eddy::Cpu{.threads = 2});
    options.first_path = 20;
    const auto later = eddy::solve(Mixed{}, eddy::SPaRK{}, filled(5, {0.9, 0.4}),
                                   filled(5, {0.7, 0.8, 0.3}), options);
    options.seed = 6;
    const auto other = eddy::solve(Mixed{}, eddy::SPaRK{}, filled(5, {0.9, 0.4}),
                                   filled(5, {0.7, 0.8, 0.3}), options);
    for (int k = 0; k < 2; ++k) {
        for (int lane = 0; lane < 37; ++lane) {
            for (int i = 0; i < 2; ++i) {
                REQUIRE(same_bits(serial.y(k)(lane, i), cpu.y(k)(lane, i)));
                REQUIRE(same_bits(serial.y(k)(lane, i), two.y(k)(lane, i)));
            }
        }
        for (int lane = 0; lane < 5; ++lane) {
            REQUIRE(same_bits(later.y(k)(lane, 0), serial.y(k)(20 + lane, 0)));
            REQUIRE(other.y(k)(lane, 0) != later.y(k)(lane, 0));
        }
    }
}

TEST_CASE("stochastic solve: a later end, and save points at ends of steps, change nothing") {
    const Array y0 = filled(9, {1}), p = filled(9, {0.05, 0.4});
    eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 64, .seed = 1, .noise_cell = 1. / 16};
    const auto plain = eddy::solve(Geometric{}, eddy::SRIW1{}, y0, p, options);
    options.t1 = 1.5;
    options.save_at = {0.25, 1, 1.5};
    const auto longer = eddy::solve(Geometric{}, eddy::SRIW1{}, y0, p, options);
    for (int lane = 0; lane < 9; ++lane) CHECK(same_bits(plain.y()(lane, 0), longer.y(1)(lane, 0)));
    CHECK(plain.noise_cell() == 1. / 16);
}

TEST_CASE("stochastic solve: finer steps and other methods follow the same path") {
    const Array y0 = filled(50, {1}), p = filled(50, {0.05, 0.4});
    double distance[3] = {};
    eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 16, .seed = 1, .noise_cell = 1. / 16};
    options.dt0 = 1. / 4096;
    const auto finest = eddy::solve(Geometric{}, eddy::Milstein{}, y0, p, options);
    for (int k = 0; k < 3; ++k) {
        options.dt0 = std::ldexp(1. / 16, -2 * k);
        const auto coarse = eddy::solve(Geometric{}, eddy::SRIW1{}, y0, p, options);
        for (int lane = 0; lane < 50; ++lane)
            distance[k] =
                std::max(distance[k], std::abs(coarse.y()(lane, 0) - finest.y()(lane, 0)));
    }
    CHECK(distance[0] < 5e-3);
    CHECK(distance[2] < 2e-4);
    CHECK(distance[2] < distance[0]);
}

TEST_CASE("stochastic solve: odd paths are mirrored where that is asked for") {
    const Array y0 = filled(8, {2}), p = filled(8, {1.5, 0.8, 0.6});
    eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 64, .seed = 3, .antithetic = true};
    const auto solution = eddy::solve(OrnsteinUhlenbeck{}, eddy::EulerMaruyama{}, y0, p, options);
    const double mean = 0.8 + 1.2 * std::pow(1 - 1.5 / 64, 64);  // of Euler's scheme
    for (int lane = 0; lane < 8; lane += 2)
        CHECK((solution.y()(lane, 0) + solution.y()(lane + 1, 0)) / 2 ==
              Approx(mean).epsilon(1e-12));
    CHECK(solution.noise_cell() == 1. / 64);  // where nobody says otherwise, dt0
}

TEST_CASE("stochastic gradient: the closed forms of Euler's scheme on one path") {
    const Array y0 = filled(20, {1.3}), p = filled(20, {0.05, 0.4});
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 64, .seed = 2};
    const auto solution = eddy::solve(Geometric{}, eddy::EulerMaruyama{}, y0, p, options);
    const auto pulled = eddy::pullback(solution, filled(20, {1}));
    for (int lane = 0; lane < 20; ++lane) {
        // y = y0 Π (1 + μh + σ ΔW): the derivative by y0 is y/y0.
        CHECK(pulled.y0(lane, 0) == Approx(solution.y()(lane, 0) / 1.3).epsilon(1e-13));
    }
}

TEST_CASE("stochastic gradient: reverse is forward, is the difference on the same path") {
    const Array y0 = filled(3, {0.9, 0.4}), p = filled(3, {0.7, 0.8, 0.3});
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 32, .seed = 4, .noise_cell = 1. / 8};
    const auto solution = eddy::solve(Mixed{}, eddy::SPaRK{}, y0, p, options);
    const auto pulled = eddy::pullback(solution, filled(3, {0.6, -1.1}));
    const auto value = [&](const Array& from, const Array& with, int lane) {
        const auto moved = eddy::solve(Mixed{}, eddy::SPaRK{}, from, with, options);
        return 0.6 * moved.y()(lane, 0) - 1.1 * moved.y()(lane, 1);
    };
    for (int i = 0; i < 5; ++i) {
        Array y0_tangent = filled(3, {0, 0}), p_tangent = filled(3, {0, 0, 0});
        Array up_y = y0, down_y = y0, up_p = p, down_p = p;
        for (int lane = 0; lane < 3; ++lane) {
            (i < 2 ? y0_tangent(lane, i) : p_tangent(lane, i - 2)) = 1;
            (i < 2 ? up_y(lane, i) : up_p(lane, i - 2)) += 1e-5;
            (i < 2 ? down_y(lane, i) : down_p(lane, i - 2)) -= 1e-5;
        }
        const auto forward =
            eddy::pushforward(Mixed{}, eddy::SPaRK{}, y0, p, y0_tangent, p_tangent, options);
        for (int lane = 0; lane < 3; ++lane) {
            const double reverse = i < 2 ? pulled.y0(lane, i) : pulled.p(lane, i - 2);
            const double tangent =
                0.6 * forward.tangent()(lane, 0) - 1.1 * forward.tangent()(lane, 1);
            const double difference =
                (value(up_y, up_p, lane) - value(down_y, down_p, lane)) / 2e-5;
            CHECK(reverse == Approx(tangent).epsilon(1e-12).margin(1e-14));
            CHECK(reverse == Approx(difference).epsilon(1e-6).margin(1e-8));
        }
    }
}

TEST_CASE("stochastic gradient: the same bits whatever is kept, on any backend") {
    const Array y0 = filled(23, {0.9, 0.4}), p = filled(23, {0.7, 0.8, 0.3});
    eddy::SolveOptions options{.t1 = 2, .dt0 = 1. / 32, .seed = 9};
    const auto kept = gradient<Mixed, eddy::SPaRK>(y0, p, options, eddy::Serial{});
    for (const std::int64_t checkpoints : {0, 1, 3, 10}) {
        for (const std::size_t budget : {std::size_t{256} << 20, std::size_t{4000}}) {
            options.checkpoints = checkpoints;
            options.memory_budget = budget;
            CAPTURE(checkpoints, budget);
            require_same(kept,
                         gradient<Mixed, eddy::SPaRK>(y0, p, options, eddy::Cpu{.threads = 1}));
            require_same(kept,
                         gradient<Mixed, eddy::SPaRK>(y0, p, options, eddy::Cpu{.threads = 2}));
        }
    }
}

TEST_CASE("stochastic gradient: blocks of rounds have the bits of single ones, with many refills") {
    const Array y0 = filled(150, {0.9, 0.4}), p = filled(150, {0.7, 0.8, 0.3});
    for (const int steps : {64, 101}) {  // lanes follow each other within blocks, or between them
        CAPTURE(steps);
        eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / steps, .seed = 9};
        const auto kept = gradient<Mixed, eddy::SPaRK>(y0, p, options, eddy::Serial{});
        for (const std::int64_t checkpoints : {0, 2}) {
            options.checkpoints = checkpoints;
            const auto found =
                gradient<Mixed, eddy::SPaRK>(y0, p, options, eddy::Cpu{.threads = 1});
            require_same(kept, found);
            const auto& counters = found.report.counters;
            CHECK(counters.advances == counters.pullbacks + counters.recomputed);
            CHECK(counters.pullbacks >= steps);
            if (checkpoints > 0) CHECK(counters.peak_checkpoints <= checkpoints);
        }
    }
}

TEST_CASE("stochastic solve: a lane that blows up is a result, and disturbs no other") {
    Array y0 = filled(9, {0.5}), p = filled(9, {1});
    y0(4, 0) = 1e6;
    const auto solution = eddy::solve(Exploding{}, eddy::EulerMaruyama{}, y0, p,
                                      {.t1 = 1, .dt0 = 1. / 16, .seed = 1});
    for (int lane = 0; lane < 9; ++lane)
        CHECK(solution.result(lane) ==
              (lane == 4 ? eddy::Result::non_finite : eddy::Result::success));
}

TEST_CASE("stochastic solve: bad input is refused before any work") {
    const Array y0 = filled(2, {1}), p = filled(2, {0.05, 0.4});
    const auto refused = [&](const eddy::SolveOptions& options, const char* text) {
        CHECK_THROWS_WITH(eddy::solve(Geometric{}, eddy::EulerMaruyama{}, y0, p, options),
                          support::contains(text));
    };
    refused({.t1 = 1}, "a stochastic equation, but dt0 = 0; give the size of its steps");
    refused({.t0 = 1, .t1 = 0, .dt0 = -0.1},
            "t1 = 0 is before t0 = 1; a stochastic equation is solved forward in time");
    refused({.t0 = 1, .t1 = 0, .dt0 = 0.1}, "forward in time");
    refused({.dt0 = 0.1}, "t1 is missing");
    refused({.t1 = 1, .dt0 = 0.1, .noise_cell = -1}, "noise_cell = -1");
    refused({.t1 = 1, .dt0 = 0.1, .noise_cell = 0.3}, "the nearest is 0.4");
    refused({.t1 = 1, .dt0 = 1e-9, .noise_cell = 1}, "the nearest is 0.008388608");  // 2^23 dt0
    refused({.t1 = 1, .dt0 = 0.1, .noise_cell = 1e-300}, "the nearest is 0.1");
    refused({.t1 = 1, .dt0 = 0.1, .first_path = (std::uint64_t{1} << 48) - 1}, "2^48");
    for (const double dt0 : {1e-15, 1e-16, 1e-300})
        refused({.t1 = 1, .dt0 = dt0}, "steps; there may be fewer than 2^48");
}
