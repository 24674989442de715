#pragma once
// A call of many paths to a lane whose arrays lie on the device, or that does not wait: chunks of some thousand
// paths one after another in one stream. Each is solved, from rows that its groups take there, and added up into its runs
// and lanes (grid_paths.hpp); memory does not grow with their number. No chunk waits for the host, unless somebody
// may stop the call: then each does.
// Test: tests/solve/device_paths.cpp

#include <cstddef>
#include <eddy/backends/grid/grid_call.hpp>
#include <eddy/solve/call/mirrored_kernels.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Runtime, class Job>
class GridPathCall {
    using Kernel = typename Job::Kernel;
    using Lanes = typename Job::Lanes;
    using Spec = typename Kernel::Spec;
    using Real = typename Spec::Scalar;
    using Memory = GridMemory<Runtime>;
    using Warp = typename Runtime::Warp;
    using Work = GroupWork<Kernel, Warp>;
    static constexpr char tag_of_job = 0;
    static constexpr bool adds_shared =
        is_gradient<Kernel> && Spec::shares_parameters && Spec::parameter_size > 0;

  public:
    GridPathCall(const Job& job, const GridPlace<Runtime>& place, CallLink& call,
                 bool is_asynchronous)
        : job_(job),
          place_(place),
          call_(call),
          news_(call),
          is_asynchronous_(is_asynchronous),
          plan_(job.plan_of(num_rows())),
          lanes_(memory(), {{0, job.lanes.num_lanes}}),
          rows_(memory(), {{0, num_rows()}, {0, job.lanes.chunk.runs.paths}}) {}
    GridPathCall(const GridPathCall&) = delete;
    GridPathCall& operator=(const GridPathCall&) = delete;
    /// An exception leaves nothing at work.
    ~GridPathCall() {
        if (is_at_work_) synchronize_quietly<Runtime>(place_.device, place_.stream);
    }

    /// Returns when all is done, or is on its way in the stream. CudaError before the first launch where memory
    /// does not suffice.
    void run() {
        if (job_.lanes.num_lanes == 0) return;
        const DeviceInUse<Runtime> in_use(place_.device);
        place_.pool->use(place_.device);
        prepare();
        is_at_work_ = true;
        job_.chunks.run(
            there_, [&] { return is_stopped(); },
            [&](const auto& of_runs) { solve_chunk(of_runs); },
            [&](const Lanes& lanes) {
                const LanesOfPaths<Lanes, Warp> work{lanes};
                put(work, work.num_warps());
            });
        if constexpr (is_gradient<Kernel>) add_lanes();
        is_asynchronous_ ? leave_running() : end();
    }

  private:
    [[nodiscard]] Memory memory() const {
        return {place_.device, place_.stream, place_.pool, true, is_asynchronous_};
    }
    [[nodiscard]] std::int64_t num_rows() const { return job_.chunks.num_rows(job_.lanes); }
    /// Has somebody stopped the call? If anybody may, this waits for what is in the stream.
    [[nodiscard]] bool is_stopped() {
        if (!call_.may_be_stopped()) return false;
        news_.attend(watches_, place_.stream);
        return call_.is_cancelled();
    }
    /// Lanes' arrays, which lie there or are mirrored, and rows of paths, made of them there, which no one else sees.
    void mirror() {
        rows_.make_paths_of(lanes_);
        kernel_ = mirrored(job_.kernel, LaunchPlan{}, rows_);
        there_ = mirrored(job_.lanes, lanes_, rows_);
        there_.chunk.marks = kernel_.sums.marks;
        if constexpr (is_gradient<Kernel>) {
            cost_ = lanes_.out(job_.kernel.costs, 1);
            totals_.costs = {nullptr, 0, 1, cost_, true};
            totals_.losses = {there_.outcomes,
                              there_.target.loss.first,
                              there_.target.loss.lane_stride,
                              there_.num_lanes,
                              lanes_.template room<double>(num_blocks(there_.num_lanes)),
                              lanes_.out(job_.loss_total, 1),
                              num_done_,
                              there_.failed_paths,
                              there_.chunk.runs.paths};
        }
        if constexpr (adds_shared) mirror_shared();
        tasks_ = rows_.row_tasks();
    }
    /// Addends of a shared gradient: of each row, or of each group of rows, for a sum over all of a chunk.
    void mirror_shared() {
        using Lane = typename Spec::Lane;
        constexpr std::ptrdiff_t num_p = Spec::parameter_size,
                                 most_sums = SharedRows<Spec>::most_partial_sums;
        SharedRows<Spec>& shared = kernel_.shared;
        if constexpr (Spec::sums_by_lane) {
            shared.addends = rows_.template room_at_zero<Real, Lane>(num_rows(), num_p, 1);
        } else {
            static_assert(!Spec::is_dual);
            shared.sums = rows_.template room_at_zero<Real, Lane>(plan_.num_groups(), num_p,
                                                                  RowTask::per_group);
            shared.may_be_added = true;
            shared.partial_sums = rows_.template room<Lane>(most_sums * num_p);
            kernel_.target.p = {rows_.template room<Real>(num_p), 1, num_p, 1, 1};
            there_.target.of_chunk = kernel_.target.p.first;
        }
        totals_.shared = {there_.target.blocks,
                          static_cast<std::ptrdiff_t>(there_.target.num_blocks), 1,
                          there_.target.target.p, lanes_.template room<Real>(most_sums * num_p)};
    }
    /// All memory that the call takes.
    void prepare() {
        GridPool<Runtime>& pool = *place_.pool;
        mirror();  // counts
        const std::size_t bytes = arena_bytes<typename Work::Team>(job_.kernel);
        bytes_per_arena_ = in_whole_lines(std::max<std::size_t>(1, bytes));
        GridSizes sizes{};
        sizes[GridPiece::arenas] = bytes_per_arena_ * static_cast<std::size_t>(plan_.num_workers);
        sizes[GridPiece::mirrors] = rows_.num_bytes();
        sizes[GridPiece::other_mirrors] = lanes_.num_bytes();
        if constexpr (is_gradient<Kernel>)
            sizes[GridPiece::costs] =
                static_cast<std::size_t>(plan_.num_groups()) * sizeof(BackCost);
        if (is_asynchronous_) {
            std::vector<std::byte> tables = rows_.tables();
            tables.insert(tables.end(), lanes_.tables().begin(), lanes_.tables().end());
            imprint_ = {&tag_of_job,
                        {job_.lanes.num_lanes, plan_.group_size, plan_.num_workers},
                        sizes,
                        std::move(tables)};
            pool.begin_call(imprint_, place_.stream);
        }
        pool.reserve(sizes);
        flags_ =
            pool.template zeros<std::int32_t>(GridPiece::flags, plan_.num_workers, place_.stream);
        num_done_ = pool.template zeros<std::int64_t>(GridPiece::num_done, 1, place_.stream);
        watches_.push_back(is_asynchronous_
                               ? GridWatch<Runtime>()
                               : GridWatch<Runtime>(pool, place_.stream, call_.may_be_stopped(),
                                                    call_.is_cancelled()));
        take(lanes_, GridPiece::other_mirrors);
        take(rows_, GridPiece::mirrors);
        mirror();
        pool.send_tables(GridPiece::other_mirrors, lanes_.tables(), place_.stream);
        pool.send_tables(GridPiece::mirrors, rows_.tables(), place_.stream);
    }
    /// What was counted.
    void take(Mirrors<Memory>& mirrors, GridPiece piece) const {
        mirrors = Mirrors<Memory>(memory(), mirrors.mirrored_lanes(),
                                  static_cast<std::byte*>(place_.pool->first(piece)),
                                  mirrors.tables().size());
    }

    template <class Sums>
    void solve_chunk(const Sums& of_runs) {
        const PathRuns& runs = of_runs.runs;
        const LaunchPlan plan =
            job_.chunks.within_lanes
                ? job_.plan_of(runs.num_rows)
                : LaunchPlan{runs.num_rows, plan_.group_size, plan_.num_workers};
        Kernel kernel = kernel_;
        kernel.problem.noise.first_path += static_cast<std::uint64_t>(runs.first_path);
        kernel.sums = of_runs;
        if constexpr (is_gradient<Kernel>) {
            kernel.plan.num_lanes = static_cast<std::int32_t>(plan.group_size);
            kernel.stores = place_.pool->stores();
            kernel.costs = static_cast<BackCost*>(place_.pool->first(GridPiece::costs));
        } else {
            kernel.group_size = static_cast<std::int32_t>(plan.group_size);
        }
        const GridWatch<Runtime>& watch = watches_[0];
        const Work work{kernel,
                        plan,
                        static_cast<std::byte*>(place_.pool->first(GridPiece::arenas)),
                        bytes_per_arena_,
                        plan.num_groups() > plan.num_workers ? flags_ : nullptr,
                        tasks_,
                        {},
                        {runs.first_path, runs.paths},
                        nullptr,
                        {watch.relay(), watch.mailbox(), call_.is_watched(), nullptr}};
        put(work, plan.num_groups());
        if constexpr (is_gradient<Kernel>) {
            auto finish = finish_work<Warp>(kernel, plan, cost_, num_done_);
            finish.costs.goes_on = runs.first_path > 0;
            put(finish, finish.num_warps());
        }
        const auto work_of_runs = run_work<Warp>(kernel);
        put(work_of_runs, work_of_runs.num_warps());
    }
    /// Losses, and gradients of shared parameters, over all lanes.
    void add_lanes() {
        put(totals_, totals_.num_warps());
        if constexpr (Spec::is_dual && adds_shared) {
            totals_.losses = {};
            totals_.shared.rows += there_.target.num_blocks * Spec::parameter_size;
            totals_.shared.total = there_.target.target.p_tangent;
            put(totals_, totals_.num_warps());
        }
    }

    template <class AnyWork>
    void put(const AnyWork& work, std::ptrdiff_t num_warps) const {
        require_done<Runtime>(Runtime::launch(work, num_warps, place_.stream),
                              "launching a kernel");
    }
    /// Leaves what the call brings back to whoever asks for it later.
    void leave_running() {
        place_.pool->has_begun(imprint_);
        place_.pool->leave_running(place_.stream, lanes_.columns(), false);
        is_at_work_ = false;
    }
    void end() {
        for (const MirroredColumn& column : lanes_.columns())
            require_done<Runtime>(
                Runtime::copy(column.here, column.there, column.num_bytes, place_.stream),
                "a kernel");
        require_done<Runtime>(Runtime::synchronize(place_.stream), "a kernel");
        is_at_work_ = false;
        if (call_.is_watched()) news_.tell(watches_[0].last_counts(place_.stream));
        if (watches_[0].is_not_finite()) memory().throw_if_not_finite();
    }

    const Job& job_;
    GridPlace<Runtime> place_;
    CallLink& call_;
    GridNews<Runtime> news_;
    bool is_asynchronous_, is_at_work_ = false;
    LaunchPlan plan_;  // of the largest chunk
    Mirrors<Memory> lanes_, rows_;
    Kernel kernel_{};                // of rows
    Lanes there_{};                  // all of them
    FinishWork<Real, Warp> totals_;  // of a gradient
    RowTasks tasks_;
    BackCost* cost_ = nullptr;
    std::int32_t* flags_ = nullptr;
    std::int64_t* num_done_ = nullptr;
    std::size_t bytes_per_arena_ = 0;
    std::vector<GridWatch<Runtime>> watches_;  // one
    GridImprint imprint_;
};

}  // namespace eddy::inline v0::detail
