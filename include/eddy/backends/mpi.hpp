#pragma once
// Many machines: the ranks of a communicator share the lanes of a call, and each solves its own by another backend.
// Link eddy::mpi. What ranks say to each other, and why sums keep their bits: docs/design/many_machines.md.
// Test: tests/mpi/ranks.cpp

#include <mpi.h>

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/mpi/mpi_link.hpp>
#include <eddy/backends/mpi/mpi_wire.hpp>
#include <eddy/backends/ranks/stealing.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ranks/gathered.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>
#include <eddy/solve/ranks/stealing.hpp>

namespace eddy::inline v0 {

/// A backend for the ranks of a communicator. Each rank gives its trajectories and gets their results; trajectories are
/// numbered in the order of the ranks. Totals and gradients of shared parameters are over all ranks, with the bits of
/// one machine. All ranks make the same calls; a failure on one ends the call on all.
///
///     auto [loss, gradient, report] = eddy::value_and_gradient(field, method, loss, data, my_y0,
///         eddy::shared(theta), options, eddy::Mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 8}});
template <class Inner = Cpu>
struct Mpi {
    struct backend_tag {};

    MPI_Comm comm = MPI_COMM_WORLD;  ///< the ranks; not used by two calls at a time
    Inner inner{};                   ///< the backend that solves the trajectories of this rank
    /// Seconds without a sign of life from a rank after which the call ends on the others, with its number.
    double time_out = 300;
    /// May sums over trajectories go from GPU to GPU, and be added there? Where MPI takes their memory (CUDA-aware), and
    /// inner is a Cuda; else they go by the host. The bits are the same.
    bool device_messages = true;
    /// Does a rank that has solved its trajectories take some of another's, which go there and back? Of Cpu, Tiles and
    /// Serial; alike on all ranks. The bits are the same.
    bool stealing = false;

    void require_valid(const char* where) const {
        require_argument(time_out > 0, "{}: Mpi.time_out = {}; give a positive number of seconds",
                         where, time_out);
        detail::require_possible_on(
            detail::Machine::ranks,
            detail::Features().with(detail::Feature::stealing_devices, stealing && !can_steal),
            where);
    }
    /// The ranks, for the solver object.
    [[nodiscard]] detail::RankLink ranks() const {
        require_valid("Mpi");
        auto group = detail::group_of(comm);
        group->set_time_out(time_out);
        if (!sends_from_devices())
            group->set_carrier(nullptr);
        else if constexpr (is_of_devices)
            if (!group->has_carrier()) group->set_carrier(inner.rows_by(detail::MpiLink(comm)));
        return detail::RankLink(std::move(group));
    }
    /// What computes on this rank.
    [[nodiscard]] auto computing() const {
        if constexpr (can_steal)
            return detail::Stealing<Inner>{inner, stealing};
        else
            return inner;
    }

  private:
    static constexpr bool can_steal = detail::LaunchesOnHost<Inner>;
    static constexpr bool is_of_devices = requires(const Inner& backend) {
        backend.rows_by(detail::MpiLink(MPI_COMM_NULL));
    };
    [[nodiscard]] bool sends_from_devices() const {
        if constexpr (is_of_devices)
            return device_messages && (Inner::is_on_the_host || detail::mpi_takes_device_memory());
        return false;
    }
};

Mpi(MPI_Comm)->Mpi<Cpu>;
template <class Inner>
Mpi(MPI_Comm, Inner) -> Mpi<Inner>;
template <class Inner>
Mpi(MPI_Comm, Inner, double) -> Mpi<Inner>;
template <class Inner>
Mpi(MPI_Comm, Inner, double, bool) -> Mpi<Inner>;
template <class Inner>
Mpi(MPI_Comm, Inner, double, bool, bool) -> Mpi<Inner>;

}  // namespace eddy::inline v0
