// The kernel of Cuda that wants the most of a state that no thread can hold in registers: it compiles in half a minute,
// because vectors stay loops and the field is one function. (Unrolled, it took nvcc a quarter of an hour and more.)
#include <eddy/backends/cuda/warp.hpp>
#include <eddy/backends/grid/grid_call.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "support/equations.hpp"

namespace wide {

using namespace eddy::detail;

struct HalfSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return 0.5 * eddy::dot(r, r);
    }
};
using Field = support::Pleiades;
using Spec = SolveSpec<Field, eddy::Tsit5, eddy::PIDController, double, false>;
using GradientWork = GroupWork<
    GradientKernel<Spec, LossTermOf<Field, HalfSquares>, LossSeeds<Spec>, GridStores, false>,
    CudaWarp>;

__global__ void __launch_bounds__(threads_per_warp, GradientWork::warps_per_processor)
    wide_gradient_kernel(const __grid_constant__ GradientWork work) {
    work(CudaWarp{});
}

}  // namespace wide
