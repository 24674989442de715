// The kernels of Cuda for a field with events, of which none ends its lane, forward and back: they compile for
// devices of three generations. What an event needs is off the hot path, and takes registers from nobody.
#include "device/group_kernels.hpp"
#include "solve/event_fields.hpp"
#include "solve/event_layouts.hpp"

namespace group_kernels {

using EventSpec = SolveSpec<events::Ball, eddy::Tsit5, eddy::PIDController, double, false>;
using EventGradientWork = GradientWorkOf<EventSpec>;
using EventSolveWork = SolveWorkOf<EventSpec>;

__global__ void __launch_bounds__(threads_per_warp, EventGradientWork::warps_per_processor)
    event_gradient_kernel(const __grid_constant__ EventGradientWork work) {
    work(CudaWarp{});
}
__global__ void __launch_bounds__(threads_per_warp, EventSolveWork::warps_per_processor)
    event_solve_kernel(const __grid_constant__ EventSolveWork work) {
    work(CudaWarp{});
}

}  // namespace group_kernels
