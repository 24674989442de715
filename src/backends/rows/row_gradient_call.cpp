// A gradient over rows: groups of lanes for the workers of a call, sums over lanes.

#include <algorithm>
#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/rows/round_plan.hpp>
#include <eddy/solve/call/collect_arrays.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <memory>
#include "row_gradient.hpp"
#include "row_work.hpp"

namespace eddy::inline v0::detail {
namespace {

using RowLoop = CheckpointedLoop<RowState, TileRounds<RowGradient>, MemoryStore<RowState>, int>;

/// What a worker keeps from group to group.
struct GradientWorker {
    std::unique_ptr<FieldOnTile> field, loss;
    ArenaMemory memory;
    std::unique_ptr<RowGradient> gradient;
    std::unique_ptr<RowLoop> loop;
    std::int64_t num_bytes = 0;
};

/// The call: results whose sizes are known when it runs, as those of any other gradient.
struct GradientOnRows : GradientResults<double> {
    GradientOnRows(const RowCall& of, const RowSeeds& from, const char* title)
        : GradientResults<double>(
              {of.field->num_states(),
               {of.field->num_parameters(), of.shares_parameters, !sums_in_tiles(of)},
               from.loss != nullptr,
               false,
               false}),
          call(of),
          seeds(from),
          where(title),
          prepared(of, title) {}

    void run();
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    void begin(GradientWorker& at) const;
    [[nodiscard]] bool attends() const { return to_caller->has_poll(); }
    void attend() const { to_caller->poll(); }
    void check_arrays() const;
    void plan_groups();
    void plan_back();
    [[nodiscard]] GradientExtent extent() const {
        return {LaneBlocks::from(0, prepared.num_lanes()), 0};
    }

    const RowCall& call;
    const RowSeeds& seeds;
    const char* where;
    PreparedRows prepared;
    LaunchPlan groups;
    GradientPlan plan;
    int width = 0;
    SharedTarget<double> shared;
    std::vector<GradientWorker> workers;
    KeptThreads threads;
    CallLink* to_caller = nullptr;
};

void GradientOnRows::check_arrays() const {
    const auto& arrays = seeds.arrays;
    if (seeds.loss && arrays.empty()) return;
    const char* const name = seeds.loss ? "data" : "cotangents";
    const std::ptrdiff_t columns = seeds.loss
                                       ? seeds.loss->num_parameters() - call.field->num_parameters()
                                       : call.field->num_states();
    require_arrays(arrays, prepared.times().saves.size(), prepared.num_lanes(), columns, name,
                   where);
    for (std::size_t k = 0; k < arrays.size(); ++k)
        require_finite(arrays[k],
                       {name, arrays.size() > 1 ? static_cast<std::ptrdiff_t>(k) : -1,
                        seeds.loss ? for_missing_data : ""},
                       where);
}
/// Groups of one tile, or of so many lanes that their sums over shared parameters are whole blocks.
void GradientOnRows::plan_groups() {
    const std::ptrdiff_t lanes = prepared.num_lanes();
    width = row_width(call, lanes, true);
    const bool adds_blocks = call.shares_parameters && lanes > few_lanes;
    groups = {lanes, adds_blocks ? lanes_per_block : width, 1};
    if (prepared.problem.sums_tile) {
        // Each group has sums of its own, and which groups there are depends on the lanes alone.
        constexpr std::ptrdiff_t most_groups = 64;
        const std::ptrdiff_t tiles = (lanes + width - 1) / width;
        groups.group_size = (tiles + most_groups - 1) / most_groups * width;
        groups.group_size = std::max<std::ptrdiff_t>(groups.group_size, width);
    }
    groups.num_workers = workers_of_threads(call.threads, groups.num_groups());
}
void GradientOnRows::plan_back() {
    const SolveOptions& options = *call.options;
    const std::unique_ptr<FieldOnTile> field = tile_of(*call.field, prepared.problem, width);
    const WorkerBudget budget =
        budget_of_worker({options.memory_budget, machine_memory_bytes()}, groups.num_workers);
    plan.num_lanes = static_cast<std::int32_t>(groups.group_size);
    plan_rounds_of_tile(plan, options, budget,
                        most_rounds_of_lane(prepared.problem.times, call.method->estimates_error),
                        {width * std::int64_t{sizeof(LoggedStep)},
                         RowGradient::kept_bytes(prepared.problem, *field)},
                        [&](bool with_clocks) {
                            return RowGradient::bytes_of_slot(prepared.problem, width, with_clocks);
                        });
}
void GradientOnRows::begin(GradientWorker& at) const {
    at.field = tile_of(*call.field, prepared.problem, width);
    if (seeds.loss) at.loss = tile_of(*seeds.loss, prepared.problem, width);
    const RowObjective objective{at.loss.get(), seeds.arrays, loss};
    Arena counting;
    static_cast<void>(RowGradient(prepared.problem, *at.field, objective, plan, counting));
    Arena arena = at.memory.arena(counting.num_bytes());
    at.num_bytes = static_cast<std::int64_t>(counting.num_bytes());
    at.gradient =
        std::make_unique<RowGradient>(prepared.problem, *at.field, objective, plan, arena);
    at.loop = std::make_unique<RowLoop>(TileRounds<RowGradient>{},
                                        LoopOptions{.checkpoints = plan.checkpoints});
}
void GradientOnRows::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    const ThreadLink link{to_caller, &threads};
    ThreadTeam<1> team(link, groups, worker, group);
    GradientWorker& at = workers[static_cast<std::size_t>(worker)];
    if (!at.gradient) begin(at);
    LaneOutcome* const outcomes = result.report.lanes().data();
    BackCost& cost = costs[static_cast<std::size_t>(worker)];
    const std::ptrdiff_t end = team.first_lane() + team.num_lanes();
    SharedTarget<double> of_group = shared;
    if (prepared.problem.sums_tile) of_group.sums += group * call.field->num_parameters();
    for (std::ptrdiff_t first = team.first_lane(); first < end; first += width) {
        const auto count = static_cast<std::int32_t>(std::min<std::ptrdiff_t>(width, end - first));
        if (!team.attend()) {
            for (std::ptrdiff_t lane = first; lane < first + count; ++lane) {
                outcomes[lane].t = prepared.problem.times.t0;
                outcomes[lane].result = Result::cancelled;
            }
            continue;
        }
        at.gradient->run(*at.loop, team, first, count, target, of_group, outcomes + first);
        add(cost.loops, at.loop->counters());
        cost.evaluations += at.gradient->replayed_rounds() * count * call.method->num_needed;
        // The loop has states in its slots, where it starts, where it is, and one at work.
        const std::int64_t states = at.loop->store().num_states() + 3;
        cost.most_bytes =
            std::max(cost.most_bytes, at.num_bytes - at.gradient->planned_bytes() +
                                          at.gradient->used_bytes() + at.loop->bytes_of_lists() +
                                          states * at.gradient->bytes_of_state());
    }
}
void GradientOnRows::run() {
    check_arrays();
    const SolveOptions& options = *call.options;
    const std::ptrdiff_t lanes = prepared.num_lanes();
    if (seeds.loss) open_loss(lanes, HostMemory{});
    open_sums(extent().lanes);
    plan_groups();
    open(extent(), groups.num_groups(), groups.num_workers, HostMemory{}, 1, false);
    shared = shared_sums.rows();
    plan_back();
    workers.resize(static_cast<std::size_t>(groups.num_workers));
    {
        CallLink link(Cancellation{}, options);
        to_caller = &link;
        const auto watching = link.watch(options.progress, where, lanes);
        link.keep_states_in(&result.report.lost_states());
        threads.for_each_group(groups.num_groups(), groups.num_workers, *this);
        link.keep_states_in(nullptr);
        link.rethrow();
    }
    result.report.checkpoints = plan.checkpoints;
    set_costs(result.report, costs);
    finish_sums(options.gather_sums, where);
    if (!call.shares_parameters) return;
    for (std::ptrdiff_t i = 0; i < call.field->num_parameters(); ++i)
        target.p(0, i) = total_of_p(i);
}

}  // namespace

ValueAndGradient<double> differentiate_on_rows(const RowCall& call, const RowSeeds& seeds,
                                               const char* where) {
    require_argument(!seeds.loss || !call.options->save_steps, said_of(Refusal::steps_of_loss),
                     where);
    GradientOnRows gradient(call, seeds, where);
    gradient.run();
    return std::move(gradient.result);
}

}  // namespace eddy::inline v0::detail
