// The first pass of an AutoSwitch on a device: the kernels of its first method, which look now and then whether stability
// bounds steps. The second pass has the kernels of the second method alone.
#include <eddy/solvers/rodas5p.hpp>
#include "device/group_kernels.hpp"

namespace auto_switch {

using namespace eddy::detail;
using Method = eddy::AutoSwitch<eddy::Tsit5, eddy::Rodas5P>;
using Field = support::Lorenz;
using Spec = SolveSpec<Field, Method, DefaultController<Field, Method>, double, false>;
using Solve = GroupWork<SolveKernel<Spec, StateObservable<Field>, StepArrays<double>>, CudaWarp>;
using Gradient = GroupWork<GradientKernel<Spec, LossTermOf<Field, group_kernels::HalfSquares>,
                                          LossSeeds<Spec>, GridStores, false>,
                           CudaWarp>;

// As run_in_each_warp, by names that limits can be told of.
__global__ void __launch_bounds__(threads_per_warp, Solve::warps_per_processor)
    switching_solve_kernel(const __grid_constant__ Solve work) {
    work(CudaWarp{});
}
__global__ void __launch_bounds__(threads_per_warp, Gradient::warps_per_processor)
    switching_gradient_kernel(const __grid_constant__ Gradient work) {
    work(CudaWarp{});
}

}  // namespace auto_switch
