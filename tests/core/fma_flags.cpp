// Compiled with flags that give fused multiply-adds and with some that do not: scalars and packs
// agree, and follow the flags.

#include <eddy/core/math.hpp>
#include <eddy/core/simd/has_fma.hpp>

static_assert(eddy::fma_is_fast == eddy::simd::has_fma);
static_assert(eddy::fma_is_fast == EXPECTED);
