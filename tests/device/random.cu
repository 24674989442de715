// Noise on the device: Philox and its normals are integer arithmetic, explicit multiply-adds and an
// exact root, so that a thread has the bits of the host.
#include <eddy/core/random/normal.hpp>

__global__ void draw(float* z, eddy::PhiloxKey key, int num_threads) {
    const int path = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (path >= num_threads) return;
    const eddy::PhiloxWords<std::uint32_t> counter{{0, 0, static_cast<std::uint32_t>(path), 0}};
    const eddy::Normals<float> drawn = eddy::normals(eddy::philox(counter, key));
    for (int i = 0; i < 4; ++i) z[path + i * num_threads] = drawn.z[i];
}

/// Geometric Brownian motion by Euler and Maruyama, four steps to a block of words.
__global__ void geometric(double* y, eddy::PhiloxKey key, double growth, double volatility,
                          int num_steps, int num_threads) {
    const int path = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (path >= num_threads) return;
    double state = y[path];
    for (int step = 0; step < num_steps; step += 4) {
        const eddy::PhiloxWords<std::uint32_t> counter{
            {0, static_cast<std::uint32_t>(step / 4), static_cast<std::uint32_t>(path), 0}};
        const eddy::Normals<float> drawn = eddy::normals(eddy::philox(counter, key));
        for (int i = 0; i < 4; ++i)
            state = fma(state, fma(volatility, static_cast<double>(drawn.z[i]), growth), state);
    }
    y[path] = state;
}
