// The kernels of a level. Where this build lacks it, a processor of fewer instructions.

#include "row_sums.hpp"

namespace eddy::inline v0::row_kernels {

// Of each level; null where this build has none.
extern "C" {
const void* eddy_row_kernels_plain();
const void* eddy_row_kernels_fused();
const void* eddy_row_sums_plain();
const void* eddy_row_sums_fused();
}

namespace {

template <class Of>
const Of& find(bool fused, const void* (*of_fused)(), const void* (*of_plain)()) {
    const void* found = fused ? of_fused() : of_plain();
    if (found == nullptr) found = fused ? of_plain() : of_fused();
    return *static_cast<const Of*>(found);
}

}  // namespace

const Kernels& of(bool fused) {
    return find<Kernels>(fused, eddy_row_kernels_fused, eddy_row_kernels_plain);
}
const SumKernels& sums_of(bool fused) {
    return find<SumKernels>(fused, eddy_row_sums_fused, eddy_row_sums_plain);
}

}  // namespace eddy::inline v0::row_kernels
