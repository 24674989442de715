#pragma once
// Calls of an equation whose sizes are known when the program runs. Nothing is compiled for it but the views
// of the arrays: the loop, the method and the controller are the library's.
// Test: tests/backends/row_solve.cpp

#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/rows/row_call.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <tuple>

namespace eddy::inline v0 {

/// Where calls of equations whose sizes are known when the program runs are computed: blocks of trajectories
/// over threads. It is the default of those calls. An equation that is a functor is traced when the program runs.
struct Rows {
    struct backend_tag {};
    static constexpr auto machine = detail::Machine::rows;

    int threads = 0;  ///< number of threads; 0: as many as this process may run at once

    void require_valid(const char* where) const { detail::require_threads(threads, "Rows", where); }
};

namespace detail {

/// An equation of run-time sizes.
template <class Field>
concept IsFieldOnRows = requires(const Field& field) {
    { field.maker() } -> std::convertible_to<std::shared_ptr<const FieldMaker>>;
};
/// Is a call computed over rows?
template <class Field, class... Extras>
concept GoesOverRows = IsFieldOnRows<Field> ||(std::is_same_v<Extras, eddy::Rows> || ...);

template <class Field>
[[nodiscard]] std::shared_ptr<const FieldMaker> maker_of(const Field& field) {
    if constexpr (IsFieldOnRows<Field>)
        return field.maker();
    else
        return trace_field(Field::state_size, Field::parameter_size, field).maker();
}

/// Arrays of the host, of double.
template <class Array>
inline constexpr bool are_doubles = [] {
    if constexpr (requires(const Array& array) { parameter_view(array); })
        return std::is_same_v<decltype(parameter_view(std::declval<const Array&>())),
                              EnsembleView<const double>>;
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
template <class Field, class Method, CallKind call, class... Extras>
inline constexpr Features features_on_rows =
    Features()
        .with(Feature::stochastic, StochasticField<Field>)
        .with(Feature::other_method, !RungeKuttaMethod<Method>)
        .with(Feature::joint, (steps_jointly<Extras> || ...))
        .with(Feature::tangents, call == CallKind::pushforward)
        .with(Feature::hessian, call == CallKind::hessian)
        .with(Feature::mass, has_mass<Field>)
        .with(Feature::events, has_event<Field>)
        .with(Feature::times, (IsDifferentiateTimes<Extras> || ...))
        .with(Feature::gradient_error, (IsEstimateGradientError<Extras> || ...))
        .with(Feature::adaptive, (chooses_steps<Extras> || ...))
        .with(Feature::observe, (IsObserved<Extras> || ...))
        .with(Feature::no_error_estimate, !estimates_error_on_rows<Method>);

/// Each failure says in one sentence what is wrong.
template <CallKind call, class Y0, class Parameters, class Field, class Method, class... Extras>
consteval bool check_on_rows() {
    if constexpr (check_refusal<refusal_of(features_on_rows<Field, Method, call, Extras...>,
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

/// The call, as the library takes it; `options` and the arrays live longer.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] RowCall row_call(const Field& field, const Method&, const Y0& y0, const Parameters& p,
                               const SolveOptions& options, const char* where,
                               const Extras&... extras) {
    using Default =
        std::conditional_t<has_error_estimate<Method>, PIDController, ConstantController>;
    using Controller = typename PickExtra<ControllerKind, Default, Extras...>::type;
    const auto controller = extra_or_default<Controller>(extras...);
    const auto rows = extra_or_default<eddy::Rows>(extras...);
    require_valid(controller, where);
    rows.require_valid(where);
    RowCall call{maker_of(field),
                 &method_on_rows<Method, Controller::is_adaptive>,
                 control_of(controller),
                 row_level,
                 ensemble_view(y0),
                 parameter_view(p),
                 is_shared<Parameters>,
                 &options,
                 rows.threads};
    call.control.order = static_cast<float>(call.method->order);
    call.control.error_order = call.method->error_order;
    return call;
}

/// Arrays of each save point.
template <class Arrays>
[[nodiscard]] RowViews views_of(const Arrays& arrays) {
    if constexpr (requires { ensemble_view(arrays); }) {
        return {ensemble_view(arrays)};
    } else {
        RowViews views;
        for (const auto& array : arrays) views.push_back(ensemble_view(array));
        return views;
    }
}

/// A loss of (t, y, p), or of (t, y, p, data) with a vector of data, as an equation of one result. What it
/// captures is constant.
template <class LossFunction, class... Data>
[[nodiscard]] std::shared_ptr<const FieldMaker> loss_on_rows(const LossFunction& loss,
                                                             FieldSizes sizes,
                                                             const Data&... data) {
    const Graph graph = trace_graph(loss, Scalar{}, DynamicVector{sizes.states},
                                    DynamicVector{sizes.parameters}, data...);
    require_argument(graph.outputs.size() == 1 && graph.outputs[0].size == 1,
                     "value_and_gradient: the loss returns {} numbers; return one",
                     graph.outputs.empty() ? 0 : graph.outputs[0].size);
    sizes.parameters += (data.length + ... + 0);
    return graph_field(graph, sizes, row_level);
}
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class... Extras, class... Data>
[[nodiscard]] auto gradient_on_rows(const Field& field, const Method& method,
                                    const LossFunction& loss, const Y0& y0, const Parameters& p,
                                    const SolveOptions& options,
                                    const std::tuple<const Extras&...>& extras,
                                    const Data&... data) {
    if constexpr (check_on_rows<CallKind::gradient, Y0, Parameters, Field, Method, Extras...>()) {
        constexpr const char* where = "value_and_gradient";
        const SolveOptions ended = with_end(options, where);
        const RowCall call = std::apply(
            [&](const Extras&... each) {
                return row_call(field, method, y0, p, ended, where, each...);
            },
            extras);
        RowSeeds seeds;
        ((seeds.arrays = views_of(data)), ...);
        const auto columns = [&](const auto&) {
            const RowViews& views = seeds.arrays;
            return DynamicVector{views.empty() ? 0
                                               : static_cast<int>(views.front().num_components)};
        };
        seeds.loss = loss_on_rows(loss, call.field->sizes(), columns(data)...);
        return differentiate_on_rows(call, seeds, where);
    }
}

}  // namespace detail

/// Solves an equation whose sizes are known when the program runs, for each trajectory of an ensemble: as
/// `solve` of a functor, with the same steps and bits, by explicit Runge–Kutta methods.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto solve(const Field& field, const Method& method, const Y0& y0,
                         const Parameters& p, const SolveOptions& options,
                         const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::solve, Y0, Parameters, Field, Method,
                                        Extras...>()) {
        const SolveOptions ended = detail::with_end(options, "solve");
        return RowSolution(detail::row_call(field, method, y0, p, ended, "solve", extras...));
    }
}

/// Reverse mode: the gradients with respect to y0 and p of a solution that `solve` returned. `cotangents`
/// are the derivatives of your loss with respect to each saved state: one (trajectory, component) array for
/// one save point, else one for each.
template <class Arrays>
[[nodiscard]] PulledGradient<double> pullback(const RowSolution& solution,
                                              const Arrays& cotangents) {
    return solution.pull_back(detail::views_of(cotangents));
}

/// The sum of loss(t, y, p, data) over all save points of an equation whose sizes are known when the program
/// runs, for each trajectory and in total, and its gradients with respect to y0 and p. The loss may capture
/// what is constant.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Data& data, const Y0& y0,
                                      const Parameters& p, const SolveOptions& options,
                                      const Extras&... extras) {
    return detail::gradient_on_rows(field, method, loss, y0, p, options, std::tie(extras...), data);
}
/// The gradient for a loss without data, loss(t, y, p).
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Y0& y0, const Parameters& p,
                                      const SolveOptions& options, const Extras&... extras) {
    return detail::gradient_on_rows(field, method, loss, y0, p, options, std::tie(extras...));
}

/// Says that rows have no forward mode.
template <class Field, class Method, class Y0, class Parameters, class Y0Tangent, class PTangent,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
void pushforward(const Field&, const Method&, const Y0&, const Parameters&, const Y0Tangent&,
                 const PTangent&, const SolveOptions&, const Extras&...) {
    static_cast<void>(detail::check_on_rows<detail::CallKind::pushforward, Y0, Parameters, Field,
                                            Method, Extras...>());
}
/// Says that rows have no Hessians.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class Y0Direction, class PDirection, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
void hessian_vector_product(const Field&, const Method&, const LossFunction&, const Data&,
                            const Y0&, const Parameters&, const Y0Direction&, const PDirection&,
                            const SolveOptions&, const Extras&...) {
    static_cast<void>(detail::check_on_rows<detail::CallKind::hessian, Y0, Parameters, Field,
                                            Method, Extras...>());
}

}  // namespace eddy::inline v0
