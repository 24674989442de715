#pragma once
// Work that a call has left running, and what of its results is still to come to the host: kernels of an
// asynchronous backend, or what lies on a device until somebody asks. Whoever reads such a result waits for
// it; of threads that ask at once, one does.
// Test: tests/solve/asynchronous.cpp

#include <atomic>
#include <eddy/core/export.hpp>

namespace eddy::inline v0::detail {

/// Nothing, or a function that waits and brings the rest: finish(of). It may be called again, for a
/// captured call that has run again.
class EDDY_EXPORT Unfinished {
  public:
    using Finish = void (*)(void* of);

    Unfinished() = default;
    Unfinished(Finish how, void* of, bool all_succeeded = false)
        : finish_(how), of_(of), is_waiting_(true), all_succeeded_(all_succeeded) {}
    // What is still to come arrives where it was promised: who copies or moves a result waits first,
    // and begins without anything to wait for.
    Unfinished(const Unfinished& other) { other.need(); }
    Unfinished(Unfinished&& other) noexcept { take(other); }
    Unfinished& operator=(const Unfinished& other) {
        if (this == &other) return *this;
        other.need();
        forget();
        return *this;
    }
    Unfinished& operator=(Unfinished&& other) noexcept {
        if (this != &other) {
            forget();
            take(other);
        }
        return *this;
    }
    ~Unfinished() = default;

    /// The result that these belong to is about to be written anew.
    void forget() {
        finish_ = nullptr, of_ = nullptr, all_succeeded_ = false;
        is_waiting_.store(false, std::memory_order_release);
    }
    /// What was put to work just now, in the place of what was before.
    void follow(const Unfinished& next) {
        finish_ = next.finish_, of_ = next.of_, all_succeeded_ = next.all_succeeded_;
        is_waiting_.store(next.is_waiting_.load(std::memory_order_acquire),
                          std::memory_order_release);
    }

    /// Is it known of the lanes, before what became of them has come, that all reached their ends?
    [[nodiscard]] bool all_succeeded() const { return all_succeeded_; }
    /// Waits, if nobody has done so yet. What it throws leaves the result unfinished.
    void need() const {
        if (is_waiting_.load(std::memory_order_acquire)) wait_once();
    }
    /// Waits for what was put to work last.
    void wait() const;

  private:
    /// Waits, if no other thread has done so meanwhile.
    void wait_once() const;
    void finish() const;
    /// An error that waiting meets is met again by who reads the result.
    void take(Unfinished& other) noexcept {
        try {
            other.need();
        } catch (...) {
            finish_ = other.finish_, of_ = other.of_;
            is_waiting_.store(true, std::memory_order_release);
        }
        other.forget();
    }

    Finish finish_ = nullptr;
    void* of_ = nullptr;
    mutable std::atomic<bool> is_waiting_{false};
    bool all_succeeded_ = false;
};

}  // namespace eddy::inline v0::detail
