// Loops inside traced functions against what else one would write, as ratios of processor time of one
// run: Kepler's equation in packs of eight by `bounded_while` over a loop by hand, by `repeat` over the
// same turns written out; a chain of 1,000 cells by `scan`, and its pullback, over loops by hand; layers by
// `repeat` over written out; whole solves with gradients by `root` over `bounded_while`. Arms take turns; the
// median of the rounds counts. scripts/compile-loops measures the compiler.

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

    row("Tsit5, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::Tsit5>(0.5),
        solve_of<ByWhile, eddy::Tsit5>(0.5), 1e6);
    row("Rodas5P, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::Rodas5P>(50),
        solve_of<ByWhile, eddy::Rodas5P>(50), 1e6);
    row("KenCarp4, gradient, ms: root / bounded_while", solve_of<ByRoot, eddy::KenCarp4>(50),
        solve_of<ByWhile, eddy::KenCarp4>(50), 1e6);
    return 0;
}
