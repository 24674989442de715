#pragma once
// Ctrl-C as something that a program asks about, in place of the end of the process.
// Test: tests/interop/interrupt.cpp

#include <eddy/core/export.hpp>

namespace eddy::inline v0 {

/// While one lives, Ctrl-C (SIGINT) is noted instead of ending the process. A second one while it
/// lives, or within two seconds of the first, does what Ctrl-C did before; so does one that nobody
/// asked about. Two within a twentieth of a second are one. Guards may be nested and live on
/// several threads at once: all see the same Ctrl-C, and the last to go puts the old handler back.
/// A process that ignores SIGINT, or that installs a handler of its own meanwhile, keeps it.
class EDDY_EXPORT InterruptGuard {
  public:
    InterruptGuard() noexcept;
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Was there a Ctrl-C since the first of the guards that live?
    [[nodiscard]] bool interrupted() const noexcept;
};

}  // namespace eddy::inline v0
