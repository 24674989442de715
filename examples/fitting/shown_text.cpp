#include "shown_text.hpp"

namespace fitting {

namespace {

constexpr std::size_t longest_field = 40;

std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string safe;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            safe += c;
        } else {
            safe += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
        }
    }
    return safe;
}

std::string what_is_cut(std::string_view text, std::size_t longest) {
    return text.size() > longest ? " (" + std::to_string(text.size()) + " bytes)" : "";
}

std::string beginning(std::string_view text, std::size_t longest) {
    return escaped(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

}  // namespace

std::string shown(std::string_view text, std::size_t longest) {
    return beginning(text, longest) + what_is_cut(text, longest);
}

std::string quoted(std::string_view text) {
    return "'" + beginning(text, longest_field) + "'" + what_is_cut(text, longest_field);
}

}  // namespace fitting
