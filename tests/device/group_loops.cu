// The kernels of Cuda with one lane a thread, forward and back: they compile for a device, within
// registers that let three blocks of 128 threads live on a processor, five of them in single
// precision. The stack holds what calls off the hot path have the address of: the group, and copies of
// the state that they are given (docs/design/solving.md).
#include <eddy/backends/cuda.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "support/equations.hpp"

namespace {

using namespace eddy::detail;

struct HalfSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return 0.5 * eddy::dot(r, r);
    }
};

template <class Real>
using Spec = SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, Real, false>;
template <class Real>
using GradientWork = GroupWork<GradientKernel<Spec<Real>, LossTermOf<support::Lorenz, HalfSquares>,
                                              LossSeeds<Spec<Real>>, GridStores, false>,
                               CudaWarp>;
template <class Real>
using SolveWork =
    GroupWork<SolveKernel<Spec<Real>, StateObservable<support::Lorenz>, StepArrays<Real>>,
              CudaWarp>;

}  // namespace

// As run_in_each_warp, by names that limits can be told of.
template <class Real>
__global__ void __launch_bounds__(threads_per_warp, GradientWork<Real>::warps_per_processor)
    gradient_kernel(const __grid_constant__ GradientWork<Real> work) {
    work(CudaWarp{});
}
template __global__ void gradient_kernel<float>(const __grid_constant__ GradientWork<float>);
template __global__ void gradient_kernel<double>(const __grid_constant__ GradientWork<double>);

template <class Real>
__global__ void __launch_bounds__(threads_per_warp, SolveWork<Real>::warps_per_processor)
    solve_kernel(const __grid_constant__ SolveWork<Real> work) {
    work(CudaWarp{});
}
template __global__ void solve_kernel<float>(const __grid_constant__ SolveWork<float>);
template __global__ void solve_kernel<double>(const __grid_constant__ SolveWork<double>);
