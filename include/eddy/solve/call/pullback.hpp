#pragma once
// Gradients for cotangents that the caller has computed: the states at save points are solved for
// once more, bit for bit as before, and the cotangents are pulled back through them.
// Test: tests/solve/differentiable_solve.cpp, tests/solve/oracle_gradients.cpp

#include <eddy/solve/call/gradient_error.hpp>
#include <eddy/solve/call/gradient_workspace.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solve/call/solver_object.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0 {

/// A pullback that can be repeated. It keeps its memory, so that a second call with arrays of the
/// same shape allocates nothing.
/// `pullback_solver` makes one. You can also name the type with those of the arguments after the
/// options: `PullbackSolver<Field, Tsit5, Serial>(options)`.
template <class Field, class Method, class... Extras>
class PullbackSolver : public detail::SolverObject<PullbackSolver<Field, Method, Extras...>, Field,
                                                   Method, Extras...> {
    using Object = detail::SolverObject<PullbackSolver, Field, Method, Extras...>;
    using typename Object::Backend, typename Object::Choice, typename Object::Controller;
    using Observable = detail::ObservableOf<Field, typename Choice::Function>;
    template <class Parameters>
    using Chosen = typename Object::template BackendFor<detail::CallKind::pullback, Parameters>;

  public:
    using Object::Object;

    /// The gradients of Σ cotangent · saved value over save points. `cotangents` is one (trajectory,
    /// observable) array of the shape of `solution.y(k)`, or a `std::vector` of one for each save point.
    /// An array of one row is used by all trajectories. `cancelled` stops this call only, in place of
    /// the token of the options.
    template <class Arrays, class Y0, class Parameters>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const Cancellation& cancelled = {}) {
        if constexpr (check<Arrays, Y0, Parameters>())
            return run(cotangents, y0, p, GradientInto<EnsembleScalarOf<Y0>>{}, cancelled);
    }
    /// The gradient, with what `into` has arrays for written straight into them. They must overlap
    /// neither each other nor what is read; after an exception they may hold anything.
    template <class Arrays, class Y0, class Parameters, class Real>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const GradientInto<Real>& into, const Cancellation& cancelled = {}) {
        if constexpr (check<Arrays, Y0, Parameters>() && detail::check_outputs<Y0, Real>())
            return run(cotangents, y0, p, into, cancelled);
    }

  private:
    friend Object;
    static constexpr const char* name = "pullback";

    static void require_possible(const SolveOptions& options) {
        require_argument(options.paths == 1, detail::said_of(detail::Refusal::paths_of_pullback),
                         name, options.paths);
    }

    template <class Arrays, class Y0, class Parameters>
    auto run(const Arrays& cotangents, const Y0& y0, const Parameters& p,
             const GradientInto<EnsembleScalarOf<Y0>>& into, const Cancellation& cancelled) {
        constexpr std::type_identity<Chosen<Parameters>>
            machine{};  // nvcc reads no alias in lambdas
        return this->in_call(name, [&] {
            auto& workspace = prepare(cotangents, y0, p);
            workspace.template require_table_alone<Parameters>(
                into, options_, Choice::has_ranks, detail::returns_early(this->memory()), name);
            workspace.take(into, this->memory(), "cotangents", name);
            detail::run_with_errors<Choice::estimates_error>(workspace, this->memory(), [&] {
                this->compute(machine, workspace, cancelled, name);
            });
            workspace.add_up_table(p);
            return PulledBack<EnsembleScalarOf<Y0>>{workspace.result.gradient,
                                                    workspace.result.report};
        });
    }

    template <class Arrays, class Y0, class Parameters>
    static consteval bool check() {
        if constexpr (Object::template check_combination<detail::CallKind::pullback, Y0>() &&
                      detail::check_arrays<Y0, Parameters>() &&
                      detail::check_reach<Backend, Arrays, Y0, Parameters>())
            return detail::check_data<Arrays, EnsembleScalarOf<Y0>>();
        return false;
    }

    template <class Arrays, class Y0, class Parameters>
    auto& prepare(const Arrays& cotangents, const Y0& y0, const Parameters& p) {
        using Spec = detail::SpecOfCall<Chosen<Parameters>, Field,
                                        detail::EstimatingMethodOf<Method, Choice::estimates_error>,
                                        Controller, Y0, Parameters, Choice::estimates_error>;
        using Seeds = detail::CotangentSeeds<Spec, Observable::num_outputs>;
        using Workspace = detail::GradientWorkspace<Spec, Observable, Seeds, Choice::with_times>;
        auto& workspace = Object::template prepare<Workspace>(y0, p, name);
        detail::collect_arrays(workspace.arrays, cotangents, workspace.prepared.times().num_saves,
                               workspace.prepared.num_lanes(), Observable::num_outputs,
                               "cotangents", name, this->memory(), "", &workspace.prepared.times());
        workspace.seeds.cotangents = workspace.arrays.data();
        return workspace;
    }

    using Object::options_, Object::workspace_;
};

/// `pullback` as an object that keeps its memory and its threads: `solver(cotangents, y0, p)`.
/// The arguments of a solve may follow the options: with `observe`, cotangents belong to its
/// values; `differentiate_times` adds the derivatives with respect to times.
template <class Field, class Method, class... Extras>
[[nodiscard]] auto pullback_solver(const Field&, const Method& method, const SolveOptions& options,
                                   const Extras&... extras) {
    if constexpr (detail::check_call<detail::CallKind::pullback, detail::NoArrays, Field, Method,
                                     Extras...>())
        return PullbackSolver<Field, Method, Extras...>(method, options, extras...);
}

/// Reverse mode: the gradients with respect to y0 and p of a solution that `solve` returned, and a
/// report on them.
/// `cotangents` are the derivatives of your loss with respect to each saved state: one (trajectory,
/// component) array for one save point, else one for each.
/// `cancelled` cancels this call, in place of the token of the solution's options.
template <class Real, class Field, class Method, bool shared, class... Extras, class Arrays>
[[nodiscard]] PulledGradient<Real> pullback(
    const EnsembleSolution<Real, Field, Method, shared, Extras...>& solution,
    const Arrays& cotangents, const Cancellation& cancelled = {}) {
    static_assert(detail::check_data<Arrays, Real>());
    static_assert(
        detail::takes_arrays_of_host<
            typename detail::ExtrasOf<Field, Method, Extras...>::Backend::Memory>,
        "pullback: the solution holds y0 and p on the host, where its backend does not compute; "
        "give arrays of its memory to a pullback_solver");
    auto solver = std::apply(
        [&](const Extras&... extras) {
            return PullbackSolver<Field, Method, Extras...>(solution.method(), solution.options(),
                                                            extras...);
        },
        solution.extras());
    const auto given_p = [&]() -> decltype(auto) {
        if constexpr (shared)
            return eddy::shared(solution.p());
        else
            return (solution.p());
    };
    const auto pulled = solver(cotangents, solution.y0(), given_p(), cancelled);
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

}  // namespace eddy::inline v0
