#pragma once
// The one place that knows which compiler is reading: every other public header is plain C++20.
// Test: tests/device/core.cu

#if __cplusplus < 202002L
#error "eddy: this source is not compiled as C++20; add -std=c++20"
#endif
#if !defined(__cpp_exceptions)
#error \
    "eddy: compiled with -fno-exceptions, but bad arguments are told by exceptions; compile the sources that include eddy without it"
#endif

#include <type_traits>

#if defined(__CUDACC__)
/// Marks a function that runs on the host and on the device.
#define EDDY_HD __host__ __device__
/// Before a template marked so: it runs where what it is given does, on the host alone if that is for
/// the host alone.
#define EDDY_HD_AS_ARGUMENT _Pragma("nv_exec_check_disable")
#else
#define EDDY_HD
#define EDDY_HD_AS_ARGUMENT
#endif

/// Before a function whose text belongs to who calls it: arithmetic, of which there is so much that sanitizers
/// would make a program take twenty times as long to compile. They look at what it reads and writes where it is
/// called; the checks that they would add to its text are left out. Builds that check eddy itself ask whether it is
/// right, not how fast: there it is a function like others, which sanitizers check, and g++ compiles in less time.
#if defined(__CUDACC__)
#define EDDY_INLINE __attribute__((always_inline))
#elif defined(EDDY_CHECK_ITSELF)
#define EDDY_INLINE
#else
#define EDDY_INLINE __attribute__((always_inline, no_sanitize("address", "undefined")))
#endif

namespace eddy::inline v0 {

/// True while device code is being compiled.
#if defined(__CUDA_ARCH__)
inline constexpr bool compiling_for_device = true;
#else
inline constexpr bool compiling_for_device = false;
#endif

/// True in a source that nvcc compiles, for its host as for its device.
#if defined(__CUDACC__)
inline constexpr bool compiled_by_nvcc = true;
#else
inline constexpr bool compiled_by_nvcc = false;
#endif

namespace detail {

/// Calls body(i) for i in [0, size), in a loop that stays one on a device: nvcc would unroll that of a vector, and what
/// does not fit registers is then spilled piece by piece.
template <class Body>
EDDY_INLINE EDDY_HD constexpr void loop_over(int size, Body&& body) {
#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (int i = 0; i < size; ++i) body(i);
}

#if defined(__CUDACC__)
template <class Method>
__constant__ std::remove_cvref_t<decltype(Method::tableau)> tableau_in_constant_memory =
    Method::tableau;
#endif
/// `Method::tableau`, where device code finds operands in double precision by the way: written into the
/// code, such a number takes two instructions. The compiler does not know it then.
template <class Method>
[[nodiscard]] EDDY_HD constexpr const auto& operands_of() {
#if defined(__CUDA_ARCH__)
    return tableau_in_constant_memory<Method>;
#else
    return Method::tableau;
#endif
}

/// Does nothing to x; the compiler must assume that it might. Device code knows no memory operands.
template <class Real>
EDDY_HD inline void pass_through_assembly(Real& x) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Real) == sizeof(double))
        asm volatile("" : "+d"(x));
    else
        asm volatile("" : "+f"(x));
#else
    asm volatile("" : "+m"(x));
#endif
}

}  // namespace detail

}  // namespace eddy::inline v0
