#pragma once
// From the arguments of a call over rows to what the library takes. What rows do not do the compiler says.
// Test: tests/backends/row_solve.cpp, tests/backends/row_gradient.cpp

#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/backends/rows/row_call.hpp>
#include <eddy/backends/rows/row_control.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/solve/ask/start_from.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/lane/event_members.hpp>
#include <eddy/steppers/imex.hpp>
#include <eddy/trace/field_parts.hpp>

namespace eddy::inline v0 {

struct Rows;  // backends/rows.hpp

namespace detail {

/// An equation of run-time sizes.
template <class Field>
concept IsFieldOnRows = requires(const Field& field) {
    { field.maker() } -> std::convertible_to<std::shared_ptr<const FieldMaker>>;
};
/// Is a call computed over rows?
template <class Field, class... Extras>
concept GoesOverRows = IsFieldOnRows<Field> ||(std::is_same_v<Extras, eddy::Rows> || ...);

/// Has an equation events, of its own or beside it?
template <class Field>
concept HasEventsOnRows = (IsFieldOnRows<Field> &&
                           requires(const Field& field) { field.events(); }) ||
                          (!IsFieldOnRows<Field> && has_event<Field>);
template <class Field>
[[nodiscard]] std::shared_ptr<const EventsOnRows> events_of([[maybe_unused]] const Field& field,
                                                            [[maybe_unused]] FieldSizes sizes) {
    if constexpr (!HasEventsOnRows<Field>)
        return nullptr;
    else if constexpr (IsFieldOnRows<Field>)
        return field.events();
    else
        return TracedEvents<Field>(field, sizes).all();
}

template <class Field>
[[nodiscard]] std::shared_ptr<const FieldMaker> maker_of(const Field& field) {
    if constexpr (IsFieldOnRows<Field>)
        return field.maker();
    else if constexpr (HasInputs<Field>)
        return RuntimeField(
                   trace_graph(DrivenField<Field>{}, Scalar{}, DynamicVector{Field::state_size},
                               DynamicVector{program_parameters_of<Field>}),
                   {}, row_level, input_sizes_of<Field>)
            .maker();
    else
        return trace_field(Field::state_size, Field::parameter_size, field).maker();
}

/// Is it an array of such numbers, of the host, or a table of them?
template <class Array, class Real>
inline constexpr bool holds_numbers = [] {
    if constexpr (HasTable<Array>)
        return std::is_same_v<typename Array::Scalar, Real>;
    else if constexpr (is_shared<Array> || requires(const Array& array) { ensemble_view(array); })
        return std::is_same_v<decltype(parameter_view(std::declval<const Array&>())),
                              EnsembleView<const Real>>;
    return false;
}();
/// The numbers that a call is computed with.
template <class Parameters>
using NumberOnRows = std::conditional_t<holds_numbers<Parameters, float>, float, double>;

template <class Method>
concept IsMethodOnRows =
    RungeKuttaMethod<Method> || RosenbrockMethod<Method> || EsdirkMethod<Method>;
/// Would the method take the parts of the equation apart?
template <class Field, class Method>
concept SplitsOnRows = !IsFieldOnRows<Field> && splits_field<Field, Method>;
template <class Method>
concept EstimatesErrorOnRows = IsMethodOnRows<Method> && has_error_estimate<Method>;
template <class Extra>
concept ChoosesSteps = IsController<Extra> && Extra::is_adaptive;

/// What a call asks for that rows may not do.
template <class Field, class Method, CallKind call, class... Extras>
inline constexpr Features features_on_rows =
    Features()
        .with(Feature::stochastic, StochasticField<Field>)
        .with(Feature::rosenbrock, RosenbrockMethod<Method>)
        .with(Feature::esdirk, EsdirkMethod<Method>)
        .with(Feature::other_method, !IsMethodOnRows<Method> || SplitsOnRows<Field, Method>)
        .with(Feature::joint, (steps_jointly<Extras> || ...))
        .with(Feature::tangents, call == CallKind::pushforward)
        .with(Feature::hessian, call == CallKind::hessian)
        .with(Feature::mass, has_mass<Field>)
        .with(Feature::events, HasEventsOnRows<Field>)
        .with(Feature::events_with_joint, HasEventsOnRows<Field> && (steps_jointly<Extras> || ...))
        .with(Feature::times, (IsDifferentiateTimes<Extras> || ...))
        .with(Feature::gradient_error, (IsEstimateGradientError<Extras> || ...))
        .with(Feature::adaptive, (ChoosesSteps<Extras> || ...))
        .with(Feature::inputs, HasInputs<Field>)
        .with(Feature::observe, (IsObserved<Extras> || ...))
        .with(Feature::no_error_estimate, !EstimatesErrorOnRows<Method>);

/// Each failure says in one sentence what is wrong.
template <CallKind call, class Field, class Method, class... Extras>
consteval bool check_on_rows() {
    if constexpr (check_refusal<refusal_of(features_on_rows<Field, Method, call, Extras...>,
                                           RosenbrockMethod<Method> ? Family::rosenbrock
                                           : EsdirkMethod<Method>   ? Family::other
                                                                    : Family::explicit_rk,
                                           Machine::rows, call)>()) {
        constexpr bool observes = (IsObserved<Extras> || ...);
        static_assert(!observes || call != CallKind::pullback,
                      "pullback: over rows cotangents are those of states; leave "
                      "observe(function) out");
        constexpr bool are_known =
            ((std::is_same_v<Extras, eddy::Rows> || IsObserved<Extras> ||
              IsDifferentiateTimes<Extras> || std::is_same_v<Extras, PIDController> ||
              std::is_same_v<Extras, PredictiveController> ||
              std::is_same_v<Extras, JointController> ||
              std::is_same_v<Extras, ConstantController>)&&...);
        static_assert(are_known,
                      "solve: what follows the options of an equation of run-time sizes must be "
                      "Rows{}, observe(function), differentiate_times, or one of the controllers "
                      "PIDController, "
                      "PredictiveController, JointController and ConstantController");
        return are_known;
    }
    return false;
}
template <bool are_alike>
consteval bool check_numbers_on_rows() {
    static_assert(are_alike,
                  "solve: y0, p, data and cotangents of an equation of run-time sizes must be "
                  "(trajectory, component) arrays, all of float or all of double, p also as "
                  "eddy::shared(p)");
    return are_alike;
}
template <class Y0, class Parameters>
consteval bool check_arrays_on_rows() {
    using Real = NumberOnRows<Parameters>;
    constexpr bool starts = IsStart<Y0> || (holds_numbers<Y0, Real> && !HasTable<Y0>);
    return check_numbers_on_rows < starts && holds_numbers < Parameters, Real >> ();
}
template <class Y0, class Parameters, class Y0Tangent, class PTangent>
consteval bool check_tangents_on_rows() {
    using Real = NumberOnRows<Parameters>;
    constexpr bool start_alike =
        IsStart<Y0> ? std::is_same_v<Y0Tangent, Y0> : holds_numbers<Y0Tangent, Real>;
    static_assert(start_alike || !IsStart<Y0>,
                  "pushforward: y0 is start_from(function), and so is its tangent; give the "
                  "same in both places");
    constexpr bool is_one_row = is_shared<Parameters> && HasTable<PTangent>;
    static_assert(!is_one_row, "solve: p is eddy::shared(p), and so is its tangent");
    return check_numbers_on_rows < start_alike && holds_numbers < PTangent,
           Real >> () && !is_one_row;
}
template <class Y0, class Parameters>
consteval bool check_sensitivities_on_rows() {
    constexpr bool is_array = !HasTable<Parameters> && !IsStart<Y0>;
    static_assert(
        is_array,
        "sensitivities: y0 and p must be arrays of float or double, or p eddy::shared(p); "
        "give the parameters of each trajectory in a row");
    return is_array && check_arrays_on_rows<Y0, Parameters>();
}

/// A start from parameters, as an equation that reads no state.
template <class Function>
[[nodiscard]] std::shared_ptr<const FieldMaker> start_on_rows(FieldSizes sizes) {
    sizes.inputs = {};
    const auto start = [](const auto& t0, const auto&, const auto& p) {
        return as_traced(*t0.graph(), StartOfTime<Function>{}(t0, p));
    };
    const Graph graph =
        trace_graph(start, Scalar{}, DynamicVector{sizes.states}, DynamicVector{sizes.parameters});
    const int given = graph.outputs.empty() ? 0 : graph.outputs[0].size;
    require_argument(given == sizes.states,
                     "start_from: the function returns {} numbers for {} states; return one for "
                     "each",
                     given, sizes.states);
    return graph_field(graph, sizes, row_level);
}
template <class Y0>
[[nodiscard]] std::shared_ptr<const FieldMaker> start_of([[maybe_unused]] const FieldSizes& sizes) {
    if constexpr (IsStart<Y0>)
        return start_on_rows<typename Y0::is_start>(sizes);
    else
        return nullptr;
}
/// What a call is given to start with, a function of `start` where it is none of arrays, and its parameters.
template <class Y0, class Parameters>
[[nodiscard]] RowArrays<NumberOnRows<Parameters>> row_arrays(
    const Y0& y0, const Parameters& p, const std::shared_ptr<const FieldMaker>& start) {
    using Real = NumberOnRows<Parameters>;
    RowArrays<Real> arrays{.p = GivenParameters<Real>::of(p), .start = start};
    if constexpr (IsStart<Y0>)
        arrays.num_started = y0.num_lanes;
    else
        arrays.y0 = ensemble_view(y0);
    return arrays;
}

/// Says what is saved of a solve in place of states.
template <class Extra>
void observe_on_rows([[maybe_unused]] RowCall& call, const Extra&) {
    if constexpr (IsObserved<Extra>) {
        FieldSizes sizes = call.field->sizes();
        sizes.inputs = {};
        const Graph graph =
            trace_graph(typename Extra::function_type{}, Scalar{}, DynamicVector{sizes.states},
                        DynamicVector{sizes.parameters});
        call.num_observed = graph.outputs[0].size;
        call.observed = graph_field(graph, sizes, row_level);
    }
}
/// The calls of a solver object, as the library takes them, but for their arrays.
template <class Field, class Method, class... Extras>
[[nodiscard]] RowCall row_call(const Field& field, const Method& method,
                               const SolveOptions& options, const char* where,
                               const Extras&... extras) {
    using Controller =
        typename PickExtra<ControllerKind, DefaultController<Field, Method>, Extras...>::type;
    const auto controller = extra_or_default<Controller>(extras...);
    const auto rows = extra_or_default<eddy::Rows>(extras...);
    require_valid(controller, where);
    require_valid_method(method, where);
    rows.require_valid(where);
    RowCall call{.field = maker_of(field),
                 .method = &method_on_rows<Method, Controller::is_adaptive>,
                 .control = control_of(controller),
                 .is_joint = steps_jointly<Controller>,
                 .differentiates_times = (IsDifferentiateTimes<Extras> || ...),
                 .options = with_end(options, where),
                 .threads = rows.threads};
    call.events = events_of(field, call.field->sizes());
    (observe_on_rows(call, extras), ...);
    if (const RosenbrockOnRows* const steps = call.method->rosenbrock)
        call.field = with_steps(call.field, *steps, call.level);
    if constexpr (EsdirkMethod<Method>)
        call.field =
            with_steps(call.field, *call.method->esdirk,
                       {method.newton_tolerance, options.rtol, options.atol.values}, call.level);
    call.control.order = static_cast<float>(call.method->order);
    call.control.error_order = call.method->error_order;
    return call;
}

/// Arrays of each save point.
template <class Real, class Arrays>
void take_views(RowViews<Real>& views, const Arrays& arrays) {
    views.clear();
    const auto take = [&](const auto& array) {
        using Scalar = typename decltype(ensemble_view(array))::Scalar;
        if constexpr (check_numbers_on_rows<std::is_same_v<Scalar, Real>>())
            views.push_back(ensemble_view(array));
    };
    if constexpr (requires { ensemble_view(arrays); }) {
        take(arrays);
    } else {
        for (const auto& array : arrays) take(array);
    }
}

/// What the graph of a loss, which reads `num_data` numbers of data behind the parameters, is as an equation.
/// InvalidArgument where it has another number of results, or may miss values and cannot be taken apart.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> loss_field(
    const Graph& loss, FieldSizes sizes, int num_data, bool may_miss_values, RowLevel level);
/// A loss of (t, y, p), or of (t, y, p, data) with a vector of data, as an equation of one result. What it
/// captures is constant.
template <class LossFunction, class... Data>
[[nodiscard]] std::shared_ptr<const FieldMaker> loss_on_rows(const LossFunction& loss,
                                                             FieldSizes sizes, bool may_miss_values,
                                                             const Data&... data) {
    const Graph graph = trace_graph(loss, Scalar{}, DynamicVector{sizes.states},
                                    DynamicVector{sizes.parameters}, data...);
    return loss_field(graph, sizes, (data.length + ... + 0), may_miss_values, row_level);
}

}  // namespace detail
}  // namespace eddy::inline v0
