// Crossings of functions of one number: all of them, in order, whatever the function.

#include <cmath>
#include <eddy/ad/jvp.hpp>
#include <eddy/steppers/next_crossing.hpp>
#include <eddy/trace/evaluate.hpp>
#include <numbers>
#include <vector>

#include "support/catch.hpp"

namespace {

constexpr double pi = std::numbers::pi;

template <class Function>
struct Traced {
    using Value = decltype(eddy::trace<eddy::Scalar>(Function{}));
    using Slope = decltype(eddy::jvp<0>(Value{}));
    using Interval = eddy::detail::Interval;
    int* asked;

    double operator()(double x) const {
        double value = 0;
        eddy::evaluate<Value, double>([&]<int output>(int, double is) { value = is; }, x);
        return value;
    }
    Interval bounds(double a, double b) const {
        ++*asked;
        Interval values = Interval::line();
        eddy::evaluate<Value, Interval>([&]<int output>(int, const Interval& are) { values = are; },
                                        Interval(a, b));
        return values;
    }
    Interval slopes(double a, double b) const {
        Interval values = Interval::line();
        eddy::evaluate<Slope, Interval>([&]<int output>(int, const Interval& are) { values = are; },
                                        Interval(a, b), Interval(1));
        return values;
    }
    static double width(double x) { return 4 * 0x1p-52 * std::fabs(x) + 1e-18; }
};

struct Crossings {
    std::vector<double> at;
    int asked = 0;  // bounds, for all of them
};
template <class Function>
Crossings crossings(const Function&, double to,
                    const eddy::detail::CrossingsSought& sought = {true, true}) {
    Crossings found;
    const Traced<Function> f{&found.asked};
    for (double from = 0; from < to;) {
        const auto next = eddy::detail::CrossingSearch(f, sought).run(from, to);
        if (next.is_found) found.at.push_back(next.at);
        const double behind = next.at * (1 + 1e-14);
        REQUIRE(behind > from);
        from = next.is_found ? behind : next.at;
    }
    return found;
}
void check(const Crossings& found, const std::vector<double>& wanted, double tolerance = 1e-13) {
    REQUIRE(found.at.size() == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
        CHECK(std::fabs(found.at[k] - wanted[k]) <= tolerance * (1 + wanted[k]));
}

}  // namespace

TEST_CASE("next crossing: a year of doses, and of pairs that are close together") {
    using eddy::sin;
    std::vector<double> doses, rising;
    for (int k = 1; k < 730; ++k) doses.push_back(12 * k);
    for (int k = 1; k < 365; ++k) rising.push_back(24 * k);
    const auto wave = [](auto t) { return sin(t * (pi / 12)); };
    const Crossings found = crossings(wave, 8759);
    check(found, doses);
    CHECK(found.asked < 12 * 730);
    check(crossings(wave, 8759, {true, false}), rising);

    const double half = std::acos(0.999999) * 12 / pi;  // 0.0054 before and behind 6, 30, …
    std::vector<double> pairs;
    for (int k = 0; k < 365; ++k) {
        pairs.push_back(6 + 24 * k - half);
        pairs.push_back(6 + 24 * k + half);
    }
    check(crossings([](auto t) { return sin(t * (pi / 12)) - 0.999999; }, 8760), pairs, 1e-10);

    std::vector<double> roots;
    for (int k = 1; k * pi < 1e4; ++k) roots.push_back(std::sqrt(k * pi));
    check(crossings([](auto t) { return sin(t * t); }, 100), roots);
}

TEST_CASE("next crossing: polynomials, networks, branches, steps, and zeros that are touched") {
    check(crossings([](auto t) { return t - 5.; }, 100), {5}, 0);
    check(crossings([](auto t) { return (t - 1.) * (t - 2.) * (t - 3.) * (t - 3.); }, 100), {1, 2});
    check(crossings([](auto t) { return t * t * t - 6. * t * t + 11. * t - 6.; }, 100), {1, 2, 3});
    check(crossings([](auto t) { return (t - 5.) * (t - 5.); }, 100), {});
    check(crossings([](auto t) { return t - 12. * eddy::floor(t / 12.) - 6.; }, 40),
          {6, 12, 18, 24, 30, 36});
    check(crossings([](auto t) { return eddy::select(t < 7.25, 0. * t - 1., 0. * t + 1.); }, 100),
          {7.25});
    check(crossings([](auto t) { return eddy::max(eddy::sin(t), 0.) - 0.5; }, 10),
          {pi / 6, 5 * pi / 6, 13 * pi / 6, 17 * pi / 6});
    check(crossings([](auto t) { return eddy::max(eddy::sin(t), 0.); }, 30), {});
    check(crossings([](auto t) { return eddy::tanh(3. * t - 4.) + 0.1 * eddy::exp(-t); }, 100),
          {1.3244664150006145});
    check(crossings([](auto t) { return eddy::relu(t - 3.) - eddy::abs(t - 4.) * 0.5; }, 100),
          {10. / 3});
    check(crossings([](auto t) { return eddy::sqrt(t) - eddy::cbrt(t) * 1.5; }, 100), {11.390625});
    check(crossings([](auto t) { return eddy::log(t + 1.) - eddy::log1p(t) + 1.; }, 100), {});
}

TEST_CASE("next crossing: of nothing but rounding there is an end") {
    using eddy::cos, eddy::sin;
    const Crossings found =
        crossings([](auto t) { return sin(t) * sin(t) + cos(t) * cos(t) - 1.; }, 100);
    CHECK(found.asked < 200'000);
    CHECK(crossings([](auto t) { return 0. * t; }, 100).asked < 5);
    const Crossings until_five = [] {
        Crossings found;
        const auto ends = [](auto t) { return eddy::sqrt(5. - t) + 1.; };
        const Traced<decltype(ends)> f{&found.asked};
        found.at.push_back(eddy::detail::CrossingSearch(f, {true, true}).run(0, 100).at);
        return found;
    }();
    check(until_five, {5}, 1e-15);
    const auto nowhere = [](auto t) { return eddy::sqrt(t - 1000.); };
    int asked = 0;
    const Traced<decltype(nowhere)> f{&asked};
    const auto next = eddy::detail::CrossingSearch(f, {true, true}).run(0, 1);
    CHECK(next.at == 0);
    CHECK_FALSE(next.is_found);
}
