#pragma once
// The kernels of Cuda that their tests compile, for one equation: a solve, and a gradient. Without its runtime, for which nvcc
// reads Thrust.

#include <eddy/backends/cuda/warp.hpp>
#include <eddy/backends/grid/grid_call.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "support/equations.hpp"

namespace group_kernels {

using namespace eddy::detail;

struct HalfSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return 0.5 * eddy::dot(r, r);
    }
};

template <class Real>
using Spec = SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, Real, false>;
template <class Of>
using GradientWorkOf = GroupWork<GradientKernel<Of, LossTermOf<typename Of::Field, HalfSquares>,
                                                LossSeeds<Of>, GridStores, false>,
                                 CudaWarp>;
template <class Of>
using SolveWorkOf =
    GroupWork<SolveKernel<Of, StateObservable<typename Of::Field>, StepArrays<typename Of::Scalar>>,
              CudaWarp>;
template <class Real>
using GradientWork = GradientWorkOf<Spec<Real>>;
template <class Real>
using SolveWork = SolveWorkOf<Spec<Real>>;

// As run_in_each_warp, by names that limits can be told of.
template <class Real>
__global__ void __launch_bounds__(threads_per_warp, GradientWork<Real>::warps_per_processor)
    gradient_kernel(const __grid_constant__ GradientWork<Real> work) {
    work(CudaWarp{});
}
template <class Real>
__global__ void __launch_bounds__(threads_per_warp, SolveWork<Real>::warps_per_processor)
    solve_kernel(const __grid_constant__ SolveWork<Real> work) {
    work(CudaWarp{});
}

}  // namespace group_kernels
