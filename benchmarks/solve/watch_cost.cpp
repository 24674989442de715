// What it costs to watch the way back of lanes that need no second solve: gradients by teams that watch
// against teams that do not, the same text otherwise, in turn in one run.

#include <eddy/solvers/tsit5.hpp>
#include <string>

#include "lorenz_lanes.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr int num_rounds = 41;
constexpr std::ptrdiff_t num_lanes = 480;

template <class Plain>
struct Unwatched : Plain {
    static constexpr eddy::detail::Watches watches{};
    static constexpr bool takes_prescribed_steps = false;
    using Plain::Plain;
};

/// One thread's packs.
template <bool watched>
struct OneThread {
    struct backend_tag {};
    template <class Real>
    using Lanes = eddy::Cpu::Lanes<Real>;
    template <class Spec>
    using Plain = eddy::Cpu::Team<Spec>;
    template <class Spec>
    using Team = std::conditional_t<watched, Plain<Spec>, Unwatched<Plain<Spec>>>;
    using Memory = eddy::HostMemory;
    using Kept = eddy::detail::ThreadWorkers;

    static void require_valid(const char*) {}
    [[nodiscard]] static std::ptrdiff_t num_workers(std::ptrdiff_t) { return 1; }
    [[nodiscard]] static Memory memory() { return {}; }
    [[nodiscard]] static auto stores(const eddy::detail::GradientPlan& plan, std::ptrdiff_t count,
                                     Kept& kept) {
        return kept.stores(plan, count);
    }
    template <class Kernel>
    void launch(const eddy::LaunchPlan& plan, const Kernel& kernel, eddy::detail::CallLink& call,
                Kept& kept) const {
        using Group = Team<typename Kernel::Spec>;
        const std::size_t bytes = eddy::detail::arena_bytes<Group>(kernel);
        const eddy::detail::ThreadLink link{&call};
        for (std::ptrdiff_t group = 0; group < plan.num_groups(); ++group) {
            Group team(link, plan, 0, group);
            kernel(team, kept.at_least(1)->memory.arena(bytes));
        }
    }
};

void compare(double t1, const char* goal) {
    LorenzLanes<double> lanes(num_lanes);
    // Chaotic all of them: a lane that comes to rest at a fixed point is solved again, and rightly.
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        lanes.p(lane, 1) = 28 + 5 * static_cast<double>(lane) / num_lanes;
    const eddy::EnsembleArray<double> data(1, 3);
    const eddy::SolveOptions options{.t1 = t1};
    const auto solver_on = [&](const auto& backend) {
        return eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, options, backend);
    };
    auto with = solver_on(OneThread<true>{});
    auto without = solver_on(OneThread<false>{});
    const auto& report = with(data, lanes.y0, lanes.p).report;
    std::ptrdiff_t redone = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) redone += report.redone(lane);
    const double steps = static_cast<double>(report.total_stats().accepted);

    Race race;
    const int on = race.add(steps, [&] { kept = with(data, lanes.y0, lanes.p).loss.total; });
    const int off = race.add(steps, [&] { kept = without(data, lanes.y0, lanes.p).loss.total; });
    race.run(num_rounds);
    print_row(text("%.0f steps a lane", steps / num_lanes), goal, nanoseconds(race.time(on)),
              text("%.3f", race.ratio(on, off)),
              text("%d lanes solved again", static_cast<int>(redone)));
}

}  // namespace

int main() {
    print_heading("Gradients watched against unwatched, Lorenz, Tsit5, rtol 1e-6, one thread",
                  "Time per lane and step; ratio: to the same without the watch. Medians of 41 "
                  "interleaved rounds, 480 lanes.");
    compare(0.6, "<= 1.05");
    compare(2.8, "<= 1.03");
    compare(10.5, "<= 1.03");
}
