// safetensors: the length of a text in eight bytes, the text (safetensors_header.hpp), the numbers.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <eddy/interop/train/tensor_file.hpp>
#include <eddy/interop/train/weights_file.hpp>
#include <string_view>
#include <utility>

#include "number_types.hpp"
#include "safetensors_header.hpp"
#include "whole_file.hpp"

namespace eddy::inline v0::train::detail {
namespace {

using eddy::detail::NumberType;
using eddy::detail::TensorEntry;

NumberType type_of(std::string_view name) {
    constexpr std::pair<std::string_view, NumberType> types[] = {{"F16", NumberType::float16},
                                                                 {"BF16", NumberType::bfloat16},
                                                                 {"F32", NumberType::float32},
                                                                 {"F64", NumberType::float64}};
    for (const auto& [of_name, type] : types) {
        if (name == of_name) return type;
    }
    return NumberType::none;
}

/// A tensor of the file, whose numbers begin where `numbers` does.
StoredTensor stored_tensor(const char* where, const std::string& path, const TensorEntry& entry,
                           std::string_view numbers) {
    const NumberType type = type_of(entry.type);
    require_argument(type != NumberType::none,
                     "{}: \"{}\": {} holds numbers of type {}; save them as F64, F32, F16 or BF16",
                     where, path, entry.name, entry.type);
    const std::ptrdiff_t begin = entry.bytes[0], end = entry.bytes[1];
    const auto size = static_cast<std::ptrdiff_t>(eddy::detail::bytes_per_number(type));
    const auto room = static_cast<std::ptrdiff_t>(numbers.size());
    const bool is_inside = begin <= end && end <= room;
    require_argument(
        is_inside && size * eddy::detail::count_of_shape(entry.shape, room) == end - begin,
        "{}: \"{}\": {}, {} numbers {}, lies at bytes {} to {} of {}; was the file "
        "written to the end?",
        where, path, entry.name, shape_text(entry.shape), entry.type, begin, end, room);
    const auto bytes =
        numbers.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    return {entry.name, entry.shape, eddy::detail::decode_numbers(type, bytes)};
}

/// Tensors lie one after another, in any order, and fill the file; each name is there once.
void require_whole(const char* where, const std::string& path, std::vector<TensorEntry> entries,
                   std::ptrdiff_t room) {
    const auto by_name = [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; };
    std::sort(entries.begin(), entries.end(), by_name);
    for (std::size_t k = 1; k < entries.size(); ++k)
        require_argument(entries[k - 1].name != entries[k].name,
                         "{}: \"{}\" has two tensors called {}; give each a name of its own", where,
                         path, entries[k].name);
    const auto by_place = [](const TensorEntry& a, const TensorEntry& b) {
        return a.bytes < b.bytes;
    };
    std::sort(entries.begin(), entries.end(), by_place);
    std::ptrdiff_t end = 0;
    for (const TensorEntry& entry : entries) {
        require_argument(entry.bytes[0] == end,
                         "{}: \"{}\": {} begins at byte {}, the tensor before it ends at {}; they "
                         "must lie one after another, as safetensors.save_file writes them",
                         where, path, entry.name, entry.bytes[0], end);
        end = entry.bytes[1];
    }
    require_argument(end == room,
                     "{}: \"{}\" goes on for {} bytes behind its tensors; give a file of "
                     "train::save_weights or safetensors.save_file",
                     where, path, room - end);
}

}  // namespace

void write_safetensors(const char* where, const std::string& path,
                       std::span<const TensorBytes> tensors, const std::string& network) {
    eddy::detail::TensorTable table{{}, network};
    std::vector<std::span<const std::byte>> parts(2);
    std::ptrdiff_t end = 0;
    for (const TensorBytes& tensor : tensors) {
        for (const TensorEntry& other : table.entries)
            require_argument(other.name != tensor.name,
                             "{}: two tensors are called {}; give each a name of its own", where,
                             tensor.name);
        const auto begin = std::exchange(end, end + std::ssize(tensor.bytes));
        table.entries.push_back({tensor.name,
                                 tensor.bytes_per_number == 4 ? "F32" : "F64",
                                 tensor.shape,
                                 {begin, end}});
        parts.push_back(tensor.bytes);
    }
    const std::string text = eddy::detail::tensor_table_text(table);
    const std::uint64_t length[] = {text.size()};
    parts[0] = std::as_bytes(std::span(length));
    parts[1] = std::as_bytes(std::span(text));
    eddy::detail::write_whole_file(where, path, parts);
}

StoredTensors read_safetensors(const char* where, const std::string& path) {
    const std::string file = eddy::detail::read_whole_file(where, path);
    std::uint64_t length = 0;
    if (file.size() >= 8) std::memcpy(&length, file.data(), 8);
    require_argument(file.size() >= 8 && length <= file.size() - 8,
                     "{}: \"{}\" is no safetensors file; give one of train::save_weights or "
                     "safetensors.save_file",
                     where, path);
    const auto text = std::string_view(file).substr(8, static_cast<std::size_t>(length));
    std::ptrdiff_t broken_at = 0;
    eddy::detail::TensorTable table = eddy::detail::parse_tensor_table(text, broken_at);
    require_argument(
        broken_at < 0,
        "{}: \"{}\" is not a safetensors file: its header is not valid at byte {}; give one of "
        "train::save_weights or safetensors.save_file",
        where, path, 8 + broken_at);
    StoredTensors stored{{}, std::move(table.network)};
    for (const TensorEntry& entry : table.entries)
        stored.tensors.push_back(
            stored_tensor(where, path, entry, std::string_view(file).substr(8 + text.size())));
    require_whole(where, path, std::move(table.entries), std::ssize(file) - 8 - std::ssize(text));
    return stored;
}

}  // namespace eddy::inline v0::train::detail
