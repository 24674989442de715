// Loops of the language on the device: a while with its pullback, which keeps the state of each turn in local memory, or
// of eight by `checkpoints`; a root with its pullback, which keeps nothing.
#include <eddy/eddy.hpp>

#include "support/kepler.hpp"

namespace {

/// x ← x − h sin(p x) until it is small.
template <int checkpoints>
struct Decay {
    constexpr auto operator()(const auto& x, const auto& p) const {
        return eddy::bounded_while<1000>(
            x, [](const auto& z) { return abs(z) > 1e-3; },
            [&](const auto& z) { return z - 0.01 * sin(p * z); }, {.checkpoints = checkpoints});
    }
};
template <class Function>
using ProgramOf =
    std::remove_const_t<decltype(eddy::trace<eddy::Scalar, eddy::Scalar>(Function{}))>;
template <class Function>
using PullbackOf = std::remove_const_t<decltype(eddy::vjp(ProgramOf<Function>{}))>;

__device__ int lane_of_thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace

template <class Function, class Real>
__global__ void value_kernel(Real* out, const Real* x, const Real* p) {
    const int lane = lane_of_thread();
    eddy::evaluate<ProgramOf<Function>, Real>(
        [&]<int output>(int, const Real& value) { out[lane] = value; }, x[lane], p[lane]);
}
template <class Function, class Real>
__global__ void pullback_kernel(Real* out, const Real* x, const Real* p) {
    const int lane = lane_of_thread();
    eddy::evaluate<PullbackOf<Function>, Real>(
        [&]<int output>(int, const Real& value) { out[2 * lane + output] = value; }, x[lane],
        p[lane], Real(1));
}

template __global__ void value_kernel<support::KeplerByWhile<20>, double>(double*, const double*,
                                                                          const double*);
template __global__ void pullback_kernel<support::KeplerByWhile<20>, double>(double*, const double*,
                                                                             const double*);
template __global__ void pullback_kernel<support::KeplerByRoot, double>(double*, const double*,
                                                                        const double*);
template __global__ void pullback_kernel<Decay<0>, double>(double*, const double*, const double*);
template __global__ void pullback_kernel<Decay<8>, double>(double*, const double*, const double*);
template __global__ void pullback_kernel<Decay<8>, float>(float*, const float*, const float*);
