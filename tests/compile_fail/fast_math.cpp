// expect: eddy: compiled with -ffast-math .* compile the sources that include eddy with -fno-fast-math
// What a compiler says of itself where it takes NaN for impossible.
#ifdef EDDY_BAD
#undef __FINITE_MATH_ONLY__
#define __FINITE_MATH_ONLY__ 1
#endif
#include <eddy/core/math.hpp>
