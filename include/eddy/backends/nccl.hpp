#pragma once
// Several GPUs of one machine, without MPI: each is a rank, a thread of this process with trajectories of its own.
// Sums over all go from GPU to GPU by NCCL, and are added there. Link eddy::nccl; for sources that nvcc compiles.
// How: docs/design/many_machines.md.
// Test: tests/device/cuda_nccl.cu, tests/device/nccl_ranks.cu

#include <eddy/backends/cuda.hpp>
#include <eddy/backends/nccl/nccl_link.hpp>
#include <eddy/solve/ranks/gathered.hpp>
#include <eddy/solve/ranks/local_ranks.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>
#include <eddy/solve/ranks/stealing.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {

/// How GPUs share a call.
struct DeviceSharing {
    /// Sums in whatever order NCCL adds the fastest: its last bits depend on the number of GPUs.
    bool unordered = false;
    /// Seconds without a sign of life from a rank after which the call ends on the others.
    double time_out = 300;
};

/// The backend of one GPU among several, made by on_each_device.
struct Nccl {
    struct backend_tag {};

    Cuda inner{};                                ///< the GPU of this rank
    std::shared_ptr<detail::RankGroup> group{};  ///< all of them; from on_each_device

    [[nodiscard]] int rank() const { return group->rank(); }
    [[nodiscard]] int num_ranks() const { return group->num_ranks(); }
    /// The ranks, for the solver object.
    [[nodiscard]] detail::RankLink ranks() const { return detail::RankLink(group); }
};

/// Calls work(backend) for each of these GPUs in a thread of its own, in which it is the current device, and waits for all.
/// Calls with this backend are calls of all ranks, as with `Mpi`: each gives its trajectories, and totals and
/// gradients of shared parameters are over all, with the bits of one GPU. What a rank throws ends the call on all, and
/// is thrown.
///
///     eddy::on_each_device({0, 1, 2, 3}, [&](const eddy::Nccl& gpu) {
///         const auto [first, count] = eddy::rank_rows(gpu, y0.rows());
///         auto result = eddy::value_and_gradient(field, method, loss, data, rows_of(y0, first, count),
///                                               eddy::shared(p), options, gpu);
///     });
template <class Work>
void on_each_device(const std::vector<int>& devices, const Work& work,
                    const DeviceSharing& options = {}) {
    require_argument(!devices.empty() && options.time_out > 0,
                     "on_each_device: {} devices, time_out = {}; give a device at least, and a "
                     "positive number of seconds",
                     devices.size(), options.time_out);
    for (const int device : devices) Cuda{.device = device}.require_valid("on_each_device");
    const auto comms = detail::nccl_comms(devices);
    detail::run_local_ranks(
        static_cast<int>(devices.size()), [&](const std::shared_ptr<detail::RankGroup>& group) {
            const auto rank = static_cast<std::size_t>(group->rank());
            const Nccl backend{{.device = devices[rank]}, group};
            cuda_check(cudaSetDevice(devices[rank]));
            group->set_time_out(options.time_out);
            group->set_carrier(
                backend.inner.rows_by(detail::NcclLink(comms[rank], options.unordered)));
            detail::work_together(*group, [&] { work(backend); });
        });
}

}  // namespace eddy::inline v0
