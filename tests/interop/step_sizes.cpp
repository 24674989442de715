#include <eddy/interop/step_sizes.hpp>

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <numeric>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

}  // namespace

TEST_CASE("step sizes: constant steps are one bin, and what is left to the end another") {
    const eddy::SolveOptions options{.t1 = 1.0625, .save_steps = true, .dt0 = 0.25};
    const auto solution = eddy::solve(Decay{}, eddy::RK4{}, support::rows({{1}, {2}, {3}}),
                                      support::rows({{1}, {1}, {1}}), options);

    const eddy::StepSizeHistogram histogram = eddy::step_size_histogram(solution);

    CHECK(histogram.exponent == -4);
    CHECK(histogram.counts == std::vector<std::int64_t>{3, 0, 12});
    CHECK(eddy::to_text(histogram) ==
          "   0.0625 to 0.125     ##########                               3\n"
          "    0.125 to 0.25                                               0\n"
          "     0.25 to 0.5       ######################################## 12\n");
}

TEST_CASE("step sizes: every accepted step is in a bin that holds its size, backward too") {
    const eddy::SolveOptions options{.t1 = -3, .rtol = 1e-7, .save_steps = true};
    const auto solution = eddy::solve(Decay{}, eddy::Tsit5{}, support::rows({{1}, {2}}),
                                      support::rows({{1}, {7}}), options);

    const eddy::StepSizeHistogram histogram = eddy::step_size_histogram(solution);

    std::vector<std::int64_t> counts(histogram.counts.size());
    for (std::ptrdiff_t lane = 0; lane < 2; ++lane) {
        for (std::ptrdiff_t k = 1; k < solution.num_steps(lane); ++k) {
            const double size = std::fabs(solution.step_t(lane, k) - solution.step_t(lane, k - 1));
            for (std::size_t bin = 0; bin < counts.size(); ++bin) {
                const double low = std::ldexp(1., histogram.exponent + static_cast<int>(bin));
                counts[bin] += low <= size && size < 2 * low ? 1 : 0;
            }
        }
    }
    CHECK(counts == histogram.counts);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) ==
          solution.total_stats().accepted);
    CHECK(histogram.counts.front() > 0);
    CHECK(histogram.counts.back() > 0);
}

TEST_CASE("step sizes: a solution without steps is told what to do; no lanes have none") {
    const eddy::SolveOptions options{.t1 = 1};
    const auto solution =
        eddy::solve(Decay{}, eddy::Tsit5{}, support::rows({{1}}), support::rows({{1}}), options);

    CHECK_THROWS_WITH(
        eddy::step_size_histogram(solution),
        "step_size_histogram: the solution holds no steps; solve with .save_steps = true");
    CHECK(eddy::step_size_histogram(eddy::Solution<double>()).counts.empty());
    CHECK(eddy::to_text(eddy::StepSizeHistogram{}).empty());
}
