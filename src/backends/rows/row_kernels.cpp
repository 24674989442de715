// The kernels of a level. Where this build lacks it, a processor of fewer instructions.

#include <eddy/backends/rows/row_kernels.hpp>

namespace eddy::inline v0::row_kernels {

// Of each level; null where this build has none.
extern "C" {
const void* eddy_row_kernels_plain();
const void* eddy_row_kernels_fused();
}

const Kernels& of(bool fused) {
    const void* found = fused ? eddy_row_kernels_fused() : eddy_row_kernels_plain();
    if (found == nullptr) found = fused ? eddy_row_kernels_plain() : eddy_row_kernels_fused();
    return *static_cast<const Kernels*>(found);
}

}  // namespace eddy::inline v0::row_kernels
