#pragma once
// What the process has allocated, and a limit: the program that links memory.cpp fails with
// bad_alloc where it would hold more than a gibibyte, instead of troubling the machine.

#include <cstdint>

namespace fuzz {

/// Bytes asked for since the process began.
[[nodiscard]] std::int64_t allocated_bytes();
/// Bytes held now, and the most that were since `forget_peak`.
[[nodiscard]] std::int64_t held_bytes();
[[nodiscard]] std::int64_t peak_bytes();
void forget_peak();

}  // namespace fuzz
