// The vocabulary of core compiles for the device, and its unrolled loops keep their arrays in
// registers.
#include <eddy/core/result.hpp>
#include <eddy/core/static_for.hpp>

// A lane program is host-and-device, so its lambdas are too; a lambda written in a kernel would be
// the device's alone.
EDDY_HD inline double lane_sum_of_squares(const double* x, int lane, int num_lanes) {
    double values[8];
    eddy::static_for<0, 8>([&]<int i>() { values[i] = x[i * num_lanes + lane]; });
    double sum = 0;
    eddy::static_for<0, 8>([&]<int i>() { sum += values[i] * values[i]; });
    return sum;
}

__global__ void sum_of_squares(const double* x, double* sums, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane < num_lanes) sums[lane] = lane_sum_of_squares(x, lane, num_lanes);
}

__global__ void combine_results(const eddy::Result* next, eddy::Result* results, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane < num_lanes) results[lane] = combine(results[lane], next[lane]);
}
