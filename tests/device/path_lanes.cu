// What a call of many paths to a lane runs on a device beside the kernels of its paths: sums over runs of paths, and the
// lanes' means.
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler_maruyama.hpp>

#include "device/group_kernels.hpp"
#include "solve/path_cases.hpp"

namespace path_lanes {

using namespace eddy::detail;
using Spec =
    SolveSpec<path_cases::Pair, eddy::EulerMaruyama, eddy::ConstantController, double, true>;
using RunsWork = RunWork<RunSums<double>, GradientNumbers<Spec>, CudaWarp>;
using MeansWork = LanesOfPaths<PathLanes<Moments, SavedMeans<double>>, CudaWarp>;
using GradientsWork = LanesOfPaths<PathLanes<double, GradientMeans<Spec>>, CudaWarp>;

// As run_in_each_warp, by names that limits can be told of.
template <class Work>
__device__ void run(const Work& work) {
    work(CudaWarp{});
}
__global__ void __launch_bounds__(threads_per_warp, RunsWork::warps_per_processor)
    path_runs_kernel(const __grid_constant__ RunsWork work) {
    run(work);
}
__global__ void __launch_bounds__(threads_per_warp, MeansWork::warps_per_processor)
    path_means_kernel(const __grid_constant__ MeansWork work) {
    run(work);
}
__global__ void __launch_bounds__(threads_per_warp, GradientsWork::warps_per_processor)
    path_gradients_kernel(const __grid_constant__ GradientsWork work) {
    run(work);
}

}  // namespace path_lanes
