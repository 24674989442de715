#pragma once
// The launcher of solve, pushforward, gradient, pullback and Hessian product; paths that stay on a device go by
// launch_paths of its backend.
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

}  // namespace eddy::inline v0::detail
