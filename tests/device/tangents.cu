// The kernel of Cuda for a pushforward: what watches its tangents costs no place of its warps.
#include "device/group_kernels.hpp"

namespace group_kernels {

template <class Real>
using TangentWork = SolveWorkOf<
    SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, eddy::Dual<Real>, false>>;

template <class Real>
__global__ void __launch_bounds__(threads_per_warp, TangentWork<Real>::warps_per_processor)
    tangent_kernel(const __grid_constant__ TangentWork<Real> work) {
    work(CudaWarp{});
}
template __global__ void tangent_kernel<float>(const __grid_constant__ TangentWork<float>);
template __global__ void tangent_kernel<double>(const __grid_constant__ TangentWork<double>);

}  // namespace group_kernels
