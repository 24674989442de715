// Equations that are known when the program runs. First: ns per lane of f and of its vector–Jacobian
// product, walked over rows in tiles of several widths, and compiled (packs of eight lanes, the way back
// without f), 64 lanes with parameters of their own, in one run; the least of many repeats counts. Then: ms
// from a function, or from text, to the first value and to the first gradient.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <limits>
#include <vector>

#include "support/chain_of_species.hpp"
#include "support/equations.hpp"
#include "support/stiff_equations.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Rows = std::vector<double>;
constexpr int num_lanes = 64;

template <class Call>
double milliseconds(Call&& call) {
    const auto begin = Clock::now();
    call();
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}
/// The least of repeats, ns per lane.
template <class Call>
double least(Call&& call) {
    call();
    const int repeats = std::clamp(static_cast<int>(0.5 / milliseconds(call)), 1, 1000);
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 30; ++round) {
        const double time = milliseconds([&] {
            for (int k = 0; k < repeats; ++k) call();
        });
        best = std::min(best, time / repeats);
    }
    return best * 1e6 / num_lanes;
}

Rows rows(int size, double value = 0.5) {
    Rows all(static_cast<std::size_t>(size * num_lanes));
    for (std::size_t k = 0; k < all.size(); ++k)
        all[k] = value + 0.001 * static_cast<double>(k % 97);
    return all;
}

/// What a call reads and writes, for 64 lanes.
struct Blocks {
    int n, m;
    Rows t = rows(1), y = rows(n), p = rows(m), c = rows(n), dy = rows(n), ybar = rows(n),
         pbar = rows(m), kept{};
};

struct Costs {
    double f, forward, pull;
};
Costs over_rows(const eddy::RuntimeField& field, int width) {
    Blocks all{field.num_states(), field.num_parameters()};
    const auto tile = field.maker()->on_tile(width);
    all.kept = rows(tile->num_residuals());
    const auto of = [&](auto& block, int size, int first) { return block.data() + size * first; };
    const auto for_tiles = [&](auto&& call) {
        for (int first = 0; first < num_lanes; first += width) call(first);
    };
    const int kept = tile->num_residuals();
    return {least([&] {
                for_tiles([&](int k) {
                    tile->f(of(all.t, 1, k), of(all.y, all.n, k), of(all.p, all.m, k),
                            of(all.dy, all.n, k));
                });
            }),
            least([&] {
                for_tiles([&](int k) {
                    tile->forward(of(all.t, 1, k), of(all.y, all.n, k), of(all.p, all.m, k),
                                  of(all.dy, all.n, k), of(all.kept, kept, k));
                });
            }),
            least([&] {
                for_tiles([&](int k) {
                    tile->pull(of(all.t, 1, k), of(all.y, all.n, k), of(all.p, all.m, k),
                               of(all.kept, kept, k), of(all.c, all.n, k), of(all.ybar, all.n, k),
                               of(all.pbar, all.m, k));
                });
            })};
}

/// A vector of an equation for eight lanes of its rows.
struct Group {
    const double* data;
    [[gnu::always_inline]] eddy::Pack<double, 8> operator[](int component) const {
        return eddy::Pack<double, 8>::load(data + component * num_lanes);
    }
};
template <class Field>
Costs compiled() {
    using P = eddy::Pack<double, 8>;
    Blocks all{Field::state_size, Field::parameter_size};
    using Vjp = decltype(eddy::vjp<1, 2>(eddy::FieldProgram<Field>{}));
    const auto f = [&] {
        for (int lane = 0; lane < num_lanes; lane += 8)
            eddy::evaluate<eddy::FieldProgram<Field>, P>(
                [&]<int output>(int component, const P& value) __attribute__((always_inline)) {
                    value.store(all.dy.data() + component * num_lanes + lane);
                },
                P::load(all.t.data() + lane), Group{all.y.data() + lane},
                Group{all.p.data() + lane});
    };
    const auto pull = [&] {
        for (int lane = 0; lane < num_lanes; lane += 8)
            eddy::evaluate<Vjp, P>(
                [&]<int output>(int component, const P& value) __attribute__((always_inline)) {
                    double* const to =
                        (output == 0 ? all.ybar : all.pbar).data() + component * num_lanes + lane;
                    (output == 0 ? value : value + P::load(to)).store(to);
                },
                P::load(all.t.data() + lane), Group{all.y.data() + lane},
                Group{all.p.data() + lane}, Group{all.c.data() + lane});
    };
    const double of_f = least(f);
    return {of_f, of_f, least(pull)};
}

template <class Field>
void compare(const char* name) {
    const Costs whole = compiled<Field>();
    std::printf("%-10s compiled      f %7.2f             pull %7.2f ns a lane\n", name, whole.f,
                whole.pull);
    const eddy::RuntimeField field =
        eddy::trace_field(Field::state_size, Field::parameter_size, Field{});
    for (const int width : {8, 16, 32, 64}) {
        const Costs costs = over_rows(field, width);
        std::printf(
            "%-10s rows of %2d    f %7.2f (%4.2f x)    pull %7.2f (%4.2f x)    forward %7.2f\n",
            name, width, costs.f, costs.f / whole.f, costs.pull, costs.pull / whole.pull,
            costs.forward);
    }
}

/// ms until f, and until a gradient.
template <class Make>
void first_call(const char* name, int size, Make&& make) {
    double made = 1e300, value = 1e300, gradient = 1e300;
    for (int round = 0; round < 3; ++round) {
        const auto begin = Clock::now();
        const auto since = [&] {
            return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
        };
        const eddy::RuntimeField field = make();
        made = std::min(made, since());
        const auto tile = field.maker()->on_tile(8);
        Blocks all{field.num_states(), field.num_parameters()};
        tile->f(all.t.data(), all.y.data(), all.p.data(), all.dy.data());
        value = std::min(value, since());
        all.kept = rows(tile->num_residuals());
        tile->forward(all.t.data(), all.y.data(), all.p.data(), all.dy.data(), all.kept.data());
        tile->pull(all.t.data(), all.y.data(), all.p.data(), all.kept.data(), all.c.data(),
                   all.ybar.data(), all.pbar.data());
        gradient = std::min(gradient, since());
    }
    std::printf("%-8s %5d states: made %8.3f, first value %8.3f, first gradient %8.3f ms\n", name,
                size, made, value, gradient);
}

}  // namespace

int main() {
    compare<support::Lorenz>("Lorenz");
    compare<support::Hires>("HIRES");
    compare<support::Pollution>("Pollution");
    compare<support::FixedChain<20>>("chain 20");
    compare<support::FixedChain<100>>("chain 100");
    first_call("text", 2, [] {
        return eddy::parse_field({.states = {"x", "y"},
                                  .parameters = {"a", "b", "c", "d"},
                                  .equations = {"a*x - b*x*y", "-c*y + d*x*y"}});
    });
    for (const int size : {100, 500, 2000}) {
        const auto traced = [&] {
            return eddy::trace_field(size, 2 * size, support::ChainOfSpecies{size});
        };
        const eddy::FieldText text = eddy::to_text(traced());
        first_call("trace", size, traced);
        first_call("text", size, [&] { return eddy::parse_field(text); });
    }
}
