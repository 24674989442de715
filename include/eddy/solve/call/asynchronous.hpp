#pragma once
// What an asynchronous gradient may be asked for: all that needs no host until somebody waits.

#include <eddy/core/error.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/outputs.hpp>

namespace eddy::inline v0::detail {

/// Everything that is computed has an array where it is computed.
template <class Memory, class Real>
void require_all_there(const GradientInto<Real>& into, bool has_p, bool has_loss, bool with_times,
                       const char* where) {
    const auto is_there = [](const OutputArray<Real>& array, bool is_wanted) {
        return !is_wanted || (array.is_given() && !array.is_of_host());
    };
    require_argument(
        is_there(into.y0, true) && is_there(into.p, has_p) && is_there(into.loss, has_loss),
        "{}: an asynchronous call returns before there is a gradient; give GradientInto arrays of "
        "{} to write it into: {}",
        where, memory_name<Memory>,
        has_loss ? (has_p ? ".y0, .p and .loss" : ".y0 and .loss")
                 : (has_p ? ".y0 and .p" : ".y0"));
    require_argument(
        is_there(into.t0, with_times) && is_there(into.t1, with_times) &&
            is_there(into.save_at, with_times),
        "{}: an asynchronous call returns before there are derivatives with respect to times; give "
        "GradientInto arrays of {}: .t0, .t1 and .save_at",
        where, memory_name<Memory>);
}

/// What sums on the host, and dual numbers, whose tangents lie there.
inline void require_no_host(const SolveOptions& options, bool is_dual, const char* where) {
    require_argument(!is_dual,
                     "{}: this gradient has tangents (a Hessian's, or those of "
                     "estimate_gradient_error), which come to the host, but the call is "
                     "asynchronous; leave one of them out",
                     where);
    require_argument(!options.gather_sums,
                     "{}: gather_sums in an asynchronous call, which adds on the device; leave "
                     "one of them out",
                     where);
}

}  // namespace eddy::inline v0::detail
