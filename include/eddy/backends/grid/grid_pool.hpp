#pragma once
// The device memory of a solver object. Calls take their pieces in the same order, so that a second
// call on arrays of the same shape finds each of them where it was, and allocates nothing.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/runtime.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Through which the host and a running kernel tell each other: memory that both reach.
struct GridMailbox {
    int cancelled = 0;                                        // written by the host
    std::int64_t lanes_done = 0, accepted = 0, rejected = 0;  // and by the device
};

template <class Runtime>
class GridPool {
  public:
    GridPool() = default;
    GridPool(const GridPool&) noexcept {}
    GridPool(GridPool&& other) noexcept { swap(other); }
    GridPool& operator=(GridPool other) noexcept {
        swap(other);
        return *this;
    }
    ~GridPool() { clear(); }

    /// Everything lies on this device from now on.
    void use(int device) {
        if (device == device_) return;
        clear();
        device_ = device;
    }
    /// Pieces are handed out from the first one on.
    void begin_call() { num_taken_ = bytes_taken_ = 0; }

    /// The next piece, of at least so many bytes. CudaError where there are no more.
    [[nodiscard]] void* take(std::size_t num_bytes) {
        if (num_taken_ == pieces_.size()) pieces_.emplace_back();
        require_bytes(pieces_[num_taken_], num_bytes);
        bytes_taken_ += num_bytes;
        return pieces_[num_taken_++].first;
    }
    /// One that stays the same between calls, for the table of a placement.
    [[nodiscard]] void* table(std::size_t num_bytes) {
        require_bytes(table_, num_bytes);
        return table_.first;
    }
    /// `count` numbers that are zero: every kernel leaves them so.
    template <class Number>
    [[nodiscard]] Number* zeros(std::ptrdiff_t count, typename Runtime::Stream stream) {
        const std::size_t num_bytes = static_cast<std::size_t>(count) * sizeof(Number);
        if (zeros_.first == nullptr || zeros_.num_bytes < num_bytes) {
            require_bytes(zeros_, num_bytes);
            const std::vector<std::byte> zero(num_bytes);
            require_done<Runtime>(Runtime::copy(zeros_.first, zero.data(), num_bytes, stream),
                                  "copying to the device");
        }
        return static_cast<Number*>(zeros_.first);
    }
    struct Mailbox {
        GridMailbox* here;
        GridMailbox* there;  // as kernels know it
    };
    [[nodiscard]] Mailbox mailbox() {
        if (mailbox_here_ == nullptr)
            require_done<Runtime>(
                Runtime::allocate_mapped(mailbox_here_, mailbox_there_, sizeof(GridMailbox)),
                "allocating memory that host and device share");
        auto* const here = ::new (mailbox_here_) GridMailbox;
        return {here, static_cast<GridMailbox*>(mailbox_there_)};
    }
    /// Bytes that were free before anything was taken, and what this has of them.
    [[nodiscard]] std::size_t bytes_free_at_first() {
        if (free_at_first_ == 0) {
            std::size_t in_all = 0;
            require_done<Runtime>(Runtime::memory_of_device(free_at_first_, in_all),
                                  "asking for free memory");
        }
        return free_at_first_;
    }

  private:
    struct Piece {
        void* first = nullptr;
        std::size_t num_bytes = 0;
    };

    void require_bytes(Piece& piece, std::size_t num_bytes) {
        if (piece.num_bytes >= num_bytes && piece.first != nullptr) return;
        if (piece.first) Runtime::release(piece.first);
        piece = {};
        constexpr int no_memory = 2;
        const int code = Runtime::allocate(piece.first, num_bytes);
        if (code == no_memory) throw_no_memory(num_bytes);
        require_done<Runtime>(code, "allocating memory");
        piece.num_bytes = num_bytes;
    }
    [[noreturn]] void throw_no_memory(std::size_t num_bytes) const {
        std::size_t num_free = 0, in_all = 0;
        static_cast<void>(Runtime::memory_of_device(num_free, in_all));
        throw CudaError("Cuda: " + std::to_string(num_bytes) + " bytes of " + Runtime::memory_name +
                        " are needed besides the " + std::to_string(bytes_taken_) +
                        " that this call has, but " + std::to_string(num_free) + " of " +
                        std::to_string(in_all) +
                        " are free; give fewer lanes or save points a call, or a smaller "
                        ".memory_budget");
    }
    void clear() noexcept {
        for (Piece* piece : {&table_, &zeros_}) {
            if (piece->first) Runtime::release(piece->first);
            *piece = {};
        }
        for (const Piece& piece : pieces_) {
            if (piece.first) Runtime::release(piece.first);
        }
        pieces_.clear();
        if (mailbox_here_) Runtime::release_mapped(mailbox_here_);
        mailbox_here_ = mailbox_there_ = nullptr;
        free_at_first_ = 0;
    }
    void swap(GridPool& other) noexcept {
        std::swap(pieces_, other.pieces_);
        std::swap(table_, other.table_);
        std::swap(zeros_, other.zeros_);
        std::swap(mailbox_here_, other.mailbox_here_);
        std::swap(mailbox_there_, other.mailbox_there_);
        std::swap(num_taken_, other.num_taken_);
        std::swap(bytes_taken_, other.bytes_taken_);
        std::swap(free_at_first_, other.free_at_first_);
        std::swap(device_, other.device_);
    }

    std::vector<Piece> pieces_;
    Piece table_, zeros_;
    void *mailbox_here_ = nullptr, *mailbox_there_ = nullptr;
    std::size_t num_taken_ = 0, bytes_taken_ = 0, free_at_first_ = 0;
    int device_ = -1;
};

}  // namespace eddy::inline v0::detail
