#pragma once
// What goes with what: for each feature of a call the answer of every family of methods, of every machine and
// of every kind of call: yes, or why not. A call asks before anything of it is instantiated, and for what
// only a run knows (options, an asynchronous machine) before any work. The tables of
// docs/guide/what_works_with_what.md are printed from here. A sentence that the compiler says must be a
// literal, so that sentences stand below the table: check_refusal has those, said_of the others.
// Test: tests/docs/works_with.cpp

#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/features.hpp>

namespace eddy::inline v0::detail {

// clang-format off
/// Why not.
enum class Refusal {
    none, method_of_noise, method_without_noise, method_of_langevin, equation_of_langevin,
    noise_on_tiles, method_on_tiles, tangents_on_tiles, estimate_on_tiles,
    events_on_tiles, events_of_joint, method_on_rows, mass_on_rows, equation_on_rows, call_on_rows, joint_without_tiles, joint_over_ranks, mass_of_method, events_with_estimate, events_of_switch,
    events_of_noise, events_with_algebraic, times_of_noise, estimate_of_method, estimate_of_hessian,
    constant_steps, constant_steps_of_noise, constant_steps_of_langevin, paths_of_directions, double_times, no_path,
    observe_of_loss, extra_of_nested, inputs_of_noise, passed_on_tiles, inputs_over_ranks,
    // From here on only a run knows.
    backward_noise, times_of_joint, algebraic_with_impulses, paths_of_impulses, paths_without_noise, paths_of_pullback, paths_of_nested, steps_of_loss,
    steps_of_paths, waiting_switch, waiting_times, waiting_impulses, waiting_counts, waiting_tables, waiting_inputs, waiting_tangents, waiting_steps, waiting_caller, waiting_sums,
    waiting_devices, sums_over_ranks, waiting_ranks, stealing_on_device, steps_of_stealing,
    times_of_stealing, impulses_of_stealing
};

/// An entry of the table.
struct Answer {
    const char* text = nullptr;  // on the page; none: yes, and the page says nothing of it
    Refusal why_not = Refusal::none;
    bool but_with_estimate = false;  // not refused where the method estimates its error
};
/// A row of the table.
struct Combinations {
    Feature feature;
    const char* name;
    Answer by_family[num_families] = {}, by_machine[num_machines] = {}, by_call[num_calls] = {};
};

namespace table {

using enum Feature;
using enum Refusal;

inline constexpr Answer yes{"yes"}, vacant{"–"}, not_watched{"not monitored"}, again{"solved again"}, as_inner{"as `inner`"};
[[nodiscard]] constexpr Answer no(Refusal why_not) {
    return {"no", why_not};
}
[[nodiscard]] constexpr Answer estimating(Refusal why_not) {
    return {"with an error estimate", why_not, true};
}

inline constexpr Combinations rows[] = {
    {ordinary, "ordinary equations", {yes, yes, yes, yes, no(method_of_noise), no(method_of_langevin)}, {yes, yes, yes, yes, yes, yes, yes}},
    {stochastic, "stochastic equations",
     {{"as SDE methods"}, no(method_without_noise), no(method_without_noise), no(method_without_noise), yes, no(method_of_langevin)},
     {yes, no(noise_on_tiles), no(equation_on_rows), yes, yes, yes, as_inner}},
    {langevin, "Langevin's equation",
     {no(equation_of_langevin), no(equation_of_langevin), no(equation_of_langevin), no(equation_of_langevin), no(equation_of_langevin), yes},
     {yes, no(noise_on_tiles), no(equation_on_rows), yes, yes, yes, as_inner}},
    {joint, "one step size for all, `JointController`", {},
     {no(joint_without_tiles), yes, yes, no(joint_without_tiles), no(joint_without_tiles), no(joint_without_tiles), no(joint_over_ranks)}},
    {rosenbrock, "Rosenbrock methods", {}, {yes, no(method_on_tiles), yes, yes, yes, yes, as_inner}},
    {esdirk, "ESDIRK methods", {}, {yes, no(method_on_tiles), yes, yes, yes, yes, as_inner}},
    {other_method, "methods neither explicit Runge–Kutta, Rosenbrock nor ESDIRK; IMEX", {}, {yes, no(method_on_tiles), no(method_on_rows), yes, yes, yes, as_inner}},
    {auto_switch, "`AutoSwitch`", {}, {yes, no(method_on_tiles), no(method_on_rows), yes, yes, no(waiting_switch), as_inner}},
    {gradient, "`value_and_gradient`, `pullback`", {yes, yes, yes, yes, yes, yes}, {yes, yes, yes, yes, yes, yes, yes}},
    {tangents, "`pushforward`", {yes, yes, yes, yes, yes, yes}, {yes, no(tangents_on_tiles), yes, yes, yes, yes, as_inner}},
    {sensitivities, "`sensitivities`", {yes, yes, yes, yes, no(paths_of_directions), no(paths_of_directions)}, {yes, no(tangents_on_tiles), yes, {"of arrays of the host"}, {"of arrays of the host"}, vacant, as_inner}},
    {hessian, "`hessian_vector_product`", {yes, yes, yes, yes, yes, yes}, {yes, no(tangents_on_tiles), yes, yes, yes, no(waiting_tangents), as_inner}},
    {mass, "mass matrix (index 1)",
     {no(mass_of_method), yes, no(mass_of_method), no(mass_of_method), no(mass_of_method), no(mass_of_method)},
     {yes, vacant, no(mass_on_rows), yes, yes, yes, as_inner}},
    {estimate_with_events, "`estimate_gradient_error` with events",
     {no(events_with_estimate), no(events_with_estimate), no(events_with_estimate), no(events_with_estimate), no(events_with_estimate), no(events_with_estimate)}},
    {events, "events, with gradients and tangents", {yes, yes, yes, no(events_of_switch), no(events_of_noise), no(events_of_noise)},
     {yes, no(events_on_tiles), yes, yes, no(double_times), yes, as_inner}},
    {events_along, "tangents through events", {}, {yes, no(events_on_tiles), {"of the equation"}, yes, no(double_times), yes, as_inner}},
    {events_with_joint, "events with `JointController`", {}, {vacant, vacant, no(events_of_joint), vacant, vacant, vacant, vacant}},
    {events_of_algebraic, "events with a singular mass matrix", {vacant, no(events_with_algebraic), vacant, vacant, vacant, vacant}},
    {times, "`differentiate_times`", {yes, yes, yes, yes, no(times_of_noise), no(times_of_noise)}, {yes, yes, yes, yes, yes, yes, as_inner},
     {vacant, vacant, yes, yes, yes, no(extra_of_nested)}},
    {gradient_error, "`estimate_gradient_error`",
     {estimating(estimate_of_method), no(estimate_of_method), no(estimate_of_method), no(estimate_of_method), no(estimate_of_method), no(estimate_of_method)},
     {yes, no(estimate_on_tiles), no(call_on_rows), yes, yes, no(waiting_tangents), as_inner},
     {vacant, vacant, yes, no(estimate_of_hessian), yes, no(extra_of_nested)}},
    {adaptive, "adaptive steps",
     {estimating(constant_steps), {"yes", constant_steps, true}, estimating(constant_steps), {"yes", constant_steps, true}, estimating(constant_steps_of_noise), no(constant_steps_of_langevin)}},
    {adaptive_noise, "adaptive steps of stochastic equations", {}, {yes, no(noise_on_tiles), no(equation_on_rows), yes, no(double_times), yes, as_inner}},
    {backward, "backward in time", {yes, yes, yes, yes, no(backward_noise), no(backward_noise)}},
    {own_times, "times of each trajectory's own, `each(array)`", {}, {yes, yes, yes, yes, yes, no(waiting_times), yes}},
    {own_times_of_joint, "`each(array)` with `JointController`", {}, {vacant, no(times_of_joint), no(times_of_joint), vacant, vacant, vacant, vacant}},
    {impulses, "`.impulses`", {}, {yes, yes, yes, yes, yes, no(waiting_impulses), yes}},
    {impulses_with_events, "`.impulses` with events",
     {yes, yes, yes, vacant, vacant, vacant}},
    {impulses_of_algebraic, "`.impulses` with a singular mass matrix", {vacant, no(algebraic_with_impulses), vacant, vacant, vacant, vacant}},
    {impulses_of_paths, "`.impulses` with `.paths`", {}, {}, {yes, yes, no(paths_of_impulses), no(paths_of_impulses), vacant, vacant}},
    {inputs, "inputs, `.inputs`", {yes, yes, yes, yes, no(inputs_of_noise), no(inputs_of_noise)},
     {yes, yes, yes, yes, yes, no(waiting_inputs), no(inputs_over_ranks)},
     {yes, yes, yes, yes, yes, {"without derivatives of values"}}},
    {passed_inputs, "`input_is_smooth`: steps pass over knots", {}, {yes, no(passed_on_tiles), {"steps end on knots"}, yes, yes, vacant, vacant}},
    {paths, "`.paths`", {no(paths_without_noise), no(paths_without_noise), no(paths_without_noise), no(paths_without_noise), yes, yes}, {yes, vacant, vacant, yes, yes, yes, {"up to 64 shared parameters"}},
     {yes, yes, yes, yes, no(paths_of_pullback), no(paths_of_nested)}},
    {path_alone, "`brownian_path`", {no(no_path), no(no_path), no(no_path), no(no_path), yes, yes}},
    {observe, "`observe(function)`", {}, {yes, yes, {"in `solve`"}, yes, yes, yes, as_inner},
     {yes, yes, no(observe_of_loss), no(observe_of_loss), yes, no(extra_of_nested)}},
    {missing_values, "`missing_as_nan(data)`", {}, {yes, yes, yes, yes, yes, no(waiting_counts), as_inner}, {vacant, vacant, yes, yes, vacant, vacant}},
    {tables, "`parameters(own, shared)`, `selected(theta, index)`", {},
     {yes, yes, {"read as copies"}, {"sent as copies"}, {"sent as copies"}, no(waiting_tables), {"arrays only"}},
     {yes, yes, yes, yes, {"by `pullback_solver`"}, {"arrays only"}}},
    {starts, "`start_from(function)`", {}, {yes, yes, {"found on the host"}, {"found on the host"}, {"found on the host"}, {"arrays only"}, as_inner},
     {yes, yes, yes, yes, {"arrays only"}, {"arrays only"}}},
    {save_steps, "`save_steps`", {}, {yes, yes, yes, yes, yes, no(waiting_steps), yes},
     {yes, yes, no(steps_of_loss), no(steps_of_loss), vacant, vacant}},
    {save_steps_of_paths, "`save_steps` with `.paths`", {}, {}, {no(steps_of_paths), no(steps_of_paths), vacant, vacant, vacant, vacant}},
    {watching, "`progress`, `poll`, `cancelled`", {}, {yes, yes, yes, yes, yes, no(waiting_caller), yes}},
    {gather_sums, "`gather_sums`", {},
     {yes, yes, yes, {"except `.paths` of arrays there"}, {"except `.paths` of arrays there"}, no(waiting_sums), no(sums_over_ranks)}},
    {devices, "several devices", {}, {vacant, vacant, vacant, yes, yes, no(waiting_devices), as_inner}},
    {early_return, "asynchronous calls", {}, {vacant, vacant, vacant, yes, yes, yes, no(waiting_ranks)}},
    {stealing, "`Mpi{.stealing = true}`", {}, {vacant, vacant, vacant, vacant, vacant, vacant, {"with `Cpu`, `Tiles`, `Serial`"}}},
    {stealing_devices, "`Mpi{.stealing = true}` with `Cuda`", {}, {vacant, vacant, vacant, vacant, vacant, vacant, no(stealing_on_device)}},
    {steps_of_stolen, "`Mpi{.stealing = true}` with `save_steps`", {}, {vacant, vacant, vacant, vacant, vacant, vacant, no(steps_of_stealing)}},
    {times_of_stolen, "`Mpi{.stealing = true}` with times by `each`", {}, {vacant, vacant, vacant, vacant, vacant, vacant, no(times_of_stealing)}},
    {impulses_of_stolen, "`Mpi{.stealing = true}` with `.impulses`", {}, {vacant, vacant, vacant, vacant, vacant, vacant, no(impulses_of_stealing)}},
    {loops, "loops in the equation: `repeat`, `scan`", {yes, yes, yes, yes, yes, yes}, {yes, yes, yes, yes, yes, yes, as_inner}},
    {searches, "loops in the equation: `bounded_while`, `root`, `at`", {yes, yes, {"except Taylor's method"}, yes, yes, yes},
     {yes, yes, yes, yes, yes, yes, as_inner}},
    {gradients_watched, "trajectories with unreliable gradients",
     {again, not_watched, not_watched, {"solved again if not switched"}, not_watched, not_watched},
     {again, again, again, again, {"flagged"}, {"flagged"}, as_inner}},
    {tangents_watched, "trajectories with unreliable tangents (`pushforward`)",
     {{"flagged"}, {"flagged"}, {"flagged"}, {"flagged"}, {"flagged"}, not_watched},
     {{"flagged"}, vacant, {"flagged"}, {"flagged"}, {"flagged"}, {"flagged"}, as_inner}},
    {thrust_vectors, "vectors of Thrust, by `view`", {},
     {{"of host systems"}, {"of host systems"}, {"of host systems"}, {"of CUDA's; a `host_vector` is copied"}, {"of CUDA's; a `host_vector` is copied"}, {"of CUDA's"}, as_inner},
     {{"for inputs and results"}, {"for inputs"}, {"for inputs and results"}, {"for inputs"}, {"for inputs and results"}, vacant}},
};
// clang-format on

}  // namespace table

/// Why the first of the features that is refused is refused, whether by family, machine or call.
[[nodiscard]] constexpr Refusal refusal_of(const Features& asked, Family family, Machine machine,
                                           CallKind call) {
    for (const Combinations& row : table::rows) {
        if (!asked.has(row.feature)) continue;
        for (const Answer& answer :
             {row.by_family[static_cast<int>(family)], row.by_machine[static_cast<int>(machine)],
              row.by_call[static_cast<int>(call)]}) {
            const bool is_kept = answer.but_with_estimate && !asked.has(Feature::no_error_estimate);
            if (answer.why_not != Refusal::none && !is_kept) return answer.why_not;
        }
    }
    return Refusal::none;
}

/// Says why not; true where nothing is refused.
template <Refusal refusal>
consteval bool check_refusal() {
    static_assert(refusal != Refusal::method_of_noise,
                  "solve: this method is for stochastic equations: give the field drift, diffusion "
                  "and calculus, or take a method for vector fields, such as Tsit5");
    static_assert(refusal != Refusal::method_without_noise,
                  "solve: this method takes no noise; stochastic equations are for EulerMaruyama, "
                  "SRIW1, Heun and the others of docs/guide/stochastic.md");
    static_assert(refusal != Refusal::method_of_langevin,
                  "solve: ALIGN and QUICSORT are for Langevin's equation: the field must be a "
                  "struct with force(t, x, p), friction(p) and temperature(p)");
    static_assert(refusal != Refusal::equation_of_langevin,
                  "solve: an equation with force, friction and temperature is for Langevin "
                  "methods: take ALIGN or QUICSORT");
    static_assert(refusal != Refusal::noise_on_tiles,
                  "solve: the backend Tiles solves ordinary equations, and this one is stochastic: "
                  "leave Tiles{} out");
    static_assert(refusal != Refusal::method_on_tiles,
                  "Tiles: the method must be an explicit Runge-Kutta method, such as Tsit5; for "
                  "other methods leave Tiles{} out");
    static_assert(refusal != Refusal::tangents_on_tiles,
                  "Tiles: this backend computes no pushforward and no hessian_vector_product; "
                  "leave Tiles{} out");
    static_assert(refusal != Refusal::estimate_on_tiles,
                  "Tiles: this backend computes no estimate_gradient_error; leave Tiles{} out");
    static_assert(refusal != Refusal::events_on_tiles,
                  "Tiles: this backend finds no events; leave Tiles{} out");
    static_assert(refusal != Refusal::method_on_rows,
                  "Rows: the method must be an explicit Runge-Kutta method, such as Tsit5, a "
                  "Rosenbrock method, such as Rodas5P, or an ESDIRK method, such as Kvaerno5, of "
                  "an equation that is not split; give another one, or leave Rows{} out");
    static_assert(refusal != Refusal::mass_on_rows,
                  "Rows: this backend knows no mass matrix; leave Rows{} out");
    static_assert(refusal != Refusal::equation_on_rows,
                  "Rows: this backend solves ordinary equations; leave Rows{} out");
    static_assert(refusal != Refusal::events_of_joint,
                  "Rows: events with JointController, which gives all trajectories the same steps; "
                  "leave one of them out");
    static_assert(refusal != Refusal::call_on_rows,
                  "Rows: an equation over rows has no estimate_gradient_error; leave that out, or "
                  "give a compile-time functor without Rows{}");
    static_assert(refusal != Refusal::joint_without_tiles,
                  "solve: JointController is for the backends Tiles and Rows, which step all "
                  "trajectories together; name one after the options, or leave the controller out");
    static_assert(refusal != Refusal::joint_over_ranks,
                  "Mpi: JointController steps all trajectories of a call together, which ranks do "
                  "not; leave one of them out");
    static_assert(refusal != Refusal::mass_of_method,
                  "solve: this method takes no mass matrix; fields with a member `mass` are for "
                  "Rosenbrock methods, such as Rodas5P");
    static_assert(refusal != Refusal::events_with_estimate,
                  "events: the error of a gradient through them is not estimated: leave "
                  "estimate_gradient_error out");
    static_assert(refusal != Refusal::events_of_switch,
                  "events: AutoSwitch starts trajectories again with another method, and takes no "
                  "events; give one of its methods");
    static_assert(refusal != Refusal::events_of_noise,
                  "events: stochastic equations have none; remove the member `event`, or search "
                  "the steps that save_steps keeps");
    static_assert(refusal != Refusal::events_with_algebraic,
                  "events: an equation with algebraic components has none: leave the member "
                  "`event` out, or give a mass matrix that is regular");
    static_assert(refusal != Refusal::times_of_noise,
                  "stochastic equation: a Brownian path has no derivative with respect to time; "
                  "leave differentiate_times out");
    static_assert(refusal != Refusal::estimate_of_method,
                  "estimate_gradient_error: the method must be a tableau with an error estimate, "
                  "such as Tsit5; leave it out, or take another method");
    static_assert(refusal != Refusal::estimate_of_hessian,
                  "hessian_vector_product: estimate_gradient_error has no place here; ask "
                  "value_and_gradient for it");
    static_assert(refusal != Refusal::constant_steps,
                  "solve: this method has no error estimate, its steps are of constant size: "
                  "leave the controller out, or take a method that has one, such as Tsit5");
    static_assert(refusal != Refusal::constant_steps_of_noise,
                  "stochastic equation: this method has no error estimate, its steps are of "
                  "constant size: leave the controller out, or take a method that has one, such "
                  "as SPaRK, Heun, SRA1 or SOSRI");
    static_assert(refusal != Refusal::constant_steps_of_langevin,
                  "solve: Langevin methods have no error estimate, their steps are of constant "
                  "size: leave the controller out");
    static_assert(refusal != Refusal::paths_of_directions,
                  "sensitivities: each direction would follow a path of noise of its own; call "
                  "pushforward along one direction, with paths");
    static_assert(refusal != Refusal::double_times,
                  "CudaFloatTime: events and the adaptive steps of noise are sought in times of "
                  "double precision; take Cuda");
    static_assert(refusal != Refusal::no_path,
                  "brownian_path: the field must be a stochastic one, with drift, diffusion and "
                  "calculus");
    static_assert(refusal != Refusal::observe_of_loss,
                  "value_and_gradient: observe(function) has no place here; the loss itself may be "
                  "any function of the state");
    static_assert(refusal != Refusal::extra_of_nested,
                  "differentiable_solve: its value is the state at t1 and its inputs are y0 and p; "
                  "observe(function), differentiate_times and estimate_gradient_error have no "
                  "place here");
    static_assert(
        refusal != Refusal::inputs_of_noise,
        "inputs: stochastic equations read none; leave input_size out, and give what does "
        "not change as parameters");
    static_assert(refusal != Refusal::passed_on_tiles,
                  "Tiles: steps end on the knots of inputs; leave the member input_is_smooth, or "
                  "Tiles{}, out");
    static_assert(refusal != Refusal::inputs_over_ranks,
                  "Mpi: inputs are read by one process; leave Mpi out");
    return refusal == Refusal::none;
}

/// What a run says; {}: the name of the call, then values.
[[nodiscard]] constexpr const char* said_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::backward_noise:
            return "{}: t1 = {} is before t0 = {}; a stochastic equation is solved forward in time";
        case Refusal::times_of_joint:
            return "{}: times of each trajectory's own with JointController, which gives all the "
                   "same steps; leave one of them out";
        case Refusal::algebraic_with_impulses:
            return "{}: impulses of an equation with a singular mass matrix, whose algebraic "
                   "components would no longer fit; leave them out, or eliminate these components";
        case Refusal::paths_of_impulses:
            return "{}: impulses with paths = {}, of whose derivatives no means are kept; make "
                   "each path a trajectory";
        case Refusal::paths_without_noise:
            return "{}: paths = {}, but the equation has no noise; leave it out, or give drift, "
                   "diffusion and calculus";
        case Refusal::paths_of_pullback:
            return "{}: paths = {}, whose states are not kept; use value_and_gradient, which takes "
                   "the mean of their losses, or make each path a trajectory";
        case Refusal::paths_of_nested:
            return "{}: paths = {}, but the value is one state for each trajectory; leave it out";
        case Refusal::steps_of_loss:
            return "{}: save_steps = true; a loss is a sum over save points, leave it out";
        case Refusal::steps_of_paths:
            return "{}: save_steps = true with paths = {}, whose steps are not kept; leave it out, "
                   "or make each path a trajectory";
        case Refusal::waiting_switch:
            return "{}: an asynchronous call by an AutoSwitch, whose second method waits for the "
                   "first; leave out asynchronous, or give one of the two methods";
        case Refusal::waiting_times:
            return "{}: times of each trajectory's own in an asynchronous call, which come from "
                   "the host; leave one of them out";
        case Refusal::waiting_impulses:
            return "{}: impulses in an asynchronous call, whose derivatives come to the host; "
                   "leave one of them out";
        case Refusal::waiting_counts:
            return "{}: missing_as_nan in an asynchronous call, whose values are counted on the "
                   "host; leave one of them out, or give each value a weight as one more number of "
                   "data";
        case Refusal::waiting_tables:
            return "{}: parameters(own, shared) or selected(theta, index) in an asynchronous call, "
                   "which would wait for copies; leave one of them out, or give an array of "
                   "parameters on the device";
        case Refusal::waiting_inputs:
            return "{}: inputs in an asynchronous call, whose derivatives are added up on the "
                   "host; leave one of them out";
        case Refusal::waiting_tangents:
            return "{}: this gradient has tangents (a Hessian's, or those of "
                   "estimate_gradient_error), which come to the host, but the call is "
                   "asynchronous; leave one of them out";
        case Refusal::waiting_steps:
            return "{}: save_steps in an asynchronous call; leave one of them out";
        case Refusal::waiting_caller:
            return "{}: an asynchronous call cannot be observed or stopped; leave out progress, "
                   "poll and cancelled, or asynchronous";
        case Refusal::waiting_sums:
            return "{}: gather_sums in an asynchronous call, which adds on the device; leave one "
                   "of them out";
        case Refusal::waiting_devices:
            return "{}: Cuda with devices, and asynchronous; give one device and a stream";
        case Refusal::sums_over_ranks:
            return "{}: gather_sums with Mpi, which adds over all ranks itself; leave one of them "
                   "out";
        case Refusal::waiting_ranks:
            return "{}: an asynchronous call over ranks, which wait for each other; leave one of "
                   "them out";
        case Refusal::stealing_on_device:
            return "{}: stealing = true with an inner backend on a device, whose trajectories stay "
                   "there; leave it out";
        case Refusal::steps_of_stealing:
            return "{}: save_steps with ranks that take trajectories from each other, whose steps "
                   "do not come back; leave save_steps or stealing out";
        case Refusal::times_of_stealing:
            return "{}: times by each(array) with ranks that take trajectories from each other, "
                   "whose times do not go along; leave stealing out, or give times of all";
        case Refusal::impulses_of_stealing:
            return "{}: impulses with ranks that take trajectories from each other, whose "
                   "derivatives do not come back; leave one of them out";
        default: return nullptr;  // the compiler says so
    }
}

/// InvalidArgument, beginning with `where`, where a run on this machine asks for what it refuses.
EDDY_EXPORT void require_possible_on(Machine machine, const Features& asked, const char* where);
/// The same of a call that returns before its work is done, and asks for what would wait.
inline void require_asynchronous(const Features& asked, const char* where) {
    require_possible_on(Machine::asynchronous, asked, where);
}

}  // namespace eddy::inline v0::detail
