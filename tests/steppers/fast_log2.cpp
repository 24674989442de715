// The logarithm and the power of the controllers against double precision, and packs against single
// numbers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/fast_log2.hpp>
#include <limits>

#include "support/catch.hpp"

namespace {

constexpr std::uint32_t smallest_normal = 0x00800000, infinity = 0x7f800000, one = 0x3f800000;

/// The bits of every 211th float in [first, end), a prime, and of all within 2^12 of 1.
template <class Visit>
void for_floats(std::uint32_t first, std::uint32_t end, Visit visit) {
    for (std::uint32_t bits = first; bits < end; bits += 211) visit(std::bit_cast<float>(bits));
    for (std::uint32_t bits = one - 4096; bits < one + 4096; ++bits)
        visit(std::bit_cast<float>(bits));
}

}  // namespace

TEST_CASE("fast_log2: the error is below 1.5e-7 + 6e-8 |log2 x| over all normal floats") {
    double largest = 0;
    for_floats(smallest_normal, infinity, [&](float x) {
        const double exact = std::log2(static_cast<double>(x));
        const double error = std::fabs(static_cast<double>(eddy::fast_log2(x)) - exact);
        largest = std::fmax(largest, error / (1.5e-7 + 6e-8 * std::fabs(exact)));
    });

    INFO(largest);
    CHECK(largest <= 1);
}

TEST_CASE("fast_log2: powers of two are exact") {
    for (int k = -126; k <= 127; ++k)
        CHECK(eddy::fast_log2(std::ldexp(1.f, k)) == static_cast<float>(k));
}

TEST_CASE("fast_exp2: the relative error is below 3e-7 in [-126, 126]") {
    const std::uint32_t end = std::bit_cast<std::uint32_t>(126.f);
    double largest = 0;
    for_floats(0, end, [&](float magnitude) {
        for (float x : {magnitude, -magnitude}) {
            const double exact = std::exp2(static_cast<double>(x));
            largest = std::fmax(largest, std::fabs(eddy::fast_exp2(x) / exact - 1));
        }
    });

    INFO(largest);
    CHECK(largest <= 3e-7);
}

TEST_CASE("fast_exp2: integers are exact, what is beyond +-126 is confined, NaN stays NaN") {
    constexpr float endless = std::numeric_limits<float>::infinity();
    for (int k = -126; k <= 126; ++k)
        CHECK(eddy::fast_exp2(static_cast<float>(k)) == std::ldexp(1.f, k));
    CHECK(eddy::fast_exp2(127.f) == 0x1p126f);
    CHECK(eddy::fast_exp2(endless) == 0x1p126f);
    CHECK(eddy::fast_exp2(-1e30f) == 0x1p-126f);
    CHECK(eddy::fast_exp2(-endless) == 0x1p-126f);
    CHECK(std::isnan(eddy::fast_exp2(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("fast_log2: a power of an error between 1/64 and 64 is good to 6e-7") {
    double largest = 0;
    for (float exponent : {-1.f, -0.7f, -0.2f, 0.08f}) {
        for_floats(smallest_normal, infinity, [&](float x) {
            const double exact = std::pow(static_cast<double>(x), static_cast<double>(exponent));
            if (exact < 1. / 64 || exact > 64) return;
            const float power = eddy::fast_exp2(exponent * eddy::fast_log2(x));
            largest = std::fmax(largest, std::fabs(power / exact - 1));
        });
    }

    INFO(largest);
    CHECK(largest <= 6e-7);
}

TEST_CASE("fast_log2: each lane of a pack has the bits of the scalar functions") {
    constexpr int lanes = 16;
    using Pack = eddy::Pack<float, lanes>;
    int num_different = 0;
    for (std::uint32_t bits = smallest_normal; bits < infinity - lanes * 4099;
         bits += lanes * 4099) {
        float x[lanes];
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            x[lane] = std::bit_cast<float>(bits + lane * 4099);
        const Pack logarithm = fast_log2(Pack::load(x));
        const Pack power = fast_exp2(logarithm * Pack(-0.7f));
        for (int lane = 0; lane < lanes; ++lane) {
            const float alone = eddy::fast_log2(x[lane]);
            num_different += logarithm[lane] != alone;
            num_different += power[lane] != eddy::fast_exp2(alone * -0.7f);
        }
    }

    CHECK(num_different == 0);
}
