#pragma once
// The launcher of solve, pushforward, gradient, pullback and Hessian product; paths that stay on a device go by
// launch_paths of its backend. And what a launch has left to be asked for.
// Test: tests/solve/contracts.cpp

#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/group/kernel.hpp>

namespace eddy::inline v0::detail {

/// Runs the kernel on all groups of the plan, as a part of the call.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, CallLink& call) {
    static_assert(eddy::Backend<Backend>,
                  "solve: the backend must be a Backend, see solve/call/backend.hpp");
    static_assert(!is_of_device<Backend> || DeviceBackend<Backend>,
                  "solve: a backend with memory of its own must be a DeviceBackend, see "
                  "solve/call/backend.hpp");
    static_assert(detail::Kernel<Kernel>,
                  "solve: what is launched must be a Kernel, see solve/group/kernel.hpp");
    backend.launch(plan, kernel, call, kept);
    call.rethrow();
}

/// What the last call has left where a backend computes: on a host nothing, for all is done.
template <class Backend>
struct LeftThere {
    const Backend& backend;
    typename Backend::Kept& kept;

    [[nodiscard]] static constexpr bool returned_early() { return false; }
    [[nodiscard]] static Unfinished unfinished() { return {}; }
    [[nodiscard]] static constexpr bool has_added_up() { return false; }
    /// May it have marked lanes?
    [[nodiscard]] static constexpr bool has_marked() { return true; }
    static void bring_addends() {}
};
template <class Backend>
requires is_of_device<Backend>
struct LeftThere<Backend> {
    const Backend& backend;
    typename Backend::Kept& kept;

    [[nodiscard]] bool returned_early() const { return backend.asynchronous; }
    [[nodiscard]] Unfinished unfinished() const { return backend.unfinished(kept); }
    [[nodiscard]] bool has_added_up() const { return backend.has_added_up(kept); }
    [[nodiscard]] bool has_marked() const { return backend.has_marked(kept); }
    void bring_addends() const { backend.bring_addends(kept); }
};

}  // namespace eddy::inline v0::detail
