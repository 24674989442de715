#pragma once
// The number types of tensor files, read into double, which holds them all exactly.

#include <cstddef>
#include <string_view>
#include <vector>

namespace eddy::inline v0::detail {

enum class NumberType { none, float16, bfloat16, float32, float64 };

[[nodiscard]] constexpr std::size_t bytes_per_number(NumberType type) {
    constexpr std::size_t bytes[] = {0, 2, 2, 4, 8};
    return bytes[static_cast<int>(type)];
}

/// As many numbers as the bytes hold.
[[nodiscard]] std::vector<double> decode_numbers(NumberType type, std::string_view bytes);

/// The number of numbers of a shape; −1 where it is more than `most`, or a size is negative.
template <class Shape>
[[nodiscard]] std::ptrdiff_t count_of_shape(const Shape& shape, std::ptrdiff_t most) {
    std::ptrdiff_t count = 1;
    bool is_empty = false;
    for (const std::ptrdiff_t size : shape) {
        if (size < 0) return -1;
        is_empty = is_empty || size == 0;
        if (size > 0 && count > most / size) return is_empty ? 0 : -1;
        count *= size > 0 ? size : 1;
    }
    return is_empty ? 0 : count;
}

}  // namespace eddy::inline v0::detail
