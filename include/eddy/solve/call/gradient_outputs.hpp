#pragma once
// The caller's arrays that a gradient is to be written into: are they asked for, of the right
// shape, and where an asynchronous call writes? Of float and double, in src/.
// Test: tests/solve/outputs.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/given_outputs.hpp>

namespace eddy::inline v0::detail {

struct GradientShapes {
    ArrayShape y0, p;
    std::ptrdiff_t num_save_times;
    bool with_times, has_loss;
};

template <class Real>
[[nodiscard]] EDDY_EXPORT bool gives_any(const GradientInto<Real>& into);

/// `arrays` are those that the call reads.
template <class Real>
EDDY_EXPORT void require_gradient_outputs(const GradientInto<Real>& into, const AnyMemory& memory,
                                          const GradientShapes& shapes, CallArrays& arrays,
                                          const char* where);

/// Checks that what an asynchronous gradient writes has an array where it is computed, and that nothing is asked for
/// that sums on the host, or for dual numbers, whose tangents lie there.
template <class Real>
EDDY_EXPORT void require_all_there(const GradientInto<Real>& into, const AnyMemory& memory,
                                   bool has_p, bool has_loss, bool with_times, const char* where);

}  // namespace eddy::inline v0::detail
