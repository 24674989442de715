#pragma once
// Ends the process when one piece of work takes too long: by its processor time, and by the clock
// where it waits for nothing.

#include <string>

namespace fuzz {

/// Begins the time of a piece of work; when it is over, `name` goes to standard error and the
/// process ends with `hung`.
void watch(const std::string& name);
void stop_watching();

inline constexpr int hung = 124;

/// Sanitizers make everything slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int slowness = 10;
#else
inline constexpr int slowness = 1;
#endif

}  // namespace fuzz
