#include "whole_file.hpp"

#include <eddy/core/error.hpp>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace eddy::inline v0::detail {

void write_whole_file(const char* where, const std::string& path,
                      std::span<const std::span<const std::byte>> parts) {
    const std::string beside = path + ".new";
    std::ofstream file(beside, std::ios::binary);
    for (const auto part : parts)
        file.write(reinterpret_cast<const char*>(part.data()),
                   static_cast<std::streamsize>(part.size()));
    file.close();
    std::error_code failed;
    if (!file.fail()) std::filesystem::rename(beside, path, failed);
    if (!file.fail() && !failed) return;
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    require_argument(false, "{}: \"{}\" cannot be written; is there such a folder, and room?",
                     where, path);
}

std::string read_whole_file(const char* where, const std::string& path) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);  // an error for folders
    std::string text;
    std::ifstream file(path, std::ios::binary);
    if (!failed && file) {
        text.resize(static_cast<std::size_t>(size));
        file.read(text.data(), static_cast<std::streamsize>(size));
    }
    require_argument(!failed && file, "{}: \"{}\" cannot be read; is there such a file?", where,
                     path);
    return text;
}

}  // namespace eddy::inline v0::detail
