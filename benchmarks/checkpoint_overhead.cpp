// Nanoseconds that the machinery of the checkpointed loop adds to each advance, beyond the body and
// the stores that the schedule asks for. The body is one multiply-add per component of a state of 4
// doubles; the plain loop that it is compared with runs the same body under the same condition as
// often, and copies the state as often as the schedule stores it. Best of several runs; forward and
// whole gradient separately.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <vector>

namespace {

using std::int64_t;
using State = std::array<double, 4>;

struct MultiplyAdd {
    State advance(const State& x, int64_t) const {
        return {0.999 * x[0] + 1, 0.998 * x[1] + 1, 0.997 * x[2] + 1, 0.996 * x[3] + 1};
    }
    State pullback(const State&, int64_t, const State& cotangent) {
        return {0.999 * cotangent[0], 0.998 * cotangent[1], 0.997 * cotangent[2],
                0.996 * cotangent[3]};
    }
};

constexpr int64_t length = 200'000;
constexpr int repeats = 15;

template <class Action>
double best_seconds(Action action) {
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        action();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        best = std::min(best, took.count());
    }
    return best;
}

void keep(const State& x) { asm volatile("" : : "r"(&x) : "memory"); }

// `advances` steps of the body, a copy into one of `slots` slots now and then, `pullbacks` steps of
// the cotangent.
double plain_seconds(int64_t advances, int64_t stores, int64_t pullbacks, int64_t slots) {
    std::vector<State> kept(static_cast<std::size_t>(slots));
    MultiplyAdd body;
    return best_seconds([&] {
        State x{1, 2, 3, 4};
        int64_t stored = 0;
        for (int64_t step = 0; step < advances; ++step) {
            if (stored * advances < step * stores) {
                kept[static_cast<std::size_t>(stored % slots)] = x;
                ++stored;
            }
            x = body.advance(x, step);
        }
        State cotangent{1, 1, 1, 1};
        for (int64_t step = 0; step < pullbacks; ++step)
            cotangent = body.pullback(x, step, cotangent);
        keep(x);
        keep(cotangent);
        keep(kept[0]);
    });
}

void measure(int64_t checkpoints) {
    eddy::CheckpointedLoop<State, MultiplyAdd> loop({}, {.checkpoints = checkpoints});
    loop.generate_tables(length);
    int64_t end = length;
    asm volatile("" : "+r"(end));
    const auto below = [&](const State&, int64_t step) { return step < end; };

    const double forward = best_seconds([&] { keep(loop.run({1, 2, 3, 4}, below)); });
    const auto swept = loop.counters();
    const double gradient = best_seconds([&] {
        keep(loop.run({1, 2, 3, 4}, below));
        keep(loop.reverse({1, 1, 1, 1}));
    });
    const auto whole = loop.counters();
    const double plain_forward = plain_seconds(swept.advances, swept.stores, 0, checkpoints);
    const double plain_gradient =
        plain_seconds(whole.advances, whole.stores, whole.pullbacks, checkpoints);

    const auto per = [](double seconds, int64_t count) {
        return 1e9 * seconds / static_cast<double>(count);
    };
    std::printf("| %lld | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n",
                static_cast<long long>(checkpoints), per(forward, swept.advances),
                per(plain_forward, swept.advances), per(forward - plain_forward, swept.advances),
                per(gradient, whole.advances), per(plain_gradient, whole.advances),
                per(gradient - plain_gradient, whole.advances));
}

}  // namespace

int main() {
    std::printf("ns per advance, %lld steps, length unknown\n\n", static_cast<long long>(length));
    std::printf("| checkpoints | forward | plain | overhead | gradient | plain | overhead |\n");
    std::printf("|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const int64_t checkpoints : {2, 4, 8, 16, 32, 64, 1000}) measure(checkpoints);
}
