// Several paths to a lane: means and variances are those of the paths solved one by one, gradients the
// means of theirs, with the same bits on any number of threads; paths that fail are left out.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/differentiable_solve.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using support::HalfSquares;
using support::same_bits;
using Vector = std::vector<double>;

/// Two noises; + and × alone, so that all backends have the same bits.
struct Pair {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (1. - y[0]), y[0] - p[1] * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0], 0.2 * y[1]);
    }
};
/// Leaves all bounds where the noise takes it far enough.
struct Exploding {
    static constexpr int state_size = 1, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto&, const auto&) const { return eddy::vec(1.); }
};

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

const eddy::EulerMaruyama euler;
const eddy::SolveOptions usual{
    .t1 = 1, .save_at = {0.4, 1}, .dt0 = 0.125, .seed = 3, .first_path = 7, .antithetic = true};

eddy::SolveOptions with_paths(std::int64_t paths) {
    eddy::SolveOptions options = usual;
    options.paths = paths;
    return options;
}
/// Different in each lane.
Array rows(std::ptrdiff_t lanes, std::initializer_list<double> row) {
    Array array(lanes, static_cast<std::ptrdiff_t>(row.size()));
    std::ptrdiff_t i = 0;
    for (const double value : row) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            array(lane, i) = value + 0.1 * static_cast<double>(lane);
        ++i;
    }
    return array;
}
/// Each lane `paths` times.
Array repeated(const Array& lanes, std::ptrdiff_t paths) {
    Array all(lanes.rows() * paths, lanes.cols());
    for (std::ptrdiff_t i = 0; i < all.cols(); ++i) {
        for (std::ptrdiff_t row = 0; row < all.rows(); ++row) all(row, i) = lanes(row / paths, i);
    }
    return all;
}
double mean_of(const auto& y, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t i) {
    double sum = 0;
    for (std::ptrdiff_t row = first; row < first + count; ++row) sum += y(row, i);
    return sum / static_cast<double>(count);
}
void require_same(const auto& a, const auto& b) {
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        for (std::ptrdiff_t row = 0; row < a.rows(); ++row)
            REQUIRE(same_bits(a(row, i), b(row, i)));
    }
}
const Array start = rows(3, {0.9, 0.4}), p = rows(3, {0.7, 0.3}), data(1, 2, 0.25);

auto loss_of(const auto& parameters, const eddy::SolveOptions& options, const auto& backend) {
    return eddy::value_and_gradient(Pair{}, euler, HalfSquares{}, std::vector<Array>{data, data},
                                    start, parameters, options, backend);
}

}  // namespace

TEST_CASE("paths: means and variances are those of the paths, each as a lane of its own") {
    const auto single =
        eddy::solve(Pair{}, euler, repeated(start, 50), repeated(p, 50), usual, eddy::Serial{});
    const auto found = eddy::solve(Pair{}, euler, start, p, with_paths(50), eddy::Cpu{});

    CHECK(found.num_paths() == 50);
    for (int k = 0; k < 2; ++k) {
        for (int lane = 0; lane < 3; ++lane) {
            for (int i = 0; i < 2; ++i) {
                const double mean = mean_of(single.y(k), lane * 50, 50, i);
                double squares = 0;
                for (int path = 0; path < 50; ++path)
                    squares += std::pow(single.y(k)(lane * 50 + path, i) - mean, 2);
                CHECK(found.mean(k)(lane, i) == Approx(mean).epsilon(1e-13));
                CHECK(found.variance(k)(lane, i) == Approx(squares / 49).epsilon(1e-12));
            }
        }
    }
    CHECK(found.stats(1).accepted == 50 * single.stats(0).accepted);
    CHECK(found.stats(1).evaluations == 50 * single.stats(0).evaluations);
    CHECK(found.failed_paths(2) == 0);
    CHECK(found.failure(2).t == 1);
}

TEST_CASE("paths: the same bits on threads, by the oracle, in a second call") {
    auto options = with_paths(1501);
    auto solver = eddy::ensemble_solver(Pair{}, euler, options, eddy::Cpu{.threads = 2});
    const auto first = solver(start, p);
    for (const int threads : {1, 2}) {
        const auto other =
            eddy::solve(Pair{}, euler, start, p, options, eddy::Cpu{.threads = threads});
        require_same(first.mean(1), other.mean(1));
        require_same(first.variance(1), other.variance(1));
    }
    const auto serial = eddy::solve(Pair{}, euler, start, p, options, eddy::Serial{});
    require_same(first.mean(0), serial.mean(0));
    require_same(first.variance(0), serial.variance(0));
    require_same(first.mean(1), solver(start, p).mean(1));
}

TEST_CASE("paths: many to one lane have the moments of the law") {
    const std::int64_t count = 150'000;  // more than are solved at a time
    const Array ones(1, 2, 1.), of_lane = rows(1, {0, 0.4});
    const auto found = eddy::solve(Pair{}, euler, ones, of_lane,
                                   {.t1 = 1, .dt0 = 1. / 16, .seed = 5, .paths = count});
    // No drift: E y = 1 and E y² = (1 + σ² h)^n. A log-normal's fourth moment: kurtosis about 6.
    const double variance = std::pow(1 + 0.16 / 16, 16) - 1, n = static_cast<double>(count);
    CHECK(std::abs(found.mean()(0, 0) - 1) < 5 * std::sqrt(variance / n));
    CHECK(std::abs(found.variance()(0, 0) - variance) < 5 * variance * std::sqrt(6 / n));
}

TEST_CASE("paths: loss and gradient are the means of those of the paths") {
    const std::ptrdiff_t count = 1501;  // lanes meet within what is solved at a time
    const auto single =
        eddy::value_and_gradient(Pair{}, euler, HalfSquares{}, std::vector<Array>{data, data},
                                 repeated(start, count), repeated(p, count), usual, eddy::Cpu{});
    const auto found = loss_of(p, with_paths(count), eddy::Cpu{.threads = 2});

    double total = 0;
    for (int lane = 0; lane < 3; ++lane) {
        double loss = 0;
        for (std::ptrdiff_t path = 0; path < count; ++path)
            loss += single.loss(lane * count + path) / static_cast<double>(count);
        CHECK(found.loss(lane) == Approx(loss).epsilon(1e-12));
        total += loss;
        for (int i = 0; i < 2; ++i) {
            CHECK(found.gradient.y0(lane, i) ==
                  Approx(mean_of(single.gradient.y0, lane * count, count, i)).epsilon(1e-12));
            CHECK(found.gradient.p(lane, i) ==
                  Approx(mean_of(single.gradient.p, lane * count, count, i)).epsilon(1e-12));
        }
    }
    CHECK(found.loss.total == Approx(total).epsilon(1e-12));
    CHECK(found.report.stats(0).accepted == count * single.report.stats(0).accepted);
    CHECK(found.report.counters.pullbacks > 0);

    const auto again = loss_of(p, with_paths(count), eddy::Cpu{.threads = 1});
    require_same(found.gradient.y0, again.gradient.y0);
    require_same(found.gradient.p, again.gradient.p);
}

TEST_CASE("paths: a shared gradient is the sum over lanes of the means over paths") {
    const Vector shared{0.7, 0.3};
    const Array same = [] {
        Array array(3, 2);
        for (int lane = 0; lane < 3; ++lane) array(lane, 0) = 0.7, array(lane, 1) = 0.3;
        return array;
    }();
    const auto of_lanes = loss_of(same, with_paths(700), eddy::Cpu{});
    const auto found = loss_of(eddy::shared(shared), with_paths(700), eddy::Cpu{});
    for (int i = 0; i < 2; ++i) {
        double sum = 0;
        for (int lane = 0; lane < 3; ++lane) sum += of_lanes.gradient.p(lane, i);
        CHECK(found.gradient.p(0, i) == Approx(sum).epsilon(1e-12));
    }
    require_same(found.gradient.y0, of_lanes.gradient.y0);
}

TEST_CASE("paths: more shared parameters than lanes bring one by one") {
    const Vector shared(65, 0.01);
    const Array ones(3, 1, 1.), target(1, 1, 0.);
    const auto loss = [&](const Array& from, const auto& options) {
        return eddy::value_and_gradient(support::CrowdedNoise{}, euler, HalfSquares{}, target, from,
                                        eddy::shared(shared), options);
    };
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.125, .seed = 3, .paths = 5000};
    eddy::SolveOptions alone = options;
    alone.paths = 1;
    const auto found = loss(ones, options), single = loss(repeated(ones, 5000), alone);
    for (const int i : {0, 64})
        CHECK(found.gradient.p(0, i) == Approx(single.gradient.p(0, i) / 5000).epsilon(1e-11));
    CHECK(found.loss.total == Approx(single.loss.total / 5000).epsilon(1e-12));
}

TEST_CASE("paths: a Hessian-vector product is the mean of those of the paths") {
    const Vector shared{0.7, 0.3}, along{1, -2};
    const Array direction(3, 2, 0.5);
    const auto product = [&](const eddy::SolveOptions& options, const Array& y, const Array& dy) {
        return eddy::hessian_vector_product(Pair{}, euler, HalfSquares{},
                                            std::vector<Array>{data, data}, y, eddy::shared(shared),
                                            dy, eddy::shared(along), options);
    };
    const auto found = product(with_paths(40), start, direction);
    const auto single = product(usual, repeated(start, 40), repeated(direction, 40));
    for (int i = 0; i < 2; ++i) {
        CHECK(found.product.p(0, i) == Approx(single.product.p(0, i) / 40).epsilon(1e-12));
        CHECK(found.product.y0(1, i) ==
              Approx(mean_of(single.product.y0, 40, 40, i)).epsilon(1e-12));
    }
}

TEST_CASE("paths: a pushforward has the tangent of the mean, as the gradient has") {
    const Array along(3, 2, 1.);
    const auto pushed =
        eddy::pushforward(Pair{}, euler, start, p, along, Array(3, 2, 0.), with_paths(60));
    eddy::SolveOptions shifted = with_paths(60);
    Array moved = start;
    for (double& value : moved) value += 1e-6;
    const auto ahead = eddy::solve(Pair{}, euler, moved, p, shifted);
    for (int lane = 0; lane < 3; ++lane) {
        const double difference = (ahead.mean(1)(lane, 1) - pushed.mean(1)(lane, 1)) / 1e-6;
        CHECK(pushed.tangent(1)(lane, 1) == Approx(difference).epsilon(1e-8));
    }
}

TEST_CASE("paths: those that fail are counted and left out, and disturb no other") {
    const Array begin = rows(2, {0.}), push(2, 1, 0.5), target(1, 1, 0.);
    const eddy::SolveOptions options{.t1 = 2, .dt0 = 0.125, .seed = 1, .paths = 400};
    eddy::SolveOptions alone = options;
    alone.paths = 1;
    const auto solve = [&](const Array& from, const Array& parameters, const auto& with) {
        return eddy::value_and_gradient(Exploding{}, euler, HalfSquares{}, target, from, parameters,
                                        with);
    };
    const auto single = solve(repeated(begin, 400), repeated(push, 400), alone);
    const auto found = solve(begin, push, options);
    const auto means = eddy::solve(Exploding{}, euler, begin, push, options);
    for (int lane = 0; lane < 2; ++lane) {
        std::int64_t failed = 0;
        double sum = 0;
        eddy::LaneFailure first;
        for (int path = 0; path < 400; ++path) {
            const eddy::LaneFailure failure = single.report.failure(lane * 400 + path);
            if (!eddy::is_failure(failure.result))
                sum += single.loss(lane * 400 + path);
            else if (failed++ == 0)
                first = failure;
        }
        REQUIRE(failed > 20);
        REQUIRE(failed < 380);
        CHECK(found.report.failed_paths(lane) == failed);
        CHECK(found.report.result(lane) == first.result);
        CHECK(found.report.failure(lane).t == first.t);
        CHECK(found.loss(lane) == Approx(sum / static_cast<double>(400 - failed)).epsilon(1e-12));
        CHECK(std::isfinite(found.gradient.y0(lane, 0)));
        CHECK(means.failed_paths(lane) > 0);
        CHECK(std::isfinite(means.mean()(lane, 0)));
    }
    CHECK(found.loss.total_of_successful == Approx(found.loss(0) + found.loss(1)));
    CHECK_FALSE(found.report.success());
}

TEST_CASE("paths: all may fail") {
    const Array begin(1, 1, 10.), push(1, 1, 10.);
    const eddy::SolveOptions options{.t1 = 2, .dt0 = 0.125, .paths = 5};
    const auto found = eddy::solve(Exploding{}, euler, begin, push, options);
    CHECK(found.failed_paths(0) == 5);
    CHECK(std::isnan(found.mean()(0, 0)));
    CHECK(std::isnan(found.variance()(0, 0)));
    const auto loss = eddy::value_and_gradient(Exploding{}, euler, HalfSquares{}, Array(1, 1, 0.),
                                               begin, push, options);
    CHECK(std::isnan(loss.loss(0)));
    CHECK(std::isnan(loss.loss.total));
    CHECK(loss.gradient.p(0, 0) == 0);
}

TEST_CASE("paths: a cancelled call says so of every lane") {
    std::stop_source source;
    source.request_stop();
    auto options = with_paths(100'000);
    options.cancelled = source.get_token();
    const auto found = eddy::solve(Pair{}, euler, start, p, options);
    const auto loss = loss_of(p, options, eddy::Cpu{});
    for (int lane = 0; lane < 3; ++lane) {
        CHECK(found.result(lane) == eddy::Result::cancelled);
        CHECK(found.failed_paths(lane) == 100'000);
        CHECK(std::isnan(found.mean(1)(lane, 0)));
        CHECK(loss.report.failed_paths(lane) == 100'000);
        CHECK(loss.gradient.y0(lane, 0) == 0);
    }
}

TEST_CASE("paths: means and variances go into arrays that were given") {
    auto solver = eddy::ensemble_solver(Pair{}, euler, with_paths(50), eddy::Cpu{});
    const auto expected = solver(start, p);
    std::vector<Array> y(2, Array(3, 2)), variance(2, Array(3, 2));

    const auto& found = solver(start, p, eddy::SolutionInto<double>{.y = y, .variance = variance});

    for (std::ptrdiff_t k = 0; k < 2; ++k) {
        require_same(y[static_cast<std::size_t>(k)], expected.mean(k));
        require_same(variance[static_cast<std::size_t>(k)], expected.variance(k));
        CHECK_THROWS_WITH(found.mean(k), support::contains("read them there"));
        CHECK_THROWS_WITH(found.variance(k), support::contains("read them there"));
    }
    auto one = eddy::ensemble_solver(Pair{}, euler, usual, eddy::Cpu{});
    CHECK_THROWS_WITH(one(start, p, eddy::SolutionInto<double>{.variance = variance}),
                      support::contains("each trajectory is one path"));
}

TEST_CASE("paths: what they do not keep, and numbers that are none, are refused") {
    const auto found = eddy::solve(Pair{}, euler, start, p, with_paths(4));
    CHECK_THROWS_WITH(found.y(), support::contains("call mean(k) and variance(k)"));
    CHECK_THROWS_WITH(eddy::pullback(found, std::vector<Array>{data, data}),
                      support::contains("paths = 4"));
    CHECK_THROWS_WITH(eddy::solve(Pair{}, euler, start, p, usual).mean(),
                      support::contains("set .paths"));

    const auto refused = [&](auto change, const char* text) {
        auto options = with_paths(4);
        change(options);
        CHECK_THROWS_WITH(eddy::solve(Pair{}, euler, start, p, options), support::contains(text));
    };
    auto with_impulses = with_paths(4);
    with_impulses.impulses = {.times = {with_impulses.t1}, .amounts = 1};
    CHECK_THROWS_WITH(
        loss_of(p, with_impulses, eddy::Cpu{}),
        "value_and_gradient: impulses with paths = 4, of whose derivatives no means are kept; make "
        "each path a trajectory");
    refused([](auto& options) { options.paths = 0; }, "paths = 0; give at least 1");
    refused([](auto& options) { options.paths = -3; }, "paths = -3");
    refused([](auto& options) { options.paths = std::int64_t{1} << 47; }, "2^48");
    refused([](auto& options) { options.paths = std::numeric_limits<std::int64_t>::max(); },
            "2^48");
    refused([](auto& options) { options.save_steps = true; },
            "save_steps = true with paths = 4, whose steps are not kept; leave it out, or make "
            "each path a trajectory");
    CHECK_THROWS_WITH(eddy::differentiable_solve(Pair{}, euler, {.t1 = 1, .dt0 = 0.1, .paths = 4}),
                      support::contains("paths = 4, but the value is one state for each "
                                        "trajectory; leave it out"));
    CHECK_THROWS_WITH(eddy::solve(Decay{}, eddy::Tsit5{}, Array(1, 1, 1.), Array(1, 1, 1.),
                                  {.t1 = 1, .paths = 4}),
                      support::contains("paths = 4, but the equation has no noise; leave it out, "
                                        "or give drift, diffusion and calculus"));
}
