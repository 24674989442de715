// Roots inside traced functions: values and first derivatives against closed forms, lanes, and what happens
// where there is none. root_orders.cpp has the rest.

#include <cmath>
#include <eddy/ad/root.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/trace.hpp>

#include "support/catch.hpp"
#include "support/kepler.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Dual;
using eddy::Scalar;
using Lanes = eddy::Pack<double, 8>;

using Kepler = support::KeplerByRoot;
constexpr auto kepler = eddy::trace<Scalar, Scalar>(Kepler{});

/// Three updates toward the root of a.
constexpr auto square = [](const auto& a, bool takes_last) {
    return eddy::root(a * 1.0, [&](const auto& z) { return z * z - a; },
                      {.max_steps = 3, .takes_last = takes_last});
};

double of_branch(double x) {
    return eddy::vjp(eddy::trace<Scalar>([](const auto& a) {
        const auto root_of =
            eddy::root(a, [&](const auto& z) { return z * z - a; }, {.max_steps = 60});
        return select(0 < a, root_of, 0);
    }))(x, 1.0);
}

}  // namespace

TEST_CASE("root: value and derivatives of Kepler's equation are the closed forms") {
    const double M = 1.3, e = 0.5, E = kepler(M, e), E_M = 1 / (1 - e * std::cos(E));
    CHECK(std::abs(E - e * std::sin(E) - M) < 1e-15);
    CHECK(Kepler{}(M, e) == Approx(E).epsilon(1e-15));  // on plain numbers

    const auto [by_M, by_e] = vjp(kepler)(M, e, 1.0);
    CHECK(by_M == Approx(E_M).epsilon(1e-14));
    CHECK(by_e == Approx(std::sin(E) * E_M).epsilon(1e-14));
    CHECK(jvp(kepler)(M, e, 0.0, 1.0) == Approx(by_e).epsilon(1e-14));
    CHECK(kepler(Dual<double>(M, 0), Dual<double>(e, 1)).tangent == Approx(by_e).epsilon(1e-14));
    CHECK(Kepler{}(Dual<double>(M, 0), Dual<double>(e, 1)).tangent == Approx(by_e).epsilon(1e-14));
}

TEST_CASE("root: lanes have the bits they have alone, in value and gradient") {
    constexpr auto gradient = vjp(kepler);
    for (int i = 0; i < 16; ++i) {
        Lanes M(0.0), e(0.0);
        for (int lane = 0; lane < 8; ++lane) {
            M.set(lane, 0.1 * i + 0.7 * lane - 3 * (lane % 2));
            e.set(lane, std::fmod(0.37 * i + 0.11 * lane, 0.9));
        }
        const Lanes together = kepler(M, e), plain = Kepler{}(M, e);
        const auto [by_M, by_e] = gradient(M, e, Lanes(1.0));
        for (int lane = 0; lane < 8; ++lane) {
            const auto [alone_M, alone_e] = gradient(Lanes(M[lane]), Lanes(e[lane]), Lanes(1.0));
            CHECK(together[lane] == kepler(Lanes(M[lane]), Lanes(e[lane]))[0]);
            CHECK(by_M[lane] == alone_M[0]);
            CHECK(by_e[lane] == alone_e[0]);
            CHECK(plain[lane] == Approx(together[lane]).epsilon(1e-13));
        }
    }
}

TEST_CASE(
    "root: what is not found is NaN, or the last x, and a branch not taken contributes zero") {
    constexpr auto fails = eddy::trace<Scalar>([](const auto& a) { return square(a, false); });
    constexpr auto stays = eddy::trace<Scalar>([](const auto& a) { return square(a, true); });

    CHECK(fails(1.0) == 1);
    CHECK(std::isnan(fails(1e12)));
    CHECK(stays(1e12) == Approx(125000000003.5).epsilon(1e-11));
    CHECK(std::isnan(square(1e12, false)));
    if constexpr (!eddy::fma_is_fast) CHECK(square(1e12, true) == stays(1e12));
    CHECK(of_branch(4.0) == Approx(0.25).epsilon(1e-14));
    CHECK(of_branch(-4.0) == 0);
}

TEST_CASE("root: in single precision it ends where updates are rounding") {
    for (int i = 0; i < 50; ++i) {
        const float M = 0.13F * static_cast<float>(i), e = 0.7F;
        CHECK(double(kepler(M, e)) == Approx(kepler(double(M), double(e))).epsilon(1e-6));
    }
}

TEST_CASE("root: more unknowns than eight are refused at run time too") {
    CHECK(support::message_of([] {
              (void)eddy::trace_graph(
                  [](const auto& x) { return eddy::root(x, [](const auto& z) { return z * z; }); },
                  eddy::DynamicVector{9});
          }).find("root: got 9 unknowns; give at most 8") != std::string::npos);
}
