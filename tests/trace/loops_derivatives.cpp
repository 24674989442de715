// Derivatives of loops: those of the turns that were taken, of lanes as alone. loops_orders.cpp has higher
// orders, loops_recomputed.cpp what is kept or computed again.

#include <algorithm>
#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/trace.hpp>
#include <tuple>

#include "support/catch.hpp"

namespace {

using eddy::Dual;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;

/// Kepler's equation in groups of turns; of one turn each: as it is.
template <int groups, int turns>
struct Kepler {
    template <class T>
    constexpr auto operator()(const T& M, const T& e) const {
        const auto goes_on = [&](const auto& E) { return abs(E - e * sin(E) - M) > 1e-12; };
        const auto newton = [&](const auto& E) {
            return E - (E - e * sin(E) - M) / (1 - e * cos(E));
        };
        return eddy::bounded_while<groups>(M + 0.85 * e, goes_on, [&](const auto& E) {
            if constexpr (turns == 1)
                return newton(E);
            else
                return eddy::bounded_while<turns>(E, goes_on, newton, eddy::take_last);
        });
    }
};
constexpr auto kepler = eddy::trace<Scalar, Scalar>(Kepler<30, 1>{});
constexpr auto kepler_in_groups = eddy::trace<Scalar, Scalar>(Kepler<6, 5>{});
constexpr auto turn = [](const auto& s, const auto& q) { return s + s * q * q; };

}  // namespace

TEST_CASE("the gradient of a while is that of its limit, to the tolerance of the loop") {
    const double E = kepler(1.3, 0.5), by_M = 1 / (1 - 0.5 * std::cos(E)),
                 by_e = by_M * std::sin(E);

    const auto [M, e] = vjp(kepler)(1.3, 0.5, 1.0);

    CHECK(M == Approx(by_M).epsilon(1e-8));
    CHECK(e == Approx(by_e).epsilon(1e-8));
    CHECK(jvp(kepler)(1.3, 0.5, 1.0, 0.0) == Approx(M).epsilon(1e-14));
    CHECK(kepler(Dual<double>(1.3, 0.0), Dual<double>(0.5, 1.0)).tangent ==
          Approx(e).epsilon(1e-14));
}

TEST_CASE("a loop that starts from a value which its body captures has both derivatives") {
    constexpr auto program = eddy::trace<Scalar>(
        [](const auto& x) { return eddy::repeat<3>(x, [&](const auto& z) { return z * x; }); });
    CHECK(vjp(program)(0.7, 1.0) == Approx(4 * 0.343).epsilon(1e-15));
}

TEST_CASE("a loop inside a loop walks along what neither computes") {
    constexpr auto loops = eddy::trace<Scalar, Vector<2>>([](const auto& x, const auto& p) {
        return eddy::repeat<3>(x, [&](const auto& a) {
            return eddy::scan<2>(a, p,
                                 [&](const auto& s, const auto& q) {
                                     return eddy::carry_and_out(turn(s, q), q);
                                 })
                .carry;
        });
    });
    constexpr auto written = eddy::trace<Scalar, Vector<2>>([](const auto& x, const auto& p) {
        const auto pass = [&](const auto& a) { return turn(turn(a, p[0]), p[1]); };
        return pass(pass(pass(x)));
    });
    const Vec<double, 2> p{0.3, 0.8}, along{1, -2};

    const auto [x_bar, p_bar] = vjp(loops)(0.7, p, 1.0);
    const auto [x_expected, p_expected] = vjp(written)(0.7, p, 1.0);

    CHECK(x_bar == Approx(x_expected).epsilon(1e-14));
    CHECK(p_bar[0] == Approx(p_expected[0]).epsilon(1e-14));
    CHECK(p_bar[1] == Approx(p_expected[1]).epsilon(1e-14));
    CHECK(jvp(loops)(0.7, p, 0.5, along) ==
          Approx(jvp(written)(0.7, p, 0.5, along)).epsilon(1e-14));
}

TEST_CASE("gradients of lanes have the bits they have alone, however turns are grouped") {
    constexpr auto gradient = vjp(kepler);
    constexpr auto in_groups = vjp(kepler_in_groups);
    for (int i = 0; i < 64; ++i) {
        Lanes M(0.0), e(0.0);
        for (int lane = 0; lane < 8; ++lane) {
            M.set(lane, 0.1 * i + 0.7 * lane - 3 * (lane % 2));
            e.set(lane, std::fmod(0.37 * i + 0.11 * lane, 0.9));
        }
        const auto [by_M, by_e] = gradient(M, e, Lanes(1.0));
        const auto [groups_by_M, groups_by_e] = in_groups(M, e, Lanes(1.0));
        for (int lane = 0; lane < 8; ++lane) {
            const auto [alone_M, alone_e] = gradient(Lanes(M[lane]), Lanes(e[lane]), Lanes(1.0));
            CHECK(by_M[lane] == alone_M[0]);
            CHECK(by_e[lane] == alone_e[0]);
            CHECK(by_M[lane] == groups_by_M[lane]);
            CHECK(by_e[lane] == groups_by_e[lane]);
        }
    }
}

TEST_CASE("a loop in a branch not taken contributes exactly zero") {
    constexpr auto gradient = vjp(eddy::trace<Scalar>([](const auto& x) {
        return eddy::select(
            0 < x, eddy::repeat<3>(x, [&](const auto& z) { return sqrt(z) + sqrt(x); }), 0 * x);
    }));
    CHECK(gradient(-1.0, 1.0) == 0);
    CHECK(std::isfinite(gradient(2.0, 1.0)));
}

TEST_CASE(
    "a scan that hands on what it reads has no tape: the way back walks along what was read") {
    constexpr auto program =
        eddy::trace<Vector<40>, Vector<6>>([](const auto& samples, const auto& p) {
            // Nothing that is dear to compute again, which a loop would keep.
            return eddy::scan<20>(std::tuple(eddy::slice<0, 2>(p), eddy::slice<2, 2>(p)), samples,
                                  [&](const auto& s, const auto& read) {
                                      const auto& [last, before] = s;
                                      return eddy::carry_and_out(
                                          std::tuple(read, last),
                                          last[0] * before[1] * p[5] + read[1] * last[1] * p[4]);
                                  })
                .outs;
        });
    constexpr auto gradient = vjp(program);
    using Gradient = std::remove_const_t<decltype(gradient)>;
    STATIC_REQUIRE(
        std::count_if(Gradient::code.nodes, Gradient::code.nodes + Gradient::code.size(),
                      [](const eddy::Node& node) { return node.op == eddy::Op::loop; }) == 1);
    STATIC_REQUIRE(eddy::make_layout(Gradient::code, true).scratch_size == 0);

    Vec<double, 40> y{}, d{};
    Vec<double, 6> p{0.9, 0.7, -0.4, 1.1, 0.3, 0.6}, e{1, -2, 3, 0.5, -0.25, 2};
    Vec<double, 20> w{};
    for (int i = 0; i < 40; ++i) {
        y[i] = std::sin(i + 1.0);
        d[i] = std::cos(3.0 * i);
        w[i / 2] = 0.2 * i - 3;
    }
    const auto [of_y, of_p] = gradient(y, p, w);
    const auto tangent = jvp(program)(y, p, d, e);
    double back = 0, forward = 0;
    for (int i = 0; i < 40; ++i) back += of_y[i] * d[i];
    for (int i = 0; i < 6; ++i) back += of_p[i] * e[i];
    for (int i = 0; i < 20; ++i) forward += w[i] * tangent[i];
    CHECK(back == Approx(forward).epsilon(1e-13));
}

TEST_CASE("at hands its cotangent to the component that it read") {
    constexpr auto gradient = vjp(eddy::trace<Vector<5>, Scalar>(
        [](const auto& v, const auto& x) { return eddy::at(v, x) * eddy::at(v, x + 1) + x; }));
    const auto [v, x] = gradient(Vec<double, 5>{1, 2, 3, 4, 5}, 1.5, 1.0);
    CHECK((v[0] == 0 && v[1] == 3 && v[2] == 2 && v[3] == 0 && v[4] == 0));
    CHECK(x == 1);
}

TEST_CASE("nested_lengths that do not fit are refused") {
    const auto half = [](const auto& x) { return x * 0.5; };
    CHECK(eddy::repeat<6>(64.0, half, {.nested_lengths = {2, 3}}) == 1);
    CHECK_THROWS_AS(eddy::repeat<6>(64.0, half, {.nested_lengths = {2, 2}}), eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::repeat<6>(64.0, half, {.nested_lengths = {-2, -3}}),
                    eddy::InvalidArgument);
    CHECK_THROWS_AS(eddy::trace_graph(
                        [&](const auto& x) {
                            return eddy::repeat<6>(x, half, {.nested_lengths = {2, 0, 3}});
                        },
                        Scalar{}),
                    eddy::InvalidArgument);
}
