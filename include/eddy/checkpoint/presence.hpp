#pragma once
// Whether an object may be called now: not what it was moved from, and not while it is in a call.
// Test: tests/checkpoint/checkpointed_loop.cpp

#include <atomic>
#include <eddy/core/error.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// A member of such objects, which moves and is copied with them. A copy is in no call.
class Presence {
  public:
    /// A call, for as long as it lasts.
    class Call {
      public:
        explicit Call(Presence& presence) : presence_(presence) {}
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        ~Call() { presence_.is_in_call_.store(false, std::memory_order_release); }

      private:
        Presence& presence_;
    };

    Presence() = default;
    Presence(const Presence& other) noexcept : is_here_(other.is_here_) {}
    Presence(Presence&& other) noexcept : is_here_(std::exchange(other.is_here_, false)) {}
    Presence& operator=(const Presence& other) noexcept {
        is_here_ = other.is_here_;
        return *this;
    }
    Presence& operator=(Presence&& other) noexcept {
        if (this != &other) is_here_ = std::exchange(other.is_here_, false);
        return *this;
    }
    ~Presence() = default;

    /// Begins a call. Another one meanwhile, from the condition, the body or another thread, would
    /// change what this one reads: it throws InvalidArgument, and this one goes on.
    [[nodiscard]] Call enter(const char* where) {
        require_argument(is_here_, "{}: this loop was moved from; assign another one to it", where);
        require_argument(!is_in_call_.exchange(true, std::memory_order_acquire),
                         "{}: this loop is in a call already, and serves one at a time; use "
                         "another loop in its condition, in its body and in each thread",
                         where);
        return Call(*this);
    }

  private:
    bool is_here_ = true;
    std::atomic<bool> is_in_call_{false};
};

}  // namespace eddy::inline v0::detail
