#include "core/math_functions.hpp"
#include "support/catch.hpp"
#include "support/same_bits.hpp"

using namespace eddy::test;
using eddy::Pack;

namespace {

constexpr int samples_per_range = 2000;

template <class Real>
void check_accuracy(double at_most) {
    using Native = Pack<Real, eddy::native_lanes<Real>>;
    for_each_unary([&](const char* name, auto function, auto reference, const auto& ranges) {
        const auto arguments = sample_arguments<Real>(ranges, samples_per_range, 1);
        CAPTURE(name);
        CHECK(max_ulp<Native>(function, reference, arguments) <= at_most);
    });
    for_each_binary([&](const char* name, auto function, auto reference, const auto& first,
                        const auto& second) {
        const auto x = sample_arguments<Real>(first, samples_per_range, 1);
        const auto y = sample_arguments<Real>(second, samples_per_range, 2);
        CAPTURE(name);
        CHECK(max_ulp<Native>(function, reference, x, y) <= at_most);
    });
}

/// Calls `visit(name, function of packs x and y)` for all functions; those of one argument leave y.
template <class Visit>
void for_each_function(Visit visit) {
    for_each_unary([&](const char* name, auto function, auto, const auto&) {
        visit(name, [function](const auto& x, const auto&) { return function(x); });
    });
    for_each_binary([&](const char* name, auto function, auto, const auto&, const auto&) {
        visit(name, function);
    });
}

/// How often a lane of a pack of `lanes` differs in its bits from the same arguments in a pack of
/// one. All NaN are equal: clang 14 gives acos another NaN alone than in a pair with AVX-512.
template <class Real, int lanes, class Function>
int lanes_unlike_alone(Function function, const std::vector<Real>& x, const std::vector<Real>& y) {
    int unlike = 0;
    for (std::size_t i = 0; i + lanes <= x.size(); i += lanes) {
        const auto together =
            function(Pack<Real, lanes>::load(&x[i]), Pack<Real, lanes>::load(&y[i]));
        for (int lane = 0; lane < lanes; ++lane) {
            const auto at = i + static_cast<std::size_t>(lane);
            const Real alone = function(Pack<Real, 1>(x[at]), Pack<Real, 1>(y[at]))[0],
                       here = together[lane];
            unlike += !support::same_bits(alone, here);
        }
    }
    return unlike;
}

template <class Real, int lanes>
void check_independence() {
    // Large and small arguments in every pack, so that every rare path meets every common one.
    const auto x = sample_arguments<Real>({{-3, 3}, {0, 1e30}}, 300, 3);
    const auto y = sample_arguments<Real>({{-30, 30}, {-1, 1}}, 300, 4);
    for_each_function([&](const char* name, auto function) {
        CAPTURE(name, lanes, sizeof(Real));
        CHECK(lanes_unlike_alone<Real, lanes>(function, x, y) == 0);
    });
}

/// Every pair of special arguments, against the standard library.
template <class Real>
void check_special_values() {
    using Limits = std::numeric_limits<Real>;
    std::vector<Real> special;
    for (const Real x :
         {Real(0), Limits::denorm_min(), Limits::min(), Real(0.5), Real(1), Real(2), Real(3),
          Real(2.5), Limits::max(), Limits::infinity(), Limits::quiet_NaN()})
        for (const Real sign : {Real(1), Real(-1)}) special.push_back(sign * x);
    for_each_unary([&](const char* name, auto function, auto reference, const auto&) {
        CAPTURE(name, sizeof(Real));
        for (const Real x : special) {
            CAPTURE(x);
            const double error = ulp_error<Real>(function(Pack<Real, 1>(x))[0], reference(x));
            CHECK(error <= 2);
        }
    });
    for_each_binary([&](const char* name, auto function, auto reference, const auto&, const auto&) {
        CAPTURE(name, sizeof(Real));
        for (const Real x : special)
            for (const Real y : special) {
                CAPTURE(x, y);
                const double error = ulp_error<Real>(
                    function(Pack<Real, 1>(x), Pack<Real, 1>(y))[0], reference(x, y));
                CHECK(error <= 2);
            }
    });
}

}  // namespace

TEST_CASE("pack math: every function is within 2 ulp, everywhere") {
    if (!has_long_reference)
        return;  // a reference no better than the functions would measure itself
    check_accuracy<double>(2);
    check_accuracy<float>(2);
}

TEST_CASE("pack math: the measure of errors sees an error") {
    const double one = 1;

    CHECK(ulp_error(one + 0x1p-52, 1.0L) == 1);
    CHECK(ulp_error(one, 1 + 0x1p-52L / 2) == 0.5);
    CHECK(ulp_error(0x1p-1074, 0x1p-1074L * 3) == 2);
    CHECK(std::isinf(ulp_error(-0.0, 0.0L)));
    CHECK(std::isinf(ulp_error(std::numeric_limits<double>::quiet_NaN(), 1.0L)));
    CHECK(ulp_error(std::numeric_limits<double>::infinity(), 1e400L) == 0);
    CHECK(ulp_error(std::numeric_limits<double>::max(), 1e400L) == 1);
    CHECK(ulp_error(1e-30f, 0.0L) > 1e9);
}

TEST_CASE("pack math: a lane's bits depend neither on its neighbours nor on the width") {
    check_independence<double, 2>();
    check_independence<double, 16>();
    check_independence<float, 32>();
}

TEST_CASE("pack math: special values are those of the standard library") {
    check_special_values<double>();
    check_special_values<float>();
}

TEST_CASE("pack math: arguments near multiples of π/2 keep all their digits") {
    // The worst case of all doubles, 6381956970095103·2^797: its cosine is -4.69e-19 (Muller 2006,
    // Elementary Functions, table 11.1).
    const double worst = std::ldexp(6381956970095103.0, 797);

    CHECK(ulp_error(cos(Pack<double, 1>(worst))[0], std::cos(static_cast<long double>(worst))) <=
          2);
    CHECK(std::abs(cos(Pack<double, 1>(worst))[0]) < 5e-19);
}

TEST_CASE("pack math: tanh of every float from 1/2 to 1 is within 2 ulp, and tanh never falls") {
    // Its two formulas meet there, where the result goes through 1/2 and the error is largest.
    using P = Pack<float, 16>;
    using Wide = Pack<double, 16>;
    const auto ones_from = [](std::uint32_t first) {
        float x[P::size];
        for (int i = 0; i < P::size; ++i)
            x[i] = std::bit_cast<float>(first + static_cast<std::uint32_t>(i));
        return P::load(x);
    };
    const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    double worst = 0;
    int falls = 0;
    float last = 0;

    for (std::uint32_t bits = bits_of(0.5f); bits < bits_of(1.0f); bits += P::size) {
        const P x = ones_from(bits), computed = tanh(x);
        const auto error = abs(Wide(computed) - tanh(Wide(x)));
        for (int i = 0; i < P::size; ++i) {
            const double unit = computed[i] < 0.5f ? 0x1p-25 : 0x1p-24;
            worst = std::max(worst, error[i] / unit);
        }
    }
    for (std::uint32_t bits = bits_of(0x1p-13f); bits < bits_of(16.0f); bits += 7 * P::size) {
        const P computed = tanh(ones_from(bits));
        for (int i = 0; i < P::size; ++i) {
            falls += computed[i] < last || computed[i] > 1;
            last = computed[i];
        }
    }

    CHECK(worst <= 2);
    CHECK(worst > 1.5);  // it looks where the error is
    CHECK(falls == 0);
}

TEST_CASE("pack math: real, integer and pack exponents of any type are told apart") {
    const Pack<float, 4> x(4);

    CHECK(pow(x, 0.5)[0] == 2);
    CHECK(pow(x, 0.5f)[0] == 2);
    CHECK(pow(x, 2)[0] == 16);
    CHECK(pow(x, Pack<float, 4>(-0.5f))[3] == 0.5f);
}
