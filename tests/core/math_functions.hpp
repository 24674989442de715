#pragma once
// The list of elementary functions with references in long double, and a measure of their errors;
// the tests and the benchmark share it. On x86 the reference has 11 bits more than a double: its
// own error is below 0.001 ulp.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <eddy/core/pack_math.hpp>
#include <limits>
#include <random>
#include <vector>

namespace eddy::test {

inline constexpr bool has_long_reference = std::numeric_limits<long double>::digits >= 64;

/// |computed − exact| in units of the last place of the exact value; infinite where NaN, sign or
/// infinity disagree.
template <class Real>
double ulp_error(Real computed, long double exact) {
    using Limits = std::numeric_limits<Real>;
    constexpr double wrong = std::numeric_limits<double>::infinity();
    if (std::isnan(exact)) return std::isnan(computed) ? 0 : wrong;
    if (std::isnan(computed) || std::signbit(computed) != std::signbit(exact)) return wrong;
    const long double overflow = std::ldexp(1.0L, Limits::max_exponent);
    const long double size = std::min(std::abs(exact), overflow);
    const long double got = std::min(std::abs(static_cast<long double>(computed)), overflow);
    if (size == got) return 0;
    const int exponent = size == 0 ? Limits::min_exponent : std::ilogb(size) + 1;
    const int unit =
        std::clamp(exponent, Limits::min_exponent, Limits::max_exponent) - Limits::digits;
    return static_cast<double>(std::ldexp(std::abs(got - size), -unit));
}

struct Range {
    double low, high;
};

/// Arguments that a function may find hard: special values, powers of two and their neighbours,
/// multiples of π/4, numbers of every magnitude, and numbers spread evenly over `ranges`.
template <class Real>
std::vector<Real> sample_arguments(const std::vector<Range>& ranges, int count,
                                   std::uint64_t seed) {
    using Limits = std::numeric_limits<Real>;
    using Bits = simd::BitsOf<Real>;
    std::vector<Real> samples{0,
                              1,
                              Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::max(),
                              Limits::min(),
                              Limits::denorm_min(),
                              Limits::epsilon(),
                              Real(0.5),
                              Real(2)};
    for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; e += 3) {
        const Real power = std::ldexp(Real(1), e);
        for (const Real x :
             {power, std::nextafter(power, Real(0)), std::nextafter(power, Limits::max())})
            samples.push_back(x);
    }
    for (int k = 1; k < 400; ++k) samples.push_back(static_cast<Real>(k * 0.78539816339744830962L));
    std::mt19937_64 engine(seed);
    for (int i = 0; i < count; ++i)
        samples.push_back(std::bit_cast<Real>(static_cast<Bits>(engine())));
    for (const auto& [low, high] : ranges) {
        std::uniform_real_distribution<Real> uniform(static_cast<Real>(low),
                                                     static_cast<Real>(high));
        for (int i = 0; i < count; ++i) samples.push_back(uniform(engine));
    }
    const auto half = samples.size();
    for (std::size_t i = 0; i < half; ++i) samples.push_back(-samples[i]);
    samples.resize((samples.size() + 63) / 64 * 64, Real(1));
    return samples;
}

/// Calls `visit(name, function of any number type, reference, ranges)` for each function of one
/// argument.
template <class Visit>
void for_each_unary(Visit visit) {
    using std::acos, std::asin, std::atan, std::cbrt, std::cos, std::cosh, std::erf, std::exp,
        std::expm1, std::log, std::log1p, std::sin, std::sinh, std::tan, std::tanh;
    using Ranges = std::vector<Range>;
    visit(
        "exp", [](const auto& x) { return exp(x); }, [](long double x) { return exp(x); },
        Ranges{{-1, 1}, {-750, 712}, {-105, 90}});
    visit(
        "expm1", [](const auto& x) { return expm1(x); }, [](long double x) { return expm1(x); },
        Ranges{{-1, 1}, {-40, 40}, {-2, 0}, {-710, 710}});
    visit(
        "log", [](const auto& x) { return log(x); }, [](long double x) { return log(x); },
        Ranges{{0.5, 2}, {0, 100}});
    visit(
        "log1p", [](const auto& x) { return log1p(x); }, [](long double x) { return log1p(x); },
        Ranges{{-1, 1}, {-0.3, 0.5}, {0, 100}});
    visit(
        "sin", [](const auto& x) { return sin(x); }, [](long double x) { return sin(x); },
        Ranges{{-4, 4}, {-1000, 1000}, {-2e6, 2e6}, {0, 1e30}});
    visit(
        "cos", [](const auto& x) { return cos(x); }, [](long double x) { return cos(x); },
        Ranges{{-4, 4}, {-1000, 1000}, {-2e6, 2e6}, {0, 1e30}});
    visit(
        "tan", [](const auto& x) { return tan(x); }, [](long double x) { return tan(x); },
        Ranges{{-4, 4}, {-1000, 1000}, {-2e6, 2e6}, {0, 1e30}});
    visit(
        "asin", [](const auto& x) { return asin(x); }, [](long double x) { return asin(x); },
        Ranges{{-1, 1}, {0.4, 0.6}, {0.99, 1}});
    visit(
        "acos", [](const auto& x) { return acos(x); }, [](long double x) { return acos(x); },
        Ranges{{-1, 1}, {0.4, 0.6}, {0.99, 1}});
    visit(
        "atan", [](const auto& x) { return atan(x); }, [](long double x) { return atan(x); },
        Ranges{{-1, 1}, {-5, 5}, {0.3, 0.6}});
    visit(
        "sinh", [](const auto& x) { return sinh(x); }, [](long double x) { return sinh(x); },
        Ranges{{-1, 1}, {-4, 4}, {-90, 90}, {-711, 711}});
    visit(
        "cosh", [](const auto& x) { return cosh(x); }, [](long double x) { return cosh(x); },
        Ranges{{-1, 1}, {-4, 4}, {-90, 90}, {-711, 711}});
    visit(
        "tanh", [](const auto& x) { return tanh(x); }, [](long double x) { return tanh(x); },
        Ranges{{-1, 1}, {-4, 4}, {-25, 25}});
    visit(
        "erf", [](const auto& x) { return erf(x); }, [](long double x) { return erf(x); },
        Ranges{{-1, 1}, {-2, 2}, {-6, 6}});
    visit(
        "cbrt", [](const auto& x) { return cbrt(x); }, [](long double x) { return cbrt(x); },
        Ranges{{-1, 1}, {-8, 8}, {-1e6, 1e6}});
}

/// The same for functions of two arguments; the ranges of the second are those of the first in
/// another order.
template <class Visit>
void for_each_binary(Visit visit) {
    using std::atan2, std::pow;
    using Ranges = std::vector<Range>;
    visit(
        "atan2", [](const auto& y, const auto& x) { return atan2(y, x); },
        [](long double y, long double x) { return atan2(y, x); },
        Ranges{{-2, 2}, {-1, 0}, {0, 1e3}}, Ranges{{-2, 2}, {-1, 1}, {0, 1e3}});
    visit(
        "pow", [](const auto& x, const auto& y) { return pow(x, y); },
        [](long double x, long double y) { return pow(x, y); },
        Ranges{{0, 2}, {0.99, 1.01}, {0, 100}, {0, 1e5}},
        Ranges{{-100, 100}, {-7e4, 7e4}, {-3, 3}, {-25, 25}});
}

/// The largest error in ulp of `function`, evaluated on packs, over the samples.
template <class Pack, class Real, class Function, class Reference>
double max_ulp(Function function, Reference reference, const std::vector<Real>& arguments) {
    double worst = 0;
    Real results[Pack::size];
    for (std::size_t i = 0; i < arguments.size(); i += Pack::size) {
        function(Pack::load(&arguments[i])).store(results);
        for (std::size_t lane = 0; lane < Pack::size; ++lane)
            worst = std::max(worst, ulp_error(results[lane], reference(arguments[i + lane])));
    }
    return worst;
}
template <class Pack, class Real, class Function, class Reference>
double max_ulp(Function function, Reference reference, const std::vector<Real>& first,
               const std::vector<Real>& second) {
    double worst = 0;
    Real results[Pack::size];
    for (std::size_t i = 0; i < first.size(); i += Pack::size) {
        function(Pack::load(&first[i]), Pack::load(&second[i])).store(results);
        for (std::size_t lane = 0; lane < Pack::size; ++lane)
            worst = std::max(
                worst, ulp_error(results[lane], reference(first[i + lane], second[i + lane])));
    }
    return worst;
}

}  // namespace eddy::test
