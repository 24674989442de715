#pragma once
// Texts with values in them: compose("CheckpointedLoop: slot {}, step {}", slot, step). They are put
// together in the compiled library, by fmt, so that a header that throws brings no formatting code to
// those who include it.
// Test: tests/core/message.cpp

#include <concepts>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace eddy::inline v0::detail {

/// A number or a text within a message.
struct MessageValue {
    enum class Kind : std::uint8_t { integer, natural, real, text };

    template <std::integral T>
    MessageValue(T value) : kind(std::is_signed_v<T> ? Kind::integer : Kind::natural) {
        integer = static_cast<std::int64_t>(value);
    }
    MessageValue(double value) : kind(Kind::real), real(value) {}
    MessageValue(std::string_view value) : kind(Kind::text), text(value) {}
    MessageValue(const std::string& value) : MessageValue(std::string_view(value)) {}
    MessageValue(const char* value) : MessageValue(std::string_view(value)) {}

    Kind kind;
    union {
        std::int64_t integer;  // the bits of a natural number as well
        double real;
        std::string_view text;
    };
};

/// Declared alone: a call of it ends the compilation, and the compiler names it.
void a_message_needs_braces_for_each_of_its_values();

/// The text of a message, with {} for each of `count` values: another number of them does not compile.
template <std::size_t count>
struct MessageText {
    const char* text;

    consteval MessageText(const char* given) : text(given) {
        std::size_t found = 0;
        for (const char* at = given; *at != '\0'; ++at) found += at[0] == '{' && at[1] == '}';
        if (found != count) a_message_needs_braces_for_each_of_its_values();
    }
};

[[nodiscard]] EDDY_EXPORT std::string compose_message(std::string_view text,
                                                      std::initializer_list<MessageValue> values);

/// Numbers come out in as few digits as tell them from all others.
template <class... Values>
[[nodiscard]] std::string compose(std::type_identity_t<MessageText<sizeof...(Values)>> text,
                                  const Values&... values) {
    return compose_message(text.text, {MessageValue(values)...});
}

}  // namespace eddy::inline v0::detail
