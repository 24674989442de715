#pragma once
// The one launcher of solve, pushforward, gradient, pullback and Hessian product.

#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/call/mirrors.hpp>

namespace eddy::inline v0::detail {

/// Runs the kernel on all groups of the plan, and reports to the caller on the way.
template <class Backend, class Kernel>
void launch(const LaunchPlan& plan, const Kernel& kernel, const Backend& backend,
            typename Backend::Kept& kept, const SolveOptions& options,
            const Cancellation& cancellation, const char* title) {
    static_assert(eddy::Backend<Backend>,
                  "solve: the backend must be a Backend, see solve/call/backend.hpp");
    CallLink call(cancellation.token_or(options.cancelled),
                  cancellation.poll_or(options.poll ? Poll(options.poll) : Poll()));
    const auto watching = call.watch(options.progress, title, plan.num_lanes);
    if constexpr (is_of_host<typename Backend::Memory>) {
        backend.launch(plan, kernel, call, kept);
    } else {
        Mirrors mirrors(memory_for(backend, kept));
        backend.launch(plan, mirrored(kernel, plan, mirrors), call, kept);
        mirrors.fetch();
    }
    call.rethrow();
}

}  // namespace eddy::inline v0::detail
