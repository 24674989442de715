#pragma once
// Messages by MPI, between the ranks of a communicator. Needs mpi.h: compiled by who uses it, against the MPI that is used.
// Test: tests/mpi/ranks.cpp

#include <mpi.h>

#include <eddy/core/error.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <list>
#include <memory>
#include <utility>

namespace eddy::inline v0::detail {

inline void mpi_check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw RankError(-1, compose("{}: {}", call, std::string_view(text)));
}

/// A wire on the communicator that the user has, with a tag of its own.
class MpiWire final : public RankWire {
  public:
    static constexpr int tag = 25'717;

    explicit MpiWire(MPI_Comm comm) : comm_(comm) {
        mpi_check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
        mpi_check(MPI_Comm_size(comm_, &num_ranks_), "MPI_Comm_size");
        mpi_check(MPI_Type_contiguous(block, MPI_BYTE, &blocks_), "MPI_Type_contiguous");
        mpi_check(MPI_Type_commit(&blocks_), "MPI_Type_commit");
    }
    ~MpiWire() override {
        int is_finalized = 0;
        MPI_Finalized(&is_finalized);
        if (!is_finalized) MPI_Type_free(&blocks_);
    }
    MpiWire(const MpiWire&) = delete;
    MpiWire& operator=(const MpiWire&) = delete;
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int num_ranks() const override { return num_ranks_; }

    void send(int to, Message message) override {
        reap();
        const auto size = static_cast<MPI_Count>(message.size());
        if (size > whole) message.resize((message.size() + block - 1) / block * block);
        Sent& sent = sent_.emplace_back(Sent{std::move(message), MPI_REQUEST_NULL});
        const auto [count, type] = parts_of(static_cast<MPI_Count>(sent.message.size()));
        mpi_check(MPI_Isend(sent.message.data(), count, type, to, tag, comm_, &sent.request),
                  "MPI_Isend");
    }
    [[nodiscard]] bool receive(int& from, Message& message) override {
        reap();
        int is_there = 0;
        MPI_Status status;
        mpi_check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &is_there, &status), "MPI_Iprobe");
        if (!is_there) return false;
        MPI_Count size = 0;
        mpi_check(MPI_Get_elements_x(&status, MPI_BYTE, &size), "MPI_Get_elements_x");
        from = status.MPI_SOURCE;
        message.resize(static_cast<std::size_t>(size));
        const auto [count, type] = parts_of(size);
        mpi_check(MPI_Recv(message.data(), count, type, from, tag, comm_, MPI_STATUS_IGNORE),
                  "MPI_Recv");
        return true;
    }

  private:
    // MPI counts in int. A longer message than `whole` bytes goes as blocks; nobody reads what lies behind its last number.
    static constexpr MPI_Count whole = 1 << 16;
    static constexpr int block = 4096;
    struct Parts {
        int count;
        MPI_Datatype type;
    };
    [[nodiscard]] Parts parts_of(MPI_Count size) const {
        if (size <= whole) return {static_cast<int>(size), MPI_BYTE};
        return {static_cast<int>(size / block), blocks_};
    }
    struct Sent {
        Message message;
        MPI_Request request;
    };
    /// Forgets what has gone.
    void reap() {
        for (auto sent = sent_.begin(); sent != sent_.end();) {
            int has_gone = 0;
            mpi_check(MPI_Test(&sent->request, &has_gone, MPI_STATUS_IGNORE), "MPI_Test");
            sent = has_gone ? sent_.erase(sent) : std::next(sent);
        }
    }

    MPI_Comm comm_;
    MPI_Datatype blocks_ = MPI_DATATYPE_NULL;
    int rank_ = 0, num_ranks_ = 1;
    std::list<Sent> sent_;  // under way
};

using GroupOfComm = std::shared_ptr<RankGroup>;

inline int forget_group(MPI_Comm, int, void* group, void*) {
    delete static_cast<GroupOfComm*>(group);
    return MPI_SUCCESS;
}

/// The ranks of a communicator, which keeps them until it is freed: they count its calls.
[[nodiscard]] inline GroupOfComm group_of(MPI_Comm comm) {
    int is_initialized = 0, is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    require_argument(is_initialized && !is_finalized,
                     "Mpi: called {} MPI_{}; call it between MPI_Init_thread and MPI_Finalize",
                     is_finalized ? "after" : "before", is_finalized ? "Finalize" : "Init");
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        mpi_check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_group, &made, nullptr),
                  "MPI_Comm_create_keyval");
        return made;
    }();
    void* kept = nullptr;
    int is_kept = 0;
    mpi_check(MPI_Comm_get_attr(comm, key, &kept, &is_kept), "MPI_Comm_get_attr");
    if (is_kept) return *static_cast<GroupOfComm*>(kept);
    auto group =
        std::make_unique<GroupOfComm>(std::make_shared<RankGroup>(std::make_unique<MpiWire>(comm)));
    mpi_check(MPI_Comm_set_attr(comm, key, group.get()), "MPI_Comm_set_attr");
    return *group.release();
}

}  // namespace eddy::inline v0::detail
