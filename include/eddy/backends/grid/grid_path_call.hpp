#pragma once
// A call of many paths to a lane whose arrays lie on the device, or that does not wait: chunks of some thousand
// paths one after another in one stream. Each is solved, from rows that its groups take there, and added up into its runs
// and lanes (grid_paths.hpp); memory does not grow with their number. No chunk waits for the host, unless somebody
// may stop the call: then each does.
// Test: tests/solve/device_paths.cpp

#include <cstddef>
#include <eddy/backends/grid/grid_call.hpp>
#include <eddy/solve/call/mirrored_paths.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Runtime, class Job>
class GridPathCall {
    using Kernel = typename Job::Kernel;
    using Spec = typename Kernel::Spec;
    using Real = typename Spec::Scalar;
    using Memory = GridMemory<Runtime>;
    using Warp = typename Runtime::Warp;
    using Work = GroupWork<Kernel, Warp>;
    using There =
        decltype(mirrored_paths(std::declval<const Job&>(), std::declval<Mirrors<Memory>&>(),
                                std::declval<Mirrors<Memory>&>()));
    using Lanes = PathLanes<typename There::Sum, typename There::Target>;
    static constexpr char tag_of_job = 0;

  public:
    GridPathCall(const Job& job, const GridPlace<Runtime>& place, CallLink& call,
                 bool is_asynchronous)
        : job_(job),
          place_(place),
          call_(call),
          news_(call),
          is_asynchronous_(is_asynchronous),
          plan_(job.plan_of(job.num_rows())),
          lanes_(memory(), {{0, job.num_lanes}}),
          rows_(memory(), {{0, job.num_rows()}, {0, job.paths}}) {}
    GridPathCall(const GridPathCall&) = delete;
    GridPathCall& operator=(const GridPathCall&) = delete;
    /// An exception leaves nothing at work.
    ~GridPathCall() {
        int before = 0;
        if (!is_at_work_ || Runtime::current_device(before) != 0) return;
        static_cast<void>(Runtime::use_device(place_.device));
        static_cast<void>(Runtime::synchronize(place_.stream));
        static_cast<void>(Runtime::use_device(before));
    }

    /// Returns when all is done, or is on its way in the stream. CudaError before the first launch where memory
    /// does not suffice.
    void run() {
        if (job_.num_lanes == 0) return;
        const DeviceInUse<Runtime> in_use(place_.device);
        place_.pool->use(place_.device);
        prepare();
        is_at_work_ = true;
        PathRuns runs{job_.paths};
        int number = 0;
        for (const std::int64_t total = job_.num_lanes * job_.paths;; ++number) {
            runs = runs.next(total, job_.most_rows, job_.within_lanes);
            if (runs.num_rows == 0) break;
            run_chunk(runs, number);
            if (!call_.may_be_stopped()) continue;
            news_.attend(watches_, place_.stream);
            if (!call_.is_cancelled() || runs.end_path() == total) continue;
            cut(PathRuns{job_.paths, runs.end_path(), 0}, number + 1);
            break;
        }
        if constexpr (is_gradient<Kernel>) add_lanes();
        is_asynchronous_ ? leave_running() : end();
    }

  private:
    [[nodiscard]] Memory memory() const {
        return {place_.device, place_.stream, place_.pool, true, is_asynchronous_};
    }
    [[nodiscard]] There mirror() {
        There there = mirrored_paths(job_, lanes_, rows_);
        if constexpr (is_gradient<Kernel>) cost_ = lanes_.out(job_.kernel.costs, 1);
        tasks_ = rows_.row_tasks();
        return there;
    }
    /// All memory that the call takes.
    void prepare() {
        GridPool<Runtime>& pool = *place_.pool;
        static_cast<void>(mirror());  // counts
        const std::size_t bytes = arena_bytes<typename Work::Team>(job_.kernel);
        bytes_per_arena_ = in_whole_lines(std::max<std::size_t>(1, bytes));
        GridSizes sizes{};
        const auto size_of = [&](GridPiece piece) -> std::size_t& {
            return sizes[static_cast<std::size_t>(piece)];
        };
        size_of(GridPiece::arenas) = bytes_per_arena_ * static_cast<std::size_t>(plan_.num_workers);
        size_of(GridPiece::mirrors) = rows_.num_bytes();
        size_of(GridPiece::other_mirrors) = lanes_.num_bytes();
        if constexpr (is_gradient<Kernel>)
            size_of(GridPiece::costs) =
                static_cast<std::size_t>(plan_.num_groups()) * sizeof(BackCost);
        if (is_asynchronous_) {
            std::vector<std::byte> tables = rows_.tables();
            tables.insert(tables.end(), lanes_.tables().begin(), lanes_.tables().end());
            imprint_ = {&tag_of_job,
                        {job_.num_lanes, plan_.group_size, plan_.num_workers},
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
        there_ = mirror();
        pool.send_tables(GridPiece::other_mirrors, lanes_.tables(), place_.stream);
        pool.send_tables(GridPiece::mirrors, rows_.tables(), place_.stream);
    }
    /// What was counted.
    void take(Mirrors<Memory>& mirrors, GridPiece piece) const {
        mirrors = Mirrors<Memory>(memory(), mirrors.mirrored_lanes(),
                                  static_cast<std::byte*>(place_.pool->first(piece)),
                                  mirrors.tables().size());
    }

    void run_chunk(const PathRuns& runs, int number) {
        const LaunchPlan plan =
            job_.within_lanes ? job_.plan_of(runs.num_rows)
                              : LaunchPlan{runs.num_rows, plan_.group_size, plan_.num_workers};
        Kernel kernel = there_.rows;
        kernel.problem.noise.first_path += static_cast<std::uint64_t>(runs.first_path);
        kernel.sums.runs = runs;
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
            finish.costs.goes_on = number > 0;
            put(finish, finish.num_warps());
        }
        const auto of_runs = run_work<Warp>(kernel);
        put(of_runs, of_runs.num_warps());
        finish_lanes(runs, number, runs.first_path / job_.paths,
                     (runs.end_path() - 1) / job_.paths + 1, false);
    }
    /// No paths follow.
    void cut(const PathRuns& none, int number) {
        finish_lanes(none, number, none.first_path / job_.paths, job_.num_lanes, true);
    }
    void finish_lanes(const PathRuns& runs, int number, std::int64_t first, std::int64_t end,
                      bool is_cut) {
        RunSums<typename There::Sum> chunk = there_.rows.sums;
        chunk.runs = runs;
        const LanesOfPaths<Lanes, Warp> work{
            {chunk, there_.waiting[number % 2], there_.waiting[(number + 1) % 2], there_.target,
             there_.outcomes, there_.failed_paths, there_.marks, first, end - first,
             job_.kernel.problem.times, is_cut}};
        put(work, work.num_warps());
    }
    /// Losses, and gradients of shared parameters, over all lanes.
    void add_lanes() {
        FinishWork<Real, Warp> work;
        const auto& target = there_.target;
        work.losses = {there_.outcomes, target.loss.first,   target.loss.lane_stride,
                       job_.num_lanes,  there_.loss_sums,    there_.loss_total,
                       num_done_,       there_.failed_paths, job_.paths};
        work.costs = {nullptr, 0, 1, cost_, true};
        const auto add = [&](Real* blocks, const EnsembleView<Real>& total) {
            if constexpr (Spec::shares_parameters && Spec::parameter_size > 0)
                work.shared = {blocks, static_cast<std::ptrdiff_t>(target.num_blocks), 1, total,
                               there_.partial_sums};
            put(work, work.num_warps());
        };
        add(target.blocks, target.target.p);
        if constexpr (Spec::is_dual && Spec::shares_parameters && Spec::parameter_size > 0) {
            work.losses = {};
            add(target.blocks + target.num_blocks * Spec::parameter_size, target.target.p_tangent);
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
    There there_{};
    RowTasks tasks_;
    BackCost* cost_ = nullptr;
    std::int32_t* flags_ = nullptr;
    std::int64_t* num_done_ = nullptr;
    std::size_t bytes_per_arena_ = 0;
    std::vector<GridWatch<Runtime>> watches_;  // one
    GridImprint imprint_;
};

}  // namespace eddy::inline v0::detail
