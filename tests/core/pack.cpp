#include <cmath>
#include <cstdint>
#include <eddy/core/pack_math.hpp>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/same_bits.hpp"

using eddy::Mask;
using eddy::Pack;

namespace {

/// Ordinary numbers, both zeros, infinities, NaN, subnormals, in an order without a period that
/// divides a pack.
template <class Real>
Real sample(int i) {
    using Limits = std::numeric_limits<Real>;
    const Real special[] = {Real(0),           -Real(0),           Limits::infinity(),
                            Limits::max(),     -Limits::max(),     Limits::denorm_min(),
                            Limits::epsilon(), Real(-1.5),         Real(2),
                            Limits::min() / 3, -Limits::infinity()};
    return i % 3 == 0 ? special[i / 3 % 11]
                      : static_cast<Real>(std::sin(i * 1.7)) * static_cast<Real>(i + 1);
}

template <class Real, int lanes>
Pack<Real, lanes> samples(int first) {
    Pack<Real, lanes> pack;
    for (int lane = 0; lane < lanes; ++lane) pack.set(lane, sample<Real>(first + lane));
    return pack;
}

template <class Real, int lanes, class Scalar, class... Packs>
bool equals_scalar(const Pack<Real, lanes>& result, Scalar scalar, const Packs&... arguments) {
    for (int lane = 0; lane < lanes; ++lane) {
        const Real expected = scalar(arguments[lane]...);
        if (!support::same_bits(expected, result[lane])) return false;
    }
    return true;
}

template <class Real, int lanes>
void check_arithmetic() {
    CAPTURE(lanes, sizeof(Real));
    for (int first = 0; first < 400; first += 7) {
        const auto a = samples<Real, lanes>(first), b = samples<Real, lanes>(3 * first + 1),
                   c = samples<Real, lanes>(5 * first + 2);

        CHECK(equals_scalar(
            a + b, [](Real x, Real y) { return x + y; }, a, b));
        CHECK(equals_scalar(
            a - b, [](Real x, Real y) { return x - y; }, a, b));
        CHECK(equals_scalar(
            a * b, [](Real x, Real y) { return x * y; }, a, b));
        CHECK(equals_scalar(
            a / b, [](Real x, Real y) { return x / y; }, a, b));
        CHECK(equals_scalar(
            -a, [](Real x) { return -x; }, a));
        CHECK(equals_scalar(
            fma(a, b, c), [](Real x, Real y, Real z) { return std::fma(x, y, z); }, a, b, c));
        CHECK(equals_scalar(
            abs(a), [](Real x) { return std::abs(x); }, a));
        CHECK(equals_scalar(
            sqrt(a), [](Real x) { return std::sqrt(x); }, a));
        CHECK(equals_scalar(
            floor(a), [](Real x) { return std::floor(x); }, a));
        CHECK(equals_scalar(
            copysign(a, b), [](Real x, Real y) { return std::copysign(x, y); }, a, b));
        CHECK(equals_scalar(
            min(a, b), [](Real x, Real y) { return eddy::min(x, y); }, a, b));
        CHECK(equals_scalar(
            max(a, b), [](Real x, Real y) { return eddy::max(x, y); }, a, b));
        CHECK(equals_scalar(
            sign(a), [](Real x) { return eddy::sign(x); }, a));
        CHECK(equals_scalar(
            clamp(a, -1, 2), [](Real x) { return eddy::clamp(x, -1, 2); }, a));
        CHECK(equals_scalar(
            pow(a, -5), [](Real x) { return eddy::pow(x, -5); }, a));
        CHECK(equals_scalar(
            select(a < b, a, c), [](Real x, Real y, Real z) { return x < y ? x : z; }, a, b, c));
        CHECK(equals_scalar(
            select(a == b, 1, c), [](Real x, Real y, Real z) { return x == y ? 1 : z; }, a, b, c));
        CHECK(equals_scalar(
            select(a >= b, 1, 0), [](Real x, Real y) { return Real(x >= y); }, a, b));
    }
}

template <class Real, int lanes>
void check_masks() {
    CAPTURE(lanes, sizeof(Real));
    using Lanes = Mask<Real, lanes>;
    for (int count_true = 0; count_true <= lanes; ++count_true) {
        const auto mask = Lanes::first(count_true);

        CHECK(count(mask) == count_true);
        CHECK(any(mask) == (count_true > 0));
        CHECK(all(mask) == (count_true == lanes));
        CHECK(none(mask) == (count_true == 0));
        CHECK(count(!mask) == lanes - count_true);
        CHECK(all(mask | !mask));
        CHECK(none(mask & !mask));
        CHECK(all(mask ^ !mask));
        CHECK((count_true == lanes || !mask[count_true]));
    }
    CHECK(all(Lanes(true)));
    CHECK(none(Lanes(false)));
}

template <class Real, int lanes>
void check_memory() {
    CAPTURE(lanes, sizeof(Real));
    std::vector<Real> source(3 * lanes);
    for (int i = 0; i < 3 * lanes; ++i)
        source[static_cast<std::size_t>(i)] = static_cast<Real>(i + 1);
    for (int used = 0; used <= lanes; ++used) {
        // Exact allocations: the address sanitizer sees a read or write beyond the tail.
        const std::vector<Real> tail(source.begin(), source.begin() + used);
        std::vector<Real> target(static_cast<std::size_t>(used), Real(-1));

        const auto loaded = Pack<Real, lanes>::load_first(tail.data(), used);
        loaded.store_first(target.data(), used);

        CHECK(target == tail);
        for (int lane = used; lane < lanes; ++lane) CHECK(loaded[lane] == 0);
    }

    const auto strided = Pack<Real, lanes>::load_strided(source.data() + 1, 3);
    std::vector<Real> target(3 * lanes, Real(-1));
    strided.store_strided(target.data() + 2, 3);
    CHECK(equals_scalar(
        strided, [](Real x) { return x; }, Pack<Real, lanes>::load_strided(target.data() + 2, 3)));
    for (int lane = 0; lane < lanes; ++lane)
        CHECK(strided[lane] == static_cast<Real>(3 * lane + 2));
    CHECK(target[0] == -1);
    CHECK(sum(Pack<Real, lanes>::load(source.data())) ==
          static_cast<Real>(lanes * (lanes + 1) / 2));
}

template <int lanes>
void check_conversions() {
    CAPTURE(lanes);
    for (int first = 0; first < 200; first += 3) {
        const auto wide = samples<double, lanes>(first);
        const auto narrow = samples<float, lanes>(first);

        CHECK(equals_scalar(
            Pack<float, lanes>(wide), [](double x) { return static_cast<float>(x); }, wide));
        CHECK(equals_scalar(
            Pack<double, lanes>(narrow), [](float x) { return static_cast<double>(x); }, narrow));
    }
}

template <template <class, int> class Check>
void for_each_width() {
    Check<double, 1>::run();
    Check<double, 4>::run();
    Check<double, 32>::run();
    Check<float, 2>::run();
    Check<float, 32>::run();
}

template <class Real, int lanes>
struct Arithmetic {
    static void run() { check_arithmetic<Real, lanes>(); }
};
template <class Real, int lanes>
struct Masks {
    static void run() { check_masks<Real, lanes>(); }
};
template <class Real, int lanes>
struct Memory {
    static void run() { check_memory<Real, lanes>(); }
};

static_assert(!std::is_convertible_v<Mask<double, 4>, bool> &&
                  !std::is_constructible_v<bool, Mask<double, 4>>,
              "a mask must be asked: any, all or none");
static_assert(std::is_trivially_copyable_v<Pack<double, 16>>);

}  // namespace

TEST_CASE("pack: every operation gives the bits of the scalar one in every lane") {
    for_each_width<Arithmetic>();
}

TEST_CASE("pack: masks count, combine and answer any, all and none") { for_each_width<Masks>(); }

TEST_CASE("pack: tails and strides touch exactly their elements") { for_each_width<Memory>(); }

TEST_CASE("pack: float and double packs convert as scalars do") {
    check_conversions<1>();
    check_conversions<2>();
    check_conversions<4>();
    check_conversions<16>();
    check_conversions<64>();
}

TEST_CASE("pack: broadcasting keeps the sign of zero") {
    const Pack<double, 4> zeros(-0.0);

    for (int lane = 0; lane < 4; ++lane) CHECK(std::signbit(zeros[lane]));
}

TEST_CASE("pack: min and max return their first argument when either is NaN") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Pack<double, 2> number(1), not_a_number(nan);

    CHECK(max(number, not_a_number)[0] == 1);
    CHECK(min(number, not_a_number)[0] == 1);
    CHECK(std::isnan(max(not_a_number, number)[0]));
    CHECK(std::isnan(min(not_a_number, number)[0]));
    CHECK(std::signbit(max(Pack<double, 2>(-0.0), Pack<double, 2>(0.0))[0]));
}

TEST_CASE("pack: the sum adds halves, in an order that tells") {
    // Left to right this sums to 1; lanes i and i + 2 first, it sums to 2.
    const double values[] = {0x1p60, 1, -0x1p60, 1};

    CHECK(sum(Pack<double, 4>::load(values)) == 2);
}
