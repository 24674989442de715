// remat inside traced functions: nested, around select and stop_gradient, and what it costs.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <eddy/ad/gradient.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/core/pack.hpp>

#include "support/catch.hpp"
#include "support/split_runs.hpp"

using eddy::Graph;
using eddy::Op;
using eddy::Saving;
using support::pointer;

namespace {

int count_op(const Graph& graph, Op op) {
    return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                          [op](const eddy::Node& node) { return node.op == op; }));
}

/// The most values that are alive at once: computed, and read later. Arguments and constants are in
/// memory anyway.
int most_alive(const Graph& graph) {
    std::vector<int> last_use(graph.nodes.size(), -1);
    for (int i = 0; i < graph.size(); ++i) {
        for (int k = 0; k < graph[i].count; ++k)
            last_use[static_cast<std::size_t>(graph.operand(i, k))] = i;
    }
    for (int node : eddy::passes::output_nodes(graph, 0, graph.outputs.size()))
        last_use[static_cast<std::size_t>(node)] = graph.size();
    std::vector<int> ends(graph.nodes.size() + 1, 0);
    int alive = 0, most = 0;
    for (int i = 0; i < graph.size(); ++i) {
        const bool is_computed = graph[i].op != Op::argument && graph[i].op != Op::constant;
        if (is_computed) {
            most = std::max(most, ++alive);
            ++ends[static_cast<std::size_t>(last_use[static_cast<std::size_t>(i)])];
        }
        alive -= ends[static_cast<std::size_t>(i)];
    }
    return most;
}

/// sin applied `length` times, halves remat'ed, their halves too, and so on.
auto halved_chain(const auto& x, int length) {
    if (length == 1) return sin(x);
    const auto half = eddy::remat([length](const auto& y) { return halved_chain(y, length / 2); });
    return half(half(x));
}
/// The same at compile time.
template <int length>
struct HalvedChain {
    constexpr auto operator()(const auto& x) const {
        if constexpr (length == 1) {
            return sin(x);
        } else {
            constexpr auto half = eddy::remat(HalvedChain<length / 2>{});
            return half(half(x));
        }
    }
};

template <class Function>
eddy::SplitGraph split_of_scalar(Function function,
                                 eddy::PolicyFunction policy = &eddy::save_anything) {
    return eddy::split_graph(eddy::trace_graph(function, eddy::Scalar{}), {1}, policy);
}

/// Runs a split of a function of one number.
support::ValueAndGradient at(const eddy::SplitGraph& split, double x) {
    return support::run_split(split, {eddy::LaneArray<double>(1, 1, x)},
                              {eddy::LaneArray<double>(1, 1, 1.0)});
}

}  // namespace

TEST_CASE("remat: a chain of n halved recursively keeps O(log n) values at O(n log n) work") {
    std::printf("%6s %28s %28s\n", "n", "values alive (bound)", "sines recomputed (bound)");
    for (int length = 2; length <= 1024; length *= 2) {
        const int log2 = std::countr_zero(static_cast<unsigned>(length));
        const auto nested =
            split_of_scalar([length](const auto& x) { return halved_chain(x, length); },
                            pointer(eddy::nothing_saveable));
        const auto plain = split_of_scalar([length](const auto& x) {
            auto y = sin(x);
            for (int step = 1; step < length; ++step) y = sin(y);
            return y;
        });
        const int alive = most_alive(nested.backward),
                  recomputed = count_op(nested.backward, Op::sin);
        std::printf("%6d %18d (%6d) %19d (%6d)\n", length, alive, 2 * log2 + 2, recomputed,
                    length * log2);

        CHECK(alive <= 2 * log2 + 2);
        CHECK(recomputed <= length * log2);
        CHECK(count_op(nested.backward, Op::cos) == length);
        CHECK(nested.residual_size == 0);
        CHECK(plain.residual_size == length - 1);
        CHECK(count_op(plain.backward, Op::sin) == 0);
        CHECK(at(nested, 0.7) == at(plain, 0.7));
    }
}

TEST_CASE("remat: a nested chain compiled gives the bits of the interpreter, and recomputes") {
    constexpr auto program = eddy::trace<eddy::Scalar>(HalvedChain<16>{});
    constexpr auto compiled = eddy::differentiable(program, eddy::nothing_saveable);
    const volatile double x = 0.7;

    const auto linearization = compiled.linearize(double{x});
    const double gradient = linearization.pullback(1.0);

    const auto expected = at(split_of_scalar([](const auto& y) { return halved_chain(y, 16); }), x);
    CHECK(linearization.value == expected.value[0](0, 0));
    CHECK(gradient == expected.gradient[0](0, 0));
    const Graph backward = decltype(compiled)::Backward::code.thaw();
    CHECK(compiled.num_residuals == 0);
    CHECK(most_alive(backward) <= 10);
    CHECK(count_op(backward, Op::sin) <= 64);
    CHECK(count_op(backward, Op::barrier) > 0);
}

TEST_CASE("remat: the optimizer cannot see through a barrier") {
    // Numbers that it knows must come out unknown: at -O0 it knows none.
    double number = 2;
    eddy::Pack<double, 4> pack(2);

    eddy::hide_from_optimizer(number);
    eddy::hide_from_optimizer(pack);

    CHECK_FALSE(__builtin_constant_p(number));
    CHECK_FALSE(__builtin_constant_p(pack.part[0][0]));
    CHECK(number == 2);
    CHECK(pack[3] == 2);
}

TEST_CASE("remat: what goes into a region and what comes out is kept, its interior is not") {
    const auto split = split_of_scalar([](const auto& x) {
        const auto f = eddy::remat([](const auto& y) { return exp(sin(exp(y))); });
        return sin(f(sin(x)));
    });

    std::vector<Op> kept;
    for (const eddy::Residual& residual : split.residuals) {
        kept.push_back(residual.node.op);
        CHECK(residual.saving == Saving::save);
    }
    CHECK(kept == std::vector{Op::exp, Op::sin});  // f(sin x), then sin x
    CHECK(count_op(split.backward, Op::barrier) == 1);
}

TEST_CASE("remat: regions keep their own policies") {
    const auto split = split_of_scalar([](const auto& x) {
        const auto f = eddy::remat(
            [](const auto& y) { return sin(checkpoint_name(tanh(exp(sin(exp(y)))), "kept")); },
            eddy::save_only_these_names<"kept">);
        return f(x);
    });
    const auto offloaded = split_of_scalar([](const auto& x) {
        const auto f = eddy::remat(
            [](const auto& y) { return sin(checkpoint_name(tanh(exp(sin(exp(y)))), "kept")); },
            eddy::save_and_offload_only_these_names<eddy::Names<>, eddy::Names<"kept">>);
        return f(x);
    });

    REQUIRE(split.residuals.size() == 1);
    CHECK(split.residuals[0].node.op == Op::tanh);
    CHECK(split.residuals[0].saving == Saving::save);
    REQUIRE(offloaded.residuals.size() == 1);
    CHECK(offloaded.residuals[0].saving == Saving::offload);
}

TEST_CASE("remat: comparisons are recomputed, never kept, also those from outside the region") {
    const auto split = split_of_scalar([](const auto& x) {
        const auto shifted = sin(x);
        const auto is_low = shifted < 0.5;
        const auto f = eddy::remat([is_low](const auto& y) {
            return select(is_low, exp(y), 2 * y) * select(y < 0.3, y, exp(exp(y)));
        });
        return f(shifted) + relu(shifted);
    });

    for (const eddy::Residual& residual : split.residuals)
        CHECK_FALSE(eddy::is_mask(residual.node.op));
    CHECK(split.residual_size == 1);
    const auto plain = split_of_scalar([](const auto& x) {
        const auto y = sin(x);
        return select(y < 0.5, exp(y), 2 * y) * select(y < 0.3, y, exp(exp(y))) + relu(y);
    });
    for (double x : {-1.0, 0.1, 0.4, 0.9, 2.0}) CHECK(at(split, x) == at(plain, x));
}

TEST_CASE("remat: no gradient flows through stop_gradient in a region") {
    const auto split = split_of_scalar([](const auto& x) {
        const auto f =
            eddy::remat([](const auto& y) { return eddy::stop_gradient(exp(y)) * sin(y); });
        return f(x);
    });

    const double x = 0.4, expected = std::exp(x) * std::cos(x);
    CHECK(split.residual_size == 0);
    CHECK(std::abs(at(split, x).gradient[0](0, 0) - expected) < 1e-15);
}

TEST_CASE("remat: on plain numbers it is the function") {
    const auto f = eddy::remat([](const auto& x) { return x * x; }, eddy::dots_saveable);

    CHECK(f(3.0) == 9.0);
}

TEST_CASE("remat: vectors of traced scalars and masks open a region as well") {
    const auto of_vector = split_of_scalar([](const auto& x) {
        using Number = std::remove_cvref_t<decltype(x)>;
        const auto f = eddy::remat([](const auto& y) { return exp(sin(y[0])) * y[1]; });
        return f(eddy::Vec<Number, 2>{x, Number(2)});
    });
    const auto of_mask = split_of_scalar([](const auto& x) {
        const auto f = eddy::remat([x](const auto& mask) { return select(mask, exp(sin(x)), x); });
        return f(x < 1);
    });

    CHECK(of_vector.residual_size == 0);
    CHECK(of_mask.residual_size == 0);
}

namespace {

struct Inner {
    constexpr auto operator()(const auto& y) const { return exp(sin(exp(y))); }
};
/// sin, Inner, sin; once as it is, once with Inner dropped.
constexpr auto kept_inner =
    eddy::trace<eddy::Scalar>([](const auto& x) { return sin(Inner{}(sin(x))); });
constexpr auto dropped_inner =
    eddy::trace<eddy::Scalar>([](const auto& x) { return sin(eddy::remat(Inner{})(sin(x))); });

template <class P>
int count_in(const P&, Op op) {
    return count_op(P::code.thaw(), op);
}

}  // namespace

TEST_CASE("remat: is heeded by gradient and vjp, and their derivatives") {
    const volatile double unknown = 0.7;
    const double x = unknown;

    CHECK(count_in(eddy::gradient<0>(kept_inner), Op::exp) == 2);
    CHECK(count_in(eddy::gradient<0>(dropped_inner), Op::exp) == 4);
    CHECK(count_in(eddy::gradient<0>(dropped_inner), Op::barrier) == 1);
    CHECK(count_in(eddy::vjp(dropped_inner), Op::exp) == 4);
    CHECK(eddy::gradient<0>(dropped_inner)(x) == eddy::gradient<0>(kept_inner)(x));
    CHECK(eddy::vjp(dropped_inner)(x, 1.0) ==
          eddy::differentiable(kept_inner).linearize(x).pullback(1.0));
    const double expected = eddy::hvp<0>(kept_inner)(x, 1.0);
    CHECK(std::abs(eddy::hvp<0>(dropped_inner)(x, 1.0) - expected) <=
          16 * 2.3e-16 * std::abs(expected));
}

namespace {

/// The derivative of Inner between two sines, once as it is, once as a part that is dropped.
constexpr auto derivative_of_inner = eddy::gradient<0>(eddy::trace<eddy::Scalar>(Inner{}));
struct OfDerivative {
    constexpr auto operator()(const auto& y) const { return derivative_of_inner(y); }
};
constexpr auto kept_derivative =
    eddy::trace<eddy::Scalar>([](const auto& x) { return sin(OfDerivative{}(sin(x))); });
constexpr auto dropped_derivative = eddy::trace<eddy::Scalar>(
    [](const auto& x) { return sin(eddy::remat(OfDerivative{})(sin(x))); });

}  // namespace

TEST_CASE("row 30: forward mode goes through a checkpoint as if there were none") {
    const volatile double unknown = 0.7, along = -1.3;
    constexpr auto plain = eddy::jvp<0>(kept_inner);
    constexpr auto dropped = eddy::jvp<0>(dropped_inner);

    CHECK(dropped(double{unknown}, double{along}) == plain(double{unknown}, double{along}));
    CHECK(count_in(dropped, Op::exp) == count_in(plain, Op::exp));
    CHECK(count_in(dropped, Op::barrier) == 0);
}

TEST_CASE("row 97: a gradient is taken inside a checkpoint, and dropped with it") {
    const volatile double unknown = 0.7;
    const double x = unknown;
    constexpr auto kept = eddy::differentiable(kept_derivative);
    constexpr auto dropped = eddy::differentiable(dropped_derivative);

    const auto linearization = dropped.linearize(x);
    const auto expected = kept.linearize(x);

    CHECK(kept.num_residuals > dropped.num_residuals);
    CHECK(dropped.num_residuals == 2);  // what goes in, and what comes out
    CHECK(linearization.value == expected.value);
    CHECK(linearization.pullback(1.0) == expected.pullback(1.0));
    // By differences of the first derivative: error h^2 f''' / 6 and eps f / h, relative.
    const double h = 1e-5;
    const double difference = (kept_derivative(x + h) - kept_derivative(x - h)) / (2 * h);
    CHECK(std::abs(linearization.pullback(1.0) - difference) < 1e-5 * std::abs(difference));
}
