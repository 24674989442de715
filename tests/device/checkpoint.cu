// Schedule and placements are integer functions that a device can run: one thread plans for its
// lane or warp.
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/schedule.hpp>

__global__ void split_gap(const std::int64_t* length, std::int64_t slots, std::int64_t* distance) {
    const unsigned lane = threadIdx.x;
    distance[lane] = eddy::schedule::split(length[lane], slots);
}

template <class Placement>
__global__ void place_checkpoints(std::int64_t checkpoints, std::int64_t* workspace, int count,
                                  std::int64_t* steps) {
    Placement placement(checkpoints, workspace);
    for (int i = 0; i < count; ++i) steps[i] = placement.next().step;
}

template __global__ void place_checkpoints<eddy::CostGreedy>(std::int64_t, std::int64_t*, int,
                                                             std::int64_t*);
template __global__ void place_checkpoints<eddy::OnlineTreeverse>(std::int64_t, std::int64_t*, int,
                                                                  std::int64_t*);
