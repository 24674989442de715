// What a GPU takes: Lorenz by Tsit5, arrays and results on the device, a solver object kept from call to
// call. The wall, with the host's part of a call and outcomes copied back; atol is rtol / 1000.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/backends/cuda.hpp>
#include <eddy/eddy.hpp>
#include <string>
#include <vector>

#include "support/equations.hpp"

namespace {

using support::Lorenz;

struct Norm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

/// y0 = (1, 0, 0), ρ from 0 to 21 over the lanes; and room for results.
template <class Real>
class Lanes {
  public:
    explicit Lanes(std::ptrdiff_t count) : count_(count) {
        std::vector<Real> values(static_cast<std::size_t>(13 * count), Real(0));
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            const auto at = [&](std::ptrdiff_t column) -> Real& {
                return values[static_cast<std::size_t>(column * count + lane)];
            };
            at(0) = 1, at(3) = 10, at(5) = Real(8. / 3);
            at(4) = static_cast<Real>(21. * static_cast<double>(lane) / static_cast<double>(count));
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

/// The median of eleven calls after two, in milliseconds.
template <class Call>
double milliseconds(const Call& call) {
    std::vector<double> times;
    for (int i = -2; i < 11; ++i) {
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - start;
        if (i >= 0) times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void row(const std::string& what, double time, const char* goal) {
    std::printf("| %s | %.3f | %s |\n", what.c_str(), time, goal);
    std::fflush(stdout);
}

template <class Real>
void fixed(std::ptrdiff_t count, const char* goal) {
    const Lanes<Real> lanes(count);
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, {.t1 = 1, .dt0 = 1e-3},
                                        eddy::ConstantController{}, eddy::Cuda{});
    const double time =
        milliseconds([&] { static_cast<void>(solver(lanes.y0(), lanes.p(), lanes.solution())); });
    row(std::string("1,000 fixed steps, ") + (sizeof(Real) == 4 ? "fp32, " : "fp64, ") +
            std::to_string(count) + " lanes",
        time, goal);
}

void adaptive(std::ptrdiff_t count, double rtol, const char* goal) {
    const Lanes<double> lanes(count);
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{},
                                        {.t1 = 1, .rtol = rtol, .atol = rtol / 1000}, eddy::Cuda{});
    const double time =
        milliseconds([&] { static_cast<void>(solver(lanes.y0(), lanes.p(), lanes.solution())); });
    row("adaptive, rtol " + std::to_string(rtol) + ", fp64, " + std::to_string(count) + " lanes",
        time, goal);
}

void gradient(std::ptrdiff_t count, const char* goal) {
    const Lanes<double> lanes(count);
    auto solver = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{},
                                        {.t1 = 1, .rtol = 1e-6, .atol = 1e-9}, eddy::Cuda{});
    const double time =
        milliseconds([&] { static_cast<void>(solver(lanes.y0(), lanes.p(), lanes.gradient())); });
    row("gradient, adaptive, rtol 1e-6, fp64, " + std::to_string(count) + " lanes", time, goal);
}

void gradient_of_fixed(std::ptrdiff_t count, const char* goal) {
    const Lanes<float> lanes(count);
    auto solver =
        eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{},
                              {.t1 = 1, .dt0 = 1e-3, .memory_budget = std::size_t{1} << 30},
                              eddy::ConstantController{}, eddy::Cuda{});
    const double time =
        milliseconds([&] { static_cast<void>(solver(lanes.y0(), lanes.p(), lanes.gradient())); });
    row("gradient of 1,000 fixed steps, fp32, within 1 GiB, " + std::to_string(count) + " lanes",
        time, goal);
}

}  // namespace

int main() try {
    cudaDeviceProp device{};
    eddy::cuda_check(cudaGetDeviceProperties(&device, 0));
    int driver = 0, runtime = 0;
    eddy::cuda_check(cudaDriverGetVersion(&driver));
    eddy::cuda_check(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, %d processors, %.0f GiB, CUDA %d.%d, driver for %d.%d\n\n", device.name,
                device.multiProcessorCount, static_cast<double>(device.totalGlobalMem) / (1 << 30),
                runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    std::printf("| Lorenz, Tsit5 | ms | goal on an H200, ms |\n| --- | --- | --- |\n");
    fixed<float>(1 << 20, "3.45");
    fixed<double>(1 << 20, "6.9");
    fixed<float>(1024, "0.08");
    adaptive(1 << 19, 1e-8, "0.75");
    gradient(1 << 15, "0.10");
    gradient_of_fixed(1 << 20, "15");
    return 0;
} catch (const eddy::CudaError& error) {
    std::printf("skipped: %s\n", error.what());
    return 4;
}
