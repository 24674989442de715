#include "number_types.hpp"

#include <cstdint>
#include <cstring>
#include <eddy/core/small_float.hpp>

namespace eddy::inline v0::detail {
namespace {

template <class T>
T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

/// A number of two bytes.
template <class Number>
double small(const char* from) {
    return static_cast<double>(Number::from_bits(load<std::uint16_t>(from)));
}

double decode(NumberType type, const char* from) {
    switch (type) {
        case NumberType::float16: return small<eddy::float16>(from);
        case NumberType::bfloat16: return small<eddy::bfloat16>(from);
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
