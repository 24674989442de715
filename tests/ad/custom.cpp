// Derivatives of the user's own: which primal is kept, both modes, second derivatives, and functions
// outside a trace.

#include <algorithm>
#include <cmath>
#include <eddy/ad/custom.hpp>
#include <eddy/ad/gradient.hpp>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/trace/print.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/interpret.hpp"
#include "support/message_of.hpp"

using eddy::Op;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using support::message_of;

namespace {

constexpr auto sine = [](const auto& x) { return sin(x); };

/// The tutorial's sin_vjp, which keeps x, and sin_vjp2, which keeps cos x.
constexpr auto keeps_x = eddy::custom_vjp(
    sine, [](const auto& x) { return std::pair(sin(x), x); },
    [](const auto& x, const auto& c) { return c * cos(x); });
constexpr auto keeps_cosine = eddy::custom_vjp(
    sine, [](const auto& x) { return std::pair(sin(x), cos(x)); },
    [](const auto& cosine, const auto& c) { return c * cosine; });

template <class P, class... Policy>
bool keeps(Op op, const P&, Policy...) {
    const eddy::SplitGraph split =
        eddy::split_graph(P::graph.thaw(), std::vector<char>(1, 1), Policy{}...);
    return std::any_of(split.residuals.begin(), split.residuals.end(),
                       [op](const eddy::Residual& kept) { return kept.node.op == op; });
}

constexpr auto plain = eddy::trace<Scalar>([](const auto& x) { return sin(sin(x * x)) + exp(x); });
constexpr auto with_x =
    eddy::trace<Scalar>([](const auto& x) { return keeps_x(keeps_x(x * x)) + exp(x); });
constexpr auto with_cosine =
    eddy::trace<Scalar>([](const auto& x) { return keeps_cosine(keeps_cosine(x * x)) + exp(x); });

/// A product whose derivative is doubled, so that it can be told from the true one.
constexpr auto doubled =
    eddy::custom_jvp([](const auto& x, const auto& y) { return x * sin(y); },
                     [](const auto& x, const auto& y, const auto& of_x, const auto& of_y) {
                         return 2 * (of_x * sin(y) + x * cos(y) * of_y);
                     });
constexpr auto by_pushforward = eddy::trace<Scalar, Scalar>(
    [](const auto& x, const auto& y) { return exp(doubled(x * x, y)); });
constexpr auto by_operations =
    eddy::trace<Scalar, Scalar>([](const auto& x, const auto& y) { return exp(x * x * sin(y)); });

constexpr auto clipped = eddy::custom_vjp(
    [](const auto& x) { return x; }, [](const auto& x) { return std::pair(x, 0.0); },
    [](const auto&, const auto& c) { return clamp(c, -1, 1); });

constexpr auto product = eddy::custom_vjp(
    [](const auto& W, const auto& x) { return W * x; },
    [](const auto& W, const auto& x) { return std::pair(W * x, std::tuple(W, x)); },
    [](const auto& kept, const auto& c) {
        const auto& [W, x] = kept;
        return std::tuple(3.0 * W, c * W);  // wrong on purpose for W
    });

constexpr auto log1pexp =
    eddy::custom_jvp([](const auto& x) { return log1p(exp(x)); },
                     [](const auto& x, const auto& of_x) { return (1 - 1 / (1 + exp(x))) * of_x; });

}  // namespace

TEST_CASE("row 27: sin keeps x or cos x, as its pullback says") {
    CHECK_FALSE(keeps(Op::cos, plain));
    CHECK_FALSE(keeps(Op::cos, with_x));
    CHECK(keeps(Op::cos, with_cosine));
    CHECK_FALSE(keeps(Op::cos, with_cosine, eddy::nothing_saveable));

    const double x = std::stod("0.7");
    const double expected = eddy::gradient<0>(plain)(x);
    CHECK(with_x(x) == plain(x));
    CHECK(with_cosine(x) == plain(x));
    CHECK(eddy::gradient<0>(with_x)(x) == Approx(expected).epsilon(1e-15));
    CHECK(eddy::gradient<0>(with_cosine)(x) == Approx(expected).epsilon(1e-15));
    CHECK(eddy::differentiable(with_cosine).linearize(x).pullback(1.0) ==
          eddy::differentiable(with_cosine, eddy::nothing_saveable).linearize(x).pullback(1.0));
}

TEST_CASE("custom_vjp: what only the pullback reads is not evaluated without it") {
    const auto& code = decltype(with_cosine)::code;
    CHECK(std::none_of(code.nodes, code.nodes + code.size(),
                       [](const eddy::Node& node) { return node.op == Op::cos; }));
    CHECK(code.size() == decltype(plain)::code.size());
}

TEST_CASE("custom_vjp: a pullback need not be linear: cotangents are clipped on their way") {
    constexpr auto f = eddy::trace<Vector<3>>([](const auto& x) { return 5 * clipped(x * x); });
    const Vec<double, 3> x{0.5, 3.0, -2.0}, c{0.125, 1.0, 1.0};
    CHECK(eddy::vjp(f)(x, c) == Vec<double, 3>{0.625, 6.0, -4.0});
    CHECK(clipped(2.5) == 2.5);
}

TEST_CASE("custom_vjp: second derivatives are those of the pullback") {
    constexpr auto second = eddy::gradient<0>(eddy::gradient<0>(with_cosine));
    constexpr auto expected = eddy::gradient<0>(eddy::gradient<0>(plain));
    CHECK(second(0.7) == Approx(expected(0.7)).epsilon(1e-14));
    CHECK(eddy::hvp<0>(with_x)(0.7, 2.0) == Approx(2 * expected(0.7)).epsilon(1e-14));
}

TEST_CASE("custom_vjp: forward mode is refused in one sentence") {
    const std::string message = message_of([] {
        const eddy::Graph graph = eddy::trace_graph(keeps_x, Scalar{});
        (void)eddy::jvp_graph(graph, {1});
    });
    CHECK(message.find("custom_vjp: there is no forward mode") != std::string::npos);
}

TEST_CASE("custom_vjp: matrices, several arguments, and the interpreter") {
    constexpr auto f = eddy::trace<eddy::Matrix<2, 2>, Vector<2>>(
        [](const auto& W, const auto& x) { return product(W, x * x); });
    const eddy::Mat<double, 2, 2> W{{1, 2, 3, 4}};
    const auto [of_W, of_x] =
        eddy::differentiable(f).linearize(W, Vec<double, 2>{1, 2}).pullback(Vec<double, 2>{1, 10});
    CHECK(of_W == 3.0 * W);
    CHECK(of_x == Vec<double, 2>{62, 168});

    eddy::LaneArray<double> matrix(4, 1, 1.0), x(2, 1, 2.0);
    CHECK(eddy::interpret<double>(decltype(f)::graph.thaw(), {matrix, x})[0](0, 0) == 8);
}

TEST_CASE("custom_vjp: outside a trace residuals are of any type") {
    const auto f =
        eddy::custom_vjp([](const std::vector<double>& x) { return x[0] * x[1]; },
                         [](const std::vector<double>& x) {
                             return std::pair(x[0] * x[1], std::pair(x, std::string("kept")));
                         },
                         [](const auto& kept, double c) {
                             return std::vector{c * kept.first[1], c * kept.first[0]};
                         });
    const auto net = eddy::compose(plain, f);
    auto linearization = net.linearize(std::vector{0.5, 0.25});
    CHECK(linearization.value == plain(0.125));
    const double slope = eddy::gradient<0>(plain)(0.125);
    CHECK(linearization.pullback(1.0)[1] == Approx(0.5 * slope));
}

TEST_CASE("custom_jvp: one derivative for both modes, second ones included") {
    const double x = std::stod("0.7"), y = std::stod("0.4");
    // With d = d(x², y) doubled: f' = f · 2 (2 x sin y), and so on.
    const double f = by_operations(x, y), s = std::sin(y), c = std::cos(y);
    CHECK(by_pushforward(x, y) == f);
    const auto [of_x, of_y] = eddy::gradient(by_pushforward)(x, y);
    CHECK(of_x == Approx(f * 4 * x * s).epsilon(1e-14));
    CHECK(of_y == Approx(f * 2 * x * x * c).epsilon(1e-14));
    CHECK(eddy::jvp<0, 1>(by_pushforward)(x, y, 1.0, 0.5) ==
          Approx(of_x + 0.5 * of_y).epsilon(1e-14));
    // f' = f · g with g = 4 x s, of which f is differentiated by the rule, and g by operations.
    CHECK(eddy::hvp<0>(by_pushforward)(x, y, 1.0) ==
          Approx(f * (4 * x * s) * (4 * x * s) + f * 4 * s).epsilon(1e-14));
}

TEST_CASE("custom_jvp: log(1 + exp(x)) without overflow, and in a Jacobian") {
    constexpr auto f = eddy::trace<Scalar>(log1pexp);
    CHECK(eddy::gradient<0>(f)(1000.0) == 1.0);
    constexpr auto wide = eddy::trace<Vector<2>>(
        [](const auto& x) { return eddy::vec(log1pexp(x[0]), x[0] * log1pexp(x[1])); });
    const auto jacobian = eddy::jacobian<0>(wide)(Vec<double, 2>{1000.0, 0.0});
    (void)jacobian;
    CHECK(eddy::jvp<0>(wide)(Vec<double, 2>{1000.0, 0.0}, Vec<double, 2>{1.0, 1.0}) ==
          Vec<double, 2>{1.0, std::log1p(1.0) + 500.0});
}
