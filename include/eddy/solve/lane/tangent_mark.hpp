#pragma once
// What is kept of a trajectory whose steps do not carry its tangent (lane/tangent_error.hpp).
// Test: tests/solve/unreliable.cpp

#include <string>

namespace eddy::inline v0 {

/// Where the steps of a trajectory no longer resolve its tangent. From `t` on, a step's error in
/// the tangent was `ratio` times its tolerance.
struct TangentMark {
    double t = 0;
    double ratio = 0;  ///< 0: nowhere

    [[nodiscard]] explicit operator bool() const { return ratio > 0; }
};

/// A sentence on where a tangent is unreliable, and what helps.
[[nodiscard]] std::string to_text(const TangentMark& mark);

}  // namespace eddy::inline v0
