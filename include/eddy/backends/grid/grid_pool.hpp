#pragma once
// What a solver object keeps on one device: pieces of memory, each for a purpose, which a second call on
// arrays of the same shape finds large enough; a second stream; the table of a placement. A copy
// begins empty.

#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_stores.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Through which the host and a running kernel tell each other: memory that both reach.
struct GridMailbox {
    int cancelled = 0;                                        // written by the host
    std::int64_t lanes_done = 0, accepted = 0, rejected = 0;  // and by the device
};

/// `mirrors` of what a call owns on the host are two, for launches that follow each other.
enum class GridPiece { arenas, costs, mirrors, other_mirrors, table, flags, found };
inline constexpr std::size_t num_grid_pieces = 7;
using GridSizes = std::array<std::size_t, num_grid_pieces>;

template <class Runtime>
class GridPool {
    using Stream = typename Runtime::Stream;

  public:
    GridPool() = default;
    GridPool(const GridPool&) noexcept {}
    GridPool(GridPool&& other) noexcept { swap(other); }
    GridPool& operator=(GridPool other) noexcept {
        swap(other);
        return *this;
    }
    ~GridPool() { clear(); }

    /// Everything lies on this device from now on, which is the current one.
    void use(int device) {
        if (device == kept_.device) return;
        clear();
        kept_.device = device;
    }

    /// Room for pieces of so many bytes, zero where one is not wanted. CudaError where there is not
    /// enough.
    void reserve(const GridSizes& bytes) {
        for (std::size_t i = 0; i < num_grid_pieces; ++i) {
            Piece& piece = kept_.pieces[i];
            if (piece.num_bytes >= bytes[i]) continue;
            release(piece);
            constexpr int no_memory = 2;
            const int code = Runtime::allocate(piece.first, bytes[i]);
            if (code == no_memory) throw_no_memory(bytes);
            require_done<Runtime>(code, "allocating memory");
            piece.num_bytes = bytes[i];
        }
    }
    [[nodiscard]] void* first(GridPiece which) const { return piece(which).first; }
    [[nodiscard]] void* reserve(GridPiece which, std::size_t num_bytes) {
        GridSizes bytes{};
        bytes[static_cast<std::size_t>(which)] = num_bytes;
        reserve(bytes);
        return first(which);
    }
    /// `count` numbers that are zero: every kernel leaves them so.
    template <class Number>
    [[nodiscard]] Number* zeros(GridPiece which, std::ptrdiff_t count, Stream stream) {
        const std::size_t num_bytes = static_cast<std::size_t>(count) * sizeof(Number);
        if (piece(which).num_bytes < num_bytes) {
            void* const there = reserve(which, num_bytes);
            const std::vector<std::byte> zero(num_bytes);
            require_done<Runtime>(Runtime::copy(there, zero.data(), num_bytes, stream),
                                  "copying to the device");
            require_done<Runtime>(Runtime::synchronize(stream), "copying to the device");
        }
        return static_cast<Number*>(first(which));
    }

    struct Mailbox {
        GridMailbox* here;
        GridMailbox* there;  // as kernels know it
    };
    /// Empty; while a kernel runs there is none to be had.
    [[nodiscard]] Mailbox mailbox() {
        if (kept_.mailbox_here == nullptr)
            require_done<Runtime>(Runtime::allocate_mapped(kept_.mailbox_here, kept_.mailbox_there,
                                                           sizeof(GridMailbox)),
                                  "allocating memory that host and device share");
        auto* const here = ::new (kept_.mailbox_here) GridMailbox;
        return {here, static_cast<GridMailbox*>(kept_.mailbox_there)};
    }
    /// A stream besides the caller's.
    [[nodiscard]] Stream other_stream() {
        if (!kept_.has_stream)
            require_done<Runtime>(Runtime::make_stream(kept_.stream), "making a stream");
        kept_.has_stream = true;
        return kept_.stream;
    }
    /// The stores of a gradient's placement.
    [[nodiscard]] GridStores& stores() { return kept_.stores; }

    /// Bytes that were free before anything was taken.
    [[nodiscard]] std::size_t bytes_free_at_first() {
        if (kept_.free_at_first == 0) {
            std::size_t in_all = 0;
            require_done<Runtime>(Runtime::memory_of_device(kept_.free_at_first, in_all),
                                  "asking for free memory");
        }
        return kept_.free_at_first;
    }

  private:
    struct Piece {
        void* first = nullptr;
        std::size_t num_bytes = 0;
    };
    struct Kept {
        std::array<Piece, num_grid_pieces> pieces{};
        void *mailbox_here = nullptr, *mailbox_there = nullptr;
        Stream stream{};
        bool has_stream = false;
        GridStores stores;
        std::size_t free_at_first = 0;
        int device = -1;
    };

    [[nodiscard]] const Piece& piece(GridPiece which) const {
        return kept_.pieces[static_cast<std::size_t>(which)];
    }
    static void release(Piece& piece) {
        if (piece.first) Runtime::release(piece.first);
        piece = {};
    }
    [[noreturn]] void throw_no_memory(const GridSizes& wanted) const {
        std::size_t num_free = 0, in_all = 0, needed = 0, held = 0;
        static_cast<void>(Runtime::memory_of_device(num_free, in_all));
        for (const std::size_t bytes : wanted) needed += bytes;
        for (const Piece& piece : kept_.pieces) held += piece.num_bytes;
        throw CudaError("Cuda: this call needs " + std::to_string(needed) + " bytes of " +
                        Runtime::memory_name + ", of which its solver object has " +
                        std::to_string(held) + ", but " + std::to_string(num_free) + " of " +
                        std::to_string(in_all) +
                        " are free; give fewer lanes or save points a call, or a smaller "
                        ".memory_budget");
    }
    void clear() noexcept {
        for (Piece& piece : kept_.pieces) release(piece);
        if (kept_.mailbox_here) Runtime::release_mapped(kept_.mailbox_here);
        if (kept_.has_stream) Runtime::release_stream(kept_.stream);
        kept_ = {};
    }
    void swap(GridPool& other) noexcept { std::swap(kept_, other.kept_); }

    Kept kept_;
};

}  // namespace eddy::inline v0::detail
