#include <eddy/ad/policy_within.hpp>
#include <eddy/core/error.hpp>
#include <eddy/trace/trace.hpp>

#include "support/catch.hpp"

namespace {

/// A cheap long value, and an expensive short one, both read by the backward pass.
struct Mixed {
    constexpr auto operator()(const auto& x, const auto& y) const {
        const auto longer = 2.0 * x + 1.0;
        const auto shorter = exp(sin(y));
        return dot(longer * longer, longer) * sum(sin(shorter) * shorter);
    }
};
constexpr auto mixed = eddy::trace<eddy::Vector<64>, eddy::Vector<4>>(Mixed{});

eddy::SplitGraph split(const eddy::ValuePlan& plan) {
    return eddy::split_graph(decltype(mixed)::graph.thaw(), {1, 1}, plan);
}

/// Six blocks of long values, with a number from each to the next.
struct Blocks {
    auto operator()(const eddy::DynamicTraced& x) const {
        auto h = sum(x);
        for (int k = 0; k < 6; ++k) h = sum(sin(cos(exp(0.1 * x + h))));
        return h;
    }
};

/// Values of three parts are read again in three others, the last first, across what lies between.
struct Skips {
    constexpr auto operator()(const auto& x) const {
        const auto a = sin(x), b = exp(a), c = tanh(b);
        const auto across_c = sin(c) * c, across_b = exp(across_c) * b;
        return dot(sin(across_b) * a, across_b);
    }
};

}  // namespace

TEST_CASE("row 68: values of a graph with connections across it are planned as they are") {
    const eddy::Graph graph = eddy::trace_graph(Skips{}, eddy::DynamicVector{16});
    const eddy::ValuePlan all = eddy::policy_within(graph, 1 << 20);
    std::int64_t last = -1;
    int budgets = 0;
    for (std::int64_t bytes = 0; bytes <= all.bytes; bytes += 16 * 8, ++budgets) {
        const eddy::ValuePlan plan = eddy::policy_within(graph, bytes);
        const eddy::SplitGraph halves = eddy::split_graph(graph, {1}, plan);
        CHECK(plan.cost == plan.least_cost);  // no choice is better
        CHECK(halves.residual_size * 8 == plan.bytes);
        CHECK(plan.bytes <= bytes);
        if (last >= 0) CHECK(plan.cost < last);
        last = plan.cost;
    }
    CHECK(last == 0);
    CHECK(budgets > 4);
}

// row 65
TEST_CASE("policy_within: keeps what saves the most within the bytes") {
    const eddy::ValuePlan all = eddy::policy_within(mixed, 1 << 20);
    CHECK(all.cost == 0);
    CHECK(split(all).residual_size * 8 == all.bytes);

    std::int64_t cost = 0;
    for (std::int64_t bytes = all.bytes; bytes >= 0; bytes -= 16) {
        const eddy::ValuePlan plan = eddy::policy_within(mixed, bytes);
        CHECK(plan.bytes <= bytes);
        CHECK(plan.cost >= cost);
        CHECK(plan.cost == plan.least_cost);
        CHECK(split(plan).residual_size * 8 == plan.bytes);
        CHECK(plan.peak_bytes >= plan.bytes);
        cost = plan.cost;
    }
    CHECK(cost > 0);
    const eddy::ValuePlan few = eddy::policy_within(mixed, 256);
    for (const eddy::Residual& residual : split(few).residuals) CHECK(residual.node.size <= 4);
    CHECK_THROWS_WITH(eddy::policy_within(mixed, -1), support::contains("-1 bytes"));
}

TEST_CASE("policy_within: at compile time, with the same bits") {
    constexpr auto few = eddy::differentiable(mixed, eddy::policy_within<200>(mixed));
    constexpr auto all = eddy::differentiable(mixed);
    STATIC_REQUIRE(few.num_residuals * 8 <= 200);
    STATIC_REQUIRE(few.num_residuals > 0);
    STATIC_REQUIRE(all.num_residuals * 8 > 200);

    eddy::Vec<double, 64> x{};
    for (int i = 0; i < 64; ++i) x[i] = 0.01 * i;
    const eddy::Vec<double, 4> y{0.1, 0.2, 0.3, 0.4};
    CHECK(few.linearize(x, y).pullback(1.0) == all.linearize(x, y).pullback(1.0));
}

TEST_CASE("policy_within: fewer bytes between the passes can need more in the backward pass") {
    const eddy::Graph graph = eddy::trace_graph(Blocks{}, eddy::DynamicVector{32});
    const eddy::ValuePlan all = eddy::policy_within(graph, 1 << 20);
    const eddy::ValuePlan nothing = eddy::policy_within(graph, 0);
    const eddy::ValuePlan numbers = eddy::policy_within(graph, 6 * sizeof(double));
    CHECK(nothing.bytes == 0);
    CHECK(numbers.bytes > 0);
    CHECK(3 * numbers.peak_bytes < 2 * nothing.peak_bytes);
    CHECK(3 * numbers.peak_bytes < 2 * all.peak_bytes);

    const eddy::ValuePlan low =
        eddy::policy_within(graph, all.bytes, {.peak_bytes = all.peak_bytes * 2 / 3});
    CHECK(low.peak_bytes <= all.peak_bytes * 2 / 3);
    CHECK(low.cost < nothing.cost);
    CHECK(low.cost >= low.least_cost);
    CHECK_THROWS_WITH(eddy::policy_within(graph, all.bytes, {.peak_bytes = 100}),
                      support::contains("the lowest peak found is"));
}
