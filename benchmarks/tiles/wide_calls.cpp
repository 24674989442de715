// What wide_calls.py compiles, one at a time: a gradient solver (with FORWARD a solver) in tiles of a network (WIDTHS) or of Fisher's
// equation on so many points (STATE), which is run where LANES says how many lanes. Run with a number of
// threads, it prints milliseconds a call, elapsed and of all processors, and of the latter nanoseconds a step, lane and unknown.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/trace/nn/initial_weights.hpp>

namespace {

#ifdef WIDTHS
constexpr auto equation = eddy::nn::mlp<WIDTHS>(eddy::nn::tanh);
constexpr double end = 1;
std::vector<float> parameters() { return eddy::nn::glorot_uniform<float>(equation, 1); }
#else
/// y_t = D y_xx + r y (1 − y) on a ring.
struct Fisher {
    static constexpr int state_size = STATE, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        constexpr int n = state_size;
        const auto left = eddy::concat(eddy::slice<n - 1, 1>(y), eddy::slice<0, n - 1>(y));
        const auto right = eddy::concat(eddy::slice<1, n - 1>(y), eddy::slice<0, 1>(y));
        return p[0] * (left + right - 2.0 * y) + p[1] * (y * (1.0 - y));
    }
};
constexpr Fisher equation;
constexpr double end = 0.1;
std::vector<float> parameters() { return {1, 1}; }
#endif
constexpr int steps = 20;

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

double seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    constexpr int n = equation.state_size;
    const std::vector<float> p = parameters();
    eddy::EnsembleArray<float> y0(LANES, n), data(LANES, n);
    for (std::ptrdiff_t lane = 0; lane < LANES; ++lane)
        for (int i = 0; i < n; ++i) y0(lane, i) = static_cast<float>((7 * lane + 3 * i) % 11) / 11;
    const eddy::SolveOptions options{.t1 = end, .dt0 = end / steps};
    const eddy::Tiles backend{.threads = threads};
#ifdef FORWARD
    auto solver = eddy::ensemble_solver(equation, eddy::Dopri5{}, options,
                                        eddy::ConstantController{}, backend);
    const auto succeeds = [&] { return solver(y0, eddy::shared(p)).success(); };
#else
    auto solver = eddy::gradient_solver(equation, eddy::Dopri5{}, SquaredError{}, options,
                                        eddy::ConstantController{}, backend);
    const auto succeeds = [&] { return solver(data, y0, eddy::shared(p)).report.success(); };
#endif
    double elapsed = 1e9, busy = 1e9;
    for (int k = 0; k < 9; ++k) {
        const double begin = seconds(CLOCK_MONOTONIC),
                     busy_begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (!succeeds()) return 1;
        elapsed = std::min(elapsed, seconds(CLOCK_MONOTONIC) - begin);
        busy = std::min(busy, seconds(CLOCK_PROCESS_CPUTIME_ID) - busy_begin);
    }
    std::printf(
        "%d threads: %9.3f ms elapsed, %9.3f ms of processors, %6.2f ns a step, lane and unknown\n",
        threads, 1e3 * elapsed, 1e3 * busy, 1e9 * busy / (double(steps) * LANES * n));
}
