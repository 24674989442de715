#pragma once
// Catch2 v2 (Debian 12) and v3 (Ubuntu 24.04) put their headers in different places, and name some things
// differently; tests include this header.
#include <string>
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace support {

/// Matches a message in which the text stands.
inline auto contains(const std::string& text) {
#if __has_include(<catch2/catch_all.hpp>)
    return Catch::Matchers::ContainsSubstring(text);
#else
    return Catch::Matchers::Contains(text);
#endif
}

}  // namespace support
