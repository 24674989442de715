// Single precision with time in pairs of floats: for devices whose double precision is slow, so that the rounds of a
// kernel must have next to none of it.
#include <eddy/core/float_float.hpp>

#include "device/group_kernels.hpp"

namespace float_time {

using namespace eddy::detail;

using Spec =
    SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, float, false, eddy::FloatFloat>;
using GradientWork = group_kernels::GradientWorkOf<Spec>;
using SolveWork = group_kernels::SolveWorkOf<Spec>;

__global__ void __launch_bounds__(threads_per_warp, GradientWork::warps_per_processor)
    gradient_kernel(const __grid_constant__ GradientWork work) {
    work(CudaWarp{});
}
__global__ void __launch_bounds__(threads_per_warp, SolveWork::warps_per_processor)
    solve_kernel(const __grid_constant__ SolveWork work) {
    work(CudaWarp{});
}

}  // namespace float_time
