// The functions of likelihoods against values of mpmath, in float and double, on numbers and on packs.

#include <algorithm>
#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/core/special.hpp>
#include <limits>
#include <vector>

#include "core/math_functions.hpp"
#include "core/special_values.hpp"
#include "support/catch.hpp"
#include "support/same_bits.hpp"

namespace {

using namespace eddy;

/// Visits (name, function of any type of number, its values, how large the terms are that cancel
/// where a zero lies between two poles; 0: there is none).
template <class Visit>
void for_each_function(Visit visit) {
    visit(
        "lgamma", [](const auto& x) { return lgamma(x); }, support::lgamma_values, 2.);
    visit(
        "digamma", [](const auto& x) { return digamma(x); }, support::digamma_values, 2.);
    visit(
        "trigamma", [](const auto& x) { return trigamma(x); }, support::trigamma_values, 2.);
    visit(
        "tetragamma", [](const auto& x) { return polygamma(2, x); }, support::tetragamma_values,
        64.);
    visit(
        "erfc", [](const auto& x) { return erfc(x); }, support::erfc_values, 0.);
    visit(
        "erfcx", [](const auto& x) { return erfcx(x); }, support::erfcx_values, 0.);
    visit(
        "log_erfc", [](const auto& x) { return log_erfc(x); }, support::log_erfc_values, 0.);
}

/// |computed − exact| in units of the last place of the exact value, or of `floor` where that is
/// larger; results that the type does not hold are left to the special values.
template <class Real>
double error_of(Real computed, double exact, double floor) {
    using Limits = std::numeric_limits<Real>;
    const double size = std::max(std::abs(exact), floor);
    if (size > double{Limits::max()}) return 0;
    if (!std::isfinite(computed)) return std::numeric_limits<double>::infinity();
    const int exponent = size == 0 ? Limits::min_exponent : std::ilogb(size) + 1;
    const int unit = std::max(exponent, Limits::min_exponent) - Limits::digits;
    return std::abs(double{computed} - exact) * std::ldexp(1, -unit);
}

constexpr double granted_ulps = 5;

template <class Real>
void check_values() {
    for_each_function([](const char* name, auto function, const auto& values, double cancelled) {
        double worst = 0, worst_of_packs = 0, worst_argument = 0;
        for (const auto& [x, value] : values) {
            const double floor = x < 0 ? cancelled : 0;
            const double error = error_of<Real>(function(static_cast<Real>(x)), value, floor);
            if (error > worst) worst_argument = x;
            worst = std::max(worst, error);
            const Real of_pack = function(Pack<Real, 1>(static_cast<Real>(x)))[0];
            worst_of_packs = std::max(worst_of_packs, error_of<Real>(of_pack, value, floor));
        }
        CAPTURE(name, sizeof(Real), worst_argument);
        CHECK(worst <= granted_ulps);
        CHECK(worst_of_packs <= granted_ulps);
    });
}

template <class Real, int lanes>
void check_independence() {
    // Large and small arguments of both signs in every pack, so that every rare path meets every common one.
    const auto x = test::sample_arguments<Real>({{-9, 9}, {0, 1e30}}, 300, 3);
    for_each_function([&x](const char* name, auto function, const auto&, double) {
        int unlike = 0;
        for (std::size_t i = 0; i + lanes <= x.size(); i += lanes) {
            const auto together = function(Pack<Real, lanes>::load(&x[i]));
            for (int lane = 0; lane < lanes; ++lane) {
                const Real alone =
                    function(Pack<Real, 1>(x[i + static_cast<std::size_t>(lane)]))[0];
                unlike += !support::same_bits<Real>(alone, together[lane]);
            }
        }
        CAPTURE(name, lanes, sizeof(Real));
        CHECK(unlike == 0);
    });
}

template <class Real, class Number>
void check_edges(auto first_of) {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    const auto at = [&](auto function, Real x) { return first_of(function(Number(x))); };
    const auto log_gamma = [](const auto& x) { return lgamma(x); };
    const auto psi = [](const auto& x) { return digamma(x); };
    const auto psi_prime = [](const auto& x) { return trigamma(x); };
    const auto complement = [](const auto& x) { return erfc(x); };
    const auto scaled = [](const auto& x) { return erfcx(x); };
    const auto log_complement = [](const auto& x) { return log_erfc(x); };

    for (const Real x :
         {Real(0), -Real(0), Real(-1), Real(-7), -std::ldexp(Real(1), 60), -infinity})
        CHECK(at(log_gamma, x) == infinity);
    CHECK(at(log_gamma, 1) == 0);
    CHECK(at(log_gamma, 2) == 0);
    CHECK(at(log_gamma, infinity) == infinity);
    CHECK(at(log_gamma, std::numeric_limits<Real>::max()) == infinity);
    CHECK(!std::isfinite(at(psi, 0)));
    CHECK(!std::isfinite(at(psi, -3)));
    CHECK(at(psi, infinity) == infinity);
    CHECK(at(psi_prime, 0) == infinity);
    CHECK(at(psi_prime, -3) == infinity);
    CHECK(at(psi_prime, infinity) == 0);
    CHECK(std::isnan(at([](const auto& x) { return polygamma(17, x); }, Real(-0.5))));
    CHECK(at(complement, -infinity) == 2);
    CHECK(at(complement, infinity) == 0);
    CHECK(at(complement, 40) == 0);
    CHECK(at(scaled, -infinity) == infinity);
    CHECK(at(scaled, infinity) == 0);
    CHECK(at(log_complement, 0) == 0);
    CHECK(at(log_complement, infinity) == -infinity);
    CHECK(at(log_complement, -infinity) == std::log(Real(2)));
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    for_each_function([&](const char* name, auto function, const auto&, double) {
        CAPTURE(name);
        CHECK(std::isnan(at(function, nan)));
    });
}

}  // namespace

TEST_CASE("special: every function is within 5 ulp of mpmath's") {
    check_values<double>();
    check_values<float>();
}

TEST_CASE("special: polygamma of higher order has the values of its series") {
    // n! ζ(n + 1) at 1: 3! π⁴/90, 5! π⁶/945.
    const double pi = 3.14159265358979323846;
    CHECK(std::abs(polygamma(3, 1.0) / (6 * std::pow(pi, 4) / 90) - 1) < 2e-15);
    CHECK(std::abs(polygamma(5, 1.0) / (120 * std::pow(pi, 6) / 945) - 1) < 2e-15);
    CHECK(std::abs(polygamma(4, 1.0) / (-24 * 1.0369277551433699263) - 1) < 2e-15);
    CHECK(polygamma(3, Pack<double, 2>(1.0))[0] == polygamma(3, 1.0));
    // Below zero, by mpmath.
    CHECK(std::abs(polygamma(3, -2.25) / 1558.45502318871434 - 1) < 2e-15);
    CHECK(std::abs(polygamma(4, -0.75) / -24483.239586168797931 - 1) < 2e-15);
    CHECK(std::abs(polygamma(7, -0.75) / 330352636.86402030649 - 1) < 4e-15);
}

TEST_CASE("special: a lane's bits depend neither on its neighbours nor on the width") {
    check_independence<double, 2>();
    check_independence<double, 16>();
    check_independence<float, 32>();
}

TEST_CASE("special: poles, infinities and NaN") {
    const auto itself = [](auto x) { return x; };
    const auto first = [](const auto& x) { return x[0]; };
    check_edges<double, double>(itself);
    check_edges<float, float>(itself);
    check_edges<double, Pack<double, 8>>(first);
    check_edges<float, Pack<float, 8>>(first);
}
