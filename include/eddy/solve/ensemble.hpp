#pragma once
// What all calls on an ensemble share: from the caller's arrays and options to checked inputs, the
// division of lanes into groups, and workspaces that live as long as a solver object.

#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/solve/check_call.hpp>
#include <eddy/solve/extras.hpp>
#include <eddy/solve/lane_program.hpp>
#include <eddy/solve/options.hpp>
#include <eddy/solve/validate.hpp>
#include <memory>
#include <utility>

namespace eddy::detail {

/// Checks everything that a solve is given, and puts it into `inputs`.
template <class Program, class Y0, class Parameters>
void prepare_inputs(LaneInputs<Program>& inputs, const SolveOptions& options,
                    const typename Program::Controller& controller, const Y0& y0,
                    const Parameters& p, const char* where) {
    using Scalar = typename Program::Scalar;
    constexpr int state_size = Program::state_size, parameter_size = Program::parameter_size;
    if (inputs.times.stops.empty()) {  // the options of a solver do not change
        require_tolerances(options, state_size, precision_of<Scalar>(Program::is_adaptive), where);
        require_valid(controller, where);
        inputs.times =
            plan_times(options,
                       {Program::is_adaptive, steps_to_save_points<typename Program::Method>,
                        std::is_same_v<Scalar, float>},
                       where);
    }
    inputs.controller = controller;
    inputs.rtol = static_cast<Scalar>(options.rtol);
    for (int i = 0; i < state_size; ++i) inputs.atol[i] = static_cast<Scalar>(options.atol[i]);
    inputs.y0 = ensemble_view(y0);
    inputs.p = parameter_view(p);
    const std::ptrdiff_t lanes = inputs.y0.num_lanes;
    require_shape(array_shape(inputs.y0), {lanes, state_size}, "y0", where);
    if constexpr (parameter_size > 0 || is_shared<Parameters>) {
        const ArrayShape wanted{is_shared<Parameters> ? 1 : lanes, parameter_size};
        const bool is_one_row = array_shape(inputs.p) == ArrayShape{1, parameter_size};
        require_shape(array_shape(inputs.p), wanted, "p", where,
                      is_one_row ? ", or eddy::shared(p) for one row that all lanes use" : "");
    }
    require_finite(inputs.y0, "y0", where);
    if constexpr (parameter_size > 0) require_finite(inputs.p, "p", where);
}

/// The direction of a pushforward or of a Hessian-vector product.
template <class Program, class Y0, class Parameters>
void prepare_tangents(LaneInputs<Program>& inputs, const Y0& y0, const Parameters& p,
                      const char* where) {
    inputs.y0_tangent = ensemble_view(y0);
    inputs.p_tangent = parameter_view(p);
    require_shape(array_shape(inputs.y0_tangent), array_shape(inputs.y0), "the tangent of y0",
                  where);
    if constexpr (Program::parameter_size > 0) {
        require_shape(array_shape(inputs.p_tangent), array_shape(inputs.p), "the tangent of p",
                      where);
        require_finite(inputs.p_tangent, "the tangent of p", where);
    }
    require_finite(inputs.y0_tangent, "the tangent of y0", where);
}

/// How many lanes form a group where `wanted_groups` would do: enough in each to refill its slots
/// many times, not so many that progress and memory suffer.
template <class Program>
[[nodiscard]] std::ptrdiff_t lanes_per_group(std::ptrdiff_t num_lanes,
                                             std::ptrdiff_t wanted_groups) {
    constexpr std::ptrdiff_t slots = Program::max_slots, most_refills = 64;
    const std::ptrdiff_t share = (num_lanes + wanted_groups - 1) / wanted_groups;
    return std::clamp<std::ptrdiff_t>((share + slots - 1) / slots, 1, most_refills) * slots;
}

/// What a backend keeps from call to call: its threads, if it has any.
template <class Backend>
struct KeptBy {
    template <class Program, class Work>
    void for_each_group(const Backend& backend, LaneInputs<Program>&, std::ptrdiff_t num_groups,
                        Work&& work) {
        backend.for_each_group(num_groups, work);
    }
};
template <class Backend>
requires requires { typename Backend::Threads; }
struct KeptBy<Backend> {
    typename Backend::Threads threads;

    template <class Program, class Work>
    void for_each_group(const Backend& backend, LaneInputs<Program>& inputs,
                        std::ptrdiff_t num_groups, Work&& work) {
        inputs.look_up = LookUp::of(threads);
        backend.for_each_group(threads, num_groups, work);
    }
};

/// An object of any type, kept from call to call; made anew where another type is asked for. A copy
/// begins empty: two solvers share no memory, and may be used by two threads.
class Workspace {
  public:
    Workspace() = default;
    Workspace(const Workspace&) noexcept {}
    Workspace(Workspace&& other) noexcept
        : object_(std::move(other.object_)), tag_(std::exchange(other.tag_, nullptr)) {}
    Workspace& operator=(Workspace other) noexcept {
        object_ = std::move(other.object_);
        tag_ = std::exchange(other.tag_, nullptr);
        return *this;
    }
    ~Workspace() = default;

    template <class T>
    [[nodiscard]] T& get() {
        if (tag_ != &tag_of<T>) {
            tag_ = nullptr;
            object_ = std::make_shared<T>();
            tag_ = &tag_of<T>;
        }
        return *static_cast<T*>(object_.get());
    }

  private:
    template <class T>
    static constexpr char tag_of = 0;

    std::shared_ptr<void> object_;
    const char* tag_ = nullptr;
};

/// Empties a result whose call ends in an exception: half of it would be of this call.
template <class Object>
class EmptyUnlessDone {
  public:
    explicit EmptyUnlessDone(Object& object) : object_(&object) {}
    EmptyUnlessDone(const EmptyUnlessDone&) = delete;
    EmptyUnlessDone& operator=(const EmptyUnlessDone&) = delete;
    ~EmptyUnlessDone() {
        if (object_) *object_ = Object();
    }
    void done() { object_ = nullptr; }

  private:
    Object* object_;
};

}  // namespace eddy::detail
