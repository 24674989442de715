// Roots inside traced functions: second derivatives against closed forms, systems, loops around and inside,
// halves and the interpreter.

#include <cmath>
#include <eddy/ad/custom.hpp>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/root.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/ad/vjp.hpp>

#include "support/catch.hpp"
#include "support/interpret.hpp"
#include "support/kepler.hpp"

namespace {

using eddy::Dual;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;

using Kepler = support::KeplerByRoot;
constexpr auto kepler = eddy::trace<Scalar, Scalar>(Kepler{});

/// Where a circle of radius √p and a line of slope 1 through (0, q) meet; x² + y² = p, y = x + q.
/// The diagonal of the Jacobian is 0 at the start, so that rows must be exchanged.
struct Meeting {
    template <class P>
    constexpr auto operator()(const P& p) const {
        return eddy::root(eddy::vec(p[0] * 0 + 1, p[0] * 0 + 1), [&](const auto& x) {
            return eddy::vec(x[1] - x[0] - p[1], x[0] * x[0] + x[1] * x[1] - p[0]);
        });
    }
};
constexpr auto meeting = eddy::trace<Vector<2>>(Meeting{});

/// A linear system of four: (D + u uᵀ) x = b.
constexpr auto linear = [](const auto& u, const auto& b) {
    return eddy::root(b * 1.0, [&](const auto& x) { return 2 * x + u * dot(u, x) - b; });
};

/// Roots in the turns of a loop, and a loop in the equation of a root.
struct Nested {
    template <class T>
    constexpr auto operator()(const T& x, const T& p) const {
        return eddy::repeat<3>(x * 1.0, [&](const auto& a) {
            return eddy::root(a, [&](const auto& z) {
                return eddy::repeat<2>(z, [&](const auto& w) { return w + p * sin(w); }) - a - x;
            });
        });
    }
};
constexpr auto nested = eddy::trace<Scalar, Scalar>(Nested{});

}  // namespace

TEST_CASE("root: second derivatives of Kepler's equation are the closed forms") {
    const double M = 1.3, e = 0.5, E = kepler(M, e), E_M = 1 / (1 - e * std::cos(E));
    const double E_MM = -e * std::sin(E) * E_M * E_M * E_M,
                 E_Me = (std::cos(E) - e) * E_M * E_M * E_M;
    const auto [by_MM, by_Me, of_seed] = vjp(vjp<0>(kepler))(M, e, 1.0, 1.0);
    CHECK(by_MM == Approx(E_MM).epsilon(1e-13));
    CHECK(by_Me == Approx(E_Me).epsilon(1e-13));
    CHECK(of_seed == Approx(E_M).epsilon(1e-14));
    CHECK(jvp<0>(jvp<0>(kepler))(M, e, 1.0, 1.0) == Approx(E_MM).epsilon(1e-13));
    CHECK(vjp<0>(kepler)(Dual<double>(M, 0), Dual<double>(e, 1), Dual<double>(1)).tangent ==
          Approx(E_Me).epsilon(1e-13));
}

TEST_CASE("root: systems exchange rows, and their Hessian is the closed form") {
    const double p = 5, q = 1, s = std::sqrt(2 * p - q * q);  // x = (−q + s)/2, y = (q + s)/2
    const Vec<double, 2> at{p, q};
    const auto found = meeting(at);
    CHECK(found[0] == Approx((-q + s) / 2).epsilon(1e-14));
    CHECK(found[1] == Approx((q + s) / 2).epsilon(1e-14));
    CHECK(Meeting{}(at)[0] == Approx(found[0]).epsilon(1e-14));

    const Vec<double, 2> first{1, 0};
    const auto gradient = vjp(meeting)(at, first);
    CHECK(gradient[0] == Approx(1 / (2 * s)).epsilon(1e-13));
    CHECK(gradient[1] == Approx((-1 - q / s) / 2).epsilon(1e-13));
    const auto jacobian = eddy::jacobian<0>(meeting)(at);
    CHECK(jacobian[0] == Approx(gradient[0]).epsilon(1e-13));
    CHECK(jacobian[3] == Approx((1 - q / s) / 2).epsilon(1e-13));

    const auto row = vjp<0>(vjp<0>(meeting))(at, first, Vec<double, 2>{1, 0});
    CHECK(row[0] == Approx(-1 / (2 * s * s * s)).epsilon(1e-12));
    CHECK(row[1] == Approx(q / (2 * s * s * s)).epsilon(1e-12));
}

TEST_CASE("root: a linear system of four is solved, and its adjoint is that of the inverse") {
    constexpr auto program = eddy::trace<Vector<4>, Vector<4>>(linear);
    const Vec<double, 4> u{1, -2, 0.5, 3}, b{1, 2, 3, 4}, c{0.3, -1, 2, 0.7};

    const auto x = program(u, b);
    const auto [by_u, by_b] = vjp(program)(u, b, c);
    const auto adjoint = program(u, c);

    for (int i = 0; i < 4; ++i) {
        double row = 2 * x[i];
        for (int j = 0; j < 4; ++j) row += u[i] * u[j] * x[j];
        CHECK(row == Approx(b[i]).epsilon(1e-13));
        CHECK(by_b[i] == Approx(adjoint[i]).epsilon(1e-13));
        double ux = 0, uw = 0;
        for (int j = 0; j < 4; ++j) ux += u[j] * x[j], uw += u[j] * adjoint[j];
        CHECK(by_u[i] == Approx(-adjoint[i] * ux - uw * x[i]).epsilon(1e-12));
    }
}

TEST_CASE("root: in a loop, and around one, its derivatives are those of differences") {
    const double x = 0.4, p = 0.3, h = 1e-6;
    const auto [by_x, by_p] = vjp(nested)(x, p, 1.0);

    CHECK(by_x == Approx((nested(x + h, p) - nested(x - h, p)) / (2 * h)).epsilon(1e-8));
    CHECK(by_p == Approx((nested(x, p + h) - nested(x, p - h)) / (2 * h)).epsilon(1e-8));
    CHECK(jvp(nested)(x, p, 0.0, 1.0) == Approx(by_p).epsilon(1e-13));
    CHECK(nested(Dual<double>(x, 1), Dual<double>(p, 0)).tangent == Approx(by_x).epsilon(1e-13));
    const auto [by_xx, by_xp, of_seed] = vjp(vjp<0>(nested))(x, p, 1.0, 1.0);
    const auto at = [&](double a, double b) { return std::get<0>(vjp(nested)(a, b, 1.0)); };
    CHECK(by_xx == Approx((at(x + h, p) - at(x - h, p)) / (2 * h)).epsilon(1e-7));
    CHECK(by_xp == Approx((at(x, p + h) - at(x, p - h)) / (2 * h)).epsilon(1e-7));
}

TEST_CASE("root: the interpreter and split programs have the same bits") {
    const auto check = [](const auto& program, double x, double p) {
        const eddy::Graph graph = std::remove_cvref_t<decltype(program)>::graph.thaw();
        std::vector<eddy::LaneArray<double>> arguments{{1, 1, x}, {1, 1, p}};
        const auto [by_x, by_p] = vjp(program)(x, p, 1.0);
        const auto backward = [&](const eddy::SplitGraph& split) {
            auto all = arguments;
            const auto forward = eddy::interpret<double>(split.forward, all);
            const double whole = eddy::interpret<double>(graph, arguments)[0](0, 0);
            CHECK(forward[0](0, 0) == Approx(whole).epsilon(1e-15));  // fused in other places
            if constexpr (!eddy::fma_is_fast) CHECK(forward[0](0, 0) == whole);
            all.push_back(split.residual_size > 0 ? forward[1] : eddy::LaneArray<double>(0, 1));
            all.push_back({1, 1, 1.0});
            return eddy::interpret<double>(split.backward, all);
        };
        const std::vector<char> both{1, 1};
        const auto kept = backward(eddy::split_graph(graph, both)),
                   repeated = backward(eddy::split_graph(graph, both, eddy::nothing_saveable));
        CHECK(kept[0](0, 0) == Approx(by_x).epsilon(1e-14));
        CHECK(kept[1](0, 0) == Approx(by_p).epsilon(1e-14));
        CHECK(kept[0](0, 0) == repeated[0](0, 0));
        CHECK(kept[1](0, 0) == repeated[1](0, 0));
    };
    check(kepler, 1.3, 0.5);
    check(nested, 0.4, 0.3);
    const auto of_vectors = eddy::interpret<double>(decltype(meeting)::code.thaw(),
                                                    std::vector<eddy::LaneArray<double>>{[] {
                                                        eddy::LaneArray<double> p(2, 1);
                                                        p(0, 0) = 5;
                                                        p(1, 0) = 1;
                                                        return p;
                                                    }()});
    CHECK(of_vectors[0](0, 0) == meeting(Vec<double, 2>{5, 1})[0]);
}

TEST_CASE("derivatives of one's own may have loops") {
    // The tangent of x^4 y, doubled so that it can be told from the true one, by four turns.
    constexpr auto power = eddy::custom_jvp(
        [](const auto& x, const auto& y) { return x * x * x * x * y; },
        [](const auto& x, const auto& y, const auto& of_x, const auto& of_y) {
            return eddy::repeat<3>(8 * of_x * y, [&](const auto& s) { return s * x; }) +
                   2 * of_y * x * x * x * x;
        });
    constexpr auto program = eddy::trace<Scalar, Scalar>(power);
    const auto [x, y] = vjp(program)(0.7, 1.5, 1.0);
    CHECK(x == Approx(8 * 0.343 * 1.5).epsilon(1e-14));
    CHECK(y == Approx(2 * 0.2401).epsilon(1e-14));
    CHECK(jvp(program)(0.7, 1.5, 1.0, 0.0) == Approx(x).epsilon(1e-14));

    constexpr auto pulled =
        eddy::custom_vjp([](const auto& x) { return x * x * x; },
                         [](const auto& x) { return std::pair(x * x * x, x); },
                         [](const auto& x, const auto& c) {
                             return eddy::repeat<2>(6 * c, [&](const auto& s) { return s * x; });
                         });
    CHECK(vjp(eddy::trace<Scalar>(pulled))(0.7, 1.0) == Approx(6 * 0.49).epsilon(1e-14));
}
