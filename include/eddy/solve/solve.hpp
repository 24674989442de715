#pragma once
// Many trajectories of one equation, each with its own steps: solve, and pushforward, which carries
// tangents along through the same code.

#include <eddy/solve/ensemble.hpp>
#include <eddy/solve/lane_group.hpp>
#include <eddy/solve/progress.hpp>
#include <eddy/solve/solution.hpp>
#include <eddy/solve/taps.hpp>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <tuple>
#include <vector>

namespace eddy {

namespace detail {

/// Puts what a lane's save points show into a solution.
template <class Program, class Tap>
class SolutionRecorder {
    using Lane = typename Program::Lane;
    using Real = typename Program::Scalar;

  public:
    void begin(const LaneInputs<Program>& inputs, std::ptrdiff_t first, Solution<Real>& solution,
               bool wants_steps) {
        inputs_ = &inputs;
        first_ = first;
        solution_ = &solution;
        wants_steps_ = wants_steps;
    }
    [[nodiscard]] bool wants_steps() const { return wants_steps_; }

    /// False where what is to be saved is not finite; then nothing is.
    [[nodiscard]] bool save(std::int32_t lane, std::int32_t k,
                            const typename Program::LaneState& y) {
        const std::ptrdiff_t row = first_ + lane;
        const auto values = Tap::value(inputs_->times.save_time[static_cast<std::size_t>(k)], y,
                                       LaneParametersView<Program>{inputs_, row}, NoData{});
        if (!is_finite(values)) return false;
        for (int i = 0; i < Tap::num_outputs; ++i) {
            solution_->y_block(k)(row, i) = primal(values[i]);
            if constexpr (Program::is_dual) solution_->tangent_block(k)(row, i) = values[i].tangent;
        }
        return true;
    }
    void save_step(std::int32_t lane, double t, const typename Program::LaneState& y) {
        Real values[Program::state_size];
        for (int i = 0; i < Program::state_size; ++i) values[i] = primal(y[i]);
        solution_->append_step(first_ + lane, t, values);
    }

  private:
    const LaneInputs<Program>* inputs_ = nullptr;
    std::ptrdiff_t first_ = 0;
    Solution<Real>* solution_ = nullptr;
    bool wants_steps_ = false;
};

/// Lanes of a cancelled call that never sat down.
inline void cancel_waiting(std::span<LaneOutcome> outcomes, std::int32_t num_seated, double t0) {
    for (LaneOutcome& outcome : outcomes.subspan(static_cast<std::size_t>(num_seated))) {
        outcome.result = Result::cancelled;
        outcome.t = t0;
    }
}

/// What one thread works with.
template <class Program, class Tap>
struct SolveWorker {
    SolutionRecorder<Program, Tap> recorder;
    LaneGroup<Program, SolutionRecorder<Program, Tap>> group{recorder};
    LoopState<Program> state;
};

template <class Program, class Tap>
struct SolveWorkspace {
    LaneInputs<Program> inputs;
    Solution<typename Program::Scalar> solution;
    std::vector<std::unique_ptr<SolveWorker<Program, Tap>>> workers;

    template <class Backend>
    Solution<typename Program::Scalar>& run(const SolveOptions& options, const Backend& backend,
                                            KeptBy<Backend>& kept, const std::stop_token& cancelled,
                                            const char* title) {
        require_valid(backend, title);
        const std::ptrdiff_t lanes = inputs.y0.num_lanes;
        EmptyUnlessDone guard(solution);
        solution.reset(lanes, inputs.times.save_time, Tap::num_outputs, Program::is_dual,
                       Program::state_size, options.save_steps);
        // No sum runs over lanes here: few groups for each worker, so that a slot has many lanes.
        const std::ptrdiff_t size = lanes_per_group<Program>(lanes, 4 * backend.num_workers(lanes));
        const std::ptrdiff_t num_groups = (lanes + size - 1) / size;
        const auto num_workers = static_cast<std::size_t>(backend.num_workers(num_groups));
        if (workers.size() < num_workers) workers.resize(num_workers);
        Progress progress(options.progress, cancelled, lanes, title);
        inputs.cancelled = progress.cancelled();
        inputs.progress = &progress;
        constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
        kept.for_each_group(
            backend, inputs, num_groups, [&](std::ptrdiff_t worker, std::ptrdiff_t index) {
                const std::ptrdiff_t first = index * size, count = std::min(size, lanes - first);
                const std::span<LaneOutcome> outcomes = solution.lanes().subspan(
                    static_cast<std::size_t>(first), static_cast<std::size_t>(count));
                auto& kept_worker = workers[static_cast<std::size_t>(worker)];
                if (!kept_worker)  // on the thread that works
                    kept_worker = std::make_unique<SolveWorker<Program, Tap>>();
                auto& [recorder, group, state] = *kept_worker;
                recorder.begin(inputs, first, solution, options.save_steps);
                group.begin(inputs, first, outcomes);
                group.seat_all(state, {never, never});
                group.run(state);
                cancel_waiting(outcomes, group.num_seated(), inputs.times.t0);
            });
        guard.done();
        return solution;
    }
};

}  // namespace detail

/// A solve that can be repeated: it keeps its memory, so that a second call on arrays of the same
/// shape allocates nothing. Made by `ensemble_solver`, or by name, with the types of what follows
/// the options, such as EnsembleSolver<Field, Tsit5, Serial>(options).
template <class Field, class Method, class... Extras>
class EnsembleSolver {
    static_assert(
        RungeKuttaMethod<Method>,
        "EnsembleSolver: the method must be a struct with an order and a tableau, such as "
        "Tsit5");
    using Choice = detail::ExtrasOf<Method, Extras...>;
    using Backend = typename Choice::Backend;
    using Controller = typename Choice::Controller;
    using Tap = detail::ObservedTapOf<Field, typename Choice::Function>;

  public:
    /// One to be assigned to: without options there is no t1, and a call says so.
    EnsembleSolver() : EnsembleSolver(SolveOptions{}) {}
    /// With extras as their types make them.
    explicit EnsembleSolver(SolveOptions options) requires(sizeof...(Extras) > 0)
        : EnsembleSolver(std::move(options), Extras{}...) {}
    explicit EnsembleSolver(SolveOptions options, const Extras&... extras)
        : options_(std::move(options)),
          backend_(detail::extra_or_default<Backend>(extras...)),
          controller_(detail::extra_or_default<Controller>(extras...)) {}

    /// The solution stays valid until the next call. `cancelled` stops this call alone, in place of
    /// the token of the options.
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const std::stop_token& cancelled) {
        if constexpr (detail::check_arrays<Y0, Parameters>()) {
            using Number = typename Backend::template Lanes<EnsembleScalarOf<Y0>>;
            using Program =
                LaneProgram<Field, Method, Controller, Number, detail::is_shared<Parameters>>;
            auto& workspace = workspace_.get<detail::SolveWorkspace<Program, Tap>>();
            detail::prepare_inputs(workspace.inputs, options_, controller_, y0, p, "solve");
            return workspace.run(options_, backend_, kept_, cancelled, "solve");
        }
    }
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p) {
        return (*this)(y0, p, options_.cancelled);
    }

    /// The same with tangents of y0 and p.
    template <class Y0, class Parameters, class Y0Tangent, class PTangent>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent,
                              const PTangent& p_tangent, const std::stop_token& cancelled) {
        if constexpr (detail::check_arrays<Y0, Parameters>() &&
                      detail::check_tangents<Y0, Y0Tangent, PTangent>()) {
            using Number = Dual<typename Backend::template Lanes<EnsembleScalarOf<Y0>>>;
            using Program =
                LaneProgram<Field, Method, Controller, Number, detail::is_shared<Parameters>>;
            auto& workspace = workspace_.get<detail::SolveWorkspace<Program, Tap>>();
            auto& inputs = workspace.inputs;
            detail::prepare_inputs(inputs, options_, controller_, y0, p, "pushforward");
            detail::prepare_tangents(inputs, y0_tangent, p_tangent, "pushforward");
            return workspace.run(options_, backend_, kept_, cancelled, "pushforward");
        }
    }
    template <class Y0, class Parameters, class Y0Tangent, class PTangent>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent,
                              const PTangent& p_tangent) {
        return (*this)(y0, p, y0_tangent, p_tangent, options_.cancelled);
    }

  private:
    SolveOptions options_;
    Backend backend_;
    Controller controller_;
    detail::KeptBy<Backend> kept_;
    detail::Workspace workspace_;
};

/// What `solve` returns: a solution, with the problem that it solves, for `pullback`.
template <class Real, class Field, class Method, bool shared, class... Extras>
class [[nodiscard]] EnsembleSolution : public Solution<Real> {
  public:
    template <class Parameters>
    EnsembleSolution(Solution<Real>&& solution, const EnsembleView<const Real>& y0,
                     const Parameters& p, const SolveOptions& options, const Extras&... extras)
        : Solution<Real>(std::move(solution)),
          y0_(y0),
          p_(detail::parameter_view(p)),
          options_(options),
          extras_(extras...) {}

    [[nodiscard]] const EnsembleArray<Real>& y0() const { return y0_; }
    [[nodiscard]] const EnsembleArray<Real>& p() const { return p_; }
    [[nodiscard]] const SolveOptions& options() const { return options_; }
    [[nodiscard]] const std::tuple<Extras...>& extras() const { return extras_; }

  private:
    EnsembleArray<Real> y0_, p_;
    SolveOptions options_;
    std::tuple<Extras...> extras_;
};

template <class Field, class Method, class... Extras>
[[nodiscard]] auto ensemble_solver(const Field&, const Method&, SolveOptions options,
                                   const Extras&... extras) {
    if constexpr (detail::check_solver<Field, Method, Extras...>())
        return EnsembleSolver<Field, Method, Extras...>(std::move(options), extras...);
}

/// Solves dy/dt = field(t, y, p) for every lane, a row of y0 and of p. `p` is a (lane, component)
/// array or `shared(array)`. After the options may stand, in any order, a controller, a backend
/// and observe(function). InvalidArgument before any work where an argument is bad; what goes wrong
/// in a lane is its result.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] auto solve(const Field& field, const Method& method, const Y0& y0,
                         const Parameters& p, const SolveOptions& options,
                         const Extras&... extras) {
    if constexpr (detail::check_solver<Field, Method, Extras...>() &&
                  detail::check_arrays<Y0, Parameters>()) {
        auto solver = ensemble_solver(field, method, options, extras...);
        return EnsembleSolution<EnsembleScalarOf<Y0>, Field, Method, detail::is_shared<Parameters>,
                                Extras...>(std::move(solver(y0, p)), ensemble_view(y0), p, options,
                                           extras...);
    }
}

/// Forward mode: the solution, and its derivative in the direction (y0_tangent, p_tangent), of the
/// shapes of y0 and p: solution.tangent(k). Step sizes are data.
template <class Field, class Method, class Y0, class Parameters, class Y0Tangent, class PTangent,
          class... Extras>
[[nodiscard]] auto pushforward(const Field& field, const Method& method, const Y0& y0,
                               const Parameters& p, const Y0Tangent& y0_tangent,
                               const PTangent& p_tangent, const SolveOptions& options,
                               const Extras&... extras) {
    if constexpr (detail::check_solver<Field, Method, Extras...>()) {
        auto solver = ensemble_solver(field, method, options, extras...);
        return std::move(solver(y0, p, y0_tangent, p_tangent));
    }
}

}  // namespace eddy
