// The kernels of Cuda for steps of constant size, forward and, in single precision, back: they compile for a
// device, and their rounds are counted.
#include <eddy/steppers/controller/constant.hpp>

#include "device/group_kernels.hpp"

namespace group_kernels {

template <class Real>
using FixedSpec = SolveSpec<support::Lorenz, eddy::Tsit5, eddy::ConstantController, Real, false>;
template <class Real>
using FixedGradientWork =
    GroupWork<GradientKernel<FixedSpec<Real>, LossTermOf<support::Lorenz, HalfSquares>,
                             LossSeeds<FixedSpec<Real>>, GridStores, false>,
              CudaWarp>;
template <class Real>
using FixedSolveWork =
    GroupWork<SolveKernel<FixedSpec<Real>, StateObservable<support::Lorenz>, StepArrays<Real>>,
              CudaWarp>;

template <class Real>
__global__ void __launch_bounds__(threads_per_warp, FixedGradientWork<Real>::warps_per_processor)
    fixed_gradient_kernel(const __grid_constant__ FixedGradientWork<Real> work) {
    work(CudaWarp{});
}
template <class Real>
__global__ void __launch_bounds__(threads_per_warp, FixedSolveWork<Real>::warps_per_processor)
    fixed_solve_kernel(const __grid_constant__ FixedSolveWork<Real> work) {
    work(CudaWarp{});
}

template __global__ void fixed_solve_kernel<float>(const __grid_constant__ FixedSolveWork<float>);
template __global__ void fixed_solve_kernel<double>(const __grid_constant__ FixedSolveWork<double>);
template __global__ void fixed_gradient_kernel<float>(
    const __grid_constant__ FixedGradientWork<float>);

}  // namespace group_kernels
