#include <cmath>
#include <eddy/core/math.hpp>
#include <limits>

#include "support/catch.hpp"

TEST_CASE("math: integer powers square repeatedly") {
    STATIC_REQUIRE(eddy::pow(3.0, 5) == 243);
    STATIC_REQUIRE(eddy::pow(2.0, -3) == 0.125);
    STATIC_REQUIRE(eddy::pow(7.0f, 0) == 1);
    CHECK(eddy::pow(1.0, std::numeric_limits<int>::min()) == 1);
    CHECK(eddy::pow(2.0, -1074) == 0);  // the reciprocal of an overflow, as documented
    CHECK(eddy::pow(std::numeric_limits<double>::quiet_NaN(), 0) == 1);
}

TEST_CASE("math: a real exponent is never taken for an integer") {
    CHECK(eddy::pow(4.0, 0.5) == 2);
    CHECK(eddy::pow(4.0f, 0.5) == 2);
    CHECK(eddy::pow(4.0f, 0.5f) == 2);
}

TEST_CASE("math: fma rounds once and mul_add as the target prefers") {
    const double x = 1 + 0x1p-30, square = x * x;

    CHECK(eddy::fma(x, x, -square) == 0x1p-60);
    CHECK(eddy::mul_add(x, x, -square) == (eddy::fma_is_fast ? 0x1p-60 : 0));
}

TEST_CASE("math: min, max, clamp, sign and select say what NaN and zeros do") {
    const double nan = std::numeric_limits<double>::quiet_NaN();

    CHECK(eddy::max(1.0, nan) == 1);
    CHECK(std::isnan(eddy::max(nan, 1.0)));
    CHECK(eddy::min(1.0, nan) == 1);
    CHECK(std::isnan(eddy::clamp(nan, 0.0, 1.0)));
    CHECK(eddy::clamp(7.0, 0, 1) == 1);
    CHECK(eddy::sign(-3.0) == -1);
    CHECK(std::signbit(eddy::sign(-0.0)));
    CHECK(std::isnan(eddy::sign(nan)));
    CHECK(eddy::select(true, 1.0, 2) == 1);
}
