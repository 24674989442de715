#pragma once
// The message of the exception that a call throws, and whether it speaks of something. (Catch2 v2
// and v3 name their string matchers differently.)

#include <exception>
#include <string>
#include <string_view>

namespace support {

template <class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

inline bool mentions(const std::string& message, std::string_view words) {
    return message.find(words) != std::string::npos;
}

}  // namespace support
