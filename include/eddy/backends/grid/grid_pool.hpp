#pragma once
// What a solver object keeps on one device: pieces of memory, each for a purpose, which a second call on
// arrays of the same shape finds large enough; a second stream; the table of a placement; the call that
// was left running. A copy begins empty.
// Invariant: what a graph has captured refers to memory that nobody else changes. Pieces that a captured
// call uses are set aside for it as soon as another call wants them otherwise.
// Test: tests/solve/grid_watch.cpp, tests/solve/asynchronous.cpp

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_stores.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/mirrors.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace eddy::inline v0::detail {

/// What kernels count where somebody watches.
struct GridCounts {
    std::int64_t lanes_done = 0, accepted = 0, rejected = 0;
};
/// Through which the host and running kernels tell each other (grid_watch.hpp): memory that both reach.
struct GridMailbox {
    std::int32_t cancelled = 0;  // written by the host
    // Written by the device:
    std::int32_t has_failed = 0;     // has any lane?
    std::int32_t has_marked = 0;     // is any lane to be solved once more?
    std::int32_t is_not_finite = 0;  // is a number that was given?
    GridCounts counts;
};
/// Numbers that kernels check in its place.
struct GridRelay {
    std::int32_t cancelled = 0;
    std::int64_t carried_at = 0;  // nanoseconds of the device
    GridCounts counts;
};

/// An array on the device whose numbers have to be finite, and what it is called in a message.
struct GridCheck {
    std::variant<EnsembleView<const double>, EnsembleView<const float>> numbers;
    ArrayName name;
    const char* where;
};

/// `mirrors` of what a call owns on the host are two, for launches that follow each other.
enum class GridPiece {
    arenas,
    costs,
    mirrors,
    other_mirrors,
    table,
    flags,
    num_done,
    order,
    relay,
    rows
};
inline constexpr std::size_t num_grid_pieces = 10;
struct GridSizes : std::array<std::size_t, num_grid_pieces> {
    using array::operator[];
    std::size_t& operator[](GridPiece piece) { return (*this)[static_cast<std::size_t>(piece)]; }
};

/// What decides where in the pieces a call keeps what: calls that agree in it leave to each other nothing but
/// room to write in.
struct GridImprint {
    const void* kernel = nullptr;  // stands for its type
    LaunchPlan plan;
    GridSizes bytes{};
    std::vector<std::byte> tables{};  // but for addresses in the pieces

    bool operator==(const GridImprint&) const = default;
};

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
        bool has_room = true;
        for (std::size_t i = 0; i < num_grid_pieces; ++i)
            has_room = has_room && kept_.pieces[i].num_bytes >= bytes[i];
        if (has_room) return;
        wait_for_work();
        for (std::size_t i = 0; i < num_grid_pieces; ++i) {
            Piece& piece = kept_.pieces[i];
            if (piece.num_bytes >= bytes[i]) continue;
            give_up(piece);
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
        bytes[which] = num_bytes;
        reserve(bytes);
        return first(which);
    }
    /// `count` numbers that are zero: every kernel leaves them so.
    template <class Number>
    [[nodiscard]] Number* zeros(GridPiece which, std::ptrdiff_t count, Stream stream) {
        const std::size_t num_bytes = static_cast<std::size_t>(count) * sizeof(Number);
        if (piece(which).num_bytes < num_bytes) {
            require_done<Runtime>(Runtime::clear(reserve(which, num_bytes), num_bytes, stream),
                                  "writing zeros");
        }
        return static_cast<Number*>(first(which));
    }

    struct Mailbox {
        GridMailbox* here;
        GridMailbox* there;  // as kernels know it
    };
    /// The mailbox of the last call, as it left it.
    [[nodiscard]] Mailbox mailbox() {
        if (kept_.mailbox_here == nullptr)
            require_done<Runtime>(Runtime::allocate_mapped(kept_.mailbox_here, kept_.mailbox_there,
                                                           sizeof(GridMailbox)),
                                  "allocating memory that host and device share");
        return {static_cast<GridMailbox*>(kept_.mailbox_here),
                static_cast<GridMailbox*>(kept_.mailbox_there)};
    }
    /// Brings tables to the beginning of one of the mirrors, unless they are there.
    void send_tables(GridPiece which, std::vector<std::byte>& tables, Stream stream) {
        std::vector<std::byte>& there =
            which == GridPiece::mirrors ? kept_.tables : kept_.other_tables;
        if (tables == there) return;
        there.swap(tables);
        if (there.empty()) return;
        const int code = Runtime::copy(first(which), there.data(), there.size(), stream);
        if (code != 0) there.clear();
        require_done<Runtime>(code, "copying to the device");
    }
    /// Was the address found to lie on this device by an earlier call?
    [[nodiscard]] bool knows(const void* address) const {
        return std::find(kept_.known.begin(), kept_.known.end(), address) != kept_.known.end();
    }
    void learn(const void* address) {
        constexpr std::size_t most = 64;
        if (kept_.known.size() == most) kept_.known.clear();
        kept_.known.push_back(address);
    }
    /// Arrays of the call at hand that its kernels check.
    [[nodiscard]] std::vector<GridCheck>& checks() { return kept_.checks; }

    /// Do calls of this division leave an order of their lanes, and has one done so? Not if nobody says so
    /// again, once it is at work.
    [[nodiscard]] bool takes_order_of(const LaunchPlan& plan) {
        const bool has_one = kept_.ordered.num_lanes == plan.num_lanes &&
                             kept_.ordered.group_size == plan.group_size;
        kept_.ordered = {};
        return has_one;
    }
    void has_order_of(const LaunchPlan& plan) { kept_.ordered = plan; }
    // Calls that graphs capture.

    /// Prepares for a call that returns early, before it takes its memory. If it is captured, nothing
    /// may be changed here; if another one was, what that uses is left to its graph.
    void begin_call(const GridImprint& imprint, Stream stream) {
        const bool is_like_the_last = imprint == kept_.imprint;
        kept_.imprint = {};
        if (!is_like_the_last) {
            require_no_capture(stream);
            for (std::size_t i = 0; i < num_grid_pieces; ++i) {
                if (i != static_cast<std::size_t>(GridPiece::table)) set_aside(kept_.pieces[i]);
            }
        } else if (is_capturing(stream)) {
            for (Piece& piece : kept_.pieces) piece.is_captured = true;
        }
    }
    /// Notes that a call has been put to work.
    void has_begun(const GridImprint& imprint) { kept_.imprint = imprint; }
    /// Sets the table of the placement aside before it is renewed.
    void set_table_aside(Stream stream) {
        require_no_capture(stream);
        set_aside(kept_.pieces[static_cast<std::size_t>(GridPiece::table)]);
    }

    // A call that was left running in its stream.

    /// When it is done, or when somebody asks, these come back. Of a call that is done it may be known that
    /// every lane reached its end.
    void leave_running(Stream stream, const std::vector<MirroredColumn>& columns,
                       bool all_succeeded) {
        kept_.flight.columns = columns;
        kept_.flight.stream = stream;
        kept_.flight.is_up = true;
        kept_.flight.all_succeeded = all_succeeded;
    }
    /// The addends of the last launch, which lie there, for who goes on with its call.
    void keep_addends(const std::vector<MirroredColumn>& addends) { kept_.addends = addends; }
    void bring_addends(Stream stream) {
        const DeviceInUse<Runtime> in_use(kept_.device);
        bring(kept_.addends, stream);
    }
    /// Brings rows whose number has become known.
    static void bring_rows(const std::vector<MirroredRows>& of_lanes, Stream stream) {
        for (const MirroredRows& rows : of_lanes) {
            const MirroredColumn all = rows.wanted();
            if (all.num_bytes > 0) bring({all}, stream);
        }
    }
    /// Has the last call here marked lanes that may be solved once more?
    [[nodiscard]] bool has_marked() const {
        return kept_.mailbox_here &&
               static_cast<const GridMailbox*>(kept_.mailbox_here)->has_marked != 0;
    }
    /// Is what may be added over the lanes of the gradient at hand added there, all of it?
    void adds_up(bool it_does) { kept_.adds_up = it_does; }
    [[nodiscard]] bool adds_up() const { return kept_.adds_up; }
    [[nodiscard]] bool has_left_something() const { return kept_.flight.is_up; }
    [[nodiscard]] bool all_succeeded() const { return kept_.flight.all_succeeded; }
    /// Waits for it, and brings what comes back.
    void land() {
        const DeviceInUse<Runtime> in_use(kept_.device);
        bring(kept_.flight.columns, kept_.flight.stream);
        kept_.flight.is_up = false;
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
        bool is_captured = false;  // a graph refers to it
    };
    struct Flight {
        Stream stream{};
        bool is_up = false, all_succeeded = false;
        std::vector<MirroredColumn> columns;
    };
    struct Kept {
        std::array<Piece, num_grid_pieces> pieces{};
        std::vector<Piece> of_graphs;  // set aside
        GridImprint imprint;           // of the last call that returned early
        void *mailbox_here = nullptr, *mailbox_there = nullptr;
        Stream stream{};
        bool has_stream = false;
        GridStores stores;
        std::vector<std::byte> tables, other_tables;  // at the beginning of the mirrors
        std::vector<const void*> known;
        std::vector<GridCheck> checks;
        LaunchPlan ordered;  // whose lanes have an order
        Flight flight;
        std::vector<MirroredColumn> addends;
        std::size_t free_at_first = 0;
        int device = -1;
        bool adds_up = false;
    };

    static void bring(const std::vector<MirroredColumn>& columns, Stream stream) {
        for (const MirroredColumn& column : columns)
            require_done<Runtime>(
                Runtime::copy(column.here, column.there, column.num_bytes, stream),
                "copying from the device");
        require_done<Runtime>(Runtime::synchronize(stream), "a kernel");
    }

    [[nodiscard]] const Piece& piece(GridPiece which) const {
        return kept_.pieces[static_cast<std::size_t>(which)];
    }
    static void release(Piece& piece) {
        if (piece.first) Runtime::release(piece.first);
        piece = {};
    }
    /// A graph may run again at any time until the pool goes.
    void set_aside(Piece& piece) {
        if (!piece.is_captured) return;
        wait_for_work();
        kept_.of_graphs.push_back(piece);
        piece = {};
    }
    void give_up(Piece& piece) {
        set_aside(piece);
        release(piece);
    }
    [[nodiscard]] static bool is_capturing(Stream stream) {
        bool is_capturing = false;
        require_done<Runtime>(Runtime::is_capturing(stream, is_capturing),
                              "asking whether a graph captures the stream");
        return is_capturing;
    }
    static void require_no_capture(Stream stream) {
        require_argument(!is_capturing(stream),
                         "Cuda: a graph captures this call, but the last call of its solver object "
                         "was on arrays of other shapes or lists, or there was none; call it once "
                         "on these arrays before the capture begins");
    }
    [[noreturn]] void throw_no_memory(const GridSizes& wanted) const {
        std::size_t num_free = 0, in_all = 0, needed = 0, held = 0, of_graphs = 0;
        static_cast<void>(Runtime::memory_of_device(num_free, in_all));
        for (const std::size_t bytes : wanted) needed += bytes;
        for (const Piece& piece : kept_.pieces) held += piece.num_bytes;
        for (const Piece& piece : kept_.of_graphs) of_graphs += piece.num_bytes;
        const std::string besides = of_graphs == 0
                                        ? ""
                                        : ", and " + std::to_string(of_graphs) +
                                              " are kept for graphs that have captured its calls";
        throw CudaError("Cuda: this call needs " + std::to_string(needed) + " bytes of " +
                        Runtime::memory_name + ", of which its solver object has " +
                        std::to_string(held) + ", but " + std::to_string(num_free) + " of " +
                        std::to_string(in_all) + " are free" + besides +
                        "; give fewer trajectories or save points in one call, or a smaller "
                        ".memory_budget");
    }
    /// Waits for work that may use memory which is about to go; what it would bring back is lost.
    void wait_for_work() noexcept {
        kept_.tables.clear();
        kept_.other_tables.clear();
        kept_.imprint = {};
        kept_.ordered = {};
        kept_.addends.clear();
        if (!kept_.flight.is_up) return;
        int before = 0;
        if (Runtime::current_device(before) == 0 && Runtime::use_device(kept_.device) == 0) {
            static_cast<void>(Runtime::synchronize(kept_.flight.stream));
            static_cast<void>(Runtime::use_device(before));
        }
        kept_.flight = {};
    }
    void clear() noexcept {
        wait_for_work();
        for (Piece& piece : kept_.pieces) release(piece);
        for (Piece& piece : kept_.of_graphs) release(piece);
        if (kept_.mailbox_here) Runtime::release_mapped(kept_.mailbox_here);
        if (kept_.has_stream) Runtime::release_stream(kept_.stream);
        kept_ = {};
    }
    void swap(GridPool& other) noexcept { std::swap(kept_, other.kept_); }

    Kept kept_;
};

}  // namespace eddy::inline v0::detail
