#pragma once
// What a call of the CUDA runtime throws. Needs no CUDA toolkit.
// Test: tests/core/error.cpp

#include <eddy/core/error.hpp>

namespace eddy::inline v0 {

/// A call of the CUDA runtime failed. The message has CUDA's own words and the place of the call.
struct EDDY_EXPORT CudaError : ErrorAs<std::runtime_error> {
    using ErrorAs::ErrorAs;
};

}  // namespace eddy::inline v0
