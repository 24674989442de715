// Natural splines through many traced values: what is far away is left out, and nothing else changes.

#include <cmath>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/trace.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;
constexpr int count = 200;

/// Intervals of lengths 1 to 7, or of 1.
template <int size, bool are_even>
constexpr auto knots = [] {
    Vec<double, size> x{};
    for (int i = 1; i < size; ++i) x[i] = x[i - 1] + (are_even ? 1 : 1 + i * 5 % 7);
    return x;
}();
template <int size, bool are_even>
struct Spline {
    constexpr auto operator()(const auto& values, const auto& x) const {
        return eddy::interpolate(eddy::natural_spline, knots<size, are_even>, values, x);
    }
};
constexpr auto spline = eddy::trace<Vector<count>, Scalar>(Spline<count, false>{});

Vec<double, count> some_values() {
    Vec<double, count> y{};
    for (int i = 0; i < count; ++i) y[i] = std::sin(1.0 * i * i);
    return y;
}
/// At knots, between them, at both ends.
std::vector<double> some_places() {
    std::vector<double> places;
    const double end = knots<count, false>[count - 1];
    for (int i = 0; i <= 60; ++i) places.push_back(end * i / 60);
    for (int i = 0; i < count; i += 23) places.push_back(knots<count, false>[i]);
    return places;
}

}  // namespace

TEST_CASE("a natural spline of many traced values is that of numbers to a few roundings") {
    const Vec<double, count> y = some_values();

    for (const double x : some_places()) {
        INFO(x);
        const double expected = eddy::interpolate(eddy::natural_spline, knots<count, false>, y, x);
        // Slopes are below 3, pieces at most 7 long; 2⁻⁵⁴ of a slope is left out.
        CHECK(std::abs(spline(y, x) - expected) <= 1e-14);
    }
    CHECK(std::isnan(spline(y, -1.0)));
}

TEST_CASE("its gradient by the values is what unit values give, also far from the place") {
    const Vec<double, count> y = some_values();
    for (const double x : {0.0, 0.3, 301.7, knots<count, false>[count - 1] - 0.1}) {
        INFO(x);
        const auto gradient = eddy::vjp<0>(spline)(y, x, 1.0);
        double worst = 0;
        for (int k = 0; k < count; ++k) {
            Vec<double, count> unit{};
            unit[k] = 1;
            const double expected =
                eddy::interpolate(eddy::natural_spline, knots<count, false>, unit, x);
            worst = std::fmax(worst, std::abs(gradient[k] - expected));
        }
        CHECK(worst <= 1e-15);
    }
}

TEST_CASE("each lane of a pack has the bits that it has alone") {
    const Vec<double, count> y = some_values();
    const std::vector<double> places = some_places();
    Vec<Lanes, count> values{};
    for (int i = 0; i < count; ++i) values[i] = Lanes(y[i]);
    Lanes x(0.0);
    for (int lane = 0; lane < 8; ++lane) x.set(lane, places[static_cast<std::size_t>(7 * lane)]);

    const Lanes together = spline(values, x);

    for (int lane = 0; lane < 8; ++lane) CHECK(together[lane] == spline(y, x[lane]));
}

TEST_CASE("a call takes as many turns for 320 knots as for 160, below 70 each way") {
    constexpr auto some = eddy::trace<Vector<160>, Scalar>(Spline<160, true>{});
    constexpr auto more = eddy::trace<Vector<320>, Scalar>(Spline<320, true>{});

    CHECK(some.code.loops[0].length == more.code.loops[0].length);
    CHECK(some.code.loops[0].length < 70);
    CHECK(some.code.size() == more.code.size());
}
