// NPY, one array in a file: "\x93NUMPY", a version, the length of a text, the text, which is a Python
// dictionary literal, and the numbers.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <eddy/interop/train/tensor_file.hpp>
#include <string_view>
#include <utility>

#include "number_types.hpp"
#include "whole_file.hpp"

namespace eddy::inline v0::train::detail {
namespace {

using eddy::detail::NumberType;
constexpr std::string_view magic = "\x93NUMPY";

/// What follows 'key': in the text; empty where there is none.
std::string_view value_of(std::string_view text, std::string_view key) {
    const auto at = text.find(key);
    if (at == text.npos) return {};
    const auto colon = text.find(':', at);
    if (colon == text.npos) return {};
    text.remove_prefix(colon + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

NumberType npy_type(std::string_view value) {
    constexpr std::pair<std::string_view, NumberType> types[] = {
        {"<f2", NumberType::float16}, {"<f4", NumberType::float32}, {"<f8", NumberType::float64}};
    for (const auto& [name, type] : types) {
        if (value.size() > 4 && value.substr(1, 3) == name && value[4] == value[0]) return type;
    }
    return NumberType::none;
}

/// "(64, 2)"; false where it is none.
bool read_shape(std::string_view value, std::vector<std::ptrdiff_t>& shape) {
    const auto end = value.find(')');
    if (!value.starts_with('(') || end == value.npos) return false;
    value = value.substr(1, end - 1);
    while (!value.empty()) {
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        if (value.empty()) break;
        std::ptrdiff_t size = 0;
        const auto [next, error] = std::from_chars(value.data(), value.data() + value.size(), size);
        if (error != std::errc{} || size < 0) return false;
        shape.push_back(size);
        value.remove_prefix(static_cast<std::size_t>(next - value.data()));
        if (!value.empty() && value.front() != ',') return false;
        if (!value.empty()) value.remove_prefix(1);
    }
    return true;
}

/// Where the text begins and how long it is; an empty one where the file is no NPY.
std::string_view header_text(std::string_view file) {
    if (!file.starts_with(magic) || file.size() < 12 || file[6] < 1 || file[6] > 3) return {};
    const bool is_first_version = file[6] == 1;
    std::uint32_t length = 0;
    std::memcpy(&length, file.data() + 8, is_first_version ? 2 : 4);
    file.remove_prefix(is_first_version ? 10 : 12);
    return length <= file.size() ? file.substr(0, length) : std::string_view{};
}

}  // namespace

std::string shape_text(std::span<const std::ptrdiff_t> shape) {
    std::string text = "(";
    for (const std::ptrdiff_t size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

void write_npy(const char* where, const std::string& path, const TensorBytes& tensor) {
    std::string shape = shape_text(tensor.shape);
    if (tensor.shape.size() == 1) shape.insert(shape.size() - 1, ",");  // a Python tuple of one
    std::string text = std::string("{'descr': '<f") + (tensor.bytes_per_number == 4 ? '4' : '8') +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
    constexpr std::size_t front = 10, alignment = 64;
    text.append((alignment - (front + text.size() + 1) % alignment) % alignment, ' ');
    text += '\n';
    std::string header(magic);
    header += {1, 0, static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
    header += text;
    const std::span<const std::byte> parts[] = {std::as_bytes(std::span(header)), tensor.bytes};
    eddy::detail::write_whole_file(where, path, parts);
}

StoredTensor read_npy(const char* where, const std::string& path) {
    const std::string file = eddy::detail::read_whole_file(where, path);
    const std::string_view text = header_text(file);
    std::vector<std::ptrdiff_t> shape;
    const bool is_npy = !text.empty() && read_shape(value_of(text, "'shape'"), shape);
    require_argument(is_npy,
                     "{}: \"{}\" is no NPY file; give one of train::save_weights or numpy.save",
                     where, path);
    const std::string_view type_text = value_of(text, "'descr'");
    const NumberType type = npy_type(type_text);
    require_argument(type != NumberType::none,
                     "{}: \"{}\" holds numbers of type {}; save them as '<f4' or '<f8'", where,
                     path, type_text.substr(0, type_text.find(',')));
    require_argument(shape.size() < 2 || value_of(text, "'fortran_order'").starts_with("False"),
                     "{}: \"{}\" is in column-major order; save numpy.ascontiguousarray of it",
                     where, path);
    const auto numbers = std::string_view(file).substr(
        static_cast<std::size_t>(text.data() - file.data()) + text.size());
    const std::size_t size = eddy::detail::bytes_per_number(type);
    const auto room = static_cast<std::ptrdiff_t>(numbers.size() / size);
    const std::ptrdiff_t count = eddy::detail::count_of_shape(shape, room);
    require_argument(
        count >= 0,
        "{}: \"{}\" ends too soon, {} numbers for a shape of {}; was it written to the "
        "end?",
        where, path, room, shape_text(shape));
    const std::size_t num_bytes = static_cast<std::size_t>(count) * size;
    require_argument(numbers.size() == num_bytes,
                     "{}: \"{}\" goes on for {} bytes behind its array of shape {}; save one array "
                     "in a file",
                     where, path, numbers.size() - num_bytes, shape_text(shape));
    return {"the array", shape, eddy::detail::decode_numbers(type, numbers)};
}

}  // namespace eddy::inline v0::train::detail
