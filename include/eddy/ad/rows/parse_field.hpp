#pragma once
// Equations as text. docs/guide/runtime_models.md has the language.
// Test: tests/ad/rows/parse_field.cpp

#include <eddy/ad/rows/runtime_field.hpp>
#include <string>
#include <vector>

namespace eddy::inline v0 {

/// A right-hand side as text.
struct FieldText {
    /// A name and what it stands for.
    struct Named {
        std::string name{}, formula{};
    };
    std::vector<std::string> states{};      ///< the names of y
    std::vector<std::string> parameters{};  ///< the names of p
    std::vector<Named> where{};             ///< named subexpressions; each may use those before it
    std::vector<std::string> equations{};   ///< dy/dt, one formula for each state
    std::vector<Named> observables{};   ///< numbers that are asked for, and integrated by nothing
    std::vector<std::string> inputs{};  ///< the names of u
};

namespace detail {

[[nodiscard]] EDDY_EXPORT RuntimeField parse_field(const FieldText& text, RowLevel level);

}  // namespace detail

/// The right-hand side that a text says. Throws InvalidArgument, which names the formula, the position in
/// it and what was expected.
[[nodiscard]] inline RuntimeField parse_field(const FieldText& text) {
    return detail::parse_field(text, row_level);
}

/// A right-hand side of single numbers as text, which parses to the same program. Throws InvalidArgument
/// where it has vector operations or loops, or reads inputs.
[[nodiscard]] EDDY_EXPORT FieldText to_text(const RuntimeField& field);

}  // namespace eddy::inline v0
