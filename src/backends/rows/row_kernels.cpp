#include "row_levels.hpp"

namespace eddy::inline v0::row_kernels {
namespace {

const Kernels& choose() {
#ifdef EDDY_ROWS_HAVE_LEVELS
    __builtin_cpu_init();
    const bool has_3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi2");
    const bool has_4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl");
    if (has_3 && has_4) return of_level_4();
    if (has_3) return of_level_3();
#endif
    return of_level_0();
}

}  // namespace

const Kernels& best() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace eddy::inline v0::row_kernels
