#pragma once
// Files read and written as a whole.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace eddy::inline v0::detail {

/// Writes parts one after another to a file beside `path` and renames it, so that there is a whole one at
/// every moment. InvalidArgument where that cannot be done.
void write_whole_file(const char* where, const std::string& path,
                      std::span<const std::span<const std::byte>> parts);

/// InvalidArgument where there is no such file.
[[nodiscard]] std::string read_whole_file(const char* where, const std::string& path);

}  // namespace eddy::inline v0::detail
