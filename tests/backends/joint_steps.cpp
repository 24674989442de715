// One step size for all lanes: their steps are those of one equation that has all lanes for its state,
// whatever the threads, the checkpoints and the memory; and lanes that go wrong leave the others alone.

#include <cmath>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/same_bits.hpp"

namespace {

/// `lanes` copies of y′ = −p₀ y³ + p₁ t, beside each other. Where y is large, its steps are small.
template <int lanes>
struct Cubic {
    static constexpr int state_size = lanes, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return p[1] * t - p[0] * y * y * y;
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

constexpr int few = 5;
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-6,
                                 .save_at = {0, 0.3, 1.1, 2},
                                 .step_to = {0.7},
                                 .dt0 = 0.01,
                                 .stable_gradients = false};

eddy::EnsembleArray<double> starts(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<double> y0(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        y0(lane, 0) = 0.1 + 3.0 * double(lane * 7 % lanes) / double(lanes);
    return y0;
}
eddy::EnsembleArray<double> parameters() {
    eddy::EnsembleArray<double> p(1, 2);
    p(0, 0) = 0.7;
    p(0, 1) = 0.4;
    return p;
}
auto solve_jointly(const eddy::EnsembleArray<double>& y0, eddy::SolveOptions with = options,
                   const eddy::Tiles& backend = {}) {
    return eddy::solve(Cubic<1>{}, eddy::Tsit5{}, y0, eddy::shared(parameters()), with,
                       eddy::JointController{}, backend);
}
auto differentiate_jointly(const eddy::EnsembleArray<double>& y0, eddy::SolveOptions with = options,
                           const eddy::Tiles& backend = {}) {
    return eddy::value_and_gradient(Cubic<1>{}, eddy::Tsit5{}, Squares{}, y0,
                                    eddy::shared(parameters()), with, eddy::JointController{},
                                    backend);
}

}  // namespace

TEST_CASE("joint steps: lanes step as one equation with all of them for its state") {
    const auto y0 = starts(few);
    eddy::EnsembleArray<double> as_one(1, few);
    for (int lane = 0; lane < few; ++lane) as_one(0, lane) = y0(lane, 0);

    const auto joint = differentiate_jointly(y0);
    const auto one = eddy::value_and_gradient(Cubic<few>{}, eddy::Tsit5{}, Squares{}, as_one,
                                              eddy::shared(parameters()), options, eddy::Serial{});

    // Norms are added in another order in single precision: sizes differ by 1e-7 of themselves, and
    // states by that part of their error, which is below rtol.
    CHECK(std::abs(joint.loss.total - one.loss.total) < 1e-11 * one.loss.total);
    for (int i = 0; i < 2; ++i)
        CHECK(std::abs(joint.gradient.p(0, i) - one.gradient.p(0, i)) <
              1e-11 * std::abs(one.gradient.p(0, i)));
    for (int lane = 0; lane < few; ++lane) {
        CHECK(std::abs(joint.gradient.y0(lane, 0) - one.gradient.y0(0, lane)) < 1e-10);
        CHECK(joint.report.stats(lane).accepted == one.report.stats(0).accepted);
        CHECK(joint.report.stats(lane).rejected == one.report.stats(0).rejected);
    }
}

TEST_CASE("joint steps: a solve takes the steps of its gradient, first sizes included") {
    eddy::SolveOptions saving = options;
    saving.dt0 = 0;
    saving.save_steps = true;
    const auto y0 = starts(150);

    const auto solution = solve_jointly(y0, saving);
    const auto gradient = differentiate_jointly(y0, [] {
        eddy::SolveOptions chosen = options;
        chosen.dt0 = 0;
        return chosen;
    }());

    double loss = 0;
    for (std::ptrdiff_t lane = 0; lane < 150; ++lane) {
        CHECK(solution.num_steps(lane) == solution.num_steps(0));
        for (std::ptrdiff_t k = 0; k < solution.num_steps(0); ++k)
            CHECK(solution.step_t(lane, k) == solution.step_t(0, k));
        CHECK(solution.stats(lane).accepted == gradient.report.stats(lane).accepted);
        CHECK(solution.stats(lane).rejected == gradient.report.stats(lane).rejected);
        double of_lane = 0;
        for (std::ptrdiff_t k = 0; k < 4; ++k) {
            const double y = solution.y(k)(lane, 0);
            of_lane = k == 0 ? y * y : of_lane + y * y;
        }
        CHECK(support::same_bits(of_lane, gradient.loss(lane)));
        loss += of_lane;
    }
    CHECK(std::abs(loss - gradient.loss.total) < 1e-13 * loss);
}

TEST_CASE("joint steps: gradients are the limit of central differences on the same steps") {
    // Steps of lanes beside it hold the size: dt_max bounds every step, whatever the perturbation.
    eddy::SolveOptions bounded = options;
    bounded.rtol = 1e-2;
    bounded.dt0 = bounded.dt_max = 0.05;
    const auto y0 = starts(few);
    const auto exact = differentiate_jointly(y0, bounded);

    for (int lane = 0; lane < few; ++lane) {
        const auto loss_at = [&](double moved) {
            auto at = y0;
            at(lane, 0) += moved;
            return differentiate_jointly(at, bounded).loss.total;
        };
        const double h = 1e-5;
        // Off by h² times a third derivative, and by rounding over h.
        CHECK(std::abs((loss_at(h) - loss_at(-h)) / (2 * h) - exact.gradient.y0(lane, 0)) < 1e-8);
    }
}

TEST_CASE("joint steps: the same bits for any threads, checkpoints and memory") {
    const auto y0 = starts(1009);
    const auto one = differentiate_jointly(y0, options, {.threads = 1});
    const auto solved = solve_jointly(y0, options, {.threads = 1});

    const auto check_same = [&](const eddy::Tiles& backend, std::int64_t checkpoints,
                                std::size_t budget) {
        eddy::SolveOptions with = options;
        with.checkpoints = checkpoints;
        with.memory_budget = budget;
        const auto other = differentiate_jointly(y0, with, backend);
        CHECK(support::same_bits(other.loss.total, one.loss.total));
        CHECK(support::same_array(other.gradient.p, one.gradient.p));
        CHECK(support::same_array(other.gradient.y0, one.gradient.y0));
    };
    check_same({.threads = 2}, 0, std::size_t{256} << 20);
    check_same({.threads = 1}, 1, std::size_t{256} << 20);
    check_same({.threads = 2}, 3, 1);
    const auto by_two = solve_jointly(y0, options, {.threads = 2});
    for (std::ptrdiff_t k = 0; k < 4; ++k) CHECK(support::same_array(by_two.y(k), solved.y(k)));
}

namespace {

/// y = (√y₀ − t / 2)²: no number any more once it has reached 0.
struct Draining {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return -p[0] * sqrt(y); }
};
auto drain(const eddy::EnsembleArray<double>& y0) {
    const eddy::EnsembleArray<double> p(1, 1, 1.);
    return eddy::value_and_gradient(Draining{}, eddy::Tsit5{}, Squares{}, y0, eddy::shared(p),
                                    {.t1 = 2, .rtol = 1e-6, .stable_gradients = false},
                                    eddy::JointController{}, eddy::Tiles{});
}

}  // namespace

TEST_CASE("joint steps: lanes that go wrong end alone, and the others go on") {
    eddy::EnsembleArray<double> y0(80, 1);
    for (std::ptrdiff_t lane = 0; lane < 80; ++lane) y0(lane, 0) = 4 + double(lane) / 10;
    const auto without = drain(y0);
    y0(13, 0) = -1;   // no derivative at all
    y0(70, 0) = 0.3;  // until t = 1.0954

    const auto with = drain(y0);

    CHECK(with.report.outcomes()[13].t == 0);
    CHECK(std::abs(with.report.outcomes()[70].t - 2 * std::sqrt(0.3)) < 1e-4);
    for (const std::ptrdiff_t bad : {13, 70}) {
        CHECK(with.report.result(bad) == eddy::Result::non_finite);
        CHECK(std::isnan(with.loss(bad)));
        CHECK(with.gradient.y0(bad, 0) == 0);
    }
    for (std::ptrdiff_t lane = 0; lane < 80; ++lane) {
        if (lane == 13 || lane == 70) continue;
        const double root = std::sqrt(y0(lane, 0)), end = (root - 1) * (root - 1);
        CHECK(with.report.result(lane) == eddy::Result::success);
        CHECK(std::abs(with.loss(lane) - end * end) < 1e-5 * end * end);
        // d (√y₀ − 1)⁴ / d y₀
        CHECK(std::abs(with.gradient.y0(lane, 0) - 2 * end * (root - 1) / root) < 1e-4);
    }
    // All make the steps that the lane makes which drains, and then grow their own: tenfold at most.
    const auto alone = drain(eddy::EnsembleArray<double>(1, 1, 0.3));
    CHECK(with.report.stats(0).accepted <
          without.report.stats(0).accepted + alone.report.stats(0).accepted + 20);
}

namespace {

/// call(y0) gives the others the bits that they have without a lane that begins at `bad_start`.
template <class Call>
void check_others(double bad_start, const Call& call) {
    for (const std::ptrdiff_t bad : {0, 1, 70, 79}) {
        CAPTURE(bad, bad_start);
        const std::ptrdiff_t count = bad < 2 ? 2 : 80;
        eddy::EnsembleArray<double> y0(count, 1), others(count - 1, 1);
        for (std::ptrdiff_t lane = 0; lane < count; ++lane)
            y0(lane, 0) = lane == bad ? bad_start : 4 + double(lane) / 10;
        for (std::ptrdiff_t lane = 0; lane + 1 < count; ++lane)
            others(lane, 0) = y0(lane < bad ? lane : lane + 1, 0);

        const auto with = call(y0), without = call(others);

        CHECK(with.report.result(bad) == eddy::Result::non_finite);
        CHECK(with.report.stats(bad).accepted == 0);
        for (std::ptrdiff_t lane = 0; lane + 1 < count; ++lane) {
            const std::ptrdiff_t there = lane < bad ? lane : lane + 1;
            CHECK(with.report.stats(there).accepted == without.report.stats(lane).accepted);
            CHECK(support::same_bits(with.loss(there), without.loss(lane)));
            CHECK(support::same_row(with.gradient.y0, there, without.gradient.y0, lane));
        }
    }
}

}  // namespace

// A lane that ends before the first step is no part of its size, nor of any norm: of two lanes it would halve that.
TEST_CASE("joint steps: a lane that ends at its start changes no bit of the others") {
    eddy::SolveOptions chosen = options;
    chosen.dt0 = 0;
    check_others(-1, drain);  // whose derivative is NaN
    check_others(1e150, [&](const auto& y0) { return differentiate_jointly(y0, chosen); });
}

TEST_CASE("joint steps: a call that is cancelled, and one of no lanes") {
    std::stop_source stopped;
    stopped.request_stop();
    eddy::SolveOptions cancelled = options;
    cancelled.cancelled = stopped.get_token();

    const auto gradient = differentiate_jointly(starts(70), cancelled);

    for (std::ptrdiff_t lane = 0; lane < 70; ++lane)
        CHECK(gradient.report.result(lane) == eddy::Result::cancelled);
    CHECK(gradient.gradient.p(0, 0) == 0);
    CHECK(differentiate_jointly(starts(0)).loss.total == 0);
}

TEST_CASE("joint steps: pullback takes the steps of the solve") {
    const auto y0 = starts(40);
    const auto gradient = differentiate_jointly(y0);
    const auto solution = solve_jointly(y0);
    std::vector<eddy::EnsembleArray<double>> cotangents(4, eddy::EnsembleArray<double>(40, 1));
    for (std::ptrdiff_t k = 0; k < 4; ++k)
        for (std::ptrdiff_t lane = 0; lane < 40; ++lane)
            cotangents[static_cast<std::size_t>(k)](lane, 0) = 2 * solution.y(k)(lane, 0);

    auto solver = eddy::pullback_solver(Cubic<1>{}, eddy::Tsit5{}, options, eddy::JointController{},
                                        eddy::Tiles{});
    const auto pulled = solver(cotangents, y0, eddy::shared(parameters()));

    CHECK(std::abs(pulled.gradient.p(0, 0) - gradient.gradient.p(0, 0)) < 1e-12);
    for (std::ptrdiff_t lane = 0; lane < 40; ++lane)
        CHECK(std::abs(pulled.gradient.y0(lane, 0) - gradient.gradient.y0(lane, 0)) < 1e-12);
}

TEST_CASE("joint steps: an equation that is traced when the program runs takes the same steps") {
    const auto y0 = starts(150);
    eddy::SolveOptions chosen = options;
    chosen.dt0 = 0;
    const auto over_rows = [&](const auto& by) {
        return eddy::value_and_gradient(Cubic<1>{}, eddy::Tsit5{}, Squares{}, y0,
                                        eddy::shared(parameters()), chosen, eddy::JointController{},
                                        by);
    };

    const auto gradient = over_rows(eddy::Rows{.threads = 2});
    const auto in_tiles = over_rows(eddy::Tiles{});

    CHECK(support::same_bits(gradient.loss.total, in_tiles.loss.total));
    CHECK(support::same_array(gradient.gradient.y0, in_tiles.gradient.y0));
    for (std::ptrdiff_t lane = 0; lane < 150; ++lane) {
        CHECK(gradient.report.stats(lane).accepted == in_tiles.report.stats(lane).accepted);
        CHECK(gradient.report.stats(lane).rejected == in_tiles.report.stats(lane).rejected);
    }
    const auto solution = eddy::solve(Cubic<1>{}, eddy::Tsit5{}, y0, eddy::shared(parameters()),
                                      chosen, eddy::JointController{}, eddy::Rows{});
    const auto of_tiles = solve_jointly(y0, chosen);
    for (std::ptrdiff_t k = 0; k < 4; ++k) CHECK(support::same_array(solution.y(k), of_tiles.y(k)));
}

TEST_CASE("joint steps: over rows each trajectory has the times of all") {
    eddy::SolveOptions own = options;
    own.save_at = {};
    own.step_to = {};
    own.t1 = eddy::each(eddy::EnsembleArray<double>(3, 1, 2.));
    CHECK_THROWS_WITH(
        static_cast<void>(eddy::solve(Cubic<1>{}, eddy::Tsit5{}, starts(3),
                                      eddy::shared(parameters()), own, eddy::JointController{},
                                      eddy::Rows{})),
        "solve: times of each trajectory's own with JointController, which gives all the same "
        "steps; leave one of them out");
}
