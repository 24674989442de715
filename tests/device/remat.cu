// Both halves of a program with nested remat on the device: barriers take no memory operand, and
// recomputation neither spills nor needs a stack.
#include <eddy/ad/linearize.hpp>
#include <eddy/trace/field.hpp>

/// x·(1 − x) applied `length` times, halves remat'ed.
template <int length>
struct HalvedChain {
    constexpr auto operator()(const auto& x) const {
        if constexpr (length == 1) {
            return x * (1 - x);
        } else {
            constexpr auto half = eddy::remat(HalvedChain<length / 2>{});
            return half(half(x));
        }
    }
};

constexpr auto program = eddy::trace<eddy::Scalar>(HalvedChain<8>{});
using Chain = decltype(eddy::differentiable(program, eddy::nothing_saveable));

template <class Real>
__global__ void remat_kernel(Real* x, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane < num_lanes) x[lane] = Chain{}.linearize(x[lane]).pullback(Real(1));
}

template __global__ void remat_kernel(float*, int);
template __global__ void remat_kernel(double*, int);
