#pragma once
// What a call of the CUDA runtime throws. Needs no CUDA toolkit.

#include <eddy/core/export.hpp>
#include <stdexcept>

namespace eddy::inline v0 {

/// A call of the CUDA runtime failed. The message has CUDA's own words and the place of the call.
struct EDDY_EXPORT CudaError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace eddy::inline v0
