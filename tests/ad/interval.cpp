// Intervals of every function hold its values over all arguments in them.

#include <cmath>
#include <eddy/ad/interval.hpp>
#include <eddy/trace/evaluate.hpp>
#include <initializer_list>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::detail::Interval;

template <class Function>
void check(const Function& f, double from, double to) {
    using Value = decltype(eddy::trace<eddy::Scalar, eddy::Scalar>(f));
    support::Random random(3);
    for (int k = 0; k < 400; ++k) {
        const double scale = std::pow(10., -random.uniform(0, 4)) * (to - from);
        const auto any = [&] {
            const double a = random.uniform(from, to);
            return Interval(a, std::min(to, a + scale * random.uniform(0, 1)));
        };
        const Interval x = any(), y = any();
        Interval bounds = Interval::line();
        eddy::evaluate<Value, Interval>([&]<int>(int, const Interval& are) { bounds = are; }, x, y);
        CAPTURE(x.low, x.high, y.low, y.high);
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (int i = 0; i <= 20; ++i) {
            const double a = i == 20 ? x.high : x.low + i / 20. * (x.high - x.low);
            const double b = y.low + random.uniform(0, 1) * (y.high - y.low);
            for (const double other : {y.low, b, y.high}) {
                double value = 0;
                eddy::evaluate<Value, double>([&]<int>(int, double is) { value = is; }, a, other);
                REQUIRE_FALSE(value < bounds.low);
                REQUIRE_FALSE(value > bounds.high);
                least = std::min(least, value);
                most = std::max(most, value);
            }
        }
        // Of single operations they are tight.
        if (bounds.is_continuous() && x.high - x.low < 0.01 * (to - from))
            REQUIRE(bounds.high - bounds.low <=
                    1.3 * (most - least) + 1e-13 * (1 + std::fabs(bounds.high)));
    }
}

}  // namespace

TEST_CASE("interval: arithmetic, powers and choices") {
    check([](auto x, auto y) { return x + y; }, -3, 5);
    check([](auto x, auto y) { return x - y; }, -3, 5);
    check([](auto x, auto y) { return x * y; }, -3, 5);
    check([](auto x, auto y) { return x / y; }, -3, 5);
    check([](auto x, auto y) { return x / y; }, 0.5, 5);
    check([](auto x, auto y) { return eddy::pow(x, 3) + 0. * y; }, -3, 5);
    check([](auto x, auto y) { return eddy::pow(x, 4) + 0. * y; }, -3, 5);
    check([](auto x, auto y) { return eddy::pow(x, -2) + 0. * y; }, -3, 5);
    check([](auto x, auto y) { return eddy::pow(x, y); }, 0.1, 3);
    check([](auto x, auto y) { return eddy::atan2(x, y); }, -3, 5);
    check([](auto x, auto y) { return eddy::min(x, y); }, -3, 5);
    check([](auto x, auto y) { return eddy::max(x, y); }, -3, 5);
    check([](auto x, auto y) { return eddy::select(x < y, x + 1., y - 1.); }, -3, 5);
    check([](auto x, auto y) { return eddy::abs(x) + eddy::sign(y); }, -3, 5);
    check([](auto x, auto y) { return eddy::floor(x) + eddy::relu(y); }, -3, 5);
}

TEST_CASE("interval: functions") {
    const auto of_one = [](auto f, double from, double to) { check(f, from, to); };
#define CHECK_FUNCTION(function, from, to) \
    of_one([](auto x, auto y) { return eddy::function(x) + 0. * y; }, from, to)
    CHECK_FUNCTION(sin, -20, 20);
    CHECK_FUNCTION(cos, -20, 20);
    CHECK_FUNCTION(tan, -4, 4);
    CHECK_FUNCTION(asin, -1, 1);
    CHECK_FUNCTION(acos, -1, 1);
    CHECK_FUNCTION(atan, -9, 9);
    CHECK_FUNCTION(sinh, -4, 4);
    CHECK_FUNCTION(cosh, -4, 4);
    CHECK_FUNCTION(tanh, -4, 4);
    CHECK_FUNCTION(exp, -9, 9);
    CHECK_FUNCTION(expm1, -9, 9);
    CHECK_FUNCTION(log, 0, 9);
    CHECK_FUNCTION(log1p, -1, 9);
    CHECK_FUNCTION(sqrt, 0, 9);
    CHECK_FUNCTION(cbrt, -9, 9);
    CHECK_FUNCTION(erf, -3, 3);
    CHECK_FUNCTION(erfc, -3, 3);
    CHECK_FUNCTION(erfcx, -3, 9);
    CHECK_FUNCTION(log_erfc, -3, 9);
    CHECK_FUNCTION(lgamma, -2, 9);
    CHECK_FUNCTION(digamma, -2, 9);
    CHECK_FUNCTION(trigamma, -2, 9);
    CHECK_FUNCTION(sigmoid, -30, 30);
    CHECK_FUNCTION(softplus, -30, 30);
#undef CHECK_FUNCTION
}

TEST_CASE("interval: what is unknown is the whole line, and not continuous") {
    CHECK(Interval(1, -1).low == -std::numeric_limits<double>::infinity());
    CHECK_FALSE((Interval(1) / Interval(-1, 1)).is_continuous());
    CHECK_FALSE(floor(Interval(0.5, 1.5)).is_continuous());
    CHECK(floor(Interval(0.25, 0.75)).is_continuous());
    CHECK_FALSE(sqrt(Interval(-1, 1)).is_continuous());
    CHECK(log(Interval(0, 1)).low == -std::numeric_limits<double>::infinity());
    CHECK(max(Interval(-2, -1), Interval(0)).is_zero());
}
