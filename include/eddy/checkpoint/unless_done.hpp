#pragma once
// What a loop frees when a call leaves by an exception, or does not get to its end.
// Test: tests/checkpoint/cancelled_loop.cpp

#include <utility>

namespace eddy::inline v0::detail {

/// Frees on the way out of a scope that did not get to its end.
template <class Free>
class UnlessDone {
  public:
    explicit UnlessDone(Free free) : free_(std::move(free)) {}
    UnlessDone(const UnlessDone&) = delete;
    UnlessDone& operator=(const UnlessDone&) = delete;
    ~UnlessDone() {
        if (!done) free_();
    }
    bool done = false;

  private:
    Free free_;
};

}  // namespace eddy::inline v0::detail
