// Loops of equations that are known when the program runs, against what else one would write: a chain of 1,000
// cells by `scan`, f and its pullback, over loops by hand on packs; 64 layers by `repeat`, and loops in the turns of a loop,
// over the same written out; turns that lanes leave, which EDDY_MACHINE_CODE=0 in the environment makes walks of a list.
// Arms take turns in one run; the median of the rounds counts.

#include <cstdio>
#include <eddy/core/pack_math.hpp>
#include <eddy/runtime.hpp>
#include <vector>

#include "loop_programs.hpp"
#include "solve/timing.hpp"

namespace {

using Numbers = std::vector<double>;
constexpr int num_cells = 1000, num_layers = 64, num_calls = 16;

Numbers rows(int size, int width) {
    Numbers all(static_cast<std::size_t>(size * width));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = 0.3 + 0.001 * static_cast<double>(k % 97);
    return all;
}
/// A tile of an equation, and what a call of it reads and writes.
class Tile {
  public:
    Tile(const eddy::RuntimeField& field, int width, bool is_shared)
        : tile_(is_shared ? field.maker()->on_shared_tile(width) : field.maker()->on_tile(width)),
          t_(rows(1, width)),
          y_(rows(field.num_states(), width)),
          p_(rows(field.num_parameters(), is_shared ? 1 : width)),
          c_(y_),
          dy_(y_),
          of_y_(y_),
          of_p_(p_),
          kept_(rows(tile_->num_residuals(), width)) {
        for (int lane = 0; lane < width; ++lane) lanes_.push_back(lane);
        forward();
    }
    void f() {
        tile_->f(t_.data(), y_.data(), p_.data(), dy_.data());
        benchmark::kept = dy_[1];
    }
    void forward() {
        tile_->forward(t_.data(), y_.data(), p_.data(), dy_.data(), kept_.data());
        benchmark::kept = dy_[1];
    }
    void pull() {
        tile_->sum_over(lanes_.data(), static_cast<int>(lanes_.size()), 1);
        tile_->pull(t_.data(), y_.data(), p_.data(), kept_.data(), c_.data(), of_y_.data(),
                    of_p_.data());
        benchmark::kept = of_y_[1];
    }

  private:
    std::unique_ptr<eddy::FieldOnTile> tile_;
    Numbers t_, y_, p_, c_, dy_, of_y_, of_p_, kept_;
    std::vector<int> lanes_;
};

/// The chain by hand, on rows of a width, with parameters of each lane.
template <class P>
class ByHand {
  public:
    [[gnu::noinline]] void f() {
        for (int i = 0; i < num_cells; ++i) {
            const P left = of(y_, i > 0 ? i - 1 : 0), right = of(y_, i < last ? i + 1 : last);
            const P y = of(y_, i);
            (of(p_, 0) * (left - P(2.) * y + right) + of(p_, 1) * y * (P(1.) - y))
                .store(dy_.data() + i * width);
        }
        benchmark::kept = dy_[1];
    }
    [[gnu::noinline]] void pull() {
        const P p0 = of(p_, 0), p1 = of(p_, 1);
        P of_p0 = of(of_p_, 0), of_p1 = of(of_p_, 1);
        for (int i = 0; i < num_cells; ++i) {
            const int before = i > 0 ? i - 1 : 0, after = i < last ? i + 1 : last;
            const P y = of(y_, i), c = of(c_, i);
            of_p0 = of_p0 + c * (of(y_, before) - P(2.) * y + of(y_, after));
            of_p1 = of_p1 + c * y * (P(1.) - y);
            (p0 * (of(c_, before) - P(2.) * c + of(c_, after)) + p1 * c * (P(1.) - P(2.) * y))
                .store(of_y_.data() + i * width);
        }
        of_p0.store(of_p_.data());
        of_p1.store(of_p_.data() + width);
        benchmark::kept = of_y_[1];
    }

  private:
    static constexpr int width = P::size, last = num_cells - 1;
    static P of(const Numbers& rows, int i) { return P::load(rows.data() + i * width); }
    Numbers y_ = rows(num_cells, width), p_ = rows(2, width), c_ = y_, dy_ = y_, of_y_ = y_,
            of_p_ = p_;
};

template <class First, class Second>
void row(const char* what, int width, int divisor, First first, Second second) {
    const auto repeated = [](auto call) {
        return [call] {
            for (int k = 0; k < num_calls; ++k) call();
        };
    };
    benchmark::Race race;
    const int a = race.add(num_calls * divisor, repeated(first)),
              b = race.add(num_calls * divisor, repeated(second));
    race.run(31);
    std::printf("%-52s %2d lanes %8.2f %8.2f %6.2f\n", what, width, race.time(a), race.time(b),
                race.ratio(a, b));
}

template <int width>
void chain() {
    Tile tile(eddy::trace_field(num_cells, 2, programs::ChainField<num_cells>{}), width, false);
    ByHand<eddy::Pack<double, width>> hand;
    row(
        "1,000 cells, ns a cell: scan / by hand", width, num_cells, [&] { tile.f(); },
        [&] { hand.f(); });
    row(
        "pulled back", width, num_cells, [&] { tile.pull(); }, [&] { hand.pull(); });
}
template <bool is_loop>
eddy::RuntimeField layers() {
    return eddy::trace_field(8, 72, [](const auto&, const auto& y, const auto& w) {
        if constexpr (is_loop)
            return programs::Layers<num_layers>{}(y, w);
        else
            return programs::LayersWrittenOut<num_layers>{}(y, w);
    });
}
void networks(int width) {
    Tile loop(layers<true>(), width, true), written(layers<false>(), width, true);
    row(
        "64 layers, ns a layer: repeat / written out", width, num_layers, [&] { loop.f(); },
        [&] { written.f(); });
    row(
        "what the way back needs", width, num_layers, [&] { loop.forward(); },
        [&] { written.forward(); });
    row(
        "pulled back", width, num_layers, [&] { loop.pull(); }, [&] { written.pull(); });
}

/// 64 turns with a loop of four turns in each, and with these written out.
template <bool is_loop>
eddy::RuntimeField sweeps() {
    return eddy::trace_field(4, 2, [](const auto&, const auto& y, const auto& p) {
        const auto relax = [&](const auto& s) {
            return eddy::vec(s[0] + 0.1 * (s[1] - s[0]), s[1] + p[0] * (s[2] - s[1]),
                             s[2] + p[1] * (s[3] - s[2]), s[3] - 0.1 * s[3] * s[0]);
        };
        return eddy::repeat<64>(y, [&](const auto& s) {
            const auto turned = eddy::vec(s[1], s[2], s[3], s[0]);
            if constexpr (is_loop)
                return eddy::repeat<4>(turned, relax);
            else
                return relax(relax(relax(relax(turned))));
        });
    });
}
void nested(int width) {
    Tile loop(sweeps<true>(), width, false), written(sweeps<false>(), width, false);
    row(
        "64 turns with 4 in each, ns a turn: loop / written out", width, 64, [&] { loop.f(); },
        [&] { written.f(); });
    row(
        "pulled back", width, 64, [&] { loop.pull(); }, [&] { written.pull(); });
}

/// Four square roots by Heron's rule: each lane takes its own number of turns.
void roots(int width) {
    Tile tile(
        eddy::trace_field(
            4, 2,
            [](const auto&, const auto& y, const auto& p) {
                const auto root_of = [&](const auto& square) {
                    return eddy::bounded_while<30>(
                        square + p[1], [&](const auto& r) { return abs(r * r - square) > 1e-10; },
                        [&](const auto& r) { return 0.5 * (r + square / r); });
                };
                return eddy::vec(root_of(p[0] * y[0]), root_of(y[1]), root_of(y[2]), root_of(y[3]));
            }),
        width, false);
    row(
        "4 roots by bounded_while, ns: f / pulled back", width, 1, [&] { tile.f(); },
        [&] { tile.pull(); });
}

}  // namespace

int main() {
    chain<8>();
    chain<16>();
    for (const int width : {8, 64}) networks(width);
    for (const int width : {8, 64}) nested(width);
    for (const int width : {8, 64}) roots(width);
}
