// Loops inside traced functions against what else one would write, as ratios of processor time of one
// run: Kepler's equation in packs of eight by `bounded_while` over a loop by hand, by `repeat` over the
// same turns written out; a chain of 1,000 cells by `scan`, and its pullback, over loops by hand; tables over
// std::upper_bound by hand, and their gradients by many values over few; layers by `repeat` over written out;
// whole solves with gradients by `root` over `bounded_while`. Arms take turns; the median of the rounds
// counts. scripts/compile-loops measures the compiler.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "loop_layers.hpp"
#include "loop_programs.hpp"
#include "solve/timing.hpp"
#include "support/kepler.hpp"

namespace {

using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;
constexpr int num_calls = 512;

using ByWhile = support::KeplerByWhile<20>;
using ByRoot = support::KeplerByRoot;
template <bool written>
struct FiveTurns {
    constexpr auto operator()(const auto& M, const auto& e) const {
        const auto turn = [&](const auto& E) {
            return E - (E - e * sin(E) - M) / (1 - e * cos(E));
        };
        const auto start = M + 0.85 * e;
        if constexpr (written)
            return turn(turn(turn(turn(turn(start)))));
        else
            return eddy::repeat<5>(start, turn);
    }
};
constexpr auto by_while = eddy::trace<Scalar, Scalar>(ByWhile{});
constexpr auto by_root = eddy::trace<Scalar, Scalar>(ByRoot{});
constexpr auto repeated = eddy::trace<Scalar, Scalar>(FiveTurns<false>{});
constexpr auto written = eddy::trace<Scalar, Scalar>(FiveTurns<true>{});

/// The loop that one would write by hand in packs.
[[gnu::noinline]] Lanes by_hand(const Lanes& M, const Lanes& e) {
    Lanes E = M + e * Lanes(0.85);
    for (int turn = 0; turn < 20; ++turn) {
        const Lanes r = E - e * sin(E) - M;
        const auto goes_on = Lanes(1e-13) < abs(r);
        if (!any(goes_on)) break;
        E = select(goes_on, E - r / (Lanes(1) - e * cos(E)), E);
    }
    return E;
}

template <class Real>
[[gnu::noinline]] void chain_by_hand(const Vec<Real, 1000>& y, const Vec<double, 2>& p,
                                     Vec<Real, 1000>& rate) {
    for (int i = 0; i < 1000; ++i) {
        const Real left = y[i > 0 ? i - 1 : 0], right = y[i < 999 ? i + 1 : 999];
        rate[i] = p[0] * (left - 2.0 * y[i] + right) + p[1] * y[i] * (1.0 - y[i]);
    }
}

/// Its pullback, the cotangents of p in registers.
template <class Real>
[[gnu::noinline]] Vec<Real, 2> pull_chain_by_hand(const Vec<Real, 1000>& y, const Vec<double, 2>& p,
                                                  const Vec<Real, 1000>& c, Vec<Real, 1000>& of_y) {
    Real of_p0(0.0), of_p1(0.0);
    for (int i = 0; i < 1000; ++i) {
        const Real left = y[i > 0 ? i - 1 : 0], right = y[i < 999 ? i + 1 : 999];
        of_p0 = of_p0 + c[i] * (left - 2.0 * y[i] + right);
        of_p1 = of_p1 + c[i] * y[i] * (1.0 - y[i]);
        const Real from_left = c[i > 0 ? i - 1 : 0], from_right = c[i < 999 ? i + 1 : 999];
        of_y[i] = p[0] * (from_left - 2.0 * c[i] + from_right) + p[1] * c[i] * (1.0 - 2.0 * y[i]);
    }
    return {of_p0, of_p1};
}

/// Knots that are not even, and values.
template <int count>
constexpr auto knots = [] {
    Vec<double, count> x{};
    for (int i = 0; i < count; ++i) x[i] = i + 0.3 * (i * 7 % 5) / 5;
    return x;
}();
template <int count>
constexpr auto measured = [] {
    Vec<double, count> y{};
    for (int i = 0; i < count; ++i) y[i] = i * 11 % 17;
    return y;
}();
template <auto kind>
struct ConstantTable {
    constexpr auto operator()(const auto& x) const {
        return eddy::interpolate(kind, knots<64>, measured<64>, x,
                                 {.outside = eddy::Outside::extrapolate});
    }
};
template <auto kind>
constexpr auto constant_table = eddy::trace<Scalar>(ConstantTable<kind>{});
template <int count>
struct FittedTable {
    constexpr auto operator()(const auto& values, const auto& x) const {
        return eddy::interpolate(eddy::pchip, knots<count>, values, x);
    }
};
template <int count>
constexpr auto fitted_table = eddy::trace<Vector<count>, Scalar>(FittedTable<count>{});

/// A table by hand: for each lane the row behind the knot below, a polynomial.
template <int degree>
struct Rows {
    double row[63][degree + 1];
};
template <int degree>
Rows<degree> rows_of() {
    constexpr auto kind = [] {
        if constexpr (degree == 1)
            return eddy::linear;
        else
            return eddy::natural_spline;
    }();
    Rows<degree> rows{};
    for (int i = 0; i < 63; ++i) {
        const double h = knots<64>[i + 1] - knots<64>[i];
        const auto at = [&](double s) { return constant_table<kind>(knots<64>[i] + s * h); };
        const double y0 = at(0), y1 = at(1. / 3), y2 = at(2. / 3), y3 = measured<64>[i + 1];
        rows.row[i][0] = y0;
        if constexpr (degree == 1) {
            rows.row[i][1] = (y3 - y0) / h;
        } else {
            rows.row[i][1] = (-11 * y0 + 18 * y1 - 9 * y2 + 2 * y3) / (2 * h);
            rows.row[i][2] = (18 * y0 - 45 * y1 + 36 * y2 - 9 * y3) / (2 * h * h);
            rows.row[i][3] = (-9 * y0 + 27 * y1 - 27 * y2 + 9 * y3) / (2 * h * h * h);
        }
    }
    return rows;
}
template <int degree>
[[gnu::noinline]] Lanes table_by_hand(const Rows<degree>& rows, const Lanes& x) {
    Lanes value(0.0);
    const auto& all = knots<64>;
    for (int lane = 0; lane < 8; ++lane) {
        const double of_lane = x[lane];
        const auto above = std::upper_bound(all.begin() + 1, all.end() - 1, of_lane);
        const auto i = above - all.begin() - 1;
        const double s = of_lane - all[static_cast<int>(i)];
        double y = rows.row[i][degree];
        for (int k = degree - 1; k >= 0; --k) y = y * s + rows.row[i][k];
        value.set(lane, y);
    }
    return value;
}

/// E(t), relaxed to by p[1].
template <class Relation>
struct Anomaly {
    static constexpr int state_size = 1, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto E = Relation{}(t + 0 * p[0], p[0]);
        return eddy::vec(1 / (1 - p[0] * cos(E)) - p[1] * (y[0] - E));
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto&) const {
        return y[0] * y[0];
    }
};

template <class First, class Second>
void row(const char* what, First first, Second second, double calls = num_calls) {
    benchmark::Race race;
    const int a = race.add(calls, first), b = race.add(calls, second);
    race.run(41);
    std::printf("%-52s %10.1f %10.1f %8.2f\n", what, race.time(a), race.time(b), race.ratio(a, b));
}

/// Calls f(M, e) on packs of uneven numbers.
template <class F>
auto on_packs(F f) {
    return [f] {
        double sum = 0;
        for (int i = 0; i < num_calls; ++i) {
            Lanes M(0.0), e(0.0);
            for (int lane = 0; lane < 8; ++lane) {
                M.set(lane, std::fmod(0.37 * i + 0.7 * lane, 6.28));
                e.set(lane, std::fmod(0.13 * i + 0.11 * lane, 0.9));
            }
            sum += f(M, e);
        }
        benchmark::kept = sum;
    };
}
/// Calls f(x) on packs of numbers within a table of `count` knots, in no order.
template <class F>
auto on_places(F f, int count = 64) {
    std::vector<double> places(8 * num_calls);
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = std::fmod(0.618 * static_cast<double>(i * i % 4099), 1.0) * (count - 1);
    return [f, places]() mutable {
        double sum = 0;
        for (int i = 0; i < num_calls; ++i) sum += f(Lanes::load(places.data() + 8 * i))[0];
        benchmark::kept = sum;
    };
}
/// The gradient with respect to values, added to sums as an adjoint does.
template <int count>
auto gradient_by_values() {
    std::vector<Lanes> values(count, Lanes(0.0)), sums = values;
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = Lanes(measured<count>[i]);
    return on_places(
        [values, sums](const Lanes& x) mutable {
            eddy::evaluate<decltype(eddy::vjp<0>(fitted_table<count>)), Lanes>(
                eddy::summing<0>([&]<int output>(int k, const Lanes& value) {
                    const auto at = static_cast<std::size_t>(k);
                    sums[at] = sums[at] + value;
                }),
                values.data(), x, Lanes(1.0));
            return sums[1];
        },
        count);
}
template <class Relation, class Method>
auto solve_of(double stiffness) {
    eddy::EnsembleArray<double> y0(64, 1, 0.0), p(64, 2, stiffness), data(1, 1, 0.0);
    for (int lane = 0; lane < 64; ++lane) p(lane, 0) = 0.01 * lane;
    return [=] {
        const auto found = eddy::value_and_gradient(Anomaly<Relation>{}, Method{}, Square{}, data,
                                                    y0, p, {.t1 = 10, .rtol = 1e-8, .atol = 1e-8},
                                                    eddy::Cpu{.threads = 1});
        benchmark::kept = found.gradient.p(1, 0);
    };
}

template <class Real>
void pull_cells(Real) {
    Vec<Real, 1000> y{}, c{};
    for (int i = 0; i < 1000; ++i) {
        y[i] = Real(std::sin(i + 1.0));
        c[i] = Real(std::cos(i + 1.0));
    }
    const Vec<double, 2> p{0.3, 1.7};
    row(
        sizeof(Real) == sizeof(double) ? "1,000 cells, one trajectory, vjp: scan / by hand"
                                       : "1,000 cells, pack, vjp: scan / by hand",
        [=] {
            for (int i = 0; i < num_calls / 8; ++i) {
                const auto [of_y, of_p] = eddy::vjp(programs::chain<1000>)(y, p, c);
                benchmark::kept = *reinterpret_cast<const double*>(&of_y[i]) +
                                  *reinterpret_cast<const double*>(&of_p[0]);
            }
        },
        [=] {
            for (int i = 0; i < num_calls / 8; ++i) {
                Vec<Real, 1000> of_y;
                const auto of_p = pull_chain_by_hand(y, p, c, of_y);
                benchmark::kept = *reinterpret_cast<const double*>(&of_y[i]) +
                                  *reinterpret_cast<const double*>(&of_p[0]);
            }
        },
        num_calls / 8.0 * 1000);
}

void layers() {
    Vec<Lanes, 8> x{}, c{};
    Vec<double, 72> w{};
    for (int i = 0; i < 8; ++i) {
        x[i] = Lanes(std::sin(i + 1.0));
        c[i] = Lanes(std::cos(i + 1.0));
    }
    for (int i = 0; i < 72; ++i) w[i] = 0.4 * std::sin(3.0 * i);
    const auto arm = [=](auto pull) {
        return [=] {
            for (int i = 0; i < num_calls / 8; ++i) benchmark::kept = pull(x, w, c);
        };
    };
    row("16 layers, pack, vjp, a layer: repeat / written out", arm(&programs::pull_repeated),
        arm(&programs::pull_written_out), num_calls / 8.0 * 16);
    std::printf("64 layers, numbers in memory: nested {8, 8} / kept %11d %10d %8.2f\n",
                programs::nested_memory, programs::kept_memory,
                1.0 * programs::nested_memory / programs::kept_memory);
}

/// No lane's bits differ from those that it has alone, whatever its neighbours' turns.
void uneven_turns() {
    int num_different = 0;
    double turns = 0;
    for (int call = 0; call < num_calls; ++call) {
        Lanes x(0.0), p(0.0);
        for (int lane = 0; lane < 8; ++lane) {
            x.set(lane, 1 + (7 * call + 11 * lane) % 30);
            p.set(lane, 0.1 * lane + 0.01 * call);
            turns += x[lane] / (8 * num_calls);
        }
        const auto value = programs::uneven(x, p);
        const auto [of_x, of_p] = eddy::vjp(programs::uneven)(x, p, Lanes(1.0));
        for (int lane = 0; lane < 8; ++lane) {
            const Lanes own_x(x[lane]), own_p(p[lane]);
            const auto alone = programs::uneven(own_x, own_p);
            const auto [of_x_alone, of_p_alone] =
                eddy::vjp(programs::uneven)(own_x, own_p, Lanes(1.0));
            num_different += alone[0] != value[lane] || of_x_alone[0] != of_x[lane] ||
                             of_p_alone[0] != of_p[lane];
        }
    }
    std::printf("1 to 30 turns, %.1f in the mean: %d lanes differ from their own alone\n", turns,
                num_different);
}

}  // namespace

int main() {
    std::printf("%-52s %10s %10s %8s\n", "ns a call, of the first and of the second", "first",
                "second", "ratio");
    row("Kepler, pack: bounded_while / by hand",
        on_packs([](const Lanes& M, const Lanes& e) { return by_while(M, e)[0]; }),
        on_packs([](const Lanes& M, const Lanes& e) { return by_hand(M, e)[0]; }));
    row("Kepler, pack: root / bounded_while",
        on_packs([](const Lanes& M, const Lanes& e) { return by_root(M, e)[0]; }),
        on_packs([](const Lanes& M, const Lanes& e) { return by_while(M, e)[0]; }));
    const auto pulled = [](auto program) {
        return on_packs([](const Lanes& M, const Lanes& e) {
            return std::get<1>(eddy::vjp(decltype(program){})(M, e, Lanes(1.0)))[0];
        });
    };
    row("Kepler, pack, vjp: root / bounded_while", pulled(by_root), pulled(by_while));
    row("five turns, pack: repeat / written out",
        on_packs([](const Lanes& M, const Lanes& e) { return repeated(M, e)[0]; }),
        on_packs([](const Lanes& M, const Lanes& e) { return written(M, e)[0]; }));
    row("five turns, pack, vjp: repeat / written out", pulled(repeated), pulled(written));

    const auto cells = [](auto one) {
        using Real = decltype(one);
        Vec<Real, 1000> y{};
        for (int i = 0; i < 1000; ++i) y[i] = Real(std::sin(i + 1.0));
        const Vec<double, 2> p{0.3, 1.7};
        row(
            sizeof(Real) == sizeof(double) ? "1,000 cells, one trajectory: scan / by hand"
                                           : "1,000 cells, pack: scan / by hand",
            [=] {
                for (int i = 0; i < num_calls / 8; ++i) {
                    const auto rate = programs::chain<1000>(y, p);
                    benchmark::kept = *reinterpret_cast<const double*>(&rate[i]);
                }
            },
            [=] {
                for (int i = 0; i < num_calls / 8; ++i) {
                    Vec<Real, 1000> rate;
                    chain_by_hand(y, p, rate);
                    benchmark::kept = *reinterpret_cast<const double*>(&rate[i]);
                }
            },
            num_calls / 8.0 * 1000);
    };
    cells(0.0);
    cells(Lanes(0.0));
    pull_cells(0.0);
    pull_cells(Lanes(0.0));
    layers();
    uneven_turns();

    const auto table = [](const char* what, auto program, auto rows) {
        row(what, on_places([](const Lanes& x) { return decltype(program){}(x); }),
            on_places([rows](const Lanes& x) { return table_by_hand(rows, x); }));
    };
    table("64 knots, linear, pack: interpolate / upper_bound", constant_table<eddy::linear>,
          rows_of<1>());
    table("64 knots, spline, pack: interpolate / upper_bound", constant_table<eddy::natural_spline>,
          rows_of<3>());
    row("gradient of values, pack: 1,024 knots / 64", gradient_by_values<1024>(),
        gradient_by_values<64>());

    row("Tsit5, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::Tsit5>(0.5),
        solve_of<ByWhile, eddy::Tsit5>(0.5), 1e6);
    row("Rodas5P, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::Rodas5P>(50),
        solve_of<ByWhile, eddy::Rodas5P>(50), 1e6);
    row("KenCarp4, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::KenCarp4>(50),
        solve_of<ByWhile, eddy::KenCarp4>(50), 1e6);
    return 0;
}
