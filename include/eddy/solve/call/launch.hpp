#pragma once
// The one launcher of solve, pushforward, gradient, pullback and Hessian product.

#include <eddy/solve/call/backend.hpp>

namespace eddy::detail {

/// Runs the kernel on all groups of the plan, and reports to the caller on the way.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, bool shows_progress, const std::stop_token& cancelled,
            const char* title) {
    static_assert(eddy::Backend<Backend>,
                  "solve: the backend must be a Backend, see solve/call/backend.hpp");
    Progress progress(shows_progress, cancelled, plan.num_lanes, title);
    backend.launch(plan, kernel, CallLink{progress.cancelled(), &progress}, kept);
}

}  // namespace eddy::detail
