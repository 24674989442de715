#pragma once
// What people wrote, as it may be shown on a terminal.

#include <string>
#include <string_view>

namespace fitting {

/// `text` with every byte but printable ASCII written as \xNN, so that no terminal obeys it. Of more
/// than `longest` bytes the first are shown, and how many there are.
[[nodiscard]] std::string shown(std::string_view text, std::size_t longest = 200);

/// The same in quotes, for a field of a file: a word or a number, never long.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace fitting
