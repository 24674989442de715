#pragma once
// Launches of `Tiles`: the kernel of a call, as the loop over rows takes it. Arrays, losses, sums and outcomes are those of
// other backends; steps are the library's.
// Test: tests/solve/tiles_oracle.cpp, tests/backends/tiles_objects.cpp

#include <cmath>
#include <eddy/backends/rows/row_control.hpp>
#include <eddy/backends/rows/row_launch.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <optional>
#include <vector>

namespace eddy::inline v0::detail {

/// An equation, which is made when it is first asked for.
template <class Field>
[[nodiscard]] const std::shared_ptr<const FieldMaker>& field_on_rows() {
    static constexpr const auto& graph = FieldProgram<Field>::graph;
    static const std::shared_ptr<const FieldMaker> field =
        field_of_constant(ConstantGraph(graph), row_level, input_sizes_of<Field>);
    return field;
}
/// The equation of a call; in dual numbers, with a tangent.
template <class Spec>
[[nodiscard]] const RowEquation& equation_on_rows() {
    static const RowEquation equation =
        Spec::is_dual ? with_tangent(*field_on_rows<typename Spec::Field>())
                      : row_equation(field_on_rows<typename Spec::Field>(), !Spec::sums_by_lane);
    return equation;
}
template <class Spec>
[[nodiscard]] constexpr const MethodOnRows& method_of_rows() {
    return method_on_rows<typename Spec::Method, Spec::is_adaptive>;
}

/// A thread that takes its lanes in tiles: for plans, it has as many chains as a tile has lanes.
template <class Spec>
class TileTeam : public ThreadTeam<1> {
  public:
    using ThreadTeam<1>::ThreadTeam;
    static constexpr int num_chains = [] {
        if constexpr (RungeKuttaMethod<typename Spec::Method>)
            return most_row_width(Spec::state_size, method_of_rows<Spec>(), true,
                                  sizeof(typename Spec::Scalar));
        else
            return 1;  // Tiles says that the method is not for it
    }();
    static constexpr bool takes_prescribed_steps = true;
    static constexpr Watches watches{.way_back = !steps_jointly<typename Spec::Controller>};

    static void plan_way_back(GradientPlan& plan, const SolveOptions& options,
                              const WorkerBudget& budget, std::int64_t rounds_of_lane) {
        if constexpr (RungeKuttaMethod<typename Spec::Method>)
            plan_launch_back(plan, options, budget, rounds_of_lane, equation_on_rows<Spec>(),
                             method_of_rows<Spec>(), sizeof(typename Spec::Scalar));
    }
};

template <class Spec>
[[nodiscard]] RowProblem<typename Spec::Scalar> problem_on_rows(const Problem<Spec>& problem) {
    const RowEquation& equation = equation_on_rows<Spec>();
    RowProblem<typename Spec::Scalar> rows;
    rows.times = problem.times;
    rows.method = &method_of_rows<Spec>();
    rows.control = control_of(problem.controller);
    rows.control.order = static_cast<float>(rows.method->order);
    rows.control.error_order = rows.method->error_order;
    rows.tolerances = {problem.rtol, problem.atol.data, equation.counted.data(),
                       static_cast<int>(equation.counted.size())};
    rows.y0 = problem.y0;
    rows.p = problem.p;
    rows.rows = problem.rows;
    if (problem.has_table()) rows.table = problem.table;
    if constexpr (Spec::input_room > 0) {
        rows.inputs = problem.inputs;
        rows.input_room = Spec::input_room;
    }
    rows.shares_parameters = Spec::shares_parameters;
    rows.is_fused = row_level == RowLevel::fused;
    rows.sums_tile = !Spec::sums_by_lane;
    rows.state_size = Spec::state_size;
    rows.parameter_size = Spec::parameter_size;
    rows.prescribed = problem.prescribed;
    if (Spec::is_dual) rows.add_tangent();  // those of steps that carry derivatives are fixed
    return rows;
}

template <class Spec>
[[nodiscard]] typename Spec::LaneState state_of_lane(const typename Spec::Scalar* state) {
    typename Spec::LaneState y;
    for (int i = 0; i < Spec::state_size; ++i) y[i] = state[i];
    return y;
}

/// What a solve saves. Any thread may ask.
template <class Kernel>
class SavedByLane final : public RowRecorder<typename Kernel::Spec::Scalar> {
    using Spec = typename Kernel::Spec;
    using Real = typename Spec::Scalar;

  public:
    explicit SavedByLane(const Kernel& kernel) : kernel_(&kernel) {}
    [[nodiscard]] bool wants_steps() const override { return kernel_->recorder(0).wants_steps(); }
    void save_step(std::ptrdiff_t lane, const TakenStep& step, const Real* state) override {
        kernel_->recorder(lane).save_step(0, step, state_of_lane<Spec>(state));
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k, const Real* state) override {
        return kernel_->recorder(lane).save(0, k, state_of_lane<Spec>(state));
    }
    [[nodiscard]] Result not_finite() const override { return Kernel::Recorder::not_finite; }

  private:
    const Kernel* kernel_;
};

/// The losses of a gradient, or the cotangents that it is given, of the lanes that a worker has.
template <class Kernel>
class LossesByLane final : public RowLosses<typename Kernel::Spec::Scalar> {
    using Spec = typename Kernel::Spec;
    using Real = typename Spec::Scalar;

  public:
    void take(const Kernel& kernel, CallLink& call) {
        kernel_ = &kernel;
        call_ = &call;
    }
    void begin(std::ptrdiff_t first, std::int32_t count) override {
        first_ = first;
        count_ = count;
        states_.resize(static_cast<std::size_t>(count) *
                       static_cast<std::size_t>(kernel_->problem.times.num_saves));
        RecorderMemory<Spec> memory;
        memory.states = states_.data();
        recorder_.emplace(kernel_->recorder(first, count, memory));
        if (kernel_->shared.addends) recorder_->begin(0, 1);
    }
    [[nodiscard]] bool save(std::ptrdiff_t lane, int, std::int32_t k, const Real* state) override {
        return recorder_->save(number(lane), k, state_of_lane<Spec>(state));
    }
    void pull_save(std::ptrdiff_t lane, std::int32_t k, Real* cotangent,
                   const RowSums<Real>& of_p) override {
        const auto seed = recorder_->pull_save(
            number(lane), k, [&](int i, const Real& value) { of_p.add(i, value); });
        for (int i = 0; i < Spec::state_size; ++i) cotangent[i] = seed[i];
    }
    void state_at(std::ptrdiff_t lane, std::int32_t k, Real* state) const override {
        const auto& saved = recorder_->saved(number(lane), k);
        for (int i = 0; i < Spec::state_size; ++i) state[i] = saved[i];
    }
    void finish(const LaneOutcome* outcomes) override {
        tell_lost_states(*call_, *recorder_, outcomes, first_, count_);
    }
    [[nodiscard]] Result not_finite() const override { return Kernel::Recorder::not_finite; }
    [[nodiscard]] std::int64_t num_bytes() const override {
        return static_cast<std::int64_t>(states_.capacity() * sizeof(typename Spec::LaneState));
    }

  private:
    [[nodiscard]] std::int32_t number(std::ptrdiff_t lane) const {
        return static_cast<std::int32_t>(lane - first_);
    }

    const Kernel* kernel_ = nullptr;
    CallLink* call_ = nullptr;
    std::vector<typename Spec::LaneState> states_;  // (save point, lane)
    std::optional<typename Kernel::Recorder> recorder_;
    std::ptrdiff_t first_ = 0;
    std::int32_t count_ = 0;
};

/// What launches of a solver object keep.
struct TileMemory {
    Workspace rows, rows_with_tangent, losses;
};

template <class Kernel>
void launch_tiles(const LaunchPlan& plan, const Kernel& kernel, const ThreadLink& link,
                  TileMemory& kept) {
    using Spec = typename Kernel::Spec;
    using Real = typename Spec::Scalar;
    RowLaunch<Real> launch{problem_on_rows(kernel.problem),
                           &equation_on_rows<Spec>(),
                           plan,
                           link,
                           kernel.outcomes,
                           steps_jointly<typename Spec::Controller>};
    if constexpr (is_gradient<Kernel>) {
        launch.problem.differentiates_times = Kernel::differentiates_times;
        launch.problem.is_watched = kernel.marks != nullptr;
        struct Losses {
            std::vector<LossesByLane<Kernel>> by_worker;
            std::vector<RowLosses<Real>*> all;
        };
        auto& [by_worker, all] = kept.losses.get<Losses>();
        const auto workers = static_cast<std::size_t>(plan.num_workers);
        if (by_worker.size() < workers) by_worker.resize(workers);
        all.clear();
        for (LossesByLane<Kernel>& losses : by_worker) {
            losses.take(kernel, *link.call);
            all.push_back(&losses);
        }
        const SharedTarget<Real> shared{kernel.shared.addends, kernel.shared.sums};
        const RowLaunchBack<Real> back{all,
                                       &kernel.plan,
                                       kernel.target,
                                       shared,
                                       Kernel::Recorder::has_report,
                                       kernel.costs,
                                       kernel.marks,
                                       kernel.leaves_out_marked};
        differentiate_launch(kept.rows, launch, back);
    } else {
        SavedByLane<Kernel> recorder(kernel);
        solve_launch<Real>(Spec::is_dual ? kept.rows_with_tangent : kept.rows, launch, recorder);
    }
}

}  // namespace eddy::inline v0::detail
