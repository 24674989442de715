// Programs inside traced functions: the same numbers as the program alone, whatever is passed.

#include <cmath>
#include <eddy/ad/gradient.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/evaluate.hpp>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Scalar;
using eddy::Vector;
using Three = eddy::Vec<double, 3>;

/// Two results are one vector: parts, a constant and a name.
constexpr auto inner = [](const auto& a, const auto& x) {
    const auto named = eddy::checkpoint_name(eddy::exp(a * x), "inner");
    return eddy::concat(named, eddy::vec(eddy::dot(x, x) + 2.5, 7.25));
};
using Inner = decltype(eddy::trace<Scalar, Vector<3>>(inner));

/// A rematerialised part, for the regions of a graph.
constexpr auto in_regions = [](const auto& x) {
    return eddy::sum(eddy::remat([](const auto& y) { return eddy::sin(y) * y; })(x * x));
};
using InRegions = decltype(eddy::trace<Vector<3>>(in_regions));

constexpr Three point{{0.3, -1.1, 0.7}};

}  // namespace

TEST_CASE("embed: a program within a function has the values that it has alone") {
    constexpr auto outer =
        eddy::trace<Vector<3>>([](const auto& x) { return eddy::embed(Inner{}, x[1], 2 * x) * 3; });

    const auto expected = Inner{}(point[1], Three(2 * point));
    const auto found = outer(point);

    for (int i = 0; i < 5; ++i) CHECK(found[i] == 3 * expected[i]);
}

TEST_CASE("embed: arguments may be numbers, vectors of numbers, and slices of others") {
    constexpr auto outer = eddy::trace<Vector<4>>([](const auto& x) {
        const eddy::Vec<double, 3> fixed{{1, 2, 3}};
        return eddy::concat(eddy::embed(Inner{}, 0.5, eddy::slice<1, 3>(x)),
                            eddy::embed(Inner{}, x[0], fixed));
    });
    const eddy::Vec<double, 4> x{{0.25, 0.3, -1.1, 0.7}};

    const auto found = outer(x);
    const auto first = Inner{}(0.5, point), second = Inner{}(0.25, Three{{1, 2, 3}});

    for (int i = 0; i < 5; ++i) {
        CHECK(found[i] == first[i]);
        CHECK(found[5 + i] == second[i]);
    }
}

TEST_CASE("embed: a derivative made from graph to graph is differentiated once more") {
    // The gradient of |∇s|²/2 is the Hessian times the gradient: s = Σ x_i² sin x_i².
    constexpr auto square = eddy::trace<Vector<3>>([](const auto& x) {
        const auto gradient = eddy::embed(eddy::vjp(InRegions{}), x, 1.);
        return 0.5 * eddy::dot(gradient, gradient);
    });

    const auto found = eddy::vjp(square)(point, 1.);

    for (int i = 0; i < 3; ++i) {
        const double x = point[i], u = x * x, s = std::sin(u), c = std::cos(u);
        const double first = 2 * x * (s + u * c);
        const double second = 2 * (s + u * c) + 4 * u * (2 * c - u * s);
        CHECK(std::abs(found[i] - first * second) < 1e-13);
    }
}

TEST_CASE("embed: the same program at the same arguments is there once") {
    constexpr auto twice = eddy::trace<Scalar, Vector<3>>([](const auto& a, const auto& x) {
        return eddy::embed(Inner{}, a, x) + eddy::embed(Inner{}, a, x);
    });

    CHECK(twice.graph.size() <= Inner::graph.size() + 8);
}

namespace {

/// The energy of a layer, and its slope: programs of vectors, which no number by number call could be.
constexpr auto energy = eddy::trace<Vector<3>, Vector<12>>([](const auto& y, const auto& p) {
    const auto layer = eddy::tanh(eddy::dense(eddy::slice<0, 9>(p), eddy::slice<9, 3>(p), y));
    return eddy::dot(layer, layer);
});
constexpr auto slope = eddy::gradient<0>(energy);
constexpr auto both = eddy::vjp<0, 1>(energy);

}  // namespace

TEST_CASE("embed: a program that is called while a function is traced is embedded") {
    constexpr auto called = eddy::trace<Vector<3>, Vector<12>>(
        [](const auto& y, const auto& p) { return slope(y, p); });
    constexpr auto embedded = eddy::trace<Vector<3>, Vector<12>>(
        [](const auto& y, const auto& p) { return eddy::embed(slope, y, p); });
    eddy::Vec<double, 12> p;
    for (int i = 0; i < 12; ++i) p[i] = 0.1 * i - 0.5;

    const auto found = called(point, p), same = embedded(point, p), alone = slope(point, p);

    CHECK(called.graph.size() == slope.graph.size());
    for (int i = 0; i < 3; ++i) {
        CHECK(found[i] == alone[i]);
        CHECK(found[i] == same[i]);
    }
}

TEST_CASE("embed: a program of several results is a tuple of them") {
    constexpr auto outer = eddy::trace<Vector<3>, Vector<12>>([](const auto& y, const auto& p) {
        const auto [of_y, of_p] = both(y, p, 2.0);
        return eddy::concat(of_y, of_p);
    });
    eddy::Vec<double, 12> p;
    for (int i = 0; i < 12; ++i) p[i] = 0.3 - 0.05 * i;

    const auto found = outer(point, p);
    const auto [of_y, of_p] = both(point, p, 2.0);

    for (int i = 0; i < 3; ++i) CHECK(found[i] == of_y[i]);
    for (int i = 0; i < 12; ++i) CHECK(found[3 + i] == of_p[i]);
}

TEST_CASE("embed: a call whose arguments are made of traced numbers is embedded too") {
    constexpr auto outer = eddy::trace<Scalar>([](const auto& a) {
        eddy::Vec<std::remove_cvref_t<decltype(a)>, 3> x{{a, 2 * a, 1.0}};
        return Inner{}(0.5, x)[3];
    });

    CHECK(outer(0.3) == Inner{}(0.5, Three{{0.3, 0.6, 1.0}})[3]);
}

TEST_CASE("embed: in a trace at run time, a vector of another length is refused with both") {
    const auto half = [](const auto& x) { return Inner{}(0.5, x); };

    CHECK(eddy::trace_graph(half, eddy::DynamicVector{3}).outputs[0].size == 5);
    CHECK(support::message_of([&] { (void)eddy::trace_graph(half, eddy::DynamicVector{4}); }) ==
          "trace: argument 1 of a program is a vector of 4 components, but it was traced with 3; "
          "call it with as many");
}
