// Memory against recomputation: steps computed again, for each step of a loop, against the states that may be stored; the default placement,
// which does not know the length. A picture: `build/release/benchmarks/benchmark_checkpoint_memory | gnuplot > docs/images/checkpoint_memory.svg`.
// A second.
#include <cstdint>
#include <cstdio>
#include <eddy/checkpoint/checkpointed_loop.hpp>

namespace {

struct Counter {
    double advance(double x, std::int64_t) const { return x; }
    double pullback(double, std::int64_t, double cotangent) { return cotangent; }
};

double recomputed_per_step(std::int64_t checkpoints, std::int64_t length) {
    eddy::CheckpointedLoop<double, Counter> loop({}, {.checkpoints = checkpoints});
    loop.run(0.0, [length](double, std::int64_t step) { return step < length; });
    (void)loop.reverse(1.0);
    return static_cast<double>(loop.counters().recomputed) / static_cast<double>(length);
}

}  // namespace

int main() {
    std::printf(
        "set terminal svg size 760,400 font 'Helvetica,14' background 'white'\n"
        "set logscale x\nset grid lc rgb '#dfe3e8'\nset key top right title 'steps of the loop'\n"
        "set xlabel 'checkpoints: states that may be stored'\n"
        "set ylabel 'steps computed again, for each step'\nset yrange [0:8]\nset xrange "
        "[2:2000]\n");
    const std::int64_t lengths[] = {100'000, 10'000, 1'000, 100};
    const char* const colours[] = {"#b83a3a", "#d9822b", "#3c8d5a", "#2f6db3"};
    const char* const names[] = {"100,000", "10,000", "1,000", "100"};
    for (int i = 0; i < 4; ++i) {
        std::printf("$steps%d << END\n", i);
        for (double x = 2; x <= 2000; x *= 1.12) {
            const auto checkpoints = static_cast<std::int64_t>(x + 0.5);
            std::printf("%lld %.4f\n", static_cast<long long>(checkpoints),
                        recomputed_per_step(checkpoints, lengths[i]));
        }
        std::printf("END\n");
    }
    std::printf("plot");
    for (int i = 0; i < 4; ++i)
        std::printf("%s $steps%d with lines lw 2 lc rgb '%s' title '%s'", i > 0 ? "," : "", i,
                    colours[i], names[i]);
    std::printf("\n");
    return 0;
}
