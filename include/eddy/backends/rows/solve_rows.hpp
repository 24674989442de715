#pragma once
// solve() of an equation whose sizes are known when the program runs. Nothing is compiled for it but the views of
// the arrays: the loop, the method and the controller are the library's.
// Test: tests/backends/row_solve.cpp

#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/rows/row_call.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <functional>
#include <tuple>
#include <vector>

namespace eddy::inline v0 {

/// Where calls of equations whose sizes are known when the program runs are computed: tiles of lanes over
/// threads. It is the default of those calls, and for them alone.
struct Rows {
    struct backend_tag {};
    static constexpr auto machine = detail::Machine::rows;

    int threads = 0;  ///< number of threads; 0: as many as this process may run at once

    void require_valid(const char* where) const { detail::require_threads(threads, "Rows", where); }
};

namespace detail {

/// An equation of run-time sizes: a FieldMaker, or what holds one.
template <class Field>
concept IsFieldOnRows = std::derived_from<Field, FieldMaker> || requires(const Field& field) {
    { field.maker() } -> std::convertible_to<const FieldMaker&>;
};
template <class Field>
[[nodiscard]] const FieldMaker& maker_of(const Field& field) {
    if constexpr (std::derived_from<Field, FieldMaker>)
        return field;
    else
        return field.maker();
}

/// Arrays of the host, of double.
template <class Array>
inline constexpr bool are_doubles = [] {
    if constexpr (requires(const Array& array) { parameter_view(array); })
        return std::is_same_v<ParameterScalarOf<Array>, double>;
    return false;
}();

template <class Method>
inline constexpr bool estimates_error_on_rows = [] {
    if constexpr (RungeKuttaMethod<Method>) return has_error_estimate<Method>;
    return false;
}();

template <class Extra>
inline constexpr bool chooses_steps = [] {
    if constexpr (IsController<Extra>) return Extra::is_adaptive;
    return false;
}();

/// What a call asks for that rows may not do.
template <class Method, CallKind call, class... Extras>
inline constexpr Features features_on_rows = [] {
    return Features()
        .with(Feature::other_method, !RungeKuttaMethod<Method>)
        .with(Feature::joint, (steps_jointly<Extras> || ...))
        .with(Feature::tangents, call == CallKind::pushforward)
        .with(Feature::hessian, call == CallKind::hessian)
        .with(Feature::times, (IsDifferentiateTimes<Extras> || ...))
        .with(Feature::gradient_error, (IsEstimateGradientError<Extras> || ...))
        .with(Feature::adaptive, (chooses_steps<Extras> || ...))
        .with(Feature::observe, (IsObserved<Extras> || ...))
        .with(Feature::no_error_estimate, !estimates_error_on_rows<Method>);
}();

/// Each failure says in one sentence what is wrong.
template <CallKind call, class Y0, class Parameters, class Method, class... Extras>
consteval bool check_on_rows() {
    if constexpr (check_refusal<refusal_of(features_on_rows<Method, call, Extras...>,
                                           Family::explicit_rk, Machine::rows, call)>()) {
        constexpr bool are_known =
            ((std::is_same_v<Extras, eddy::Rows> || std::is_same_v<Extras, PIDController> ||
              std::is_same_v<Extras, PredictiveController> ||
              std::is_same_v<Extras, ConstantController>)&&...);
        static_assert(are_known,
                      "solve: what follows the options of an equation of run-time sizes must be "
                      "Rows{}, or one of the controllers PIDController, PredictiveController and "
                      "ConstantController");
        static_assert(are_doubles<Y0> && are_doubles<Parameters>,
                      "solve: y0 and p of an equation of run-time sizes must be (trajectory, "
                      "component) arrays of double, p also as eddy::shared(p)");
        return are_known && are_doubles<Y0> && are_doubles<Parameters>;
    }
    return false;
}

[[nodiscard]] inline row_kernels::Control control_of(const ConstantController&) { return {}; }
[[nodiscard]] inline row_kernels::Control control_of(const PIDController& controller) {
    const PIDControl of = controller.in_single();
    return {row_kernels::Control::Kind::pid,
            {of.beta1, of.beta2, of.beta3, of.safety, of.min_factor, of.max_factor}};
}
[[nodiscard]] inline row_kernels::Control control_of(const PredictiveController& controller) {
    const PredictiveControl of = controller.in_single();
    return {row_kernels::Control::Kind::predictive, {of.safety, of.min_factor, of.max_factor}};
}

/// Arrays of each save point.
template <class Arrays>
[[nodiscard]] std::vector<EnsembleView<const double>> views_of(const Arrays& arrays) {
    std::vector<EnsembleView<const double>> views;
    if constexpr (requires { ensemble_view(arrays); })
        views.push_back(ensemble_view(arrays));
    else
        for (const auto& array : arrays) views.push_back(ensemble_view(array));
    return views;
}

/// A loss as an equation on rows: see RowSeeds.
template <class LossFunction>
[[nodiscard]] decltype(auto) loss_on_rows(const LossFunction& loss, const FieldMaker&) {
    if constexpr (std::derived_from<LossFunction, FieldMaker>) return (loss);
}

/// The call, as the library takes it; `options` and the arrays live longer.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] RowCall row_call(const Field& field, const Method&, const Y0& y0, const Parameters& p,
                               const SolveOptions& options, const char* where,
                               const Extras&... extras) {
    using Default =
        std::conditional_t<has_error_estimate<Method>, PIDController, ConstantController>;
    using Controller = typename PickExtra<ControllerKind, Default, Extras...>::type;
    constexpr bool adapts = Controller::is_adaptive;
    const auto controller = extra_or_default<Controller>(extras...);
    const auto rows = extra_or_default<eddy::Rows>(extras...);
    require_valid(controller, where);
    rows.require_valid(where);
    RowCall call{&maker_of(field),
                 &method_on_rows<Method, adapts>,
                 control_of(controller),
                 ensemble_view(y0),
                 parameter_view(p),
                 is_shared<Parameters>,
                 &options,
                 rows.threads};
    call.control.order = static_cast<float>(call.method->order);
    call.control.error_order = call.method->error_order;
    return call;
}

}  // namespace detail

/// The solution of an equation whose sizes are known when the program runs, with the problem that it solves, for
/// `pullback`. An equation that cannot be copied must outlive it.
template <class Field, class Method, bool shared, class... Extras>
class [[nodiscard]] RowSolution : public Solution<double> {
  public:
    template <class Y0, class Parameters>
    RowSolution(const Field& field, const Method& method, const Y0& y0, const Parameters& p,
                const SolveOptions& options, const Extras&... extras)
        : field_(field),
          method_(method),
          options_(detail::with_end(options, "solve")),
          extras_(extras...) {
        const detail::RowCall call =
            detail::row_call(field, method, y0, p, options_, "solve", extras...);
        y0_ = EnsembleArray<double>(call.y0);
        p_ = EnsembleArray<double>(call.p);
        detail::solve_on_rows(call, *this);
    }
    /// The gradients of a loss with these derivatives with respect to each saved state.
    template <class Arrays>
    [[nodiscard]] ValueAndGradient<double> pull_back(const Arrays& cotangents) const {
        return std::apply(
            [&](const Extras&... extras) {
                const auto pull = [&](const auto& p) {
                    const detail::RowCall call = detail::row_call<Field>(
                        field_, method_, y0_, p, options_, "pullback", extras...);
                    ValueAndGradient<double> result;
                    detail::differentiate_on_rows(call, {nullptr, detail::views_of(cotangents)},
                                                  result, "pullback");
                    return result;
                };
                if constexpr (shared)
                    return pull(eddy::shared(p_));
                else
                    return pull(p_);
            },
            extras_);
    }

  private:
    using KeptField = std::conditional_t<std::is_copy_constructible_v<Field>, Field,
                                         std::reference_wrapper<const Field>>;
    KeptField field_;
    Method method_;
    SolveOptions options_;
    std::tuple<Extras...> extras_;
    EnsembleArray<double> y0_, p_;
};

/// Solves an equation whose sizes are known when the program runs, for each trajectory of an ensemble: as `solve` of
/// a functor, with the same steps and bits, by explicit Runge–Kutta methods.
template <detail::IsFieldOnRows Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] auto solve(const Field& field, const Method& method, const Y0& y0,
                         const Parameters& p, const SolveOptions& options,
                         const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::solve, Y0, Parameters, Method,
                                        Extras...>())
        return RowSolution<Field, Method, detail::is_shared<Parameters>, Extras...>(
            field, method, y0, p, options, extras...);
}

/// Reverse mode: the gradients with respect to y0 and p of a solution that `solve` returned. `cotangents` are the
/// derivatives of your loss with respect to each saved state: one (trajectory, component) array for one save
/// point, else one for each.
template <class Field, class Method, bool shared, class... Extras, class Arrays>
[[nodiscard]] PulledGradient<double> pullback(
    const RowSolution<Field, Method, shared, Extras...>& solution, const Arrays& cotangents) {
    auto pulled = solution.pull_back(cotangents);
    return {std::move(pulled.gradient), std::move(pulled.report)};
}

/// The sum of loss(t, y, p, data) over all save points of an equation whose sizes are known when the program runs,
/// for each trajectory and in total, and its gradients with respect to y0 and p.
template <detail::IsFieldOnRows Field, class Method, class LossFunction, class Data, class Y0,
          class Parameters, class... Extras>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Data& data, const Y0& y0,
                                      const Parameters& p, const SolveOptions& options,
                                      const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::gradient, Y0, Parameters, Method,
                                        Extras...>()) {
        constexpr const char* where = "value_and_gradient";
        const SolveOptions with_end = detail::with_end(options, where);
        const detail::RowCall call =
            detail::row_call(field, method, y0, p, with_end, where, extras...);
        const auto& maker = detail::loss_on_rows(loss, *call.field);
        ValueAndGradient<double> result;
        detail::differentiate_on_rows(call, {&detail::maker_of(maker), detail::views_of(data)},
                                      result, where);
        return result;
    }
}

}  // namespace eddy::inline v0
