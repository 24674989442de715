#pragma once
// The steady clock, for sources alone: a header that names its type takes compilers a tenth of a second.

#include <chrono>
#include <cstdint>

namespace eddy::inline v0::detail {

/// Nanoseconds.
[[nodiscard]] inline std::int64_t now_in_ns() {
    const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count();
}

}  // namespace eddy::inline v0::detail
