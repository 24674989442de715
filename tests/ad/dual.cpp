#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>

#include "support/catch.hpp"

using eddy::Dual;
using eddy::Vec;
using Pack = eddy::Pack<double, 4>;

namespace {

bool is(const Dual<double>& x, double value, double tangent) {
    return x.value == value && x.tangent == tangent;
}

// Where a constant were given a tangent of zero, 0·∞ and 0/0 would make every tangent NaN.
struct PlainParts {
    constexpr auto operator()(const auto& y, const auto& p) const {
        using std::pow, std::sqrt;
        const auto power = pow(y[0], p[0]) + pow(y[0], 2.0);
        const auto kept = sqrt(eddy::stop_gradient(y[1])) * y[0];
        return eddy::vec(power + sqrt(p[1]) * y[1], kept + y[0] / p[2],
                         eddy::dot(p, eddy::vec(y[0], y[1], 2)), sqrt(p[1]));
    }
};
inline constexpr auto plain_parts = eddy::trace<eddy::Vector<2>, eddy::Vector<3>>(PlainParts{});

}  // namespace

TEST_CASE("dual: types nest, the richest is the result") {
    STATIC_REQUIRE(std::is_same_v<eddy::RichestOf<double, Dual<double>, int>, Dual<double>>);
    STATIC_REQUIRE(std::is_same_v<eddy::RichestOf<Pack, Dual<Pack>>, Dual<Pack>>);
    STATIC_REQUIRE(std::is_same_v<eddy::ScalarOf<Dual<Dual<Pack>>>, double>);
    STATIC_REQUIRE(std::is_same_v<eddy::PrimalOf<Dual<Dual<Pack>>>, Pack>);
    STATIC_REQUIRE(std::is_same_v<decltype(Dual<float>(1) * 2.0), Dual<float>>);
    STATIC_REQUIRE(
        std::is_same_v<decltype(Dual<Dual<double>>(1) * Dual<double>(2)), Dual<Dual<double>>>);
    STATIC_REQUIRE(
        std::is_same_v<decltype(eddy::vec(1, Dual<double>(2), 3.0)), Vec<Dual<double>, 3>>);
}

TEST_CASE("dual: arithmetic follows the rules, with plain numbers on either side") {
    constexpr Dual<double> x(3, 1), y(2, 5);

    STATIC_REQUIRE((x * y).tangent == 17);
    CHECK(is(x + y, 5, 6));
    CHECK(is(x - 1, 2, 1));
    CHECK(is(1 - x, -2, -1));
    CHECK(is(x * 2, 6, 2));
    CHECK(is(6 / x, 2, -2.0 / 3));
    CHECK(is(-x, -3, -1));
    CHECK(is(pow(x, 3), 27, 27));
    CHECK(is(fma(x, 2, y), 8, 7));
    CHECK(is(mul_add(2.0, x, 1.0), 7, 2));
    Dual<double> z = x;
    z *= y;
    z += 1;
    CHECK(is(z, 7, 17));
}

TEST_CASE("dual: min, max, relu, clamp and select pick the tangent with the value") {
    using std::max, std::min;
    const Dual<double> x(3, 1), y(2, 5);

    CHECK(is(max(x, y), 3, 1));
    CHECK(is(min(x, y), 2, 5));
    CHECK(is(eddy::max(x, 4), 4, 0));
    CHECK(is(eddy::clamp(x, 0, 10), 3, 1));
    CHECK(is(eddy::relu(-x), 0, 0));
    CHECK(is(eddy::select(x < y, x, y), 2, 5));
    CHECK(is(eddy::select(x > 0, x, 0), 3, 1));
    CHECK(is(eddy::select(x < 0, sqrt(-x), 1), 1, 0));
    CHECK((x > y && x != y && 3 == x && y <= 2));
}

TEST_CASE("dual: a plain number beside a dual one has no tangent") {
    const double infinity = std::numeric_limits<double>::infinity();
    const Dual<double> x(-1, 1);

    CHECK(is(pow(x, 2.0), 1, -2));
    CHECK(is(x * infinity, -infinity, infinity));
    CHECK(is(x + Dual<double>(infinity), infinity, 1));
    CHECK(is(pow(0.0, Dual<double>(2, 1)), 0, 0));
}

TEST_CASE("dual: in a program nothing that is plain gets a tangent") {
    const Vec<double, 2> y{{-2, 0}}, tangent{{1, 3}};
    const Vec<double, 3> p{{2, 0, 4}};
    const Vec<Dual<double>, 2> dual_y{{{-2, 1}, {0, 3}}};

    const auto result = plain_parts(dual_y, p);

    const auto value = plain_parts(y, p);
    const auto expected = eddy::jvp<0>(plain_parts)(y, p, tangent);
    for (int i = 0; i < 4; ++i) CHECK(is(result[i], value[i], expected[i]));
    CHECK(expected == Vec<double, 4>{{-8, 0.25, 2, 0}});
}

TEST_CASE("dual: stop_gradient drops tangents, of numbers, vectors and in programs") {
    const Dual<double> x(3, 1);
    const auto cube =
        eddy::trace<eddy::Scalar>([](auto y) { return eddy::stop_gradient(y * y) * y; });

    CHECK(is(eddy::stop_gradient(x), 3, 0));
    CHECK(is(eddy::stop_gradient(eddy::vec(x, x))[1], 3, 0));
    CHECK(eddy::stop_gradient(Dual<Dual<double>>(x, x)).value.tangent == 0);
    CHECK(is(cube(x), 27, 9));
    CHECK(eddy::jvp(cube)(3.0, 1.0) == 9);
}

TEST_CASE("dual: norm at zero has the tangent zero") {
    const Vec<Dual<double>, 2> zero{{{0, 1}, {0, 2}}}, x{{{3, 1}, {4, 0}}};
    const auto norm = eddy::trace<eddy::Vector<2>>([](auto y) { return eddy::norm(y); });

    CHECK(is(eddy::norm(zero), 0, 0));
    CHECK(is(norm(zero), 0, 0));
    CHECK(is(eddy::norm(x), 5, 0.6));
    CHECK(is(norm(x), 5, 0.6));
}

TEST_CASE("dual: nested duals hold second derivatives") {
    const Dual<Dual<double>> x({3, 1}, {1, 0});

    const auto fourth = pow(x, 4) + 0.5 * x;

    CHECK(fourth.value.value == 82.5);
    CHECK(fourth.value.tangent == 108.5);
    CHECK(fourth.tangent.value == 108.5);
    CHECK(fourth.tangent.tangent == 108);
    CHECK(pow(x, 2.0).tangent.tangent == 2);
    CHECK((-2 * x).tangent.tangent == 0);
}

TEST_CASE("dual: a dual of packs is one dual per lane") {
    const double values[] = {-2, -0.5, 1, 3};
    const Dual<Pack> x(Pack::load(values), Pack(1));
    const auto f = eddy::trace<eddy::Scalar>(
        [](auto y) { return eddy::select(y < 0, y * y, eddy::sqrt(y)) + eddy::max(y, 2) * 3; });

    const Dual<Pack> result = f(x);

    for (int lane = 0; lane < 4; ++lane) {
        const auto expected = f(Dual<double>(values[lane], 1));
        CHECK(result.value[lane] == expected.value);
        CHECK(result.tangent[lane] == expected.tangent);
    }
}
