// The elementary functions of packs beside those of other libraries: nanoseconds per element, the
// largest error, and how many lanes change when their neighbours do. Compile for the target that is
// to be measured (-march=native).
//
//     benchmark_pack_math [samples per range]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/math_functions.hpp"

#if __has_include(<xsimd/xsimd.hpp>)
#include <xsimd/xsimd.hpp>
#define HAS_XSIMD
#endif
#if defined(EDDY_LINK_SLEEF) && __has_include(<sleef.h>)
#include <sleef.h>
#define HAS_SLEEF
#endif

namespace {

using eddy::Pack;

// Each competitor is a batch type with `size`, `load`, `store` and the functions found by
// argument-dependent lookup.
// clang-format off
#define FOR_EACH_UNARY(DO) \
    DO(exp) DO(expm1) DO(log) DO(log1p) DO(sin) DO(cos) DO(tan) DO(asin) DO(acos) DO(atan) \
    DO(sinh) DO(cosh) DO(tanh) DO(erf) DO(cbrt)
#define FOR_EACH_BINARY(DO) DO(atan2) DO(pow)
// clang-format on

namespace plain {
template <class Real>
struct Batch {
    static constexpr int size = 1;
    Real value;
    static Batch load(const Real* source) { return {*source}; }
    void store(Real* target) const { *target = value; }
};
#define UNARY(name)                          \
    template <class Real>                    \
    Batch<Real> name(const Batch<Real>& x) { \
        return {std::name(x.value)};         \
    }
#define BINARY(name)                                               \
    template <class Real>                                          \
    Batch<Real> name(const Batch<Real>& x, const Batch<Real>& y) { \
        return {std::name(x.value, y.value)};                      \
    }
FOR_EACH_UNARY(UNARY)
FOR_EACH_BINARY(BINARY)
#undef UNARY
#undef BINARY
}  // namespace plain

#ifdef HAS_XSIMD
namespace with_xsimd {
template <class Real>
struct Batch {
    static constexpr int size = static_cast<int>(xsimd::batch<Real>::size);
    xsimd::batch<Real> value;
    static Batch load(const Real* source) { return {xsimd::batch<Real>::load_unaligned(source)}; }
    void store(Real* target) const { value.store_unaligned(target); }
};
#define UNARY(name)                          \
    template <class Real>                    \
    Batch<Real> name(const Batch<Real>& x) { \
        return {xsimd::name(x.value)};       \
    }
#define BINARY(name)                                               \
    template <class Real>                                          \
    Batch<Real> name(const Batch<Real>& x, const Batch<Real>& y) { \
        return {xsimd::name(x.value, y.value)};                    \
    }
FOR_EACH_UNARY(UNARY)
FOR_EACH_BINARY(BINARY)
#undef UNARY
#undef BINARY
}  // namespace with_xsimd
#endif

#ifdef HAS_SLEEF
namespace with_sleef {
template <class Real>
struct Batch {
    static constexpr int size = eddy::native_lanes<Real>;
    eddy::simd::Vector<Real, size> value;
    static Batch load(const Real* source) { return {Pack<Real, size>::load(source).part[0]}; }
    void store(Real* target) const { Pack<Real, size>::from_part(value).store(target); }
};
/// The variants that promise the same bits on every target: finz_ where multiplication and addition fuse, cinz_ where not.
template <class Real>
struct Deterministic : Batch<Real> {
    static Deterministic load(const Real* source) { return {Batch<Real>::load(source)}; }
};
#if defined(__AVX512F__)
#define SLEEF_NAME(prefix, name) \
    Sleef_##prefix##name##d##8_u10avx512f, Sleef_##prefix##name##f##16_u10avx512f
#define SLEEF_DETERMINISTIC(name) SLEEF_NAME(finz_, name)
#elif defined(__AVX2__) && defined(__FMA__)
#define SLEEF_NAME(prefix, name) \
    Sleef_##prefix##name##d##4_u10avx2, Sleef_##prefix##name##f##8_u10avx2
#define SLEEF_DETERMINISTIC(name) SLEEF_NAME(finz_, name)
#else
#define SLEEF_NAME(prefix, name) \
    Sleef_##prefix##name##d##2_u10sse2, Sleef_##prefix##name##f##4_u10sse2
#define SLEEF_DETERMINISTIC(name) SLEEF_NAME(cinz_, name)
#endif
template <class Real, class Double, class Float>
auto choose(Double for_double, Float for_float) {
    if constexpr (sizeof(Real) == 8)
        return for_double;
    else
        return for_float;
}
#define UNARY(name)                                                  \
    template <class Real>                                            \
    Batch<Real> name(const Batch<Real>& x) {                         \
        return {choose<Real>(SLEEF_NAME(, name))(x.value)};          \
    }                                                                \
    template <class Real>                                            \
    Deterministic<Real> name(const Deterministic<Real>& x) {         \
        return {{choose<Real>(SLEEF_DETERMINISTIC(name))(x.value)}}; \
    }
#define BINARY(name)                                                                       \
    template <class Real>                                                                  \
    Batch<Real> name(const Batch<Real>& x, const Batch<Real>& y) {                         \
        return {choose<Real>(SLEEF_NAME(, name))(x.value, y.value)};                       \
    }                                                                                      \
    template <class Real>                                                                  \
    Deterministic<Real> name(const Deterministic<Real>& x, const Deterministic<Real>& y) { \
        return {{choose<Real>(SLEEF_DETERMINISTIC(name))(x.value, y.value)}};              \
    }
FOR_EACH_UNARY(UNARY)
FOR_EACH_BINARY(BINARY)
#undef UNARY
#undef BINARY
}  // namespace with_sleef
#endif

/// Nanoseconds per element of `function` over an array that stays in the first-level cache; the
/// best of 20 runs.
template <class Batch, class Function, class Real>
double nanoseconds(Function function, const std::vector<Real>& x, const std::vector<Real>& y) {
    constexpr std::size_t size = Batch::size;
    std::vector<Real> result(x.size());
    double best = 1e30;
    for (int run = 0; run < 20; ++run) {
        const auto start = std::chrono::steady_clock::now();
        for (int repeat = 0; repeat < 10; ++repeat) {
            for (std::size_t i = 0; i < x.size(); i += size) {
                if constexpr (std::is_invocable_v<Function, Batch, Batch>)
                    function(Batch::load(&x[i]), Batch::load(&y[i])).store(&result[i]);
                else
                    function(Batch::load(&x[i])).store(&result[i]);
            }
            asm volatile("" : : "r"(result.data()) : "memory");
        }
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count() / 10 / static_cast<double>(x.size()));
    }
    return best;
}

/// The share of lanes whose bits differ between a batch of unlike neighbours and a batch of equals.
template <class Batch, class Function, class Real>
double neighbour_dependence(Function function, const std::vector<Real>& x,
                            const std::vector<Real>& y) {
    constexpr std::size_t size = Batch::size;
    std::size_t differ = 0;
    Real together[size], alone[size], same_x[size], same_y[size];
    const auto evaluate = [&](const Real* first, const Real* second, Real* result) {
        if constexpr (std::is_invocable_v<Function, Batch, Batch>)
            function(Batch::load(first), Batch::load(second)).store(result);
        else
            function(Batch::load(first)).store(result);
    };
    for (std::size_t i = 0; i < x.size(); i += size) {
        evaluate(&x[i], &y[i], together);
        for (std::size_t lane = 0; lane < size; ++lane) {
            std::fill_n(same_x, size, x[i + lane]);
            std::fill_n(same_y, size, y[i + lane]);
            evaluate(same_x, same_y, alone);
            const bool both_nan = std::isnan(alone[0]) && std::isnan(together[lane]);
            using Bits = eddy::simd::BitsOf<Real>;
            differ +=
                !both_nan && std::bit_cast<Bits>(alone[0]) != std::bit_cast<Bits>(together[lane]);
        }
    }
    return static_cast<double>(differ) / static_cast<double>(x.size());
}

template <class Real>
struct Arguments {
    std::vector<Real> hard_x, hard_y, usual_x, usual_y;
};

template <class Batch, class Function, class Reference, class Real>
void print_columns(Function function, Reference reference, const Arguments<Real>& arguments) {
    using eddy::test::max_ulp;
    double ulp = 0;
    if constexpr (std::is_invocable_v<Function, Batch, Batch>)
        ulp = max_ulp<Batch>(function, reference, arguments.hard_x, arguments.hard_y);
    else
        ulp = max_ulp<Batch>(function, reference, arguments.hard_x);
    std::printf(" | %7.2f %9.3g %6.2f%%",
                nanoseconds<Batch>(function, arguments.usual_x, arguments.usual_y), ulp,
                100 * neighbour_dependence<Batch>(function, arguments.hard_x, arguments.hard_y));
}

template <class Real, class Function, class Reference>
void print_row(const char* name, Function function, Reference reference,
               const Arguments<Real>& arguments) {
    std::printf("%-6s %-6s", name, sizeof(Real) == 8 ? "double" : "float");
    print_columns<Pack<Real, 2 * eddy::native_lanes<Real>>>(function, reference, arguments);
#ifdef HAS_XSIMD
    print_columns<with_xsimd::Batch<Real>>(function, reference, arguments);
#endif
#ifdef HAS_SLEEF
    print_columns<with_sleef::Batch<Real>>(function, reference, arguments);
    print_columns<with_sleef::Deterministic<Real>>(function, reference, arguments);
#endif
    print_columns<plain::Batch<Real>>(function, reference, arguments);
    std::printf("\n");
}

/// 4,096 numbers spread evenly over the first range.
template <class Real>
std::vector<Real> usual_arguments(const std::vector<eddy::test::Range>& ranges,
                                  std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<Real> uniform(static_cast<Real>(ranges[0].low),
                                                 static_cast<Real>(ranges[0].high));
    std::vector<Real> arguments(4096);
    for (Real& x : arguments) x = uniform(engine);
    return arguments;
}

template <class Real>
void print_table(int count) {
    using eddy::test::sample_arguments;
    eddy::test::for_each_unary(
        [&](const char* name, auto function, auto reference, const auto& ranges) {
            const auto hard = sample_arguments<Real>(ranges, count, 1);
            const auto usual = usual_arguments<Real>(ranges, 2);
            print_row<Real>(name, function, reference, {hard, hard, usual, usual});
        });
    eddy::test::for_each_binary([&](const char* name, auto function, auto reference,
                                    const auto& first, const auto& second) {
        print_row<Real>(
            name, function, reference,
            {sample_arguments<Real>(first, count, 1), sample_arguments<Real>(second, count, 2),
             usual_arguments<Real>(first, 3), usual_arguments<Real>(second, 4)});
    });
}

}  // namespace

int main(int argc, char* argv[]) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 20000;
    std::string title = "eddy";
#ifdef HAS_XSIMD
    title += ", xsimd";
#endif
#ifdef HAS_SLEEF
    title += ", SLEEF, deterministic SLEEF";
#endif
    std::printf(
        "%d-byte vectors%s; for each of %s, <cmath>: ns per element, largest error in ulp, lanes "
        "that depend on "
        "their neighbours\n",
        eddy::simd::native_bytes, eddy::simd::has_fma ? ", fma" : "", title.c_str());
    print_table<double>(count);
    print_table<float>(count);
    return 0;
}
