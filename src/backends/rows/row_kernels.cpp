// The kernels of a level, by the widest vectors of this processor. Where this build lacks it, a processor of fewer instructions.

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <type_traits>

namespace eddy::inline v0::row_kernels {

// Of each level; null where this build has none.
extern "C" {
const void* eddy_row_kernels_plain(bool is_single);
const void* eddy_row_kernels_fused(bool is_single);
/// Those of the plain level, by vectors of 32 bytes.
const void* eddy_row_kernels_plain_wide(bool is_single);
/// Those of the fused level, in double, by vectors of 64 bytes.
const void* eddy_row_kernels_wide();
}

template <class Real>
const Kernels<Real>& of(bool fused, int width) {
    constexpr bool is_single = std::is_same_v<Real, float>;
    const void* found = nullptr;
    // One lane is faster without: few components leave a longer rest.
    if (width > 1) {
        if (fused && !is_single && detail::has_wide_vectors()) found = eddy_row_kernels_wide();
        if (!fused && detail::has_vectors_of_32_bytes())
            found = eddy_row_kernels_plain_wide(is_single);
    }
    if (found == nullptr)
        found = fused ? eddy_row_kernels_fused(is_single) : eddy_row_kernels_plain(is_single);
    if (found == nullptr)
        found = fused ? eddy_row_kernels_plain(is_single) : eddy_row_kernels_fused(is_single);
    return *static_cast<const Kernels<Real>*>(found);
}
template const Kernels<double>& of(bool, int);
template const Kernels<float>& of(bool, int);

}  // namespace eddy::inline v0::row_kernels
