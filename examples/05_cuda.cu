// The same call on a GPU: ten thousand trajectories with Cuda{}, their arrays on the host; then the
// gradient, with everything large in the memory of the device, where the result stays as well.
#include <cmath>
#include <cstdio>
#include <eddy/backends/cuda.hpp>
#include <eddy/eddy.hpp>

struct Decay {  // dy/dt = -p y
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};
struct Square {  // the loss: y(t1)² = y0² exp(−2 p t1)
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

int main() try {
    constexpr int lanes = 10'000;
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-10, .atol = 1e-12};
    eddy::EnsembleArray<double> y0(lanes, 1, 1.0), p(lanes, 1);
    for (int lane = 0; lane < lanes; ++lane) p(lane, 0) = 0.1 + 1e-4 * lane;

    const auto solution = eddy::solve(Decay{}, eddy::Tsit5{}, y0, p, options, eddy::Cuda{});
    double error = 0;
    for (int lane = 0; lane < lanes; ++lane)
        error = std::fmax(error, std::abs(solution.y()(lane, 0) - std::exp(-2 * p(lane, 0))));

    double* there = nullptr;  // y0, p, and the gradient of p
    eddy::cuda_check(cudaMalloc(&there, 3 * lanes * sizeof(double)));
    eddy::cuda_check(cudaMemcpy(there, y0.data(), lanes * sizeof(double), cudaMemcpyDefault));
    eddy::cuda_check(
        cudaMemcpy(there + lanes, p.data(), lanes * sizeof(double), cudaMemcpyDefault));
    auto solver = eddy::gradient_solver(Decay{}, eddy::Tsit5{}, Square{}, options, eddy::Cuda{});
    const auto column = [&](int k) { return eddy::on_device(there + k * lanes, lanes, 1); };
    const auto& result = solver(column(0), column(1), eddy::GradientInto<double>{.p = column(2)});
    eddy::EnsembleArray<double> gradient(lanes, 1);
    eddy::cuda_check(
        cudaMemcpy(gradient.data(), there + 2 * lanes, lanes * sizeof(double), cudaMemcpyDefault));
    for (int lane = 0; lane < lanes; ++lane)
        error = std::fmax(error, std::abs(gradient(lane, 0) + 4 * std::exp(-4 * p(lane, 0))));
    eddy::cuda_check(cudaFree(there));

    std::printf("loss %g, largest error of states and gradients %.1e\n", result.loss.total, error);
    return error < 1e-8 ? 0 : 1;
} catch (const eddy::CudaError& error) {
    std::printf("not checked: %s\n", error.what());
    return 4;
}
