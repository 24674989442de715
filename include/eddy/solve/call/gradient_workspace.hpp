#pragma once
// What a gradient works with, kept from call to call: the division of lanes and memory among workers,
// results and sums over lanes, and the caller's data, checked.
// Test: tests/solve/gradient_plan.cpp, tests/solve/solver_objects.cpp

#include <eddy/solve/call/collect_arrays.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/path_gradient.hpp>
#include <eddy/solve/call/redo.hpp>
#include <eddy/solve/call/second_pass.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

template <class Spec, class Objective, class Seeds, bool with_times>
struct GradientWorkspace : GradientResults<typename Spec::Lane> {
    using Real = typename Spec::Scalar;
    using Results = GradientResults<typename Spec::Lane>;
    template <class StoresOf>
    using KernelOf = GradientKernel<Spec, Objective, Seeds, StoresOf, with_times>;
    static constexpr bool has_loss = Seeds::has_loss;
    using Results::costs, Results::given, Results::loss, Results::loss_sums, Results::loss_total;
    using Results::result, Results::shared_sums, Results::tangent, Results::target;
    using Results::set_loss;
    PreparedProblem<Spec> prepared;
    std::vector<EnsembleView<const Real>> arrays;  // (save point) data or cotangents
    Seeds seeds;
    CallArrays call_arrays;
    bool keeps_addends = false;  // of a shared gradient, (lane): who runs the kernel adds them up
    RunSums<double> sums;        // of paths, where rows stay on a device
    /// (lane, piece · number) With respect to the coefficients of inputs.
    EnsembleArray<Real> of_inputs;
    InputRoom input_numbers;

    GradientWorkspace()
        : Results(
              {Spec::state_size, parameter_shape<Spec>, has_loss, with_times, can_watch<Spec>}) {}

    /// The arrays that the call is to write into, checked; `name` is that of the arrays it reads.
    template <class Memory>
    void take(const GradientInto<Real>& into, const Memory& memory, const char* name,
              const char* where) {
        given = into;
        if (!gives_any(into)) return;
        call_arrays.clear();
        add_inputs(call_arrays, prepared.problem);
        for (std::size_t k = 0; k < arrays.size(); ++k)
            call_arrays.add_input(arrays[k], name, static_cast<std::ptrdiff_t>(k));
        this->require_outputs(extent(), memory, call_arrays, where);
    }
    /// What may be asked of a gradient whose parameters lie in a table: lanes are added up when all is done.
    template <class Parameters>
    void require_table_alone(const GradientInto<Real>& into, const SolveOptions& options,
                             bool is_shared_by_ranks, bool is_early, const char* where) const {
        if (!HasTable<Parameters>) return;
        require_argument(!into.p.is_given(),
                         "{}: an array for the gradient with respect to p, which lies in a table; "
                         "leave it out, and read gradient.p of the result",
                         where);
        require_argument(!options.gather_sums && !is_shared_by_ranks && !is_early,
                         "{}: parameters(own, shared) and selected(theta, index) are added up on "
                         "this host when all is done, without gather_sums, Mpi and asynchronous; "
                         "leave those out, or give an array of parameters",
                         where);
    }
    /// Adds up what trajectories bring to parameters in a table.
    template <class Parameters>
    void add_up_table(const Parameters& p) {
        if (const auto* table = table_of(p)) {
            add_rows_of_table(*table, result.gradient.p, result.gradient.shared);
            if (Spec::is_dual) add_rows_of_table(*table, tangent.p, tangent.shared);
        } else {
            result.gradient.shared.assign(0, 0, Real(0));
        }
    }
    /// The loss of each lane, zero so far.
    template <class Memory = HostMemory>
    void open_loss(const Memory& memory = {}) {
        Results::open_loss(prepared.num_lanes(), memory);
        seeds.put_into(loss, loss_sums.empty() ? nullptr : loss_sums.data());
    }

    /// Is the way back watched?
    template <class Backend>
    static constexpr bool watches = team_watches<Spec, typename Backend::template Team<Spec>>;
    /// Are lanes solved once more where their steps do not carry their derivatives? Not where the
    /// states are given, nor in times that dual numbers do not know.
    template <class Backend>
    static constexpr bool redoes =
        watches<Backend>&& Backend::template Team<Spec>::takes_prescribed_steps&&
            Seeds::has_report &&
        !Spec::has_path && std::is_same_v<ScalarOf<typename Spec::Time>, double>;

    template <class Backend>
    void run(const SolveOptions& options, const Backend& backend, typename Backend::Kept& kept,
             const Cancellation& cancelled, const char* title) {
        require_valid(backend, title);
        if (returns_early(memory_for(backend, kept))) {
            require_asynchronous(Features()
                                     .with(Feature::auto_switch, switches<Spec>)
                                     .with(Feature::hessian, Spec::is_dual)
                                     .with(Feature::gather_sums, bool(options.gather_sums)),
                                 title);
            require_all_there(given, memory_for(backend, kept), Spec::parameter_size > 0, has_loss,
                              with_times, title);
        }
        require_argument(options.paths == 1 || prepared.times().num_impulses == 0,
                         said_of(Refusal::paths_of_impulses), title, options.paths);
        EmptyUnlessDone guard(result);
        prepared.join_ranks(options, title);
        require_whole_blocks(options, title);
        if (!is_of_device<Backend>) this->open_sums(prepared.blocks());
        {
            CallLink call(cancelled, options, prepared.ranks.group);
            const auto watching =
                call.watch(options.progress, title, prepared.num_lanes() * options.paths);
            call.keep_states_in(options.paths == 1 ? &result.report.lost_states() : nullptr);
            if (options.paths > 1)
                shared_is_added_ = loss_is_added_ =
                    paths.run(*this, options, backend, kept, call, title);
            else
                run_unsummed(options, backend, kept, call, title);
            call.keep_states_in(nullptr);  // lanes have other numbers among those of a second pass
            second.run(*this, options, backend, kept, call, title);
        }
        pull_inputs(options.inputs, prepared.input_use, of_inputs, input_numbers,
                    result.gradient.inputs);
        if (!finishes_later(LeftThere<Backend>{backend, kept}))
            finish_sums(options.gather_sums, title, memory_for(backend, kept));
        prepared.ranks.end_work();
        guard.done();
    }

    /// Runs one method, without sums over lanes: the kernel, and the marked lanes once more, if the call
    /// waits.
    template <class Backend>
    void run_unsummed(const SolveOptions& options, const Backend& backend,
                      typename Backend::Kept& kept, CallLink& call, const char* title) {
        const bool may_redo = redoes<Backend> && options.stable_gradients &&
                              !returns_early(memory_for(backend, kept));
        run_kernel(options, backend, kept, call, may_redo);
        if constexpr (redoes<Backend>) {
            if (may_redo) solve_marked(options, backend, kept, call, title);
        }
    }

    /// Runs the kernel, without a second solve and sums over lanes. A shared gradient may leave out what marked
    /// lanes bring to it.
    template <class Backend>
    void run_kernel(const SolveOptions& options, const Backend& backend,
                    typename Backend::Kept& kept, CallLink& call, bool leaves_out_marked) {
        using Team = typename Backend::template Team<Spec>;
        const std::ptrdiff_t lanes = prepared.num_lanes();
        const LaunchPlan groups = plan_shared_groups(lanes, backend);
        reset(groups.num_groups(), groups.num_workers, memory_for(backend, kept));
        if constexpr (Spec::input_room > 0) {
            of_inputs.assign(lanes, prepared.problem.inputs.coefficients.num_components, Real(0));
            target.inputs = of_inputs.view();
        }
        GradientPlan plan = plan_gradient<Spec, Team>(
            options, prepared.problem.times, groups.group_size, groups.num_workers,
            memory_limits(options.memory_budget, backend, kept));
        plan.watches = result.report.is_watched = watches<Backend>;
        const auto stores = backend.stores(plan, groups.num_workers, kept);
        const SharedTarget<typename Spec::Lane> shared = shared_sums.rows();
        SharedRows<Spec> rows{shared.addends, shared.sums};
        const bool gathers = options.gather_sums || prepared.ranks;
        rows.may_be_added = !Spec::is_dual && !gathers && !keeps_addends;
        seeds.add_up_into(loss_sums.empty() || gathers ? nullptr : &loss_total);
        using Kernel = KernelOf<std::remove_const_t<decltype(stores)>>;
        launch(groups,
               Kernel{prepared.problem, result.report.lanes().data(), seeds, target, rows, plan,
                      stores, costs.data(), plan.watches ? result.report.marks.data() : nullptr,
                      plan.watches && leaves_out_marked, events_for<Spec>(result.report), sums},
               backend, kept, call);
        const LeftThere<Backend> left{backend, kept};
        const bool has_added_up = lanes > 0 && left.has_added_up();
        shared_is_added_ = has_added_up && rows.may_be_added;
        loss_is_added_ = has_added_up && seeds.adds_up();
        if (!left.returned_early() && lanes > 0) result.report.follow(left.unfinished());
        result.report.checkpoints = plan.checkpoints;
        set_costs(result.report, costs);
    }

    /// Sums over lanes.
    template <class Memory = HostMemory>
    void finish_sums(const GatherSums& gather, const char* where, const Memory& memory = {}) {
        Results::finish_sums(gather, where, prepared.ranks);
        if (!Spec::shares_parameters || shared_is_added_) return;
        put_row(memory, target.p, [&](int i) { return this->total_of_p(i); });
        if (Spec::is_dual)
            put_row(memory, target.p_tangent,
                    [&](int i) { return this->total_of_p(Spec::parameter_size + i); });
    }

    /// What lanes have brought to the gradient that were solved apart; what became of them is known.
    template <class Apart, class Memory>
    void take_lanes_of(Apart& apart, const BroughtRows& brought, const Memory& memory,
                       const char* title) {
        apart.finish_sums({}, title);
        put_target_into(memory, target, brought, apart.target, Spec::shares_parameters);
        if (has_loss) {
            put_rows_into(memory, loss, brought, apart.loss);
            // The sums of the blocks that they are in.
            if (!loss_sums.empty()) this->sum_blocks(host_copy(memory, ensemble_view(loss)));
            loss_is_added_ = false;
        }
        if (Spec::shares_parameters) shared_sums.add_apart(apart.target);
        add_cost(result.report, apart.result.report);
    }
    /// What a device has kept of the call comes to the host, which goes on with some of its lanes.
    template <class Backend>
    void take_over(const LeftThere<Backend>& left) {
        if (shared_is_added_) left.bring_addends();
        shared_is_added_ = false;
        result.report.wait();
    }

  private:
    using Results::shared_is_added_, Results::loss_is_added_;

    [[nodiscard]] GradientExtent extent() const {
        const TimePlan& times = prepared.times();
        return {prepared.blocks(),
                times.saves_the_end ? 0 : static_cast<std::ptrdiff_t>(times.num_saves),
                static_cast<std::ptrdiff_t>(times.num_impulses)};
    }

    template <class Team, class Backend>
    [[nodiscard]] static std::ptrdiff_t group_size(std::ptrdiff_t lanes, const Backend& backend) {
        // Beyond 64 parameters the sum runs over groups: they depend on the number of lanes alone. A
        // device wants more of them than threads do.
        constexpr bool by_lanes_alone =
            Spec::shares_parameters &&
            (is_of_host<typename Backend::Memory> || !Spec::sums_by_lane);
        const std::ptrdiff_t groups =
            by_lanes_alone ? 16 : 4 * num_workers<Spec, true>(backend, lanes);
        const std::ptrdiff_t size = lanes_per_group<Spec, Team>(lanes, groups);
        return parameter_shape<Spec>.adds_blocks() && lanes > few_lanes
                   ? num_blocks(size) * lanes_per_block
                   : size;
    }
    template <class Backend>
    void solve_marked(const SolveOptions& options, const Backend& backend,
                      typename Backend::Kept& kept, const CallLink& call, const char* title) {
        const LeftThere<Backend> left{backend, kept};
        if (prepared.num_lanes() == 0 || !left.has_marked()) return;
        take_over(left);
        const RowList marked = marked_lanes(result.report);
        if (marked.empty()) return;
        CallLink uncounted = call.uncounted();
        redo.run(*this, marked, options, backend, kept, uncounted, title);
    }

  public:
    /// `stays`: what becomes of paths is known on a device first.
    template <class Memory>
    void reset(std::ptrdiff_t num_groups, std::ptrdiff_t num_workers, const Memory& memory,
               std::int64_t num_paths = 1, bool stays = !is_of_host<Memory>) {
        this->open(extent(), num_groups, num_workers, memory, num_paths, stays);
        result.report.set_attempt_cost(attempt_cost<typename Spec::Stepper>);
        result.report.set_attempt_cost(attempt_cost<typename SecondSpecOf<Spec>::Stepper>, 1);
    }

    template <class Backend>
    [[nodiscard]] static LaunchPlan plan_groups(std::ptrdiff_t lanes, const Backend& backend) {
        return plan_launch<Spec, true>(
            backend, lanes, group_size<typename Backend::template Team<Spec>>(lanes, backend));
    }

  private:
    /// The groups of all ranks, where the sum runs over groups: this rank has whole groups of them.
    template <class Backend>
    [[nodiscard]] LaunchPlan plan_shared_groups(std::ptrdiff_t lanes, const Backend& backend) {
        const RankShare& ranks = prepared.ranks;
        if (!Spec::shares_parameters || Spec::sums_by_lane || !ranks)
            return plan_groups(lanes, backend);
        const std::ptrdiff_t size = plan_groups(ranks.num_lanes, backend).group_size;
        require_whole_groups(ranks, lanes, size);
        this->first_group_ = ranks.first_lane / size;
        return plan_launch<Spec, true>(backend, lanes, size);
    }
    /// What lies on a device is added there, in blocks that begin where its lanes begin; and paths of many shared
    /// parameters in one sum.
    void require_whole_blocks(const SolveOptions& options, const char* title) const {
        if (!prepared.ranks) return;
        require_rank_blocks(prepared.blocks(), !loss_sums.empty(), title);
        if (Spec::shares_parameters && !Spec::sums_by_lane)
            require_no_paths_of_ranks(prepared.ranks, options.paths, title);
    }
    /// Does a call that returns early leave sums for later? Those of shared parameters are added there.
    template <class Backend>
    bool finishes_later(const LeftThere<Backend>& left) {
        if (!left.returned_early()) return false;
        if (prepared.num_lanes() == 0) return true;
        rest_.follow(left.unfinished());
        const auto finish = [](void* of) { static_cast<GradientWorkspace*>(of)->finish_later(); };
        result.report.follow({finish, this});
        if (has_loss)
            set_loss(std::numeric_limits<double>::quiet_NaN(), std::span<const LaneOutcome>{});
        return true;
    }
    void finish_later() {
        rest_.wait();
        set_costs(result.report, costs);
        if (has_loss) set_loss(loss_total, result.report.lanes());
    }
    Unfinished rest_;  // what the device brings, of a call that returned early
    using Redone = RarePass<Redo<GradientWorkspace, Spec>>;
    using Paths = RarePass<PathGradient<GradientWorkspace, Spec>>;
    std::conditional_t<can_watch<Spec>, Redone, NoPass> redo{};
    std::conditional_t<Spec::has_noise && Seeds::has_loss, Paths, NoPass> paths{};
    using Second = SecondOfGradient<GradientWorkspace, Spec, Objective, Seeds, with_times>;
    Second second{};
};

}  // namespace eddy::inline v0::detail
