#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/print.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/message_of.hpp"

using eddy::DynamicTraced;
using eddy::DynamicVector;
using eddy::Scalar;
using eddy::trace_graph;
using eddy::Vector;

using support::mentions;
using support::message_of;

namespace {

// Every function of the DSL, on a scalar and on vectors.
struct Elementwise {
    constexpr auto operator()(const auto& s, const auto& x, const auto& y) const {
        auto r = eddy::sqrt(x) + eddy::cbrt(y) - eddy::exp(s) * eddy::expm1(x) / eddy::log(x);
        r += eddy::log1p(x) * eddy::sin(x) * eddy::cos(x) * eddy::tan(x);
        r -= eddy::asin(x) + eddy::acos(x) + eddy::atan(x) + eddy::atan2(y, s);
        r *= eddy::sinh(x) + eddy::cosh(x) + eddy::tanh(x) + eddy::erf(x) + -eddy::abs(x);
        r += eddy::erfc(x) + eddy::erfcx(x) + eddy::log_erfc(x) + eddy::lgamma(x) +
             eddy::digamma(x) + eddy::trigamma(x);
        r /= eddy::sign(x) + eddy::floor(y) + eddy::fabs(s);
        r = eddy::sigmoid(r) + eddy::softplus(r) + eddy::relu(r) + eddy::silu(r) + eddy::gelu(r);
        r = eddy::min(r, 1) + eddy::max(0.5, r) + eddy::fma(x, y, s) + eddy::clamp(r, -1, s);
        return eddy::pow(r, 3) + eddy::pow(r, s) + eddy::pow(2.0, y) + eddy::pow(x, y);
    }
};
struct Masks {
    constexpr auto operator()(const auto& s, const auto& x, const auto& y) const {
        const auto some = (x < y && s <= x) || x > 1 || !(y >= s);
        return eddy::select(some, x, s) +
               eddy::select(x == 0.5, 1, eddy::select(x != s, x * y, eddy::stop_gradient(y)));
    }
};
struct Vectors {
    constexpr auto operator()(const auto& s, const auto& x, const auto& y) const {
        const auto joined = eddy::concat(eddy::concat(s, x), y);
        const auto middle = eddy::slice<2, 3>(joined);
        const auto product = eddy::dense(eddy::concat(middle, x), eddy::vec(s, y[1]), middle);
        return eddy::concat(eddy::checkpoint_name(product, "product"),
                            eddy::vec(eddy::sum(x), eddy::dot(x, y), eddy::norm(y), 2, x[0]));
    }
};

template <class Function>
void check_same_trace() {
    constexpr auto program = eddy::trace<Scalar, Vector<3>, Vector<3>>(Function{});

    const eddy::Graph now = trace_graph(Function{}, Scalar{}, DynamicVector{3}, DynamicVector{3});

    CHECK(now.nodes.size() > 10);
    CHECK(to_text(now) == to_text(program.graph.thaw()));
}

// A network whose layers are known at run time only; w holds weights and bias of each in turn.
struct RunTimeMlp {
    std::vector<int> widths;
    [[nodiscard]] int num_weights() const {
        int count = 0;
        for (std::size_t l = 1; l < widths.size(); ++l) count += widths[l] * (widths[l - 1] + 1);
        return count;
    }
    DynamicTraced operator()(const auto&, const DynamicTraced& x, const DynamicTraced& w) const {
        DynamicTraced h = x;
        int begin = 0;
        for (std::size_t l = 1; l < widths.size(); ++l) {
            const int rows = widths[l], size = rows * widths[l - 1];
            h = eddy::dense(slice(w, begin, size), slice(w, begin + size, rows),
                            l == 1 ? h : tanh(h));
            begin += size + rows;
        }
        return h;
    }
};

}  // namespace

TEST_CASE("trace_graph: every function gives the graph that it gives at compile time") {
    check_same_trace<Elementwise>();
    check_same_trace<Masks>();
    check_same_trace<Vectors>();
}

TEST_CASE("trace_graph: a field with static shapes gives the graph of its program") {
    const eddy::Graph now = trace_graph(support::Pleiades{}, Scalar{}, Vector<28>{}, Vector<0>{});

    CHECK(to_text(now) == to_text(eddy::FieldProgram<support::Pleiades>::graph.thaw()));
}

TEST_CASE("trace_graph: a network of run-time widths gives the graph of the static one") {
    const RunTimeMlp mlp{{2, 64, 64, 2}};

    const eddy::Graph now =
        trace_graph(mlp, Scalar{}, DynamicVector{2}, DynamicVector{mlp.num_weights()});

    CHECK(mlp.num_weights() == support::Mlp::parameter_size);
    CHECK(to_text(now) == to_text(eddy::FieldProgram<support::Mlp>::graph.thaw()));
}

TEST_CASE("trace_graph: the size of a vector is known while the trace runs") {
    const auto reversed = [](const DynamicTraced& x) {
        std::vector<DynamicTraced> parts;
        for (int i = x.size() - 1; i >= 0; --i) parts.push_back(x[i]);
        return eddy::concat(parts);
    };

    const eddy::Graph graph = trace_graph(reversed, DynamicVector{5});

    REQUIRE(graph.outputs.size() == 1);
    REQUIRE(graph.outputs[0].count == 5);
    for (int k = 0; k < 5; ++k)
        CHECK(graph[graph.output_node(graph.outputs[0], k)].offset == 4 - k);
}

TEST_CASE("trace_graph: an empty vector has no components") {
    const auto sum_or_time = [](const auto& t, const DynamicTraced& p) {
        return p.size() == 0 ? DynamicTraced(t) : DynamicTraced(sum(p));
    };

    CHECK(trace_graph(sum_or_time, Scalar{}, DynamicVector{0}).size() == 1);
    CHECK(mentions(
        message_of([] { (void)trace_graph([](const auto& p) { return p[0]; }, DynamicVector{0}); }),
        "component 0 of a vector of 0 is read"));
}

TEST_CASE("trace_graph: misuse is told with the sizes at hand") {
    const auto message = [](auto function, int size) {
        return message_of(
            [&] { (void)trace_graph(function, DynamicVector{3}, DynamicVector{size}); });
    };
    const auto traced_sum = [](const auto& x, const auto& y) { return x + y; };
    const auto traced_dot = [](const auto& x, const auto& y) { return dot(x, y); };
    const auto traced_dense = [](const auto& x, const auto& y) { return dense(x, y, y); };
    const auto traced_slice = [](const auto& x, const auto&) { return slice(x, 1, 3); };
    const auto traced_index = [](const auto& x, const auto&) { return x[-1]; };
    const auto traced_nothing = [](const auto&, const auto&) {
        return eddy::concat(std::vector<DynamicTraced>{});
    };

    CHECK(message(traced_sum, 4) ==
          "trace: vectors of 3 and 4 components are combined; slice or concat them first");
    CHECK(mentions(message(traced_dot, 2), "vectors of 3 and 2 components"));
    CHECK(mentions(message(traced_dense, 2),
                   "dense: 3 weights for a bias of 2 and a vector of 2 components; pass"));
    CHECK(mentions(message(traced_slice, 1), "3 components from 1 on of a vector of 3 is read"));
    CHECK(mentions(message(traced_index, 1), "component -1 of a vector of 3 is read"));
    CHECK(mentions(message(traced_nothing, 1), "concat: none of the 0 parts is traced"));
    CHECK(message(traced_sum, -1) ==
          "trace_graph: argument 1 has length -1; pass a length that is not negative");
    CHECK(message(traced_sum, 3).empty());
}

TEST_CASE("trace_graph: a scalar meets vectors, and vectors of one component are scalars") {
    const auto message = [](int size) {
        return message_of([&] {
            (void)trace_graph([](const auto& x, const auto& y) { return x * y; }, Scalar{},
                              DynamicVector{size});
        });
    };

    CHECK(message(1).empty());
    CHECK(message(7).empty());
}
