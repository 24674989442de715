#include <cmath>
#include <eddy/core/float_float.hpp>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::FloatFloat;

long double value(FloatFloat x) {
    return static_cast<long double>(x.high) + static_cast<long double>(x.low);
}
/// Of many sizes, with all bits of both floats.
FloatFloat number(support::Random& random) {
    const double scale = std::ldexp(1., random.below(60) - 30);
    const auto high = static_cast<float>(scale * random.uniform(-1, 1));
    const auto ulp = std::nextafter(std::abs(high), INFINITY) - std::abs(high);
    return FloatFloat(high) + FloatFloat(static_cast<float>(0.5 * ulp * random.uniform(-1, 1)));
}
bool is_normalised(FloatFloat x) { return x.high + x.low == x.high; }

constexpr long double unit = 0x1p-48L;

}  // namespace

TEST_CASE("float_float: errors stay within the bounds of Joldes, Muller and Popescu") {
    support::Random random(7);
    for (int i = 0; i < 200'000; ++i) {
        const FloatFloat a = number(random), b = number(random);
        const long double sum = value(a) + value(b), product = value(a) * value(b);

        REQUIRE(std::abs(value(a + b) - sum) <= 3 * unit * std::abs(sum));
        REQUIRE(std::abs(value(a - b) - (value(a) - value(b))) <=
                3 * unit * std::abs(value(a) - value(b)));
        REQUIRE(std::abs(value(a * b) - product) <= 7 * unit * std::abs(product));
        REQUIRE(std::abs(value(a / b) - value(a) / value(b)) <=
                16 * unit * std::abs(value(a) / value(b)));
        REQUIRE(is_normalised(a + b));
        REQUIRE(is_normalised(a * b));
        REQUIRE((a < b) == (value(a) < value(b)));
        REQUIRE((a <= b) == (value(a) <= value(b)));
    }
}

TEST_CASE("float_float: a difference of neighbours is exact, and keeps what floats lose") {
    const FloatFloat t(1e9), next = t + FloatFloat(1e-3);

    CHECK(static_cast<double>(t) == 1e9);
    CHECK(t < next);
    CHECK(std::abs(static_cast<double>(next - t) - 1e-3) < 1e9 * 0x1p-48);
    CHECK(1e9f + 1e-3f == 1e9f);
}

TEST_CASE("float_float: roots, whole parts, magnitudes and the smaller of two") {
    support::Random random(8);
    for (int i = 0; i < 20'000; ++i) {
        const FloatFloat x = number(random), size = abs(x);
        REQUIRE(value(size) == std::abs(value(x)));
        REQUIRE(std::abs(value(sqrt(size)) - std::sqrt(value(size))) <=
                4 * unit * std::sqrt(value(size)));
        REQUIRE(value(floor(x)) == std::floor(value(x)));
    }
    const FloatFloat below(1.f, -0x1p-30f), above(1.f, 0x1p-30f);
    CHECK(min(above, below) == below);
    CHECK(max(above, below) == above);
    CHECK(static_cast<double>(floor(below)) == 0);
}

TEST_CASE("float_float: infinity stays, and what is beyond floats becomes it") {
    const double infinity = std::numeric_limits<double>::infinity();

    CHECK(static_cast<double>(FloatFloat(infinity)) == infinity);
    CHECK(static_cast<double>(FloatFloat(-1e300)) == -infinity);
    CHECK(min(FloatFloat(infinity), FloatFloat(2.)) == FloatFloat(2.));
    CHECK(static_cast<double>(FloatFloat(-0.1)) == Approx(-0.1).epsilon(0x1p-47));
}
