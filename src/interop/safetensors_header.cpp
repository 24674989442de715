#include "safetensors_header.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

constexpr std::string_view network_key = "eddy.network";

void append_utf8(std::string& text, std::uint32_t point) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (point >> shift & 63)); };
    if (point < 0x80) {
        text += static_cast<char>(point);
    } else if (point < 0x800) {
        text += static_cast<char>(0xc0 | point >> 6);
        tail(0);
    } else if (point < 0x10000) {
        text += static_cast<char>(0xe0 | point >> 12);
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xf0 | point >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Reads the part of JSON that the text may have. Each function takes what it names off the front; what
/// is something else stops the parser where it is, and nothing is taken from then on.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    [[nodiscard]] bool is_stopped() const { return is_stopped_; }
    [[nodiscard]] std::ptrdiff_t place() const { return static_cast<std::ptrdiff_t>(at_); }
    [[nodiscard]] bool is_at_end() {
        skip_blanks();
        return at_ == text_.size();
    }
    void stop() { is_stopped_ = true; }

    /// member(key) for each member of an object, which takes its value.
    template <class Member>
    void object(const Member& member) {
        list('{', '}', [&] {
            const std::string key = string();
            expect(':');
            if (!is_stopped_) member(key);
        });
    }
    [[nodiscard]] std::vector<std::ptrdiff_t> sizes() {
        std::vector<std::ptrdiff_t> all;
        list('[', ']', [&] { all.push_back(size()); });
        return all;
    }
    [[nodiscard]] std::string string() {
        std::string value;
        expect('"');
        while (!is_stopped_) {
            if (at_ == text_.size())
                stop();
            else if (text_[at_] == '"')
                break;
            else if (text_[at_] == '\\')
                escape(value);
            else
                value += text_[at_++];
        }
        ++at_;
        return value;
    }

  private:
    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
            ++at_;
    }
    [[nodiscard]] bool takes(char wanted) {
        if (is_stopped_) return false;
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }
    void expect(char wanted) {
        if (!takes(wanted)) stop();
    }
    template <class Item>
    void list(char first, char last, const Item& item) {
        expect(first);
        if (takes(last)) return;
        while (!is_stopped_) {
            item();
            if (takes(last)) return;
            expect(',');
        }
    }
    [[nodiscard]] std::ptrdiff_t size() {
        skip_blanks();
        std::ptrdiff_t value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{} || value < 0) stop();
        at_ += static_cast<std::size_t>(end - begin);
        return value;
    }
    /// \n, \u00e9, or two of the latter for what UTF-16 needs two for.
    void escape(std::string& value) {
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const char letter = ++at_ < text_.size() ? text_[at_] : '\0';
        ++at_;
        if (const auto k = letters.find(letter); k != letters.npos) {
            value += meant[k];
        } else if (letter == 'u') {
            std::uint32_t point = four_digits();
            if (point >> 10 == 0xd800 >> 10 && text_.substr(at_).starts_with("\\u")) {
                at_ += 2;
                point = 0x10000 + ((point & 1023) << 10) + (four_digits() & 1023);
            }
            append_utf8(value, point);
        } else {
            stop();
        }
    }
    [[nodiscard]] std::uint32_t four_digits() {
        std::uint32_t value = 0;
        const std::string_view digits = text_.substr(at_).substr(0, 4);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (error != std::errc{} || end != digits.data() + 4) stop();
        at_ += digits.size();
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool is_stopped_ = false;
};

TensorEntry parse_entry(Parser& parser, const std::string& name) {
    TensorEntry entry{name, {}, {}, {}};
    parser.object([&](const std::string& key) {
        if (key == "dtype")
            entry.type = parser.string();
        else if (key == "shape")
            entry.shape = parser.sizes();
        else if (key == "data_offsets")
            entry.bytes = parser.sizes();
        else
            parser.stop();
    });
    if (entry.bytes.size() != 2 || entry.type.empty()) parser.stop();
    return entry;
}

std::string json_text(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        constexpr char digits[] = "0123456789abcdef";
        if (c == '"' || c == '\\')
            (quoted += '\\') += c;
        else if (static_cast<unsigned char>(c) < 32)
            ((quoted += "\\u00") += digits[c >> 4]) += digits[c & 15];
        else
            quoted += c;
    }
    return quoted + '"';
}

std::string listed(const std::vector<std::ptrdiff_t>& sizes) {
    std::string text = "[";
    for (const std::ptrdiff_t size : sizes)
        text += (text.size() > 1 ? "," : "") + std::to_string(size);
    return text + "]";
}

}  // namespace

TensorTable parse_tensor_table(std::string_view text, std::ptrdiff_t& broken_at) {
    TensorTable table;
    Parser parser(text);
    parser.object([&](const std::string& name) {
        if (name == "__metadata__")
            parser.object([&](const std::string& key) {
                std::string value = parser.string();
                if (key == network_key) table.network = std::move(value);
            });
        else
            table.entries.push_back(parse_entry(parser, name));
    });
    if (!parser.is_at_end()) parser.stop();
    broken_at = parser.place();
    if (parser.is_stopped())
        table = {};
    else
        broken_at = -1;
    return table;
}

std::string tensor_table_text(const TensorTable& table) {
    std::string text = "{";
    if (!table.network.empty())
        text += "\"__metadata__\":{" + json_text(std::string(network_key)) + ':' +
                json_text(table.network) + '}';
    for (const TensorEntry& entry : table.entries) {
        text += (text.size() > 1 ? "," : "") + json_text(entry.name) +
                ":{\"dtype\":" + json_text(entry.type) + ",\"shape\":" + listed(entry.shape) +
                ",\"data_offsets\":" + listed(entry.bytes) + "}";
    }
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

}  // namespace eddy::inline v0::detail
