#pragma once
// Rows from GPU to GPU by NCCL, in the order of a stream. For sources that nvcc compiles.
// Test: tests/device/cuda_nccl.cu

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/message.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

inline void nccl_check(ncclResult_t code, const char* call) {
    if (code == ncclSuccess || code == ncclInProgress) return;
    throw RankError(-1, compose("{}: {}", call, ncclGetErrorString(code)));
}

/// The communicator of one device.
class NcclComm {
  public:
    explicit NcclComm(ncclComm_t comm) : comm_(comm) {}
    ~NcclComm() {
        if (comm_) static_cast<void>(ncclCommDestroy(comm_));
    }
    NcclComm(const NcclComm&) = delete;
    NcclComm& operator=(const NcclComm&) = delete;

    [[nodiscard]] ncclComm_t get() const {
        if (!comm_)
            throw RankError(-1,
                            "NCCL: a call that failed on its way has ended the communicator; call "
                            "on_each_device anew");
        return comm_;
    }
    void abort() noexcept {
        if (comm_) static_cast<void>(ncclCommAbort(std::exchange(comm_, nullptr)));
    }

  private:
    ncclComm_t comm_;
};

/// A communicator for each of the devices, of this process.
[[nodiscard]] inline std::vector<std::shared_ptr<NcclComm>> nccl_comms(
    const std::vector<int>& devices) {
    std::vector<ncclComm_t> made(devices.size());
    nccl_check(ncclCommInitAll(made.data(), static_cast<int>(devices.size()), devices.data()),
               "ncclCommInitAll");
    std::vector<std::shared_ptr<NcclComm>> comms;
    for (const ncclComm_t comm : made) comms.push_back(std::make_shared<NcclComm>(comm));
    return comms;
}

/// A link of DeviceRows.
class NcclLink {
  public:
    static constexpr bool follows_stream = true;

    NcclLink(std::shared_ptr<NcclComm> comm, bool is_unordered)
        : comm_(std::move(comm)), is_unordered_(is_unordered) {}

    [[nodiscard]] bool is_unordered() const { return is_unordered_; }
    void begin_call(std::int64_t) const { static_cast<void>(comm_->get()); }
    static void begin() { nccl_check(ncclGroupStart(), "ncclGroupStart"); }
    void send(int to, const double* row, std::int64_t count, cudaStream_t stream) {
        nccl_check(
            ncclSend(row, static_cast<std::size_t>(count), ncclDouble, to, comm_->get(), stream),
            "ncclSend");
    }
    void receive(int from, double* row, std::int64_t count, cudaStream_t stream) {
        nccl_check(
            ncclRecv(row, static_cast<std::size_t>(count), ncclDouble, from, comm_->get(), stream),
            "ncclRecv");
    }
    void add_over_all(double* row, std::int64_t count, cudaStream_t stream) {
        nccl_check(ncclAllReduce(row, row, static_cast<std::size_t>(count), ncclDouble, ncclSum,
                                 comm_->get(), stream),
                   "ncclAllReduce");
    }
    static void end() { nccl_check(ncclGroupEnd(), "ncclGroupEnd"); }
    /// The stream says so; here is only said what has failed.
    [[nodiscard]] bool is_done() {
        ncclResult_t state = ncclSuccess;
        nccl_check(ncclCommGetAsyncError(comm_->get(), &state), "ncclCommGetAsyncError");
        nccl_check(state, "NCCL");
        return state == ncclSuccess;
    }
    void abort() noexcept { comm_->abort(); }

  private:
    std::shared_ptr<NcclComm> comm_;
    bool is_unordered_;
};

}  // namespace eddy::inline v0::detail
