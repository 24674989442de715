#pragma once
// Whether an object still has what it was made with: what it was moved from has not.

#include <eddy/core/error.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// A member of such objects, which moves and is copied with them.
class Presence {
  public:
    Presence() = default;
    Presence(const Presence&) = default;
    Presence(Presence&& other) noexcept : is_here_(std::exchange(other.is_here_, false)) {}
    Presence& operator=(const Presence&) = default;
    Presence& operator=(Presence&& other) noexcept {
        if (this != &other) is_here_ = std::exchange(other.is_here_, false);
        return *this;
    }
    ~Presence() = default;

    void require(const char* where) const {
        require_argument(is_here_, "{}: this loop was moved from; assign another one to it", where);
    }

  private:
    bool is_here_ = true;
};

}  // namespace eddy::inline v0::detail
