// What a second solve of marked lanes runs on a device beside the kernel of the gradient itself: the search for steps that
// carry derivatives, in dual numbers.
#include "device/group_kernels.hpp"

namespace second_solve {

using namespace eddy::detail;
using Spec =
    SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, eddy::Dual<double>, false>;
using StepsWork = GroupWork<SolveKernel<Spec, NoObservable, StepArrays<double, true>>, CudaWarp>;

// As run_in_each_warp, by names that limits can be told of.
__global__ void __launch_bounds__(threads_per_warp, StepsWork::warps_per_processor)
    steps_kernel(const __grid_constant__ StepsWork work) {
    work(CudaWarp{});
}

}  // namespace second_solve
