// Tables inside traced functions: values, derivatives in all modes and twice, what holds outside of the
// knots, the same bits on every machine, and a cost that does not grow with the knots.

#include <array>
#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/taylor.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/print.hpp>

#include "support/catch.hpp"
#include "support/interpret.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"

namespace {

using eddy::Outside;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;
using Numbers = Vec<double, 7>;

constexpr Numbers knots{-1, 0, 0.5, 2, 2.25, 4, 7};
constexpr Numbers measured{1, 2, 4, 4.5, 3, 3, -1};
constexpr Numbers smooth{1, 2, 4, 4.5, 3, 2.8, -1};  // no slope is zero
constexpr Numbers rates{1, 2, 3, -1, -2, 0.5, 0};
const double places[] = {-1, -0.75, -0.1, 0, 0.3, 0.5, 1.9, 2, 2.1, 2.25, 3.9, 4, 5.5, 7};

/// A table by each kind, of values that are an argument or constants.
template <auto kind, bool are_constant, Outside outside = Outside::nan>
struct Table {
    template <class V, class X>
    constexpr auto operator()(const V& v, const X& x) const {
        constexpr bool has_slopes =
            std::is_same_v<const decltype(kind), decltype(eddy::cubic_hermite)>;
        const auto read = [&](const auto& values) {
            if constexpr (has_slopes)
                return eddy::interpolate(kind, knots, values, rates, x, {.outside = outside});
            else
                return eddy::interpolate(kind, knots, values, x, {.outside = outside});
        };
        if constexpr (are_constant)
            return read(measured) + 0 * v[0];
        else
            return read(v);
    }
};
template <auto kind, bool are_constant = false, Outside outside = Outside::nan>
constexpr auto table = eddy::trace<Vector<7>, Scalar>(Table<kind, are_constant, outside>{});
template <class Body>
void for_kinds(Body body) {
    body.template operator()<eddy::linear>();
    body.template operator()<eddy::pchip>();
    body.template operator()<eddy::cubic_hermite>();
    body.template operator()<eddy::natural_spline>();
}
/// The derivative of f at 0 by differences of the sixth order.
template <class F>
double difference(F f, double h = 1e-3) {
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h);
}
/// With knots that are an argument too.
constexpr auto by_knots =
    eddy::trace<Vector<7>, Vector<7>, Scalar>([](const auto& k, const auto& v, const auto& x) {
        return eddy::interpolate(eddy::pchip, k, v, x);
    });

/// Knots that are hardly even, or even.
template <int count, bool is_even = false>
constexpr auto many_knots = [] {
    Vec<double, count> x{};
    for (int i = 0; i < count; ++i) x[i] = i * 0.125 + (is_even ? 0 : 0.001 * i * i);
    return x;
}();
template <int count>
constexpr auto long_table = eddy::trace<Vector<count>, Scalar>([](const auto& v, const auto& x) {
    return eddy::interpolate(eddy::pchip, many_knots<count>, v, x);
});
/// How many components a gradient with respect to values hands to a sum.
template <int count>
int num_told() {
    using Pullback = decltype(eddy::vjp<0, 1>(long_table<count>));
    Vec<double, count> v{};
    for (int i = 0; i < count; ++i) v[i] = std::sin(i);
    int told = 0;
    eddy::evaluate<Pullback, double>(
        eddy::summing<0>([&]<int output>(int, double) { told += output == 0; }), v, 3.3, 1.0);
    return told;
}
/// What a program computes for such a sink, in numbers.
template <int count>
constexpr int num_computed() {
    constexpr auto& code = decltype(eddy::vjp<0, 1>(long_table<count>))::code;
    int numbers = 0;
    for (int i = 0; i < code.size(); ++i) {
        const eddy::Op op = code.nodes[i].op;
        const bool is_computed = op != eddy::Op::argument && op != eddy::Op::constant &&
                                 !eddy::detail::sparse_parts(code, 0)[static_cast<std::size_t>(i)];
        numbers += is_computed ? code.nodes[i].size : 0;
    }
    return numbers;
}

}  // namespace

TEST_CASE("a table goes through its values, whether they are traced, constant or plain numbers") {
    for_kinds([]<auto kind>() {
        const Table<kind, false> plain;
        for (int i = 0; i < 7; ++i)
            CHECK(table<kind>(measured, knots[i]) == Approx(measured[i]).margin(1e-14));
        for (const double x : places) {
            const double expected = plain(measured, x);
            CHECK(table<kind>(measured, x) == Approx(expected).epsilon(1e-13).margin(1e-13));
            CHECK(table<kind, true>(measured, x) == Approx(expected).epsilon(1e-13).margin(1e-13));
        }
        CHECK(table<kind>.code.size() < 130);
    });
    const std::array<double, 3> x{0, 1, 3};
    CHECK(eddy::interpolate(eddy::linear, x, std::vector<double>{1, 2, 4}, 2) == 3);
    const double two[] = {0, 2};
    CHECK(eddy::interpolate(eddy::pchip, two, two, 1.5) == 1.5);
    CHECK(eddy::interpolate(eddy::natural_spline, two, two, 1.5) == Approx(1.5));
}

TEST_CASE("pchip has the slopes of Fritsch and Butland, natural_spline no bend at its ends") {
    const auto slope = [](auto program, double x) {
        return eddy::jvp<1>(decltype(program){})(measured, x, 1.0);
    };
    const auto mean = [](int i) {
        const double a = knots[i] - knots[i - 1], b = knots[i + 1] - knots[i],
                     of_a = (measured[i] - measured[i - 1]) / a,
                     of_b = (measured[i + 1] - measured[i]) / b;
        return of_a * of_b <= 0 ? 0 : 3 * (a + b) / ((2 * b + a) / of_a + (b + 2 * a) / of_b);
    };
    for (int i = 1; i < 6; ++i) {
        CHECK(slope(table<eddy::pchip>, knots[i]) == Approx(mean(i)).margin(1e-13));
        CHECK(slope(table<eddy::pchip>, knots[i] - 1e-9) == Approx(mean(i)).margin(1e-6));
    }
    const double own = 1, next = 4, end = ((2 * 1 + 0.5) * own - 1 * next) / 1.5;
    CHECK(slope(table<eddy::pchip>, -1) == Approx(end < 0 ? 0 : end).margin(1e-13));
    // of the last interval −4/3, of the one before 0: no more than three times the first
    CHECK(slope(table<eddy::pchip>, 7) == Approx((2 * 3 + 1.75) * (-4. / 3) / 4.75));

    const auto bend = [](double x) {
        constexpr auto first = eddy::jvp<1>(table<eddy::natural_spline>);
        return eddy::jvp<1>(first)(measured, x, 1.0, 1.0);
    };
    CHECK(bend(-1) == Approx(0).margin(1e-12));
    CHECK(bend(7) == Approx(0).margin(1e-12));
    for (int i = 1; i < 6; ++i) {
        CHECK(bend(knots[i] - 1e-10) == Approx(bend(knots[i])).margin(1e-7));
        CHECK(slope(table<eddy::natural_spline>, knots[i] - 1e-10) ==
              Approx(slope(table<eddy::natural_spline>, knots[i])).margin(1e-7));
    }

    const auto cubic = [](double x) { return 1 + x * (2 - x * (0.5 - 0.25 * x)); };
    const auto of_cubic = [](double x) { return 2 - x + 0.75 * x * x; };
    Numbers values, slopes;
    for (int i = 0; i < 7; ++i) {
        values[i] = cubic(knots[i]);
        slopes[i] = of_cubic(knots[i]);
    }
    for (const double x : places)
        CHECK(eddy::interpolate(eddy::cubic_hermite, knots, values, slopes, x) ==
              Approx(cubic(x)).epsilon(1e-13));
}

TEST_CASE("derivatives of a table, by x and by values, in all modes and twice") {
    for_kinds([]<auto kind>() {
        constexpr auto program = table<kind>;
        constexpr bool in_all_modes =  // the other kinds are made of the same operations
            std::is_same_v<const decltype(kind), decltype(eddy::pchip)>;
        for (const double x : {-0.75, 0.3, 1.9, 2.1, 3.1, 5.5}) {
            const auto [by_v, by_x] = eddy::vjp(program)(smooth, x, 1.0);
            const auto moved = [](int i, double h) {
                Numbers v = smooth;
                v[i] += h;
                return v;
            };
            CHECK(by_x == Approx(difference([&](double h) { return program(smooth, x + h); }))
                              .epsilon(1e-9)
                              .margin(1e-9));
            for (int i = 0; i < 7; ++i)
                CHECK(by_v[i] ==
                      Approx(difference([&](double h) { return program(moved(i, h), x); }))
                          .epsilon(1e-8)
                          .margin(1e-8));
            if constexpr (in_all_modes) {
                constexpr auto slope = eddy::vjp<1>(program);
                const auto [v_of_slope, x_of_slope] = eddy::vjp<0, 1>(slope)(smooth, x, 1.0, 1.0);
                CHECK(by_x == Approx(eddy::jvp<1>(program)(smooth, x, 1.0)).margin(1e-13));
                CHECK(program(smooth, eddy::Dual<double>(x, 1)).tangent ==
                      Approx(by_x).margin(1e-13));
                CHECK(x_of_slope ==
                      Approx(difference([&](double h) { return slope(smooth, x + h, 1.0); }))
                          .epsilon(1e-8)
                          .margin(1e-8));
                for (int i = 0; i < 7; ++i) {
                    const Numbers unit = moved(i, 1) - smooth;
                    CHECK(by_v[i] == Approx(eddy::jvp<0>(program)(smooth, x, unit)).margin(1e-12));
                    CHECK(v_of_slope[i] ==
                          Approx(difference([&](double h) { return slope(moved(i, h), x, 1.0); }))
                              .epsilon(1e-7)
                              .margin(1e-7));
                }
            }
        }
    });
    const double x = 1.3;
    const auto by_k = eddy::vjp<0>(by_knots)(knots, smooth, x, 1.0);
    CHECK(by_knots(knots, smooth, x) == Approx(table<eddy::pchip>(smooth, x)).epsilon(1e-14));
    for (int i = 0; i < 7; ++i) {
        const auto moved = [&](double h) {
            Numbers k = knots;
            k[i] += h;
            return by_knots(k, smooth, x);
        };
        CHECK(by_k[i] == Approx(difference(moved)).epsilon(1e-8).margin(1e-8));
    }
}

TEST_CASE("outside of its knots a table is NaN, holds or goes on, as it is asked to") {
    constexpr auto nan = table<eddy::pchip>;
    constexpr auto holds = table<eddy::pchip, false, Outside::hold>;
    constexpr auto goes_on = table<eddy::linear, true, Outside::extrapolate>;
    const double none = std::numeric_limits<double>::quiet_NaN(), inf = 1 / 0.;
    for (const double x : {-1.01, 7.01, inf, -inf, none}) CHECK(std::isnan(nan(measured, x)));
    CHECK(std::isnan(holds(measured, none)));
    CHECK(std::isnan(goes_on(measured, none)));
    CHECK(holds(measured, -3) == 1);
    CHECK(holds(measured, inf) == Approx(-1).epsilon(1e-14));
    CHECK(eddy::vjp<1>(holds)(measured, 9, 1.0) == 0);
    CHECK(goes_on(measured, -3) == Approx(-1));
    CHECK(goes_on(measured, 10) == Approx(-5));
    CHECK(std::isnan(Table<eddy::pchip, false>{}(measured, 8.)));
    CHECK(Table<eddy::linear, false, Outside::hold>{}(measured, 8.) == -1);

    constexpr auto chosen = eddy::trace<Vector<7>, Scalar>([](const auto& v, const auto& x) {
        return eddy::select(x < 7, Table<eddy::pchip, false>{}(v, x), x);
    });
    const auto [by_v, by_x] = eddy::vjp(chosen)(measured, 8.0, 1.0);
    CHECK(by_x == 1);
    for (int i = 0; i < 7; ++i) CHECK(by_v[i] == 0);
}

TEST_CASE("lanes of a pack, alone and interpreted have the same bits, of values and gradients") {
    const auto place_of = [](int lane) { return lane == 3 ? 8 : 0.9 * lane - 0.6; };
    const auto check = [&](auto program) {
        using Program = decltype(program);
        eddy::LaneArray<double> v(7, 1), x(1, 8), c(1, 8);
        Lanes at(0.0);
        for (int i = 0; i < 7; ++i) v(i, 0) = measured[i];
        for (int lane = 0; lane < 8; ++lane) {
            at.set(lane, place_of(lane));
            x(0, lane) = at[lane];
            c(0, lane) = 1;
        }
        const Lanes found = program(measured, at);
        const auto [by_v, by_x] = eddy::vjp(program)(measured, at, Lanes(1.0));
        const auto told = eddy::interpret<double>(Program::code.thaw(), {v, x});
        const auto back =
            eddy::interpret<double>(decltype(eddy::vjp(program))::code.thaw(), {v, x, c});
        for (int lane = 0; lane < 8; ++lane) {
            const auto alone = eddy::vjp(program)(measured, at[lane], 1.0);
            CHECK(support::same_bits(found[lane], program(measured, at[lane])));
            CHECK(support::same_bits(found[lane], told[0](0, lane)));
            CHECK(support::same_bits(by_x[lane], std::get<1>(alone)));
            CHECK(support::same_bits(by_x[lane], back[1](0, lane)));
            for (int i = 0; i < 7; ++i) {
                CHECK(support::same_bits(by_v[i][lane], std::get<0>(alone)[i]));
                CHECK(support::same_bits(by_v[i][lane], back[0](i, lane)));
            }
        }
        return by_v;
    };
    check(table<eddy::linear, true>);
    check(table<eddy::natural_spline>);
    const Vec<Lanes, 7> by_v = check(table<eddy::pchip>);

    Lanes at(0.0), sums[7];  // as an adjoint adds them
    for (int lane = 0; lane < 8; ++lane) at.set(lane, place_of(lane));
    for (Lanes& sum : sums) sum = Lanes(0.0);
    eddy::evaluate<decltype(eddy::vjp(table<eddy::pchip>)), Lanes>(
        eddy::summing<0>([&]<int output>(int k, const Lanes& value) {
            if constexpr (output == 0) sums[k] = sums[k] + value;
        }),
        measured, at, Lanes(1.0));
    for (int i = 0; i < 7; ++i) {
        for (int lane = 0; lane < 8; ++lane)
            CHECK(support::same_bits(sums[i][lane], by_v[i][lane]));
    }

    const eddy::Graph at_run_time =
        eddy::trace_graph(Table<eddy::pchip, false>{}, eddy::DynamicVector{7}, Scalar{});
    eddy::LaneArray<double> v(7, 1), x(1, 1);
    for (int i = 0; i < 7; ++i) v(i, 0) = measured[i];
    x(0, 0) = 1.3;
    CHECK(eddy::interpret<double>(at_run_time, {v, x})[0](0, 0) ==
          table<eddy::pchip>(measured, 1.3));
    CHECK(eddy::to_text(at_run_time).find("= knot ") != std::string::npos);
}

TEST_CASE("tables stand in loops, in regions that are computed again, and in series") {
    constexpr auto looped = eddy::trace<Vector<7>, Scalar>([](const auto& v, const auto& x) {
        return eddy::repeat<3>(
            x, [&](const auto& z) { return 0.5 * z + 0.25 * Table<eddy::linear, false>{}(v, z); });
    });
    constexpr auto written = eddy::trace<Vector<7>, Scalar>([](const auto& v, const auto& x) {
        auto z = x * 1.0;
        for (int i = 0; i < 3; ++i) z = 0.5 * z + 0.25 * Table<eddy::linear, false>{}(v, z);
        return z;
    });
    constexpr auto again = eddy::trace<Vector<7>, Scalar>([](const auto& v, const auto& x) {
        const auto once = eddy::remat(Table<eddy::linear, false>{})(v, x);
        return eddy::remat(Table<eddy::linear, false>{})(v, once) * x;
    });
    constexpr auto kept = eddy::trace<Vector<7>, Scalar>([](const auto& v, const auto& x) {
        const Table<eddy::linear, false> read;
        return read(v, read(v, x)) * x;
    });
    const auto same = [](auto a, auto b, double tolerance) {
        const auto [a_v, a_x] = eddy::vjp(a)(measured, 0.3, 1.0);
        const auto [b_v, b_x] = eddy::vjp(b)(measured, 0.3, 1.0);
        CHECK(a(measured, 0.3) == b(measured, 0.3));
        CHECK(a_x == Approx(b_x).epsilon(tolerance));
        for (int i = 0; i < 7; ++i)
            CHECK(a_v[i] == Approx(b_v[i]).epsilon(tolerance).margin(tolerance));
    };
    same(looped, written, 1e-13);
    same(again, kept, 1e-14);

    // dy/dt = table(y): y'' = table'(y) table(y)
    constexpr auto field =
        eddy::trace<Scalar, Vector<1>, Vector<7>>([](auto, const auto& y, const auto& p) {
            return eddy::vec(Table<eddy::pchip, false>{}(p, y[0]));
        });
    const auto series = eddy::taylor<2>(field)(0., Vec<double, 1>{1.3}, measured, 1.);
    const double value = table<eddy::pchip>(measured, 1.3);
    CHECK(series[0] == Approx(value));
    CHECK(series[1] == Approx(value * eddy::jvp<1>(table<eddy::pchip>)(measured, 1.3, 1.) / 2));
}

TEST_CASE("what a table costs does not grow with its knots") {
    CHECK(long_table<32>.code.size() == long_table<64>.code.size());
    CHECK(num_computed<32>() == num_computed<64>());
    CHECK(num_computed<32>() < 250);
    CHECK(num_told<32>() == 4);
    CHECK(num_told<64>() == 4);
    // constants lie in the program, not in each evaluation
    constexpr auto fixed = eddy::trace<Scalar>([](const auto& x) {
        return eddy::interpolate(eddy::pchip, many_knots<64>, many_knots<64>, x);
    });
    CHECK(eddy::make_layout(fixed.code).scratch_size == 0);
    CHECK(eddy::make_layout(fixed.code).num_registers < 30);
}

TEST_CASE("the interval of even knots is that of bisection") {
    constexpr auto even = many_knots<50, true>;
    static_assert(eddy::detail::are_even({even.begin(), even.end()}));
    const auto read = [&](int k) { return even[k]; };
    for (int i = -3; i < 53; ++i) {
        for (const double off : {-1e-14, 0., 1e-14, 0.04}) {
            const double x = 0.125 * i + off;
            CHECK(eddy::detail::knot_below(x, 50, true, read) ==
                  eddy::detail::knot_below(x, 50, false, read));
        }
    }
    const double inf = 1 / 0.;
    CHECK(eddy::detail::knot_below(inf, 50, true, read) == 48);
    CHECK(eddy::detail::knot_below(-inf, 50, true, read) == 0);
    CHECK(eddy::detail::knot_below(inf - inf, 50, true, read) == 0);
}

TEST_CASE("tables that do not fit are refused in one sentence before any work") {
    const auto message = [](std::vector<double> x, std::vector<double> y) {
        return support::message_of([&] { (void)eddy::interpolate(eddy::pchip, x, y, 0.5); });
    };
    CHECK(message({0, 1, 1}, {1, 2, 3}).find("the knots must be finite and increase") !=
          std::string::npos);
    CHECK(message({0, 1, 2}, {1, 2}).find("got 3 knots and 2 values") != std::string::npos);
    CHECK(message({0}, {1}).find("give at least 2 knots") != std::string::npos);
    CHECK(support::message_of([] {
              (void)eddy::trace_graph(
                  [](const auto& x) {
                      return eddy::interpolate(eddy::linear, std::vector<double>{0, 2, 1},
                                               std::vector<double>{0, 2, 1}, x);
                  },
                  Scalar{});
          }).find("increase") != std::string::npos);
}
