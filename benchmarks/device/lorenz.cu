// What a GPU takes: Lorenz by Tsit5, arrays and results on the device, a solver object kept from call to
// call; medians of eleven. Asynchronous calls between two events of their stream; replays of a graph that has captured one;
// what the host takes to put one into the stream; and the wall of a call that waits, with outcomes copied back.
// atol is rtol / 1000. Rows with costs 1 : 30 have σ from 10 to 3,600, in no order, in that of the costs, or in no order and
// solved in that of the last call (.sorted).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <eddy/backends/cuda.hpp>
#include <eddy/eddy.hpp>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "support/equations.hpp"

namespace {

using support::Lorenz;

struct Norm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

/// What the costs of lanes are, and in which order.
enum class Costs { even, uneven, uneven_in_order };

/// y0 = (1, 0, 0), ρ from 0 to 21 over the lanes, or ρ = 21 and σ as costs want it; and room for results.
template <class Real>
class Lanes {
  public:
    explicit Lanes(std::ptrdiff_t count, Costs costs = Costs::even) : count_(count) {
        std::vector<Real> values(static_cast<std::size_t>(13 * count), Real(0));
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            const auto at = [&](std::ptrdiff_t column) -> Real& {
                return values[static_cast<std::size_t>(column * count + lane)];
            };
            at(0) = 1, at(3) = 10, at(5) = Real(8. / 3);
            const double part = static_cast<double>(lane) / static_cast<double>(count);
            at(4) = static_cast<Real>(costs == Costs::even ? 21 * part : 21);
            const std::ptrdiff_t dealt = lane * 40'503 % count;  // counts are powers of two
            if (costs == Costs::uneven)
                at(3) = Real(10 + 3590 * static_cast<double>(dealt) / static_cast<double>(count));
            if (costs == Costs::uneven_in_order) at(3) = Real(3600 - 3590 * part);
        }
        const std::size_t bytes = values.size() * sizeof(Real);
        eddy::cuda_check(cudaMalloc(reinterpret_cast<void**>(&first_), bytes));
        eddy::cuda_check(cudaMemcpy(first_, values.data(), bytes, cudaMemcpyDefault));
    }
    ~Lanes() { cudaFree(first_); }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;
    [[nodiscard]] auto y0() const { return columns(0, 3); }
    [[nodiscard]] auto p() const { return columns(3, 3); }
    [[nodiscard]] eddy::SolutionInto<Real> solution() const { return {.y = columns(6, 3)}; }
    [[nodiscard]] eddy::GradientInto<Real> gradient() const {
        return {.y0 = columns(6, 3), .p = columns(9, 3), .loss = columns(12, 1)};
    }

  private:
    [[nodiscard]] auto columns(std::ptrdiff_t first, std::ptrdiff_t count) const {
        return eddy::on_device(first_ + first * count_, count_, count);
    }
    std::ptrdiff_t count_;
    Real* first_ = nullptr;
};

double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/// What eleven calls take after three, in milliseconds each: of the wall. `before` each, off the clock.
template <class Call, class Before>
double wall(const Call& call, const Before& before) {
    std::vector<double> times;
    for (int i = -3; i < 11; ++i) {
        before();
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - start;
        if (i >= 0) times.push_back(time.count());
    }
    return median(times);
}

/// The same of the device: from one event of the stream to the next.
class DeviceClock {
  public:
    explicit DeviceClock(cudaStream_t stream) : stream_(stream) {
        eddy::cuda_check(cudaEventCreate(&start_));
        eddy::cuda_check(cudaEventCreate(&end_));
    }
    ~DeviceClock() { cudaEventDestroy(start_), cudaEventDestroy(end_); }
    DeviceClock(const DeviceClock&) = delete;
    DeviceClock& operator=(const DeviceClock&) = delete;

    template <class Call>
    double operator()(const Call& call) const {
        std::vector<double> times;
        for (int i = -3; i < 11; ++i) {
            eddy::cuda_check(cudaStreamSynchronize(stream_));
            eddy::cuda_check(cudaEventRecord(start_, stream_));
            call();
            eddy::cuda_check(cudaEventRecord(end_, stream_));
            eddy::cuda_check(cudaEventSynchronize(end_));
            float time = 0;
            eddy::cuda_check(cudaEventElapsedTime(&time, start_, end_));
            if (i >= 0) times.push_back(static_cast<double>(time));
        }
        return median(times);
    }

  private:
    cudaStream_t stream_;
    cudaEvent_t start_ = nullptr, end_ = nullptr;
};

/// A row of the table. make(backend): a solver; call(solver): one call of it, which returns its report.
template <class Make, class Call>
void row(const std::string& what, const char* goal, const Make& make, const Call& call) {
    cudaStream_t stream = nullptr;
    eddy::cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const DeviceClock clock(stream);
    auto left = make(eddy::Cuda{.stream = stream, .asynchronous = true});
    call(left).wait();
    const double by_calls = clock([&] { static_cast<void>(call(left)); });
    const double enqueued = wall([&] { static_cast<void>(call(left)); },
                                 [&] { eddy::cuda_check(cudaStreamSynchronize(stream)); });
    call(left).wait();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    eddy::cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    static_cast<void>(call(left));
    eddy::cuda_check(cudaStreamEndCapture(stream, &graph));
    eddy::cuda_check(cudaGraphInstantiate(&executable, graph, 0));
    const double by_graph = clock([&] { eddy::cuda_check(cudaGraphLaunch(executable, stream)); });
    const auto steps = call(left).total_stats();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);

    auto waiting = make(eddy::Cuda{});
    const double waited = wall([&] { static_cast<void>(call(waiting)); }, [] {});
    cudaStreamDestroy(stream);
    std::printf("| %s | %s | %.4f | %.4f | %.1f | %.3f | %.1f |\n", what.c_str(), goal, by_calls,
                by_graph, 1e3 * enqueued, waited,
                static_cast<double>(steps.accepted + steps.rejected) / 1e6);
    std::fflush(stdout);
}

std::string words(const char* what, bool is_single, std::ptrdiff_t count) {
    return std::string(what) + (is_single ? ", fp32, " : ", fp64, ") + std::to_string(count) +
           " lanes";
}

template <class Real>
void fixed(std::ptrdiff_t count, const char* goal) {
    const Lanes<Real> lanes(count);
    row(
        words("1,000 fixed steps", sizeof(Real) == 4, count), goal,
        [](const eddy::Cuda& backend) {
            return eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, {.t1 = 1, .dt0 = 1e-3},
                                         eddy::ConstantController{}, backend);
        },
        [&](auto& solver) -> auto& { return solver(lanes.y0(), lanes.p(), lanes.solution()); });
}

void adaptive(std::ptrdiff_t count, const char* tolerance, const char* goal) {
    const Lanes<double> lanes(count);
    const double rtol = std::stod(tolerance);
    row(
        words((std::string("adaptive, rtol ") + tolerance).c_str(), false, count), goal,
        [&](const eddy::Cuda& backend) {
            return eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{},
                                         {.t1 = 1, .rtol = rtol, .atol = rtol / 1000}, backend);
        },
        [&](auto& solver) -> auto& { return solver(lanes.y0(), lanes.p(), lanes.solution()); });
}

/// The three of one count, in one run: lanes as they are given, dealt out by hand, and by eddy.
template <class Make, class Call>
void uneven_rows(const char* what, std::ptrdiff_t count, const Make& make, const Call& call) {
    struct Row {
        const char* words;
        Costs costs;
        bool sorted;
    };
    for (const Row& of : {Row{"in no order", Costs::uneven, false},
                          Row{"arrays in order", Costs::uneven_in_order, false},
                          Row{".sorted", Costs::uneven, true}}) {
        const Lanes<double> lanes(count, of.costs);
        row(
            words((std::string(what) + ", costs 1 : 30, " + of.words).c_str(), false, count),
            "none",
            [&](eddy::Cuda backend) {
                backend.sorted = of.sorted;
                return make(backend);
            },
            [&](auto& solver) -> auto& { return call(solver, lanes); });
    }
}
void uneven(std::ptrdiff_t count) {
    uneven_rows(
        "adaptive, rtol 1e-4", count,
        [](const eddy::Cuda& backend) {
            return eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{},
                                         {.t1 = 1, .rtol = 1e-4, .atol = 1e-7}, backend);
        },
        [](auto& solver, const Lanes<double>& lanes) -> auto& {
            return solver(lanes.y0(), lanes.p(), lanes.solution());
        });
}
void uneven_gradient(std::ptrdiff_t count) {
    uneven_rows(
        "gradient, rtol 1e-4", count,
        [](const eddy::Cuda& backend) {
            // σ of 3,600 is a mode that the steps do not resolve: a call that waits would solve such lanes again.
            return eddy::gradient_solver(
                Lorenz{}, eddy::Tsit5{}, Norm{},
                {.t1 = 1, .rtol = 1e-4, .atol = 1e-7, .stable_gradients = false}, backend);
        },
        [](auto& solver, const Lanes<double>& lanes) -> auto& {
            return solver(lanes.y0(), lanes.p(), lanes.gradient()).report;
        });
}

void gradient(std::ptrdiff_t count, const char* goal) {
    const Lanes<double> lanes(count);
    row(
        words("gradient, adaptive, rtol 1e-6", false, count), goal,
        [](const eddy::Cuda& backend) {
            return eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{},
                                         {.t1 = 1, .rtol = 1e-6, .atol = 1e-9}, backend);
        },
        [&](auto& solver) -> auto& {
            return solver(lanes.y0(), lanes.p(), lanes.gradient()).report;
        });
}

void gradient_of_fixed(std::ptrdiff_t count, const char* goal) {
    const Lanes<float> lanes(count);
    row(
        words("gradient of 1,000 fixed steps, within 1 GiB", true, count), goal,
        [](const eddy::Cuda& backend) {
            return eddy::gradient_solver(
                Lorenz{}, eddy::Tsit5{}, Norm{},
                {.t1 = 1, .dt0 = 1e-3, .memory_budget = std::size_t{1} << 30},
                eddy::ConstantController{}, backend);
        },
        [&](auto& solver) -> auto& {
            return solver(lanes.y0(), lanes.p(), lanes.gradient()).report;
        });
}

}  // namespace

/// lorenz [ROW]: all rows, or that one, from 1.
int main(int argc, char** argv) try {
    cudaDeviceProp device{};
    eddy::cuda_check(cudaGetDeviceProperties(&device, 0));
    int driver = 0, runtime = 0;
    eddy::cuda_check(cudaDriverGetVersion(&driver));
    eddy::cuda_check(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, %d processors, %.0f GiB, CUDA %d.%d, driver for %d.%d\n\n", device.name,
                device.multiProcessorCount, static_cast<double>(device.totalGlobalMem) / (1 << 30),
                runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    std::printf(
        "| Lorenz, Tsit5 | goal on an H200, ms | device, ms | graph, ms | host, µs | call that "
        "waits, ms | attempts, 10⁶ |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    const std::function<void()> rows[] = {[] { fixed<float>(1 << 20, "3.45"); },
                                          [] { fixed<double>(1 << 20, "6.9"); },
                                          [] { fixed<float>(1024, "0.08"); },
                                          [] { adaptive(1 << 19, "1e-8", "0.75"); },
                                          [] { gradient(1 << 15, "0.10"); },
                                          [] { gradient(1 << 19, "none"); },
                                          [] { gradient_of_fixed(1 << 20, "15"); },
                                          [] { uneven(1 << 15); },
                                          [] { uneven(1 << 17); },
                                          [] { uneven(1 << 19); },
                                          [] { uneven_gradient(1 << 15); },
                                          [] { uneven_gradient(1 << 17); }};
    const int chosen = argc > 1 ? std::atoi(argv[1]) : 0;
    for (int i = 0; i < static_cast<int>(std::size(rows)); ++i)
        if (chosen == 0 || chosen == i + 1) rows[i]();
    return 0;
} catch (const eddy::CudaError& error) {
    std::printf("skipped: %s\n", error.what());
    return 4;
}
