#pragma once
// Where in the user's source a value comes from. Doors of the DSL that are functions take it as a
// default argument, which is evaluated where they are called; operators have no room for one.
// Test: tests/checkpoint/outline.cpp

#include <string_view>

namespace eddy::inline v0 {

/// A place in the user's source.
struct SourcePlace {
    const char* file = "";
    const char* function = "";
    int line = 0;  ///< from 1; 0: not known

    [[nodiscard]] static constexpr SourcePlace here(const char* file = __builtin_FILE(),
                                                    const char* function = __builtin_FUNCTION(),
                                                    int line = __builtin_LINE()) {
        return {file, function, line};
    }

    /// Texts are compared by what they say: an inline function has copies of them.
    [[nodiscard]] constexpr bool operator==(const SourcePlace& other) const {
        return line == other.line && std::string_view(file) == other.file &&
               std::string_view(function) == other.function;
    }
};

namespace detail {
/// What the call of a named function makes: the node's `index`, and where it was called.
struct NamedCall {
    int index = 0;
    SourcePlace place{};
};
}  // namespace detail

}  // namespace eddy::inline v0
