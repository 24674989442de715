#include "number_types.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace eddy::inline v0::detail {
namespace {

template <class T>
T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

/// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = 0;
    if (exponent == 31)
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        size = std::ldexp(fraction, -24);
    else
        size = std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 != 0 ? -size : size;
}

double decode(NumberType type, const char* from) {
    switch (type) {
        case NumberType::float16: return half(load<std::uint16_t>(from));
        case NumberType::bfloat16:
            return double{std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(from)} << 16)};
        case NumberType::float32: return double{load<float>(from)};
        case NumberType::float64: return load<double>(from);
        case NumberType::none: break;
    }
    return 0;
}

}  // namespace

std::vector<double> decode_numbers(NumberType type, std::string_view bytes) {
    const std::size_t size = bytes_per_number(type);
    std::vector<double> numbers(bytes.size() / size);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = decode(type, bytes.data() + i * size);
    return numbers;
}

}  // namespace eddy::inline v0::detail
