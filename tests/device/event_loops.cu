// The kernels of Cuda for a field with events, of which none ends its lane, forward and back: they compile for
// devices of three generations. What an event needs is off the hot path, and takes registers from nobody.
#include "device/group_kernels.hpp"

namespace group_kernels {

/// A ball that is thrown back with p[1] of its speed; p[0] pulls it down.
struct Ball {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(0 * y[0], -p[1] * y[1]);
    }
};

using EventSpec = SolveSpec<Ball, eddy::Tsit5, eddy::PIDController, double, false>;
using EventGradientWork = GroupWork<GradientKernel<EventSpec, LossTermOf<Ball, HalfSquares>,
                                                   LossSeeds<EventSpec>, GridStores, false>,
                                    CudaWarp>;
using EventSolveWork =
    GroupWork<SolveKernel<EventSpec, StateObservable<Ball>, StepArrays<double>>, CudaWarp>;

__global__ void __launch_bounds__(threads_per_warp, EventGradientWork::warps_per_processor)
    event_gradient_kernel(const __grid_constant__ EventGradientWork work) {
    work(CudaWarp{});
}
__global__ void __launch_bounds__(threads_per_warp, EventSolveWork::warps_per_processor)
    event_solve_kernel(const __grid_constant__ EventSolveWork work) {
    work(CudaWarp{});
}

}  // namespace group_kernels
