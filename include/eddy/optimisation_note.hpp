#pragma once
// A note to those who compile without optimisation: nothing else would tell them why it is slow. It is no warning, so that
// -Werror makes no error of it. The target eddy::eddy switches it off, because CMake warns where no build type is set.
// Test: tests/compile_fail/compiler_options.py

#if !defined(__OPTIMIZE__) && !defined(EDDY_UNOPTIMISED)
#pragma message( \
    "eddy: compiled without optimisation, which runs some 200 times slower; add -O3, or -DEDDY_UNOPTIMISED where it is meant")
#endif
