// What a gradient plans for its way back stays within the budget, sizes and controllers included.

#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient_workspace.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/equations.hpp"

namespace {

using namespace eddy::detail;

using Spec =
    SolveSpec<support::Lorenz, eddy::Tsit5, eddy::PIDController, eddy::Cpu::Lanes<double>, false>;
using Team = ThreadTeamFor<Spec>;

constexpr std::int64_t num_lanes = 512;

GradientPlan plan_for(const eddy::SolveOptions& options, std::ptrdiff_t num_workers) {
    const eddy::TimePlan times = eddy::plan_times(options, {true, false}, "gradient_plan");
    return plan_gradient<Spec, Team>(options, times.view(), num_lanes, num_workers,
                                     {options.memory_budget, eddy::detail::machine_memory_bytes()});
}

/// Bytes of states, log and links, by the text that lays them out.
std::int64_t bytes_of(const GradientPlan& plan) {
    Arena arena;
    const StepLog<Spec, Team> log(arena, plan.logged_rounds);
    const GroupCheckpoints<Spec, Team> slots(arena, plan.slots, plan.logged_rounds,
                                             plan.last_round);
    static_cast<void>(
        arena.take<eddy::CheckpointLinks::Link>(eddy::CheckpointLinks::num_links(plan.slots)));
    static_cast<void>(arena.take<std::int64_t>(plan.slots));
    return static_cast<std::int64_t>(arena.num_bytes());
}

}  // namespace

TEST_CASE("gradient_plan: states, log and links stay within the budget, however long lanes are") {
    // What is there whatever the budget: the state where the log ends, one link, gaps.
    constexpr std::int64_t fixed = 4096;
    for (const std::size_t budget : {std::size_t{64} << 10, std::size_t{1} << 20,
                                     std::size_t{16} << 20, std::size_t{256} << 20}) {
        for (const std::int64_t max_steps : {100, 10'000, 100'000, 10'000'000}) {
            for (const std::ptrdiff_t workers : {1, 3}) {
                CAPTURE(budget, max_steps, workers);
                const GradientPlan plan =
                    plan_for({.t1 = 1, .max_steps = max_steps, .memory_budget = budget}, workers);
                CHECK(bytes_of(plan) <=
                      static_cast<std::int64_t>(budget) / static_cast<std::int64_t>(workers) +
                          fixed);
                // And it is used: three quarters of it, or all that there may be.
                CHECK((bytes_of(plan) > static_cast<std::int64_t>(budget) / workers / 2 ||
                       plan.slots == plan.last_round + 1));
            }
        }
    }
}

TEST_CASE(
    "gradient_plan: where the log can cover all rounds it does, and slots hold states alone") {
    const GradientPlan covered = plan_for({.t1 = 1, .max_steps = 100'000}, 1);
    const GradientPlan open = plan_for({.t1 = 1, .max_steps = 10'000'000}, 1);

    CHECK(covered.last_round < covered.logged_rounds);
    CHECK(covered.refill.near <= covered.refill.far);
    CHECK(open.last_round >= open.logged_rounds);
    CHECK(open.checkpoints < covered.checkpoints);
}
