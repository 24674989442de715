// Times of each trajectory's own: each has the bits that it has alone, and those of one list where all are equal. That every
// machine has those of Serial is told on the table of oracle_cases.hpp.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

struct Driven {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * t - p[0] * y[0] * y[1], p[0] * y[0] - t * y[1] / (1 + t * t));
    }
};
struct Distance {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + t * p[0] * y[0];
    }
};

/// Trajectories that begin, end and are seen at times of their own; the second is seen nowhere.
struct Subjects {
    static constexpr std::ptrdiff_t count = 5, num_saves = 4;
    Array y0{count, 2}, p{count, 2}, t0{count, 1}, t1{count, 1},
        save_at{count, num_saves, not_given};
    std::vector<Array> data{num_saves, Array(count, 2, not_given)};

    explicit Subjects(double direction) {
        support::Random random(5);
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            for (int i = 0; i < 2; ++i) y0(lane, i) = random.uniform(0.5, 1.5);
            for (int i = 0; i < 2; ++i) p(lane, i) = random.uniform(0.5, 1.5);
            t0(lane, 0) = random.uniform(-1, 1);
            t1(lane, 0) = t0(lane, 0) + direction * random.uniform(0.5, 4);
            const std::ptrdiff_t seen = lane == 1 ? 0 : lane == 0 ? num_saves : lane;
            for (std::ptrdiff_t k = 0; k < seen; ++k) {
                // The first at the start, the last of those that have all at the end.
                const double part = static_cast<double>(k) / (num_saves - 1);
                save_at(lane, k) =
                    part == 1 ? t1(lane, 0) : t0(lane, 0) + part * (t1(lane, 0) - t0(lane, 0));
                for (int i = 0; i < 2; ++i)
                    data[static_cast<std::size_t>(k)](lane, i) = random.uniform(0, 1);
            }
        }
    }
    [[nodiscard]] eddy::SolveOptions options() const {
        return {.t0 = eddy::each(t0),
                .t1 = eddy::each(t1),
                .save_at = eddy::each(save_at),
                .jump_times = {0.3}};
    }
    /// One of them, by the options of one.
    [[nodiscard]] Subjects alone(std::ptrdiff_t lane) const {
        Subjects one = *this;
        const auto row = [&](const Array& all) {
            Array of_lane(1, all.cols());
            for (std::ptrdiff_t i = 0; i < all.cols(); ++i) of_lane(0, i) = all(lane, i);
            return of_lane;
        };
        one.y0 = row(y0);
        one.p = row(p);
        one.data.clear();
        for (std::ptrdiff_t k = 0; k < num_seen(lane); ++k)
            one.data.push_back(row(data[static_cast<std::size_t>(k)]));
        return one;
    }
    [[nodiscard]] eddy::SolveOptions options_of(std::ptrdiff_t lane) const {
        eddy::SolveOptions options{.t0 = t0(lane, 0), .t1 = t1(lane, 0)};
        for (std::ptrdiff_t k = 0; k < num_seen(lane); ++k)
            options.save_at.values.push_back(save_at(lane, k));
        const double low = std::min(t0(lane, 0), t1(lane, 0));
        if (low <= 0.3 && 0.3 <= std::max(t0(lane, 0), t1(lane, 0))) options.jump_times = {0.3};
        return options;
    }
    [[nodiscard]] std::ptrdiff_t num_seen(std::ptrdiff_t lane) const {
        std::ptrdiff_t count_seen = 0;
        while (count_seen < num_saves && !std::isnan(save_at(lane, count_seen))) ++count_seen;
        return count_seen;
    }
};

auto gradient_of(const Subjects& of, const eddy::SolveOptions& options) {
    return eddy::value_and_gradient(Driven{}, eddy::Tsit5{}, Distance{}, of.data, of.y0, of.p,
                                    options, eddy::differentiate_times);
}
auto solution_of(const Subjects& of, const eddy::SolveOptions& options) {
    return eddy::solve(Driven{}, eddy::Tsit5{}, of.y0, of.p, options);
}
std::string message_of(const Subjects& of, const eddy::SolveOptions& options) {
    try {
        static_cast<void>(solution_of(of, options));
    } catch (const eddy::InvalidArgument& error) {
        return error.what();
    }
    return "nothing";
}
using support::same_bits;

}  // namespace

TEST_CASE("own times: each trajectory has the states and the gradient that it has alone") {
    for (const double direction : {1., -1.}) {
        CAPTURE(direction);
        const Subjects all(direction);
        const auto together = gradient_of(all, all.options());
        const auto solution = solution_of(all, all.options());

        REQUIRE(solution.success());
        CHECK(solution.num_saves() == Subjects::num_saves);
        for (std::ptrdiff_t lane = 0; lane < Subjects::count; ++lane) {
            CAPTURE(lane);
            const std::ptrdiff_t seen = all.num_seen(lane);
            for (std::ptrdiff_t k = 0; k < Subjects::num_saves; ++k) {
                CHECK(std::isnan(solution.t(k, lane)) == (k >= seen));
                CHECK(std::isnan(solution.y(k)(lane, 1)) == (k >= seen));
            }
            CHECK(together.report.num_observed(lane) == 2 * seen);
            if (seen == 0) {
                CHECK(together.loss(lane) == 0);
                CHECK(together.gradient.y0(lane, 0) == 0);
                CHECK(together.gradient.t1(lane) == 0);
                continue;
            }
            const Subjects one = all.alone(lane);
            const auto alone = gradient_of(one, all.options_of(lane));
            const auto states = solution_of(one, all.options_of(lane));
            CHECK(same_bits(together.loss(lane), alone.loss(0)));
            CHECK(same_bits(together.gradient.t0(lane), alone.gradient.t0(0)));
            CHECK(same_bits(together.gradient.t1(lane), alone.gradient.t1(0)));
            for (int i = 0; i < 2; ++i) {
                CHECK(same_bits(together.gradient.y0(lane, i), alone.gradient.y0(0, i)));
                CHECK(same_bits(together.gradient.p(lane, i), alone.gradient.p(0, i)));
            }
            for (std::ptrdiff_t k = 0; k < seen; ++k) {
                CHECK(solution.t(k, lane) == states.t(k));
                CHECK(same_bits(solution.y(k)(lane, 0), states.y(k)(0, 0)));
                CHECK(same_bits(together.gradient.save_at(lane, k), alone.gradient.save_at(0, k)));
            }
        }
    }
}

TEST_CASE("own times: where all are equal they have the bits of one list, pulled back as well") {
    const Subjects all(1);
    const std::vector<double> times{0.25, 1, 1.5};
    Array t0(Subjects::count, 1, 0.25), t1(Subjects::count, 1, 2), save_at(Subjects::count, 3);
    for (std::ptrdiff_t lane = 0; lane < Subjects::count; ++lane)
        for (std::ptrdiff_t k = 0; k < 3; ++k)
            save_at(lane, k) = times[static_cast<std::size_t>(k)];
    const eddy::SolveOptions common{.t0 = 0.25, .t1 = 2, .save_at = times},
        own{.t0 = eddy::each(t0), .t1 = eddy::each(t1), .save_at = eddy::each(save_at)};
    const std::vector<Array> cotangents(3, Array(Subjects::count, 2, 0.5));

    const auto expected = solution_of(all, common), got = solution_of(all, own);
    const auto expected_back = eddy::pullback(expected, cotangents),
               got_back = eddy::pullback(got, cotangents);

    for (std::ptrdiff_t k = 0; k < 3; ++k) CHECK(support::same_array(expected.y(k), got.y(k)));
    CHECK(support::same_array(expected_back.y0, got_back.y0));
    CHECK(support::same_array(expected_back.p, got_back.p));
    CHECK(expected.stats(3).evaluations == got.stats(3).evaluations);
}

TEST_CASE("own times: what does not fit is one sentence that names the trajectory and the entry") {
    const Subjects all(1);
    const auto with = [&](auto change) {
        Subjects changed = all;
        eddy::SolveOptions options = all.options();
        change(changed, options);
        return message_of(changed, options);
    };
    const auto saves = [&](std::ptrdiff_t lane, std::ptrdiff_t k, double t) {
        return with([&](Subjects& of, eddy::SolveOptions& options) {
            of.save_at(lane, k) = t;
            options.save_at = eddy::each(of.save_at);
        });
    };

    CHECK_THAT(saves(0, 1, not_given),
               support::contains("save_at(0, 1) is NaN, and a time follows"));
    CHECK_THAT(saves(3, 2, 90.), support::contains("save_at(3, 2) = 90 is not between t0 = ") &&
                                     support::contains(" of trajectory 3; give times within"));
    CHECK_THAT(saves(0, 2, all.t0(0, 0)),
               support::contains("save_at(0, 2) = ") && support::contains(" comes after "));
    CHECK_THAT(with([](Subjects& of, eddy::SolveOptions& options) {
                   of.t1(2, 0) = not_given;
                   options.t1 = eddy::each(of.t1);
               }),
               support::contains("t1(2) = nan; give a finite time to end at"));
    CHECK_THAT(with([](Subjects& of, eddy::SolveOptions& options) {
                   of.t1(4, 0) = of.t0(4, 0) - 1;
                   options.t1 = eddy::each(of.t1);
               }),
               support::contains("trajectory 4 goes backward in time"));
    CHECK_THAT(with([](Subjects&, eddy::SolveOptions& options) {
                   options.t0 = eddy::each(Array(3, 1, 0.));
               }),
               support::contains("t1 has a row for each of 5 trajectories, other times have 3"));
    CHECK_THAT(with([](Subjects&, eddy::SolveOptions& options) {
                   options = {.t0 = eddy::each(Array(3, 1, 0.)), .t1 = 1};
               }),
               support::contains("times of 3 trajectories, but there are 5"));
    CHECK_THAT(with([](Subjects&, eddy::SolveOptions& options) {
                   options.t1 = eddy::each(Array(5, 2, 3.));
               }),
               support::contains("t1 is 5 x 2 (trajectory, time)"));
    CHECK_THAT(with([](Subjects&, eddy::SolveOptions& options) { options.save_at = {0.5}; }),
               support::contains("save_at[0] = 0.5 is not between"));
    const auto solution = solution_of(all, all.options());
    CHECK_THROWS_WITH(static_cast<void>(solution.t(1)), support::contains("call t(1, trajectory)"));
    CHECK_THROWS_WITH(
        static_cast<void>(eddy::solve(Driven{}, eddy::Tsit5{}, all.y0, all.p, all.options(),
                                      eddy::JointController{}, eddy::Tiles{})),
        "solve: times of each trajectory's own with JointController, which gives all the same "
        "steps; leave one of them out");
}
