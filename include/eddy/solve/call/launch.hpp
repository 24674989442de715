#pragma once
// The one launcher of solve, pushforward, gradient, pullback and Hessian product.

#include <eddy/solve/call/backend.hpp>

namespace eddy::inline v0::detail {

/// Runs the kernel on all groups of the plan, as a part of the call.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, CallLink& call) {
    static_assert(eddy::Backend<Backend>,
                  "solve: the backend must be a Backend, see solve/call/backend.hpp");
    backend.launch(plan, kernel, call, kept);
    call.rethrow();
}

}  // namespace eddy::inline v0::detail
