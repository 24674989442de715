// The gradient does not depend on how many states are kept: bit for bit the same, whatever is
// computed again, and in which company lanes sit.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::SolveOptions;
using support::Array;
using support::Forced;
using support::HalfSquares;
using support::rows;
using support::same_array;

constexpr std::int64_t counts[] = {1, 2, 7, 64};
const std::vector<Array> three_points(3, rows({{0.5, -0.25}}));

struct Ensemble {
    Array y0, p;
};

/// Lanes from slow to fast: the longest takes fifteen times as many steps as the shortest.
Ensemble mixed_lanes(std::ptrdiff_t lanes) {
    support::Random random(3);
    Ensemble ensemble{Array(lanes, 2), Array(lanes, 2)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const double speed = std::exp(random.uniform(0, std::log(20)));
        for (int i = 0; i < 2; ++i) ensemble.y0(lane, i) = random.uniform(-1, 1);
        for (int i = 0; i < 2; ++i) ensemble.p(lane, i) = speed * random.uniform(0.8, 1.2);
    }
    return ensemble;
}

template <class Parameters, class... Extras>
auto differentiate(const Array& y0, const Parameters& p, const SolveOptions& options,
                   const Extras&... extras) {
    return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, three_points, y0, p,
                                    options, extras...);
}

/// Losses and gradients, bit for bit.
template <class Result>
bool same(const Result& a, const Result& b) {
    return support::same_bits(a.loss.total, b.loss.total) &&
           same_array(a.gradient.y0, b.gradient.y0) && same_array(a.gradient.p, b.gradient.p);
}

/// Compares every number of checkpoints with everything stored.
template <class Parameters, class... Extras>
void check_all_counts(const Array& y0, const Parameters& p, SolveOptions options,
                      const Extras&... extras) {
    const auto stored = differentiate(y0, p, options, extras...);
    REQUIRE(stored.report.success());
    CHECK(stored.report.counters.recomputed == 0);
    CHECK(stored.gradient.p(0, 0) != 0);
    for (const std::int64_t checkpoints : counts) {
        options.checkpoints = checkpoints;
        const auto result = differentiate(y0, p, options, extras...);
        INFO(checkpoints << " checkpoints");
        CHECK(same(result, stored));
        const auto& did = result.report.counters;
        CHECK(result.report.checkpoints == checkpoints);
        CHECK(did.peak_checkpoints <= checkpoints);
        CHECK(did.advances == did.pullbacks + did.recomputed);
        CHECK((did.recomputed > 0) == (did.peak_checkpoints < did.pullbacks));
    }
}

const eddy::Cpu two_threads{.threads = 2};

}  // namespace

TEST_CASE("checkpoints: one lane, save points within steps") {
    check_all_counts(rows({{1, 0.5}}), rows({{6, 5}}),
                     {.t1 = 5, .rtol = 1e-4, .save_at = {0.3, 2.22, 5}}, two_threads);
}

TEST_CASE("checkpoints: Serial keeps every accepted step, whatever it is allowed") {
    const auto [y0, p] = mixed_lanes(70);
    SolveOptions options{.t1 = 3, .rtol = 1e-3, .save_at = {0.3, 2.22, 3}};
    const auto checkpointed = differentiate(y0, p, options, two_threads);

    options.checkpoints = 2;
    options.memory_budget = 1;
    const auto kept = differentiate(y0, p, options, eddy::Serial{});

    std::int64_t longest = 0;
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane)
        longest = std::max(longest, kept.report.stats(lane).accepted);
    CHECK(same(kept, checkpointed));
    CHECK(kept.report.counters.recomputed == 0);
    CHECK(kept.report.counters.pullbacks == kept.report.total_stats().accepted);
    CHECK(kept.report.counters.peak_checkpoints == longest);
}

TEST_CASE("checkpoints: the counts of one lane are those of the schedule") {
    const Array y0 = rows({{1, 0.5}}), p = rows({{6, 5}});
    SolveOptions options{.t1 = 5, .rtol = 1e-4, .save_at = {0.3, 2.22, 5}};

    const auto stored = differentiate(y0, p, options, two_threads);
    options.checkpoints = 1;
    const auto from_start = differentiate(y0, p, options, two_threads);

    const auto stats = stored.report.stats(0);
    const std::int64_t attempts = stats.accepted + stats.rejected;
    CHECK(stats.rejected > 0);
    CHECK(stored.report.counters.pullbacks == attempts);
    CHECK(stored.report.counters.peak_checkpoints == attempts);
    CHECK(from_start.report.counters.pullbacks == attempts);
    CHECK(from_start.report.counters.recomputed == attempts * (attempts - 1) / 2);
}

TEST_CASE("checkpoints: lanes of very different lengths that follow each other in the slots") {
    const auto [y0, p] = mixed_lanes(1600);
    const SolveOptions options{.t1 = 3, .rtol = 1e-3, .save_at = {0.3, 2.22, 3}};

    check_all_counts(y0, p, options, two_threads);

    const auto stored = differentiate(y0, p, options, two_threads);
    std::int64_t shortest = 1 << 20, longest = 0;
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
        const auto stats = stored.report.stats(lane);
        shortest = std::min(shortest, stats.accepted);
        longest = std::max(longest, stats.accepted);
    }
    CHECK(longest >= 8 * shortest);
    // Lanes made room for others: a group took more rows than its longest lane.
    CHECK(stored.report.counters.peak_checkpoints > longest + longest / 2);
}

TEST_CASE("checkpoints: steps that end at save points, at other times and at jumps") {
    const auto [y0, p] = mixed_lanes(50);
    check_all_counts(y0, p,
                     {.t1 = 3,
                      .rtol = 1e-3,
                      .save_at = {0.3, 2.22, 3},
                      .step_to = {0.3, 1, 2.22},
                      .jump_times = {1.5}},
                     two_threads);
}

TEST_CASE("checkpoints: steps of constant size") {
    const auto [y0, p] = mixed_lanes(50);
    check_all_counts(y0, p, {.t1 = 3, .save_at = {0.3, 2.22, 3}, .step_to = {1.003}, .dt0 = 0.01},
                     two_threads, eddy::ConstantController{});
}

TEST_CASE("checkpoints: shared parameters") {
    const std::vector<double> p{6, 5};
    const SolveOptions options{.t1 = 3, .rtol = 1e-3, .save_at = {0.3, 2.22, 3}};

    check_all_counts(mixed_lanes(5).y0, eddy::shared(p), options, two_threads);
}

TEST_CASE("checkpoints: shared parameters of many lanes") {
    const std::vector<double> p{6, 5};
    const SolveOptions options{.t1 = 3, .rtol = 1e-3, .save_at = {0.3, 2.22, 3}};

    check_all_counts(mixed_lanes(1600).y0, eddy::shared(p), options, two_threads);
}

TEST_CASE("checkpoints: a budget too small for the logs of step sizes, or for a part of them") {
    const auto [y0, p] = mixed_lanes(50);
    SolveOptions options{.t1 = 3,
                         .rtol = 1e-3,
                         .save_at = {0.3, 2.22, 3},
                         .step_to = {0.7, 2.22},
                         .jump_times = {1.5}};
    const auto stored = differentiate(y0, p, options, two_threads);

    std::int64_t fewer = 0;
    for (std::size_t bytes = 1; bytes < 1'000'000; bytes *= 4) {
        options.memory_budget = bytes;
        for (const std::int64_t checkpoints : {0, 3}) {
            options.checkpoints = checkpoints;
            const auto result = differentiate(y0, p, options, two_threads);
            INFO(bytes << " bytes, " << checkpoints << " checkpoints");
            CHECK(same(result, stored));
            fewer += result.report.counters.recomputed > 0;
        }
    }
    CHECK(fewer > 6);
}
