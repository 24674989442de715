#pragma once
// What every backend is compared with Serial on, bit for bit: an equation of + − · / and square roots
// alone, and a table of options. Lanes run away, take too many steps or too small ones in some cases.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <set>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace oracle {

using eddy::SolveOptions;

/// A jump at t = 0.75, a quotient, a root; and y0 may run away.
struct Rough {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(
            p[0] * y[0] * y[0] - y[1] / (2 + y[0] * y[0]),
            eddy::select(t < 0.75, p[1], p[2]) * eddy::sqrt(1 + y[1] * y[1]) - p[2] * t * y[1]);
    }
};
/// No number where y0 is below −0.8.
struct Distance {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + 0.1 * t * p[0] * y[0] + eddy::sqrt(y[0] + 0.8);
    }
};
/// No number where y0 is below −0.9.
struct Observed {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(eddy::sqrt(y[0] + 0.9), t * y[1] / p[0], y[1]);
    }
};

template <class Real>
struct Lanes {
    eddy::EnsembleArray<Real> y0, p, y0_direction, p_direction;
    std::vector<Real> shared_p{Real(0.9), Real(0.4), Real(1.1)}, shared_direction{1, -1, Real(0.5)};

    explicit Lanes(std::ptrdiff_t count)
        : y0(count, 2), p(count, 3), y0_direction(count, 2, Real(0.5)), p_direction(count, 3) {
        support::Random random(23);
        const auto between = [&](double low, double high) {
            return static_cast<Real>(random.uniform(low, high));
        };
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            const double size = std::ldexp(1, lane % 2 == 0 ? 0 : -random.below(20));
            for (int i = 0; i < 2; ++i) y0(lane, i) = between(-size, 1.05 * size);
            for (int i = 0; i < 3; ++i) p(lane, i) = between(0.5, 1.5);
            for (int i = 0; i < 3; ++i) p_direction(lane, i) = between(-1, 1);
        }
    }
    [[nodiscard]] static std::vector<eddy::EnsembleArray<Real>> data(const SolveOptions& options) {
        const std::size_t saves = options.save_at.is_own
                                      ? static_cast<std::size_t>(options.save_at.own.num_times)
                                      : options.save_at.values.size();
        return std::vector(saves > 0 ? saves : 1, eddy::EnsembleArray<Real>(1, 2, Real(0.25)));
    }
};

/// A lane takes at most `most_steps`: to repeat them all from one checkpoint takes their square.
constexpr std::int64_t most_steps = 300;
struct Case {
    const char* name;
    SolveOptions options;
    bool own_times = false;  // lanes make of these times their own
};
[[nodiscard]] inline bool has_impulses(const Case& one) {
    return !one.options.impulses.times.values.empty();
}
/// The cases of so many lanes. Own times begin later, end earlier, and lose save points and impulses at the end, up to
/// all.
inline std::vector<Case> of_lanes(std::vector<Case> cases, std::ptrdiff_t count) {
    for (Case& one : cases) {
        SolveOptions& options = one.options;
        if (!one.own_times) continue;
        const double first = options.t0, span = options.t1 - options.t0;
        eddy::EnsembleArray<double> t0(count, 1), t1(count, 1);
        const auto part = [](std::ptrdiff_t lane) {
            return 0.25 + 0.125 * static_cast<double>(lane % 7);
        };
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            t0(lane, 0) = first + 0.125 * static_cast<double>(lane % 3) * span;
            t1(lane, 0) = t0(lane, 0) + part(lane) * span;
        }
        const auto own = [&](const std::vector<double>& times) {
            const auto size = std::ssize(times);
            eddy::EnsembleArray<double> rows(count, size, std::numeric_limits<double>::quiet_NaN());
            for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
                for (std::ptrdiff_t k = 0; k < size - lane % (size + 1); ++k)
                    rows(lane, k) =
                        t0(lane, 0) + part(lane) * (times[static_cast<std::size_t>(k)] - first);
            }
            return eddy::each(rows);
        };
        options.t0 = eddy::each(t0);
        options.t1 = eddy::each(t1);
        options.save_at = own(options.save_at.values);
        if (has_impulses(one)) options.impulses.times = own(options.impulses.times.values);
    }
    return cases;
}

/// For who has one list of times for all, and knows no impulses.
inline std::vector<Case> with_common_times(std::vector<Case> cases) {
    std::erase_if(cases, [](const Case& one) { return one.own_times || has_impulses(one); });
    return cases;
}

/// Seven impulses of all kinds.
inline eddy::Impulses all_impulses(std::vector<double> times, bool saved_before = false) {
    using enum eddy::Impulse;
    return {.times = std::move(times),
            .components = {0, 1, 0, 0, 1, 0, 1},
            .amounts = {0.1, 0.75, 0.9, -0.2, 0.3, 0.1, 0.5},
            .kinds = {add, scale, scale, add, replace, add, scale},
            .saved_before = saved_before};
}

/// For steps of chosen sizes.
inline const std::vector<Case> adaptive_cases{
    {"two save points", {.t1 = 1.2, .rtol = 1e-3, .save_at = {0.5, 1.2}, .max_steps = 60}},
    {"the end alone", {.t1 = 1.2, .rtol = 1e-5, .max_steps = 200}},
    {"save points twice, at the start, close together",
     {.t1 = 1, .rtol = 1e-2, .save_at = {0, 0, 0.1, 0.11, 0.4, 0.4, 1}, .max_steps = most_steps}},
    {"jumps and stops",
     {.t1 = 1.2,
      .rtol = 1e-3,
      .save_at = {0, 0.3, 0.5, 0.75, 1.2},
      .step_to = {0.3, 0.3005},
      .jump_times = {0.75, 1.2},
      .max_steps = most_steps}},
    {"a jump that is not told",
     {.t1 = 1.2, .rtol = 1e-7, .save_at = {0.7, 0.8}, .max_steps = most_steps}},
    {"backward",
     {.t0 = 1.2,
      .t1 = -0.3,
      .rtol = 1e-3,
      .save_at = {1.2, 0.8, 0.1, -0.3},
      .step_to = {0.1},
      .jump_times = {0.75},
      .max_steps = most_steps}},
    {"far from zero",
     {.t0 = 1e5,
      .t1 = 1e5 + 1e-3,
      .rtol = 1e-4,
      .save_at = {1e5 + 4e-4, 1e5 + 1e-3},
      .max_steps = most_steps}},
    {"a short span",
     {.t0 = 1, .t1 = 1 + 1e-12, .save_at = {1, 1 + 5e-13, 1 + 1e-12}, .max_steps = most_steps}},
    {"an empty span", {.t0 = 1, .t1 = 1, .max_steps = most_steps}},
    {"a first size that is too large",
     {.t1 = 1.2, .rtol = 1e-5, .save_at = {0.6, 1.2}, .dt0 = 1.1, .max_steps = most_steps}},
    {"sizes from above",
     {.t1 = 1,
      .rtol = 1e-3,
      .save_at = {0.0625, 0.5, 1},
      .dt0 = 0.0625,
      .dt_max = 0.0625,
      .max_steps = most_steps}},
    {"sizes from below",
     {.t1 = 1.2, .rtol = 1e-6, .save_at = {0.2, 1.2}, .dt_min = 0.06, .max_steps = most_steps}},
    {"few steps", {.t1 = 1.2, .rtol = 1e-5, .save_at = {0.05, 0.6, 1.2}, .max_steps = 9}},
    {"own times",
     {.t0 = 0.25,
      .t1 = 1.75,
      .rtol = 1e-3,
      .save_at = {0.25, 1, 1, 1.75},
      .step_to = {0.625},
      .jump_times = {0.75},
      .max_steps = most_steps},
     true},
    {"own times, backward",
     {.t0 = 1.75, .t1 = 0.25, .rtol = 1e-4, .save_at = {1.5, 0.25}, .max_steps = most_steps},
     true},
    {"impulses",
     {.t1 = 1.2,
      .rtol = 1e-3,
      .save_at = {0, 0.3, 0.3, 0.6, 1.2},
      .jump_times = {0.75},
      .impulses = all_impulses({0, 0, 0.3, 0.3, 0.5, 0.75, 1.2}),
      .max_steps = most_steps}},
    {"own impulses, backward, after save points",
     {.t0 = 1.2,
      .t1 = -0.3,
      .rtol = 1e-3,
      .save_at = {1.2, 0.8, -0.3},
      .impulses = all_impulses({1.2, 1.2, 0.8, 0.8, 0.5, 0.1, -0.3}, true),
      .max_steps = most_steps},
     true},
};

/// For steps of constant size.
inline const std::vector<Case> constant_cases{
    {"two save points", {.t1 = 1.2, .save_at = {0.5, 1.2}, .dt0 = 0.1}},
    {"save points where steps end", {.t1 = 1, .save_at = {0, 0.25, 0.5, 0.6, 1}, .dt0 = 0.125}},
    {"jumps and stops",
     {.t1 = 1.2,
      .save_at = {0.33, 0.75, 1.2},
      .step_to = {0.1, 0.33},
      .jump_times = {0.75},
      .dt0 = 0.03125}},
    {"backward",
     {.t0 = 1.2, .t1 = -0.3, .save_at = {1.2, 0.8, -0.3}, .jump_times = {0.75}, .dt0 = -0.04}},
    {"one step, cut", {.t1 = 1.2, .dt0 = 5}},
    {"many steps far from anything", {.t1 = 1.2, .save_at = {0.9, 1.2}, .dt0 = 1. / 512}},
    {"running away", {.t1 = 3, .save_at = {0.2, 3}, .dt0 = 0.05}},
    {"few steps", {.t1 = 1.2, .save_at = {0.1, 1.2}, .dt0 = 0.01, .max_steps = 50}},
    {"own times", {.t1 = 1.5, .save_at = {0.5, 1.5}, .jump_times = {0.75}, .dt0 = 0.03125}, true},
    {"impulses",
     {.t1 = 1.5,
      .save_at = {0, 0.5, 1.5},
      .impulses = all_impulses({0, 0.25, 0.25, 0.5, 0.75, 1.2, 1.5}),
      .dt0 = 0.03125}},
};

/// How a backend is to do it.
template <class Backend>
struct Way {
    const char* name;
    Backend backend;
    std::int64_t checkpoints = 0;
    std::size_t memory_budget = std::size_t{256} << 20;

    [[nodiscard]] SolveOptions with(SolveOptions options) const {
        options.checkpoints = checkpoints;
        options.memory_budget = memory_budget;
        return options;
    }
};

inline void check_outcomes(const eddy::Outcomes& expected, const eddy::Outcomes& got) {
    std::ptrdiff_t num_different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane) {
        const auto a = expected.stats(lane), b = got.stats(lane);
        const auto left = expected.failure(lane), right = got.failure(lane);
        num_different += left.result != right.result || a.accepted != b.accepted ||
                         a.rejected != b.rejected || a.evaluations != b.evaluations ||
                         left.component != right.component || a.events != b.events ||
                         !support::same_bits(left.t, right.t) ||
                         !support::same_bits(expected.event_t(lane), got.event_t(lane));
    }
    CHECK(num_different == 0);
}

template <class Expected, class Got>
void check_same(const Expected& expected, const Got& got, bool has_tangents) {
    check_outcomes(expected, got);
    for (std::ptrdiff_t k = 0; k < expected.num_saves(); ++k) {
        CAPTURE(k);
        CHECK(support::same_array(expected.y(k), got.y(k)));
        if (has_tangents) CHECK(support::same_array(expected.tangent(k), got.tangent(k)));
    }
    std::ptrdiff_t num_different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.num_lanes(); ++lane) {
        if (expected.num_steps(lane) != got.num_steps(lane)) {
            ++num_different;
            continue;
        }
        for (std::ptrdiff_t k = 0; k < expected.num_steps(lane); ++k)
            num_different +=
                !support::same_bits(expected.step_t(lane, k), got.step_t(lane, k)) ||
                !support::same_bits(expected.step_y(lane, k, 1), got.step_y(lane, k, 1));
    }
    CHECK(num_different == 0);
}

template <class Gradient>
void check_parts(const Gradient& expected, const Gradient& got) {
    using Array = std::remove_cvref_t<decltype(expected.y0)>;
    CHECK(support::same_array(expected.y0, got.y0));
    CHECK(support::same_array(expected.p, got.p));
    CHECK(support::same_array<Array, Array>(expected.t0, got.t0));
    CHECK(support::same_array<Array, Array>(expected.t1, got.t1));
    CHECK(support::same_array(expected.save_at, got.save_at));
    CHECK(support::same_array(expected.impulse_amounts, got.impulse_amounts));
    CHECK(support::same_array(expected.impulse_times, got.impulse_times));
}
template <class Result>
void check_same(const Result& expected, const Result& got) {
    check_outcomes(expected.report, got.report);
    CHECK(support::same_bits(expected.loss.total, got.loss.total));
    CHECK(support::same_bits(expected.loss.total_of_successful, got.loss.total_of_successful));
    std::ptrdiff_t num_different = 0;
    for (std::ptrdiff_t lane = 0; lane < expected.report.num_lanes(); ++lane)
        num_different += !support::same_bits(expected.loss(lane), got.loss(lane));
    CHECK(num_different == 0);
    check_parts(expected.gradient, got.gradient);
    if constexpr (requires { expected.product; }) check_parts(expected.product, got.product);
}

/// The ways that lanes have ended: at what is not finite, whether that is a state or what is made of one.
using Endings = std::set<eddy::Result>;
inline const Endings adaptive_endings{eddy::Result::success, eddy::Result::max_steps_reached,
                                      eddy::Result::dt_underflow, eddy::Result::non_finite};
inline const Endings constant_endings{eddy::Result::success, eddy::Result::max_steps_reached,
                                      eddy::Result::non_finite};

inline void add_endings(Endings& endings, const eddy::Outcomes& outcomes) {
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        const eddy::Result result = outcomes.result(lane);
        const bool is_made_of_state =
            result == eddy::Result::loss_not_finite || result == eddy::Result::observed_not_finite;
        endings.insert(is_made_of_state ? eddy::Result::non_finite : result);
    }
}

/// Takes all cases all ways: call(options, backend) as Serial does it, then as the others do, and
/// check(expected, got, options).
template <class Call, class Backend, class Check>
Endings compare(const std::vector<Case>& cases, const std::vector<Way<Backend>>& ways,
                const Call& call, const Check& check) {
    Endings endings;
    for (const Case& one : cases) {
        const auto expected = call(one.options, eddy::Serial{});
        if constexpr (requires { expected.report; })
            add_endings(endings, expected.report);
        else
            add_endings(endings, expected);
        for (const Way<Backend>& way : ways) {
            INFO(one.name << ", " << way.name);
            check(expected, call(way.with(one.options), way.backend));
        }
    }
    return endings;
}

/// Solves of what is observed, with and without their steps.
template <class Backend, class... Extras>
Endings compare_solves(const std::vector<Way<Backend>>& ways, std::ptrdiff_t count,
                       const std::vector<Case>& cases = adaptive_cases, const Extras&... extras) {
    const Lanes<double> lanes(count);
    Endings all;
    for (const bool saves_steps : {false, true}) {
        all.merge(compare(
            of_lanes(cases, count), ways,
            [&](SolveOptions options, const auto& backend) {
                options.save_steps = saves_steps;
                return eddy::solve(Rough{}, eddy::Tsit5{}, lanes.y0, lanes.p, options,
                                   eddy::observe(Observed{}), extras..., backend);
            },
            [](const auto& expected, const auto& got) { check_same(expected, got, false); }));
    }
    return all;
}

/// Gradients of parameters that each lane has.
template <class Method, class Real, class Backend, class... Extras>
Endings compare_gradients(const std::vector<Case>& cases, const std::vector<Way<Backend>>& ways,
                          std::ptrdiff_t count, const Extras&... extras) {
    const Lanes<Real> lanes(count);
    return compare(
        of_lanes(cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(Rough{}, Method{}, Distance{}, lanes.data(options),
                                            lanes.y0, lanes.p, options, extras..., backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); });
}
/// Of shared ones, with derivatives with respect to times.
template <class Backend>
Endings compare_shared_gradients(const std::vector<Case>& cases,
                                 const std::vector<Way<Backend>>& ways, std::ptrdiff_t count) {
    const Lanes<double> lanes(count);
    return compare(
        of_lanes(cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(Rough{}, eddy::Tsit5{}, Distance{}, lanes.data(options),
                                            lanes.y0, eddy::shared(lanes.shared_p), options,
                                            eddy::differentiate_times, backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); });
}

}  // namespace oracle
