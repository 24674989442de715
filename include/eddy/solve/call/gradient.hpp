#pragma once
// Exact gradients of an ensemble: the derivative of the numbers that the forward pass computed,
// step sizes taken as data. value_and_gradient does forward pass, loss and way back group by group,
// while the states are in cache; hessian_vector_product runs it in dual numbers, forward over
// reverse. pullback.hpp does the same for cotangents that the caller has.
// Test: tests/solve/oracle_gradients.cpp, tests/solve/solver_objects.cpp

#include <eddy/solve/call/called_once.hpp>
#include <eddy/solve/call/gradient_error.hpp>
#include <eddy/solve/call/gradient_workspace.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solve/call/solver_object.hpp>
#include <eddy/solve/call/start_values.hpp>
#include <eddy/solve/call/unread.hpp>

namespace eddy::inline v0 {

/// A gradient that can be repeated. It keeps its memory, so that a second call with arrays of the
/// same shape allocates nothing.
/// `gradient_solver` makes one. You can also name the type with those of the arguments after the
/// options: `GradientSolver<Field, Tsit5, Loss, Serial>(options)`.
template <class Field, class Method, class LossFunction, class... Extras>
class GradientSolver
    : public detail::SolverObject<GradientSolver<Field, Method, LossFunction, Extras...>, Field,
                                  Method, Extras...> {
    using Object = detail::SolverObject<GradientSolver, Field, Method, Extras...>;
    using typename Object::Backend, typename Object::Choice, typename Object::Controller;
    using Kind = detail::CallKind;

    // Named outside of lambdas: nvcc reads no alias in them.
    template <Kind kind, class Parameters>
    using ChosenFor = typename Object::template BackendFor<kind, Parameters>;
    template <Kind kind, class Y0, class Parameters>
    using SpecFor =
        detail::SpecOfCall<ChosenFor<kind, Parameters>, Field,
                           detail::EstimatingMethodOf<Method, Choice::estimates_error>, Controller,
                           Y0, Parameters, kind == Kind::hessian || Choice::estimates_error>;

  public:
    using Object::Object;

    /// Loss and gradient; the result stays valid until the next call. `cancelled` stops this call
    /// alone, in place of the token of the options.
    template <class Data, class Y0, class Parameters>
    requires(!detail::is_cancellation<Parameters>) decltype(auto) operator()(
        const Data& data, const Y0& y0, const Parameters& p, const Cancellation& cancelled = {}) {
        if constexpr (detail::IsStart<Y0>)
            return run_from_start(data, y0, p, cancelled);
        else if constexpr (check<Kind::gradient, Data, Y0, Parameters>())
            return run(data, y0, p, GradientInto<EnsembleScalarOf<Y0>>{}, cancelled);
    }
    /// The gradient for a loss without data, loss(t, y, p).
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return (*this)(detail::NoData{}, y0, p, cancelled);
    }

    /// The gradient, with what `into` has arrays for written straight into them. They must overlap
    /// neither each other nor what is read; after an exception they may hold anything.
    template <class Data, class Y0, class Parameters, class Real>
    decltype(auto) operator()(const Data& data, const Y0& y0, const Parameters& p,
                              const GradientInto<Real>& into, const Cancellation& cancelled = {}) {
        if constexpr (check<Kind::gradient, Data, Y0, Parameters>() &&
                      detail::check_outputs<Y0, Real>())
            return run(data, y0, p, into, cancelled);
    }
    template <class Y0, class Parameters, class Real>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const GradientInto<Real>& into,
                              const Cancellation& cancelled = {}) {
        return (*this)(detail::NoData{}, y0, p, into, cancelled);
    }

    /// The loss, its gradient, and the product of its Hessian with the direction.
    template <class Data, class Y0, class Parameters, class Y0Direction, class PDirection>
    requires(!detail::is_cancellation<PDirection>)  // but the last of a loss without data
        auto hessian_vector_product(const Data& data, const Y0& y0, const Parameters& p,
                                    const Y0Direction& y0_direction, const PDirection& p_direction,
                                    const Cancellation& cancelled = {}) {
        if constexpr (detail::IsStart<Y0>)
            return product_from_start(data, y0, p, y0_direction, p_direction, cancelled);
        else if constexpr (check<Kind::hessian, Data, Y0, Parameters>() &&
                           detail::check_tangents<Y0, Y0Direction, PDirection>() &&
                           detail::check_reach<Backend, Y0Direction, PDirection>()) {
            constexpr const char* where = "hessian_vector_product";
            constexpr std::type_identity<ChosenFor<Kind::hessian, Parameters>> machine{};
            return this->in_call(where, [&] {
                auto& workspace = prepare<Kind::hessian>(data, y0, p, where);
                workspace.prepared.prepare_tangents(y0_direction, p_direction, where,
                                                    this->memory());
                workspace.open_loss(this->memory());
                workspace.template require_table_alone<Parameters>(
                    {}, options_, Choice::has_ranks, detail::returns_early(this->memory()), where);
                this->compute(machine, workspace, cancelled, where);
                workspace.add_up_table(p);
                detail::tell_unread<Field, ObjectiveFor<Data>>(workspace.result.report, p,
                                                               is_used_);
                return HessianVectorProduct<EnsembleScalarOf<Y0>>{
                    std::move(workspace.result.gradient), std::move(workspace.tangent),
                    std::move(workspace.result.report), std::move(workspace.result.loss)};
            });
        }
    }
    /// The Hessian-vector product for a loss without data, loss(t, y, p).
    template <class Y0, class Parameters, class Y0Direction, class PDirection>
    auto hessian_vector_product(const Y0& y0, const Parameters& p, const Y0Direction& y0_direction,
                                const PDirection& p_direction, const Cancellation& cancelled = {}) {
        return hessian_vector_product(detail::NoData{}, y0, p, y0_direction, p_direction,
                                      cancelled);
    }

  private:
    friend Object;
    static constexpr const char* name = "value_and_gradient";

    template <class Data>
    using ObjectiveFor = detail::LossTermOf<Field, LossFunction, Data>;
    template <class Data, class Start, class Parameters>
    void tell_unread_of(GradientReport& report, const Parameters& p) {
        using Program = detail::StartProgram<Field, typename Start::is_start>;
        detail::tell_unread<Field, ObjectiveFor<Data>, detail::Reader<Program, 1>>(report, p,
                                                                                   is_used_);
    }

    template <class Data, class Start, class Parameters>
    decltype(auto) run_from_start(const Data& data, const Start& start, const Parameters& p,
                                  const Cancellation& cancelled) {
        if constexpr (detail::check_start_of<Field, Start, Parameters>()) {
            using Real = detail::ParameterScalarOf<Parameters>;
            const detail::StartValues<Field, typename Start::is_start, Real> starts(
                options_.t0, detail::GivenParameters<Real>::of(p), nullptr, start.num_lanes, name);
            auto& result = (*this)(data, starts.y0, p, cancelled);
            starts.pull(result.gradient, Choice::with_times);
            tell_unread_of<Data, Start>(result.report, p);
            return (result);
        }
    }
    template <class Data, class Start, class Parameters, class Direction, class PDirection>
    auto product_from_start(const Data& data, const Start& start, const Parameters& p,
                            const Direction&, const PDirection& p_direction,
                            const Cancellation& cancelled) {
        static_assert(
            std::is_same_v<Direction, Start>,
            "hessian_vector_product: y0 is start_from(function), and so is its direction; "
            "give the same in both places");
        if constexpr (detail::check_start_of<Field, Start, Parameters>() &&
                      std::is_same_v<Direction, Start>) {
            using Real = detail::ParameterScalarOf<Parameters>;
            const auto along = detail::GivenParameters<Real>::of(p_direction);
            const detail::StartValues<Field, typename Start::is_start, Real> starts(
                options_.t0, detail::GivenParameters<Real>::of(p), &along, start.num_lanes,
                "hessian_vector_product");
            auto result =
                hessian_vector_product(data, starts.y0, p, starts.tangent, p_direction, cancelled);
            starts.pull(result.gradient, result.product);
            tell_unread_of<Data, Start>(result.report, p);
            return result;
        }
    }

    static void require_possible(const SolveOptions& options) {
        require_argument(!options.save_steps, detail::said_of(detail::Refusal::steps_of_loss),
                         name);
    }
    template <Kind kind, class Data, class Y0, class Parameters>
    static consteval bool check() {
        if constexpr (Object::template check_combination<kind, Y0>() &&
                      detail::check_data_of_loss<Field, LossFunction, Data>() &&
                      detail::check_arrays<Y0, Parameters>() &&
                      detail::check_reach<Backend, typename detail::GivenArrays<Data>::type, Y0,
                                          Parameters>())
            return detail::check_data<typename detail::GivenArrays<Data>::type,
                                      EnsembleScalarOf<Y0>>();
        return false;
    }

    template <class Data, class Y0, class Parameters>
    decltype(auto) run(const Data& data, const Y0& y0, const Parameters& p,
                       const GradientInto<EnsembleScalarOf<Y0>>& into,
                       const Cancellation& cancelled) {
        constexpr std::type_identity<ChosenFor<Kind::gradient, Parameters>> machine{};
        return this->in_call(
            name, [&]() -> auto& {
                auto& workspace = prepare<Kind::gradient>(data, y0, p, name);
                workspace.template require_table_alone<Parameters>(
                    into, options_, Choice::has_ranks, detail::returns_early(this->memory()), name);
                workspace.take(into, this->memory(), "data", name);
                workspace.open_loss(this->memory());
                detail::run_with_errors<Choice::estimates_error>(workspace, this->memory(), [&] {
                    this->compute(machine, workspace, cancelled, name);
                });
                workspace.add_up_table(p);
                detail::tell_unread<Field, ObjectiveFor<Data>>(workspace.result.report, p,
                                                               is_used_);
                return workspace.result;
            });
    }

    template <Kind kind, class Data, class Y0, class Parameters>
    auto& prepare(const Data& data, const Y0& y0, const Parameters& p, const char* where) {
        using Spec = SpecFor<kind, Y0, Parameters>;
        using Workspace = detail::GradientWorkspace<Spec, ObjectiveFor<Data>,
                                                    detail::LossSeeds<Spec>, Choice::with_times>;
        auto& workspace = Object::template prepare<Workspace>(y0, p, where);
        const std::ptrdiff_t lanes = workspace.prepared.num_lanes();
        const std::size_t saves = workspace.prepared.times().num_saves;
        if constexpr (std::is_same_v<Data, detail::NoData>) {
            workspace.arrays.assign(saves, {});
        } else {
            detail::collect_arrays(workspace.arrays, data, saves, lanes,
                                   detail::data_size_of<Field, LossFunction>, "data", where,
                                   this->memory(), detail::for_missing_data,
                                   &workspace.prepared.times());
        }
        GradientReport& report = workspace.result.report;
        report.num_values = 0;
        report.observed.clear();
        for (const auto& view : workspace.arrays) report.num_values += view.num_components;
        if (detail::may_miss_values<Data>) {
            if (detail::returns_early(this->memory()))
                detail::require_asynchronous(
                    detail::Features().with(detail::Feature::missing_values), where);
            detail::count_observed_in(this->memory(), report.observed, workspace.arrays, lanes,
                                      workspace.prepared.times(), where);
        } else if (workspace.prepared.times().is_own) {
            detail::count_given(report.observed, workspace.arrays, lanes,
                                workspace.prepared.times());
        }
        workspace.seeds.data = workspace.arrays.data();
        return workspace;
    }

    std::vector<char> is_used_;  // (entry) of a table of parameters

    using Object::options_, Object::workspace_;
};

/// `value_and_gradient` as an object that keeps its memory and its threads: `solver(data, y0, p)`.
template <class Field, class Method, class LossFunction, class... Extras>
[[nodiscard]] auto gradient_solver(const Field&, const Method& method, const LossFunction&,
                                   const SolveOptions& options, const Extras&... extras) {
    if constexpr (detail::check_gradient<detail::CallKind::gradient, detail::NoArrays, Field,
                                         Method, LossFunction, Extras...>()) {
        return GradientSolver<Field, Method, LossFunction, Extras...>(method, options, extras...);
    }
}

}  // namespace eddy::inline v0
