#pragma once
// The text in front of a safetensors file: a JSON object with a member for each tensor,
// "name": {"dtype": "F32", "shape": [64, 2], "data_offsets": [0, 512]}, and maybe
// "__metadata__", texts by their names: what network the tensors are of is "eddy.network".

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eddy::inline v0::detail {

struct TensorEntry {
    std::string name, type;
    std::vector<std::ptrdiff_t> shape;
    std::vector<std::ptrdiff_t> bytes;  // where it begins and ends, after the text
};

struct TensorTable {
    std::vector<TensorEntry> entries;
    std::string network;  // empty: it does not say
};

/// The tensors of a text. Where it is not as above, none, and `broken_at` is the place.
[[nodiscard]] TensorTable parse_tensor_table(std::string_view text, std::ptrdiff_t& broken_at);
/// The text of tensors, as a multiple of eight bytes.
[[nodiscard]] std::string tensor_table_text(const TensorTable& table);

}  // namespace eddy::inline v0::detail
