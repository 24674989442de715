// The whole group loops, forward and back, with one lane a thread: they compile for a device, within
// registers that let three blocks of 128 threads live on a processor, five of them in single
// precision. The stack holds what calls off the hot path have the address of: the group, and copies of
// the state that they are given (docs/design/solving.md).
#include <eddy/checkpoint/placement_view.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include <type_traits>

#include "support/equations.hpp"

namespace {

using namespace eddy::detail;

/// A warp as a team.
class CudaWarp {
  public:
    static constexpr int num_chains = 1, num_members = 32;
    EDDY_HD CudaWarp(std::ptrdiff_t first_lane, std::int32_t num_lanes, const int* cancelled)
        : first_lane_(first_lane), num_lanes_(num_lanes), cancelled_(cancelled) {}

#if defined(__CUDA_ARCH__)
    __device__ int member() const { return static_cast<int>(threadIdx.x % 32); }
    __device__ bool any(bool flag) const { return __any_sync(all, flag) != 0; }
    __device__ std::int64_t max(std::int64_t x) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return a < b ? b : a; });
    }
    __device__ std::int64_t min(std::int64_t x) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return b < a ? b : a; });
    }
    __device__ std::int64_t sum(std::int64_t x) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    __device__ std::int64_t from_first(std::int64_t x) const { return __shfl_sync(all, x, 0); }
    __device__ void sync() const { __syncwarp(); }
    __device__ std::int32_t take_lane(bool wants) {
        const unsigned who = __ballot_sync(all, wants);
        const std::int32_t lane = num_taken_ + __popc(who & ((1u << member()) - 1));
        const bool has_one = wants && lane < num_lanes_;
        num_taken_ = eddy::min(num_lanes_, num_taken_ + __popc(who));
        return has_one ? lane : no_lane;
    }
#else
    int member() const { return 0; }  // never called: kernels alone have warps
    bool any(bool flag) const { return flag; }
    std::int64_t max(std::int64_t x) const { return x; }
    std::int64_t min(std::int64_t x) const { return x; }
    std::int64_t sum(std::int64_t x) const { return x; }
    std::int64_t from_first(std::int64_t x) const { return x; }
    void sync() const {}
    std::int32_t take_lane(bool) { return no_lane; }
#endif
    EDDY_HD std::ptrdiff_t first_lane() const { return first_lane_; }
    EDDY_HD std::int32_t num_lanes() const { return num_lanes_; }
    EDDY_HD std::int32_t num_taken() const { return num_taken_; }
    EDDY_HD void ended(const eddy::LaneOutcome&) const {}
    EDDY_HD bool is_cancelled() const { return *cancelled_ != 0; }
    EDDY_HD bool attend() const { return !is_cancelled(); }
    EDDY_HD static std::int64_t patience(std::int64_t) { return 256; }

  private:
    static constexpr unsigned all = 0xffffffff;
#if defined(__CUDA_ARCH__)
    template <class Combine>
    __device__ static std::int64_t reduce(std::int64_t x, Combine combine) {
        for (int distance = 16; distance > 0; distance /= 2)
            x = combine(x, __shfl_xor_sync(all, x, distance));
        return x;
    }
#endif
    std::ptrdiff_t first_lane_;
    std::int32_t num_lanes_, num_taken_ = 0;
    const int* cancelled_;
};

struct HalfSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return 0.5 * eddy::dot(r, r);
    }
};

template <class Real>
using Spec = SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, Real, false>;
template <class Real>
using Term = LossTermOf<support::Lorenz, HalfSquares>;
template <class Real>
using Recorder = GradientRecorder<Spec<Real>, Term<Real>, LossSeeds<Spec<Real>>>;

}  // namespace

/// What a launch hands to every warp.
template <class Real>
struct GradientCall {
    Problem<Spec<Real>> problem;
    LossSeeds<Spec<Real>> seeds;
    GradientTarget<Real> target;
    GradientPlan plan;
    std::byte* memory;
    std::ptrdiff_t bytes_per_warp;
    eddy::LaneOutcome* outcomes;
    const eddy::Placed* table;
    std::int64_t num_placed;
    std::int32_t lanes_per_warp;
    const int* cancelled;
};

template <class Real>
inline constexpr int blocks = std::is_same_v<Real, float> ? 5 : 3;  // that share a processor

template <class Real>
__global__ void __launch_bounds__(128, blocks<Real>)
    gradient_kernel(const __grid_constant__ GradientCall<Real> call) {
    const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    const std::ptrdiff_t first = std::ptrdiff_t{warp} * call.lanes_per_warp;
    CudaWarp team(first, call.lanes_per_warp, call.cancelled);
    Arena arena(call.memory + warp * call.bytes_per_warp);
    GradientMemory<Spec<Real>, CudaWarp> memory(arena, call.plan, team.member());
    const RecorderMemory<Spec<Real>> of_recorder(arena, call.plan.num_lanes,
                                                 call.problem.times.num_saves);
    memory.forward.outcomes = call.outcomes + first;
    Recorder<Real> recorder(call.problem, first, call.lanes_per_warp, call.seeds, call.target, {},
                            of_recorder);
    eddy::PlacementView stores(call.plan.checkpoints, call.table, call.num_placed);
    BackCost cost;
    GroupGradient<Spec<Real>, CudaWarp, Recorder<Real>, eddy::PlacementView, false>(
        team, call.problem, memory, recorder, stores)
        .run(cost);
}
template __global__ void gradient_kernel<float>(const __grid_constant__ GradientCall<float>);
template __global__ void gradient_kernel<double>(const __grid_constant__ GradientCall<double>);

template <class Real>
struct SolveCall {
    Problem<Spec<Real>> problem;
    ForwardMemory memory;
    SavedArrays<Real> saved;
    std::int32_t lanes_per_warp;
    const int* cancelled;
};

template <class Real>
__global__ void __launch_bounds__(128, blocks<Real>)
    solve_kernel(const __grid_constant__ SolveCall<Real> call) {
    const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    const std::ptrdiff_t first = std::ptrdiff_t{warp} * call.lanes_per_warp;
    CudaWarp team(first, call.lanes_per_warp, call.cancelled);
    const ForwardMemory memory{call.memory.first_sizes + first, call.memory.num_saved + first,
                               call.memory.outcomes + first};
    SolutionRecorder<Spec<Real>, StateObservable<support::Lorenz>> recorder(call.problem, first,
                                                                            call.saved, {});
    solve_group(team, call.problem, memory, recorder);
}
template __global__ void solve_kernel<float>(const __grid_constant__ SolveCall<float>);
template __global__ void solve_kernel<double>(const __grid_constant__ SolveCall<double>);
