// Solves and gradients of equations that are known when the program runs, beside the same equations compiled,
// on one thread: in turns, the least of several rounds, ns for a trajectory and attempted step; the steps are the
// same, bit for bit. Then: ms from text to the end of a first solve, and of a first gradient.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/backends/cpu.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <limits>
#include <string>

#include "support/chain_of_species.hpp"
#include "support/equations.hpp"
#include "support/stiff_equations.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Array = eddy::EnsembleArray<double>;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}
Array filled(std::ptrdiff_t lanes, int size, double value) {
    Array array(lanes, size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < size; ++i)
            array(lane, i) = value * (1 + 0.01 * static_cast<double>((7 * lane + 3 * i) % 23));
    return array;
}
struct SquaredEnd {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

/// The least times of several calls, in turns.
template <int count, class... Calls>
void least(double (&best)[count], const Calls&... calls) {
    static_assert(sizeof...(calls) == count);
    std::fill_n(best, count, std::numeric_limits<double>::infinity());
    const auto begin = Clock::now();
    for (int round = 0; round < 3 || (round < 40 && milliseconds_since(begin) < 2500); ++round) {
        int k = 0;
        (
            [&] {
                const auto before = Clock::now();
                calls();
                best[k] = std::min(best[k], milliseconds_since(before));
                ++k;
            }(),
            ...);
    }
}

template <class Field>
void compare(const char* name, std::ptrdiff_t lanes, const eddy::SolveOptions& options) {
    constexpr eddy::Tsit5 method;
    const Array y0 = filled(lanes, Field::state_size, 0.5);
    const Array p = filled(1, Field::parameter_size, 0.5);
    const auto shared = eddy::shared(p);
    const eddy::RuntimeField field =
        eddy::trace_field(Field::state_size, Field::parameter_size, Field{});
    const eddy::Cpu cpu{.threads = 1};
    const eddy::Rows rows{.threads = 1};
    double steps = 0;
    double best[4];
    least(
        best,
        [&] {
            const auto of = eddy::solve(Field{}, method, y0, shared, options, cpu);
            steps = 0;
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
                steps += static_cast<double>(of.stats(lane).accepted + of.stats(lane).rejected);
        },
        [&] { static_cast<void>(eddy::solve(field, method, y0, shared, options, rows)); },
        [&] {
            static_cast<void>(
                eddy::value_and_gradient(Field{}, method, SquaredEnd{}, y0, shared, options, cpu));
        },
        [&] {
            static_cast<void>(
                eddy::value_and_gradient(field, method, SquaredEnd{}, y0, shared, options, rows));
        });
    for (double& time : best) time *= 1e6 / steps;
    std::printf(
        "%-10s %5d lanes %6.0f steps: solve %7.1f, rows %7.1f (%4.2f x)    gradient %8.1f, rows "
        "%8.1f (%4.2f x)\n",
        name, static_cast<int>(lanes), steps / static_cast<double>(lanes), best[0], best[1],
        best[1] / best[0], best[2], best[3], best[3] / best[2]);
}

/// From text to the end of a solve, and of a gradient, of one trajectory. Each has numbers of its own, so that nothing is
/// found that a call before has made.
void first_calls(eddy::FieldText text) {
    const std::string first = text.equations[0];
    int calls = 0;
    const auto field = [&] {
        text.equations[0] = first + " + " + std::to_string(++calls) + "e-300";
        return eddy::parse_field(text);
    };
    const auto n = static_cast<int>(text.states.size()),
               m = static_cast<int>(text.parameters.size());
    const Array y0 = filled(1, n, 0.5), p = filled(1, m, 0.5);
    const eddy::SolveOptions options{.t1 = 1};
    double best[2];
    least(
        best, [&] { static_cast<void>(eddy::solve(field(), eddy::Tsit5{}, y0, p, options)); },
        [&] {
            const auto loss = [scale = 1. + calls](auto, const auto& y, const auto&) {
                return scale * eddy::dot(y, y);
            };
            static_cast<void>(
                eddy::value_and_gradient(field(), eddy::Tsit5{}, loss, y0, p, options));
        });
    std::printf("text of %4d states: first solve %8.3f, first gradient %8.3f ms\n", n, best[0],
                best[1]);
}

}  // namespace

int main() {
    for (const std::ptrdiff_t lanes : {1, 1024})
        compare<support::Lorenz>("Lorenz", lanes, {.t1 = 10, .rtol = 1e-6, .atol = 1e-9});
    for (const std::ptrdiff_t lanes : {1, 1024})
        compare<support::Pollution>("Pollution", lanes, {.t1 = 10, .rtol = 1e-6, .atol = 1e-9});
    for (const std::ptrdiff_t lanes : {1, 256})
        compare<support::FixedChain<100>>("chain 100", lanes,
                                          {.t1 = 20, .rtol = 1e-6, .atol = 1e-9});
    first_calls({.states = {"x", "y"},
                 .parameters = {"a", "b", "c", "d"},
                 .equations = {"a*x - b*x*y", "-c*y + d*x*y"}});
    for (const int size : {100, 500})
        first_calls(
            eddy::to_text(eddy::trace_field(size, 2 * size, support::ChainOfSpecies{size})));
}
