#pragma once
// One launch of a grid backend. Its lanes are divided, where groups of them and blocks of 64 begin,
// among the devices; and those of a device into chunks, where much is to be copied: copies of one then
// overlap with work on another, in two streams. A chunk knows its lanes from the first of them on, so
// that neither what a lane computes nor the shape of sums depends on it. An asynchronous call is one chunk.
// Test: tests/solve/device_calls.cpp, tests/solve/device_chunks.cpp

#include <algorithm>
#include <cstddef>
#include <eddy/backends/grid/ensemble_order.hpp>
#include <eddy/backends/grid/grid_finish.hpp>
#include <eddy/backends/grid/grid_memory.hpp>
#include <eddy/backends/grid/grid_news.hpp>
#include <eddy/backends/grid/grid_paths.hpp>
#include <eddy/backends/grid/grid_watch.hpp>
#include <eddy/backends/grid/grid_work.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/mirrored_kernels.hpp>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// A device that a call may use, with the caller's stream there.
template <class Runtime>
struct GridPlace {
    int device = 0;
    typename Runtime::Stream stream{};
    GridPool<Runtime>* pool = nullptr;
};

template <class Runtime, class Kernel>
class GridCall {
    using Memory = GridMemory<Runtime>;
    using Watch = GridWatch<Runtime>;
    using Work = GroupWork<Kernel, typename Runtime::Warp>;
    using Places = std::vector<GridPlace<Runtime>>;
    static_assert(std::is_trivially_copyable_v<Work>);
    static constexpr char tag_of_kernel = 0;
    static constexpr bool has_losses = Kernel::kind == KernelKind::gradient;
    static constexpr bool has_paths =
        Kernel::Spec::has_noise && Kernel::kind != KernelKind::pullback;

  public:
    GridCall(const LaunchPlan& plan, const Kernel& kernel, Places places, CallLink& call,
             bool is_asynchronous, bool orders_all)
        : plan_(plan),
          kernel_(kernel),
          places_(std::move(places)),
          call_(call),
          news_(call),
          is_asynchronous_(is_asynchronous),
          orders_all_(orders_all && places_.size() == 1 && plan.num_lanes > 32 &&
                      may_order_all(kernel)) {
        const std::size_t bytes = arena_bytes<typename Work::Team>(kernel);
        bytes_per_arena_ = in_whole_lines(std::max<std::size_t>(1, bytes));
    }
    GridCall(const GridCall&) = delete;
    GridCall& operator=(const GridCall&) = delete;
    /// An exception leaves nothing at work.
    ~GridCall() {
        for (const Flight& flight : flights_)
            if (flight.mirrors)
                synchronize_quietly<Runtime>(places_[flight.place].device, stream_of(flight));
    }

    /// Returns when all is done, or is on its way in the stream. CudaError before the first launch where
    /// memory does not suffice.
    void run() {
        if (plan_.num_lanes == 0) return;
        divide();
        for (std::size_t at = 0; at < shares_; ++at) prepare(at);
        for (Chunk& chunk : chunks_) {
            Flight& flight = flights_[2 * chunk.place + chunk.slot];
            end(flight);
            begin(flight, chunk);
        }
        if (is_asynchronous_) return keep_order(), leave_running(flights_[0]);
        for (Flight& flight : flights_) end(flight);
        tell_the_rest();
        keep_order();
        for (std::size_t at = 0; at < shares_; ++at) {
            if (watches_[at].is_not_finite()) memory_of(flights_[2 * at]).throw_if_not_finite();
        }
        if constexpr (is_gradient<Kernel>) {
            for (const Chunk& chunk : chunks_) detail::add(kernel_.costs[chunk.place], chunk.cost);
        }
    }

  private:
    struct Chunk {
        LaneRange lanes;
        std::size_t place, slot;          // slot: one of two streams
        std::size_t num_bytes = 0;        // of its mirrors
        std::vector<std::byte> tables{};  // as they have to be there
        std::ptrdiff_t first_group = 0;   // of the groups of its place
        BackCost cost{};                  // of its way back
    };
    struct Flight {
        std::size_t place = 0, slot = 0;
        std::unique_ptr<Mirrors<Memory>> mirrors;  // null: nothing is at work
    };

    [[nodiscard]] auto stream_of(const Flight& flight) const {
        const GridPlace<Runtime>& place = places_[flight.place];
        return flight.slot == 0 ? place.stream : place.pool->other_stream();
    }
    [[nodiscard]] Memory memory_of(const Flight& flight) const {
        const GridPlace<Runtime>& place = places_[flight.place];
        return {place.device, stream_of(flight), place.pool, places_.size() == 1, is_asynchronous_};
    }

    /// Divides the launch into chunks, in the order in which they are taken: one of each device in turn.
    void divide() {
        const std::ptrdiff_t unit = std::lcm(
            plan_.group_size, adds_groups_of_paths() ? PathRuns::paths_per_run : lanes_per_block);
        const std::ptrdiff_t units = (plan_.num_lanes + unit - 1) / unit;
        shares_ = static_cast<std::size_t>(
            std::min<std::ptrdiff_t>({static_cast<std::ptrdiff_t>(places_.size()), units,
                                      std::max<std::ptrdiff_t>(1, plan_.num_workers)}));
        workers_ = plan_.num_workers / static_cast<std::ptrdiff_t>(shares_);
        flights_.resize(2 * shares_);
        std::vector<std::vector<Chunk>> chunks(shares_);  // (place)
        std::size_t most = 0;
        for (std::size_t at = 0; at < shares_; ++at) {
            for (std::size_t slot = 0; slot < 2; ++slot) {
                flights_[2 * at + slot].place = at;
                flights_[2 * at + slot].slot = slot;
            }
            chunks[at] = chunks_of(at, units, unit);
            most = std::max(most, chunks[at].size());
        }
        for (std::size_t k = 0; k < most; ++k) {
            for (std::size_t at = 0; at < shares_; ++at) {
                if (k < chunks[at].size() && chunks[at][k].lanes.count > 0)
                    chunks_.push_back(chunks[at][k]);
            }
        }
    }
    /// Are addends of shared parameters added over groups, and all else over runs of paths? A chunk then begins where
    /// both do.
    [[nodiscard]] bool adds_groups_of_paths() const {
        if constexpr (has_paths && is_gradient<Kernel>)
            return kernel_.sums.is_wanted() && !Kernel::Spec::sums_by_lane;
        return false;
    }
    /// The lane at which a chunk may begin: runs of paths, if lanes are such, are not taken apart.
    [[nodiscard]] std::ptrdiff_t lane_at(std::ptrdiff_t lane) const {
        if (lane >= plan_.num_lanes) return plan_.num_lanes;
        if constexpr (has_paths) {
            const PathRuns& runs = kernel_.sums.runs;
            if (kernel_.sums.is_wanted() && !adds_groups_of_paths())
                return runs.start_of_run(runs.first_path + lane) - runs.first_path;
        }
        return lane;
    }
    /// The lanes of one device. A chunk keeps half the device busy at least.
    [[nodiscard]] std::vector<Chunk> chunks_of(std::size_t at, std::ptrdiff_t units,
                                               std::ptrdiff_t unit) const {
        const auto range = [&](std::ptrdiff_t first, std::ptrdiff_t end) {
            const std::ptrdiff_t from = lane_at(first * unit);
            return LaneRange{from, lane_at(end * unit) - from};
        };
        const auto share = [&](std::size_t k) {
            return units * static_cast<std::ptrdiff_t>(k) / static_cast<std::ptrdiff_t>(shares_);
        };
        const std::ptrdiff_t first = share(at), end = share(at + 1),
                             groups_of_unit = unit / plan_.group_size;
        Chunk whole{range(first, end), at, 0};
        const std::size_t worth = count_bytes(whole, shares_ == 1) / Runtime::bytes_of_chunk();
        const std::ptrdiff_t count = std::clamp<std::ptrdiff_t>(
            2 * (end - first) * groups_of_unit / workers_, 1,
            std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(worth)));
        if (count == 1 || is_asynchronous_ || orders_all_) return {whole};
        std::vector<Chunk> chunks;
        std::ptrdiff_t num_groups = 0;
        for (std::ptrdiff_t k = 0; k < count; ++k) {
            const std::ptrdiff_t from = first + (end - first) * k / count,
                                 to = first + (end - first) * (k + 1) / count;
            if (from == to) continue;
            chunks.push_back({range(from, to), at, chunks.size() % 2});
            count_bytes(chunks.back(), false);
            chunks.back().first_group = num_groups;
            num_groups += groups_of(chunks.back());
        }
        return chunks;
    }
    [[nodiscard]] MirroredLanes lanes_of(const Chunk& chunk, bool has_all_lanes) const {
        return {chunk.lanes, kernel_.problem.rows.from(chunk.lanes.first), has_all_lanes,
                orders_all_};
    }
    /// Counts the bytes of a chunk's mirrors; returns how many are copied.
    std::size_t count_bytes(Chunk& chunk, bool has_all_lanes) const {
        Mirrors<Memory> mirrors(memory_of(flights_[2 * chunk.place]),
                                lanes_of(chunk, has_all_lanes));
        static_cast<void>(mirrored(kernel_, plan_, mirrors));
        static_cast<void>(mirrors.rows_there());
        if constexpr (is_gradient<Kernel>) static_cast<void>(mirrors.out(&chunk.cost, 1));
        static_cast<void>(mirrors.row_tasks());
        static_cast<void>(mirrors.row_puts());
        chunk.num_bytes = mirrors.num_bytes();
        const std::size_t bytes_copied = mirrors.bytes_copied();
        chunk.tables = std::move(mirrors.tables());
        return bytes_copied;
    }

    /// All memory that the call takes on a device, before the first launch.
    void prepare(std::size_t at) {
        const GridPlace<Runtime>& place = places_[at];
        const DeviceInUse<Runtime> in_use(place.device);
        GridPool<Runtime>& pool = *place.pool;
        pool.use(place.device);
        GridSizes bytes{};
        const auto workers = static_cast<std::size_t>(workers_);
        bytes[GridPiece::arenas] = bytes_per_arena_ * workers;
        bool has_two = false;
        for (const Chunk& chunk : chunks_) {
            if (chunk.place != at) continue;
            std::size_t& most =
                bytes[chunk.slot == 0 ? GridPiece::mirrors : GridPiece::other_mirrors];
            most = std::max(most, chunk.num_bytes);
            if (orders_all_)
                bytes[GridPiece::order] = EnsembleOrder<Runtime>::num_bytes(plan_.num_lanes);
            else if (has_order())
                bytes[GridPiece::order] =
                    static_cast<std::size_t>(chunk.lanes.count) * sizeof(std::int32_t);
            if constexpr (is_gradient<Kernel>) {
                std::size_t& of_costs = bytes[GridPiece::costs];
                of_costs = std::max(of_costs,
                                    static_cast<std::size_t>(chunk.first_group + groups_of(chunk)) *
                                        sizeof(BackCost));
            }
            has_two = has_two || chunk.slot == 1;
        }
        if (is_asynchronous_) {
            imprint_ = {&tag_of_kernel, plan_, bytes, chunks_[0].tables};
            pool.begin_call(imprint_, place.stream);
        }
        pool.reserve(bytes);
        static_cast<void>(
            pool.template zeros<std::int32_t>(GridPiece::flags, workers_, place.stream));
        if constexpr (has_losses)
            static_cast<void>(
                pool.template zeros<std::int64_t>(GridPiece::num_done, 1, place.stream));
        watches_.push_back(is_asynchronous_ ? Watch()
                                            : Watch(pool, place.stream, call_.may_be_stopped(),
                                                    call_.is_cancelled()));
        is_ordered_.push_back((orders_all_ || has_order()) && pool.takes_order_of(ordered_plan()));
        // What the caller has put into its stream is there for the other one as well.
        if (has_two)
            require_done<Runtime>(Runtime::synchronize(place.stream), "waiting for the device");
    }
    /// What the order is of: groups, or all lanes as one.
    [[nodiscard]] LaunchPlan ordered_plan() const {
        return orders_all_ ? LaunchPlan{plan_.num_lanes, plan_.num_lanes, 1} : plan_;
    }
    /// Has a place more than one lane? Chunks take turns in memory that does not grow with the lanes; some of the lanes of
    /// a call are others each time.
    [[nodiscard]] bool has_order() const {
        return !orders_all_ && sorts_lanes<typename Kernel::Spec> &&
               kernel_.problem.rows.are_a_range() && plan_.group_size > Work::Team::num_members &&
               chunks_.size() == shares_;
    }
    [[nodiscard]] std::int32_t* order_of(const Chunk& chunk) const {
        return static_cast<std::int32_t*>(places_[chunk.place].pool->first(GridPiece::order));
    }
    [[nodiscard]] EnsembleOrder<Runtime> order_of_all() const {
        return {places_[0].pool->first(GridPiece::order), plan_.num_lanes};
    }
    /// Keeps the order of the lanes, which is valid from now on.
    void keep_order() {
        for (std::size_t at = 0; at < shares_ && (orders_all_ || has_order()); ++at)
            places_[at].pool->has_order_of(ordered_plan());
    }
    [[nodiscard]] std::ptrdiff_t groups_of(const Chunk& chunk) const {
        return LaunchPlan{chunk.lanes.count, plan_.group_size, workers_}.num_groups();
    }

    void begin(Flight& flight, Chunk& chunk) {
        const GridPlace<Runtime>& place = places_[chunk.place];
        const DeviceInUse<Runtime> in_use(place.device);
        GridPool<Runtime>& pool = *place.pool;
        const auto stream = stream_of(flight);
        const GridPiece piece = chunk.slot == 0 ? GridPiece::mirrors : GridPiece::other_mirrors;
        flight.mirrors = std::make_unique<Mirrors<Memory>>(
            memory_of(flight), lanes_of(chunk, chunks_.size() == 1),
            static_cast<std::byte*>(pool.first(piece)), chunk.tables.size());
        Kernel kernel = mirrored(kernel_, plan_, *flight.mirrors);
        const Rows rows = orders_all_ ? order_of_all().rows(is_ordered_[0], stream)
                                      : flight.mirrors->rows_there();
        [[maybe_unused]] BackCost* cost = nullptr;
        if constexpr (is_gradient<Kernel>) {
            cost = flight.mirrors->out(is_asynchronous_ ? kernel_.costs : &chunk.cost, 1);
            kernel.stores = pool.stores();
            kernel.costs = static_cast<BackCost*>(pool.first(GridPiece::costs)) + chunk.first_group;
        }
        const RowTasks row_tasks = flight.mirrors->row_tasks(),
                       row_puts = flight.mirrors->row_puts();
        pool.send_tables(piece, flight.mirrors->tables(), stream);
        const Watch& watch = watches_[chunk.place];
        const LaunchPlan plan{chunk.lanes.count, plan_.group_size, workers_};
        const bool share_arenas = chunks_.size() > shares_ || plan.num_groups() > workers_;
        void* const flags = share_arenas ? pool.first(GridPiece::flags) : nullptr;
        const Work work{kernel,
                        plan,
                        static_cast<std::byte*>(pool.first(GridPiece::arenas)),
                        bytes_per_arena_,
                        static_cast<std::int32_t*>(flags),
                        row_tasks,
                        row_puts,
                        rows,
                        has_order() ? order_of(chunk) : nullptr,
                        {watch.relay(), watch.mailbox(), call_.is_watched(),
                         has_order() && is_ordered_[chunk.place] ? order_of(chunk) : nullptr}};
        put(work, plan.num_groups(), stream);
        if (orders_all_) order_of_all().follow(kernel, *flight.mirrors, stream);
        if constexpr (has_paths) {
            const auto of_runs = run_work<typename Runtime::Warp>(kernel);
            if (kernel.sums.is_wanted()) put(of_runs, of_runs.num_warps(), stream);
        }
        if constexpr (is_gradient<Kernel>) {
            auto* const num_done = static_cast<std::int64_t*>(pool.first(GridPiece::num_done));
            const auto sums = finish_work<typename Runtime::Warp>(kernel, plan, cost, num_done);
            put(sums, sums.num_warps(), stream);
            pool.adds_up(chunks_.size() == 1);
        }
    }
    template <class AnyWork, class Stream>
    static void put(const AnyWork& work, std::ptrdiff_t num_warps, Stream stream) {
        require_done<Runtime>(Runtime::launch(work, num_warps, stream), "launching a kernel");
    }
    /// Leaves what a flight brings back to whoever asks for it later.
    void leave_running(Flight& flight) {
        GridPool<Runtime>& pool = *places_[0].pool;
        pool.has_begun(imprint_);
        pool.leave_running(places_[0].stream, flight.mirrors->columns(), false);
        flight.mirrors.reset();
    }
    void end(Flight& flight) {
        if (!flight.mirrors) return;
        const DeviceInUse<Runtime> in_use(places_[flight.place].device);
        const auto stream = stream_of(flight);
        if (call_.may_be_stopped()) news_.attend(watches_, stream);
        // Where nothing else wants its place, what became of the lanes stays there until somebody asks.
        const bool may_stay = chunks_.size() == 1;
        std::vector<MirroredColumn> staying;
        for (const MirroredColumn& column : flight.mirrors->columns()) {
            if (may_stay && column.comes == ComesBack::when_asked)
                staying.push_back(column);
            else
                require_done<Runtime>(
                    Runtime::copy(column.here, column.there, column.num_bytes, stream), "a kernel");
        }
        require_done<Runtime>(Runtime::synchronize(stream), "a kernel");
        places_[flight.place].pool->bring_rows(flight.mirrors->rows(), stream);
        places_[flight.place].pool->keep_addends(flight.mirrors->addends());
        if (may_stay)
            places_[0].pool->leave_running(stream, staying,
                                           !watches_[0].has_failed() && !call_.is_cancelled());
        flight.mirrors.reset();
    }
    /// What nobody has carried.
    void tell_the_rest() {
        if (!call_.is_watched()) return;
        GridCounts now;
        for (std::size_t at = 0; at < shares_; ++at) {
            const DeviceInUse<Runtime> in_use(places_[at].device);
            GridNews<Runtime>::add(now, watches_[at].last_counts(places_[at].stream));
        }
        news_.tell(now);
    }

    LaunchPlan plan_;
    const Kernel& kernel_;
    Places places_;
    CallLink& call_;
    std::size_t bytes_per_arena_ = 0, shares_ = 1;
    std::ptrdiff_t workers_ = 1;  // of each device
    std::vector<Chunk> chunks_;
    std::vector<Flight> flights_;   // (place, slot)
    std::vector<Watch> watches_;    // (place)
    std::vector<bool> is_ordered_;  // (place)
    GridNews<Runtime> news_;
    GridImprint imprint_;
    bool is_asynchronous_, orders_all_;  // all lanes as one, not those of a group
};

}  // namespace eddy::inline v0::detail
