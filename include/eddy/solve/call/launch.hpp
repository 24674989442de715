#pragma once
// The one launcher of solve, pushforward, gradient, pullback and Hessian product.

#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/backend.hpp>

namespace eddy::inline v0::detail {

/// Runs the kernel on all groups of the plan, as a part of the call `within`.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, CallLink& within) {
    static_assert(eddy::Backend<Backend>,
                  "solve: the backend must be a Backend, see solve/call/backend.hpp");
    backend.launch(plan, kernel, within, kept);
    within.rethrow();
}
/// The same as a call of its own, which reports to the caller on the way; or within another.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, const SolveOptions& options,
            const Cancellation& cancellation, const char* title, CallLink* within = nullptr) {
    if (within) return launch(plan, kernel, backend, kept, *within);
    CallLink call(cancellation, options);
    const auto watching = call.watch(options.progress, title, plan.num_lanes);
    launch(plan, kernel, backend, kept, call);
}

}  // namespace eddy::inline v0::detail
