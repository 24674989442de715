#pragma once
// Many trajectories of one equation, each with its own steps: solve, and pushforward, which carries
// tangents along through the same code.
// Test: tests/solve/oracle.cpp, tests/solve/solver_objects.cpp

#include <eddy/solve/call/given_outputs.hpp>
#include <eddy/solve/call/kept_steps.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/path_solve.hpp>
#include <eddy/solve/call/second_pass.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/call/solver_object.hpp>
#include <eddy/solve/call/spec_of_call.hpp>
#include <eddy/solve/call/start_values.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0 {

namespace detail {

/// `Follower` takes the accepted steps on a host where nobody may want to keep them.
template <class Spec, class Observable, class FollowerType = NoSteps>
struct SolveWorkspace {
    using Real = typename Spec::Scalar;
    using ObservableType = Observable;
    using Follower = FollowerType;
    static constexpr int num_outputs = Observable::num_outputs;

    PreparedProblem<Spec> prepared;
    [[no_unique_address]] Follower follower{};
    Solution<Real> solution;
    // (save point) to be written; empty: none given
    std::vector<EnsembleView<Real>> y, tangent, variance;
    CallArrays arrays;
    RunSums<Moments> sums;  // of paths, where rows stay on a device

    /// The arrays that the call is to write into, checked.
    template <class Memory>
    void take(const SolutionInto<Real>& into, const Memory& memory, const char* where,
              std::int64_t num_paths = 1) {
        require_solution_outputs(into, memory, Spec::is_dual, num_paths > 1, where);
        y.clear();
        tangent.clear();
        variance.clear();
        if (!gives_any(into)) return;
        arrays.clear();
        add_inputs(arrays, prepared.problem);
        const ArrayShape shape{prepared.num_lanes(), Observable::num_outputs};
        const std::size_t saves = prepared.times().num_saves;
        collect_outputs(y, into.y, memory, saves, shape, "y", where, arrays);
        collect_outputs(tangent, into.tangent, memory, saves, shape, "tangent", where, arrays);
        collect_outputs(variance, into.variance, memory, saves, shape, "variance", where, arrays);
        arrays.require_apart(where);
    }

    template <class Backend>
    Solution<Real>& run(const SolveOptions& options, const Backend& backend,
                        typename Backend::Kept& kept, const Cancellation& cancelled,
                        const char* title) {
        require_valid(backend, title);
        require_possible(options, memory_for(backend, kept), title);
        EmptyUnlessDone guard(solution);
        prepared.join_ranks(options, title);
        {
            CallLink call(cancelled, options, prepared.ranks.group);
            const auto watching =
                call.watch(options.progress, title, prepared.num_lanes() * options.paths);
            run_passes(options, backend, kept, call, title);
        }
        prepared.ranks.end_work();
        if (prepared.ranks) solution.set_ranks(prepared.ranks.group->shared_from_this());
        guard.done();
        return solution;
    }

    /// Runs all methods of the call.
    template <class Backend>
    void run_passes(const SolveOptions& options, const Backend& backend,
                    typename Backend::Kept& kept, CallLink& call, const char* title) {
        if (options.paths > 1)
            paths.run(*this, options, backend, kept, call, title);
        else
            run_pass(options, backend, kept, call);
        second.run(*this, options, backend, kept, call, title);
    }

    /// Runs one method, as a part of a call.
    template <class Backend>
    void run_pass(const SolveOptions& options, const Backend& backend, typename Backend::Kept& kept,
                  CallLink& call) {
        const std::ptrdiff_t lanes = prepared.num_lanes();
        solution.reset(lanes, prepared.times().saved(), Observable::num_outputs, Spec::state_size,
                       {.y = y.empty(),
                        .has_tangents = Spec::is_dual,
                        .tangent = Spec::is_dual && tangent.empty(),
                        .steps = options.save_steps,
                        .comes_later = is_of_device<Backend>,
                        .noise_cell = prepared.noise_cell()});
        solution.set_attempt_cost(attempt_cost<typename Spec::Stepper>);
        solution.set_attempt_cost(attempt_cost<typename SecondSpecOf<Spec>::Stepper>, 1);
        const SavedArrays<Real> saved = open_outputs(memory_for(backend, kept));
        const LaunchPlan plan = plan_way_forward<Spec>(backend, lanes);
        TangentMark* const marks = watch_tangents<Backend>();
        sums.marks = marks;
        LaneEvents* const events = events_for<Spec>(solution);
        const auto run_kernel = [&](const auto& steps) {
            using Kernel = SolveKernel<Spec, Observable, std::remove_cvref_t<decltype(steps)>>;
            launch(plan,
                   Kernel{prepared.problem, solution.lanes().data(), saved,
                          static_cast<std::int32_t>(plan.group_size), steps, marks, events, sums},
                   backend, kept, call);
            if (lanes > 0) solution.follow(LeftThere<Backend>{backend, kept}.unfinished());
        };
        if constexpr (!std::is_same_v<Follower, NoSteps>) {
            run_kernel(follower);
        } else if constexpr (!is_of_device<Backend>) {
            run_kernel(StepsOfSolution<Real>{options.save_steps ? &solution : nullptr});
        } else {
            if (options.save_steps)
                keep_steps<StepArrays<Real>, Spec::state_size>(
                    lanes,
                    rows_of_steps<Spec>(prepared.problem.times, lanes,
                                        memory_limits(options.memory_budget, backend, kept)),
                    run_kernel,
                    [&] { return !solution.success() && any_cancelled(solution.outcomes()); },
                    [&](std::ptrdiff_t lane, double t, const Real* values) {
                        solution.append_step(lane, t, values);
                    });
            else
                run_kernel(StepArrays<Real>{});
        }
    }

    /// (lane) Where tangents are found to be unreliable; null: nobody watches.
    template <class Backend>
    [[nodiscard]] TangentMark* watch_tangents() {
        constexpr bool may_watch =
            can_watch_tangents<Spec> && Backend::template Team<Spec>::watches.tangents;
        const bool watches = may_watch && !prepared.problem.counts_tangents;
        return watches ? solution.watch_tangents() : nullptr;
    }

  private:
    template <class Memory>
    void require_possible(const SolveOptions& options, const Memory& memory,
                          const char* title) const {
        require_argument(options.paths == 1 || !options.save_steps,
                         said_of(Refusal::steps_of_paths), title, options.paths);
        if (returns_early(memory))
            require_asynchronous(Features()
                                     .with(Feature::auto_switch, switches<Spec>)
                                     .with(Feature::save_steps, options.save_steps),
                                 title);
    }

  public:
    /// NaN in the arrays that were given, and in those of the solution, which take their place.
    template <class Memory>
    [[nodiscard]] SavedArrays<Real> open_outputs(const Memory& memory) {
        const auto open = [&](std::vector<EnsembleView<Real>>& views, auto own) {
            for (const EnsembleView<Real>& view : views)
                fill_here(memory, view, std::numeric_limits<Real>::quiet_NaN());
            if (!views.empty()) return;
            for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) views.push_back(own(k));
        };
        open(y, [&](std::ptrdiff_t k) { return solution.y_of(k); });
        if (Spec::is_dual) open(tangent, [&](std::ptrdiff_t k) { return solution.tangent_of(k); });
        if (solution.num_paths() > 1)
            open(variance, [&](std::ptrdiff_t k) { return solution.variance_of(k); });
        return {y.data(), tangent.data()};
    }

  private:
    using Paths =
        RarePass<PathSolve<SolveWorkspace, Spec>>;  // several to a lane: means and variances
    std::conditional_t<Spec::has_noise, Paths, NoPass> paths{};
    using OfSecond = detail::SolveWorkspace<SecondSpecOf<Spec>, Observable>;
    using Second = SecondSolve<SolveWorkspace, OfSecond, Spec>;
    std::conditional_t<switches<Spec>, Second, NoPass> second{};
};

/// What a solution keeps of its call, for `pullback`.
template <class Real>
struct KeptInputs {
    EnsembleArray<Real> y0, p;
};

}  // namespace detail

template <class Real, class Field, class Method, bool shared, class... Extras>
class EnsembleSolution;

/// A solve that can be repeated. It keeps its memory, so that a second call with arrays of the same
/// shape allocates nothing.
/// `ensemble_solver` makes one. You can also name the type with those of the arguments after the
/// options: `EnsembleSolver<Field, Tsit5, Serial>(options)`.
template <class Field, class Method, class... Extras>
class EnsembleSolver : public detail::SolverObject<EnsembleSolver<Field, Method, Extras...>, Field,
                                                   Method, Extras...> {
    using Object = detail::SolverObject<EnsembleSolver, Field, Method, Extras...>;
    using typename Object::Backend, typename Object::Choice, typename Object::Controller;
    using Observable = detail::ObservableOf<Field, typename Choice::Function>;

  public:
    using Object::Object;

    /// The solution stays valid until the next call. `cancelled` stops this call alone, in place of the options' token.
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return run(y0, p, Nowhere<Y0>{}, nullptr, cancelled);
    }
    /// A solve, with what is saved written straight into the caller's arrays, which must overlap neither each
    /// other nor what is read. After an exception they may hold anything.
    template <class Y0, class Parameters, class Real>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const SolutionInto<Real>& into,
                              const Cancellation& cancelled = {}) {
        return run(y0, p, into, nullptr, cancelled);
    }

    /// A pushforward, with tangents of y0 and p.
    template <class Y0, class Parameters, class Y0Tangent, class PTangent>
    requires(!detail::is_cancellation<PTangent>) decltype(auto) operator()(
        const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent, const PTangent& p_tangent,
        const Cancellation& cancelled = {}) {
        return run(y0, p, Nowhere<Y0>{}, nullptr, cancelled, y0_tangent, p_tangent);
    }
    template <class Y0, class Parameters, class Y0Tangent, class PTangent, class Real>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent,
                              const PTangent& p_tangent, const SolutionInto<Real>& into,
                              const Cancellation& cancelled = {}) {
        return run(y0, p, into, nullptr, cancelled, y0_tangent, p_tangent);
    }

  private:
    friend Object;
    static constexpr const char* name = detail::call_of<Method>;
    template <class... Tangents>
    static constexpr auto kind_of = sizeof...(Tangents) > 0 ? detail::CallKind::pushforward
                                                            : detail::CallKind::solve;
    template <class, class, class, bool, class...>
    friend class EnsembleSolution;

    template <class Y0>
    using Nowhere = SolutionInto<typename detail::ScalarOrDouble<Y0>::type>;

    /// `keep`, if any, gets copies of the arguments before the work: memory that is not there is missed at once.
    template <class Y0, class Parameters, class Real, class... Tangents>
    decltype(auto) run(const Y0& y0, const Parameters& p, const SolutionInto<Real>& into,
                       std::type_identity_t<detail::KeptInputs<Real>>* keep,
                       const Cancellation& cancelled, const Tangents&... tangents) {
        if constexpr (detail::check_arrays<Y0, Parameters>() && detail::check_outputs<Y0, Real>() &&
                      detail::check_tangents<Y0, Tangents...>() &&
                      detail::check_reach<Backend, Y0, Parameters, Tangents...>() &&
                      Object::template check_combination<kind_of<Tangents...>, Y0>()) {
            constexpr bool is_dual = sizeof...(Tangents) > 0;
            constexpr const char* where = is_dual ? "pushforward" : name;
            using Chosen = typename Object::template BackendFor<kind_of<Tangents...>, Parameters>;
            using Spec =
                detail::SpecOfCall<Chosen, Field, Method, Controller, Y0, Parameters, is_dual>;
            return this->in_call(
                where, [&]() -> auto& {
                    auto& workspace =
                        this->template prepare<detail::SolveWorkspace<Spec, Observable>>(y0, p,
                                                                                         where);
                    if constexpr (is_dual) {
                        workspace.prepared.prepare_tangents(tangents..., where, this->memory());
                        workspace.prepared.problem.counts_tangents =
                            options_.tangents_in_error_norm;
                    }
                    workspace.take(into, this->memory(), where, options_.paths);
                    if (!is_dual && keep) {
                        keep->y0 = detail::host_copy(this->memory(), ensemble_view(y0));
                        if (const auto* table = detail::table_of(p))
                            detail::gather_parameters(*table, workspace.prepared.num_lanes(),
                                                      Spec::parameter_size, keep->p);
                        else
                            keep->p = detail::host_copy(this->memory(), detail::parameter_view(p));
                    }
                    return this->compute(std::type_identity<Chosen>{}, workspace, cancelled, where);
                });
        }
    }

    using Object::method_, Object::options_, Object::workspace_;
};

/// What `solve` returns: a solution, with the problem that it solves, for `pullback`.
template <class Real, class Field, class Method, bool shared, class... Extras>
class [[nodiscard]] EnsembleSolution : public Solution<Real> {
  public:
    /// The solution of the only call of this solver.
    template <class Y0, class Parameters>
    EnsembleSolution(EnsembleSolver<Field, Method, Extras...>&& solver, const Y0& y0,
                     const Parameters& p, const Extras&... extras)
        : method_(solver.method_), options_(detail::copy_of(solver.options_)), extras_(extras...) {
        Solution<Real>& solution = solver.run(y0, p, SolutionInto<Real>{}, &kept_, Cancellation{});
        static_cast<void>(Solution<Real>::operator=(std::move(solution)));
    }

    [[nodiscard]] const EnsembleArray<Real>& y0() const { return kept_.y0; }
    [[nodiscard]] const EnsembleArray<Real>& p() const { return kept_.p; }
    [[nodiscard]] const Method& method() const { return method_; }
    [[nodiscard]] const SolveOptions& options() const { return options_; }
    [[nodiscard]] const std::tuple<Extras...>& extras() const { return extras_; }

  private:
    detail::KeptInputs<Real> kept_;
    [[no_unique_address]] Method method_;
    SolveOptions options_;
    std::tuple<Extras...> extras_;
};

/// `solve` as an object that keeps its memory and its threads: `solver(y0, p)`.
template <class Field, class Method, class... Extras>
[[nodiscard]] auto ensemble_solver(const Field&, const Method& method, const SolveOptions& options,
                                   const Extras&... extras) {
    if constexpr (detail::check_solver<Field, Method, Extras...>())
        return EnsembleSolver<Field, Method, Extras...>(method, options, extras...);
}

/// Solves dy/dt = field(t, y, p) for each trajectory of an ensemble. `y0` has the shape
/// (trajectory, component). `p` is a (trajectory, component) array or `shared(array)`.
/// A controller, a backend and `observe(function)` may follow the options, in any order.
/// A bad argument throws InvalidArgument before any work. A trajectory that fails throws nothing:
/// its `Result` says why.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] auto solve(const Field& field, const Method& method, const Y0& y0,
                         const Parameters& p, const SolveOptions& options,
                         const Extras&... extras) {
    if constexpr (detail::IsStart<Y0>) {
        if constexpr (detail::check_start_of<Field, Y0, Parameters>()) {
            using Real = detail::ParameterScalarOf<Parameters>;
            const detail::StartValues<Field, typename Y0::is_start, Real> starts(
                options.t0, detail::GivenParameters<Real>::of(p), nullptr, y0.num_lanes, "solve");
            auto solution = solve(field, method, starts.y0, p, options, extras...);
            return Solution<Real>(std::move(solution));
        }
    } else if constexpr (detail::check_call<detail::CallKind::solve, Y0, Field, Method,
                                            Extras...>() &&
                         detail::check_arrays<Y0, Parameters>()) {
        return EnsembleSolution<EnsembleScalarOf<Y0>, Field, Method, detail::is_shared<Parameters>,
                                Extras...>(ensemble_solver(field, method, options, extras...), y0,
                                           p, extras...);
    }
}

/// Forward sensitivities: the solution and its derivative in the direction (y0_tangent, p_tangent),
/// which has the shapes of y0 and p. `solution.tangent(k)` is the derivative at save point k. Step
/// sizes are held constant.
template <class Field, class Method, class Y0, class Parameters, class Y0Tangent, class PTangent,
          class... Extras>
[[nodiscard]] auto pushforward(const Field& field, const Method& method, const Y0& y0,
                               const Parameters& p, const Y0Tangent& y0_tangent,
                               const PTangent& p_tangent, const SolveOptions& options,
                               const Extras&... extras) {
    if constexpr (detail::IsStart<Y0>) {
        constexpr bool same = std::is_same_v<Y0Tangent, Y0>;
        static_assert(same,
                      "pushforward: y0 is start_from(function), and so is its tangent; give the "
                      "same in both places");
        if constexpr (detail::check_start_of<Field, Y0, Parameters>() && same) {
            using Real = detail::ParameterScalarOf<Parameters>;
            const auto along = detail::GivenParameters<Real>::of(p_tangent);
            const detail::StartValues<Field, typename Y0::is_start, Real> starts(
                options.t0, detail::GivenParameters<Real>::of(p), &along, y0.num_lanes,
                "pushforward");
            return pushforward(field, method, starts.y0, p, starts.tangent, p_tangent, options,
                               extras...);
        }
    } else if constexpr (detail::check_call<detail::CallKind::pushforward, Y0, Field, Method,
                                            Extras...>()) {
        auto solver = ensemble_solver(field, method, options, extras...);
        return std::move(solver(y0, p, y0_tangent, p_tangent));
    }
}

}  // namespace eddy::inline v0
