// The kernels of a level. Where this build lacks it, a processor of fewer instructions.

#include <eddy/backends/rows/row_kernels.hpp>
#include <type_traits>

namespace eddy::inline v0::row_kernels {

// Of each level; null where this build has none.
extern "C" {
const void* eddy_row_kernels_plain(bool is_single);
const void* eddy_row_kernels_fused(bool is_single);
}

template <class Real>
const Kernels<Real>& of(bool fused) {
    constexpr bool is_single = std::is_same_v<Real, float>;
    const void* found =
        fused ? eddy_row_kernels_fused(is_single) : eddy_row_kernels_plain(is_single);
    if (found == nullptr)
        found = fused ? eddy_row_kernels_plain(is_single) : eddy_row_kernels_fused(is_single);
    return *static_cast<const Kernels<Real>*>(found);
}
template const Kernels<double>& of(bool);
template const Kernels<float>& of(bool);

}  // namespace eddy::inline v0::row_kernels
