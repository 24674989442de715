#pragma once
// Messages by MPI between arrays in the memory of devices, where the MPI takes such memory (CUDA-aware). Needs mpi.h.
// Test: tests/mpi/ranks.cpp

#include <mpi.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

#include <cstdint>
#include <eddy/backends/mpi/mpi_wire.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Does the MPI of this run say that it takes memory of CUDA devices?
[[nodiscard]] inline bool mpi_takes_device_memory() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

/// A link of DeviceRows: what it sends must be there.
class MpiLink {
  public:
    static constexpr bool follows_stream = false;
    static constexpr int first_tag = MpiWire::tag + 1, num_tags = 4096;

    explicit MpiLink(MPI_Comm comm) : comm_(comm) {}

    [[nodiscard]] static bool is_unordered() { return false; }
    /// Each call has a tag: what a call has left that was stopped, nobody takes.
    void begin_call(std::int64_t number) { tag_ = first_tag + static_cast<int>(number % num_tags); }
    static void begin() {}
    template <class Stream>
    void send(int to, const double* row, std::int64_t count, Stream) {
        mpi_check(MPI_Isend(row, static_cast<int>(count), MPI_DOUBLE, to, tag_, comm_, &next()),
                  "MPI_Isend");
    }
    template <class Stream>
    void receive(int from, double* row, std::int64_t count, Stream) {
        mpi_check(MPI_Irecv(row, static_cast<int>(count), MPI_DOUBLE, from, tag_, comm_, &next()),
                  "MPI_Irecv");
    }
    template <class Stream>
    static void add_over_all(double*, std::int64_t, Stream) {}
    static void end() {}
    [[nodiscard]] bool is_done() {
        int is_done = 1;
        mpi_check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &is_done,
                              MPI_STATUSES_IGNORE),
                  "MPI_Testall");
        if (is_done) requests_.clear();
        return is_done != 0;
    }
    void abort() noexcept {
        for (MPI_Request& request : requests_) {
            if (request == MPI_REQUEST_NULL) continue;
            static_cast<void>(MPI_Cancel(&request));
            static_cast<void>(MPI_Request_free(&request));
        }
        requests_.clear();
    }

  private:
    [[nodiscard]] MPI_Request& next() { return requests_.emplace_back(MPI_REQUEST_NULL); }

    MPI_Comm comm_;
    int tag_ = first_tag;
    std::vector<MPI_Request> requests_;  // under way
};

}  // namespace eddy::inline v0::detail
