// Derivatives of loops: second orders, scans and nested loops against the loop written out, and structure.

#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>

#include "support/catch.hpp"
#include "support/kepler.hpp"

namespace {

using eddy::Dual;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;

constexpr auto kepler = eddy::trace<Scalar, Scalar>(support::KeplerByWhile<30>{});

struct ScanLoop {
    template <class Y, class P>
    constexpr auto operator()(const Y& y, const P& p) const {
        const auto [c, outs] =
            eddy::scan<20>(eddy::vec(y[0] * 1.0, y[1] * 1.0), y, [&](const auto& s, const auto& x) {
                return eddy::carry_and_out(eddy::vec(s[1] * p[0], sin(x) * s[0]),
                                           p[1] * s[0] - 2 * s[1] + x * x);
            });
        return outs * c[0];
    }
};
struct ScanWritten {
    template <class Y, class P>
    constexpr auto operator()(const Y& y, const P& p) const {
        auto a = y[0] * 1.0, b = y[1] * 1.0;
        Y outs = y;
        for (int i = 0; i < 20; ++i) {
            const auto x = y[i];
            outs[i] = p[1] * a - 2 * b + x * x;
            const auto next = b * p[0];
            b = sin(x) * a;
            a = next;
        }
        return outs * a;
    }
};
template <bool written>
struct Map {
    template <class T>
    constexpr auto operator()(const T& x, const T& p) const {
        const auto turn = [&](const auto& z) {
            return eddy::vec(z[0] + p * sin(z[1]), z[1] * 0.9 + x * z[0] * 0.01);
        };
        const auto start = eddy::vec(x * 1.0, x * p);
        if constexpr (written) {
            auto z = turn(start);
            for (int i = 1; i < 12; ++i) z = turn(z);
            return z[0] * z[1];
        } else {
            const auto z =
                eddy::repeat<3>(start, [&](const auto& w) { return eddy::repeat<4>(w, turn); });
            return z[0] * z[1];
        }
    }
};

}  // namespace

TEST_CASE(
    "second derivatives of a while agree: dual over vjp, jvp of vjp, vjp of vjp, differences") {
    constexpr auto gradient = vjp(kepler);
    constexpr auto forward = eddy::jvp<0, 1>(gradient);
    constexpr auto reverse = eddy::vjp<0, 1>(gradient);
    const double h = 1e-5;
    const auto [right, right_e] = gradient(1.3 + h, 0.5, 1.0);
    const auto [left, left_e] = gradient(1.3 - h, 0.5, 1.0);

    const auto [dual, dual_e] = gradient(Dual<double>(1.3, 1.0), Dual<double>(0.5, 0.0), 1.0);
    const auto [jvp_M, jvp_e] = forward(1.3, 0.5, 1.0, 1.0, 0.0);
    const auto [vjp_M, vjp_e] = reverse(1.3, 0.5, 1.0, 1.0, 0.0);

    CHECK(dual.tangent == Approx((right - left) / (2 * h)).epsilon(1e-8));
    CHECK(dual_e.tangent == Approx((right_e - left_e) / (2 * h)).epsilon(1e-8));
    CHECK(jvp_M == Approx(dual.tangent).epsilon(1e-13));
    CHECK(jvp_e == Approx(dual_e.tangent).epsilon(1e-13));
    CHECK(vjp_M == Approx(dual.tangent).epsilon(1e-13));
    CHECK(vjp_e == Approx(dual_e.tangent).epsilon(1e-13));
}

TEST_CASE("derivatives of scans and nested repeats are those of the loop written out") {
    constexpr auto scan = eddy::trace<Vector<20>, Vector<2>>(ScanLoop{});
    constexpr auto written = eddy::trace<Vector<20>, Vector<2>>(ScanWritten{});
    Vec<double, 20> y{}, w{};
    const Vec<double, 2> p{1.1, 0.7};
    for (int i = 0; i < 20; ++i) {
        y[i] = 0.3 + 0.1 * i;
        w[i] = std::cos(i);
    }
    const auto [y_found, p_found] = vjp(scan)(y, p, w);
    const auto [y_expected, p_expected] = vjp(written)(y, p, w);
    const auto tangent = jvp(scan)(y, p, w, p), tangent_expected = jvp(written)(y, p, w, p);
    for (int i = 0; i < 20; ++i) {
        CHECK(y_found[i] == Approx(y_expected[i]).epsilon(1e-13).margin(1e-15));
        CHECK(tangent[i] == Approx(tangent_expected[i]).epsilon(1e-13));
    }
    for (int i = 0; i < 2; ++i) CHECK(p_found[i] == Approx(p_expected[i]).epsilon(1e-13));

    constexpr auto nested = eddy::trace<Scalar, Scalar>(Map<false>{});
    constexpr auto map = eddy::trace<Scalar, Scalar>(Map<true>{});
    const auto [x_found, q_found] = eddy::vjp<0, 1>(vjp(nested))(0.7, 0.3, 1.0, 1.0, 0.5);
    const auto [x_expected, q_expected] = eddy::vjp<0, 1>(vjp(map))(0.7, 0.3, 1.0, 1.0, 0.5);
    CHECK(x_found == Approx(x_expected).epsilon(1e-13));
    CHECK(q_found == Approx(q_expected).epsilon(1e-13));
}

TEST_CASE("the structure of a chain is exact through its loop") {
    constexpr auto program = eddy::trace<Vector<20>, Scalar>([](const auto& y, const auto& d) {
        const auto right = eddy::concat(eddy::slice<1, 19>(y), y[19]);
        return eddy::scan<20>(eddy::vec(y[0] * 1.0, y[0] * 1.0), right,
                              [&](const auto& s, const auto& next) {
                                  return eddy::carry_and_out(eddy::vec(s[1], next),
                                                             d * (s[0] - 2 * s[1] + next));
                              })
            .outs;
    });
    const auto jacobian = eddy::jacobian<0>(program);
    CHECK(jacobian.num_nonzeros == 58);  // three a row, two at the ends
    const auto values = jacobian(Vec<double, 20>{}, 2.0);
    CHECK(values[0] == -2);
    CHECK((values[2] == 2 && values[3] == -4 && values[4] == 2));
}
