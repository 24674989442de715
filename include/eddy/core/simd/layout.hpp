#pragma once
// How the lanes of a pack are spread over native vectors; packs and their masks share it.
// Test: tests/core/pack.cpp

#include <algorithm>
#include <eddy/core/simd/native.hpp>
#include <utility>

namespace eddy::inline v0 {

/// Lanes of one native vector of the target that is compiled for.
template <class Real>
inline constexpr int native_lanes = simd::native_bytes / static_cast<int>(sizeof(Real));

namespace simd {

template <class Element, int lanes>
struct Layout {
    static_assert(lanes > 0 && (lanes & (lanes - 1)) == 0,
                  "Pack: the number of lanes must be a power of two");
    static constexpr int part_lanes =
        std::clamp(lanes, 16 / static_cast<int>(sizeof(Element)), native_lanes<Element>);
    static constexpr int num_parts = std::max(1, lanes / part_lanes);
    using Part = Vector<Element, part_lanes>;
};

/// Calls `body.template operator()<i>()` for each part. This is `static_for` for host code: calling
/// a host lambda from that function, which runs on the device too, makes nvcc warn.
template <int num_parts, class Body>
EDDY_INLINE inline void for_parts(Body body) {
    [&]<int... i>(std::integer_sequence<int, i...>) EDDY_INLINE {
        (body.template operator()<i>(), ...);
    }
    (std::make_integer_sequence<int, num_parts>{});
}

/// Calls `function` on the i-th parts of `arguments`, for each part of the `Result`. Every lambda
/// on the way must be inlined, `function` too: g++ leaves them as calls in large programs, and a
/// step then takes ten times as long.
template <class Result, class Function, class... Arguments>
EDDY_INLINE inline Result map_parts(Function function, const Arguments&... arguments) {
    Result result;
    if constexpr (Result::num_parts == 1) {  // as most are: fewer calls to inline
        result.part[0] = function(arguments.part[0]...);
    } else {
        for_parts<Result::num_parts>(
            [&]<int i>() EDDY_INLINE { result.part[i] = function(arguments.part[i]...); });
    }
    return result;
}

}  // namespace simd
}  // namespace eddy::inline v0
