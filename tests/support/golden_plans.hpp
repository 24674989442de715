#pragma once
// Reads the golden plans in tests/checkpoint/golden_plans: numbers after comments.

#include <fstream>
#include <sstream>
#include <string>

namespace support {

/// The numbers of a file, as a stream; lines that begin with # are left out.
inline std::istringstream golden_plans(const char* name) {
    std::string path = EDDY_GOLDEN_PLANS "/";
    path += name;
    std::ifstream file(path);
    std::string numbers, line;
    while (std::getline(file, line))
        if (!line.starts_with('#')) numbers += line + '\n';
    return std::istringstream(numbers);
}

template <class Number = long long>
Number next(std::istringstream& numbers) {
    Number number{};
    numbers >> number;
    return number;
}

}  // namespace support
