#pragma once
// Work that a call has left running, and what of its results is still to come to the host: kernels of an
// asynchronous backend. Whoever reads such a result waits for it.

namespace eddy::inline v0::detail {

/// Nothing, or a function that waits and brings the rest: finish(of). It may be called again, for a
/// captured call that has run again.
class Unfinished {
  public:
    using Finish = void (*)(void* of);

    Unfinished() = default;
    Unfinished(Finish finish, void* of) : finish_(finish), of_(of), is_waiting_(true) {}
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
    void forget() { finish_ = nullptr, of_ = nullptr, is_waiting_ = false; }
    /// What was put to work just now, in the place of what was before.
    void follow(const Unfinished& next) {
        finish_ = next.finish_, of_ = next.of_, is_waiting_ = next.is_waiting_;
    }

    /// Waits, if nobody has done so yet. What it throws leaves the result unfinished.
    void need() const {
        if (is_waiting_) wait();
    }
    /// Waits for what was put to work last.
    void wait() const {
        if (finish_ == nullptr) return;
        finish_(of_);
        is_waiting_ = false;
    }

  private:
    /// An error that waiting meets is met again by who reads the result.
    void take(Unfinished& other) noexcept {
        try {
            other.need();
        } catch (...) {
            finish_ = other.finish_, of_ = other.of_, is_waiting_ = true;
        }
        other.forget();
    }

    Finish finish_ = nullptr;
    void* of_ = nullptr;
    mutable bool is_waiting_ = false;
};

}  // namespace eddy::inline v0::detail
