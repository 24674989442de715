#pragma once
// What a solver object keeps from call to call, one call at a time.
// Test: tests/solve/solver_objects.cpp, tests/solve/failing_allocations.cpp

#include <atomic>
#include <eddy/core/error.hpp>
#include <memory>
#include <utility>

namespace eddy::inline v0::detail {

/// An object of any type, kept from call to call; made anew where another type is asked for. A copy
/// begins empty: two solvers share no memory, and may be used by two threads.
class Workspace {
  public:
    Workspace() = default;
    Workspace(const Workspace&) noexcept {}
    Workspace(Workspace&& other) noexcept
        : object_(std::move(other.object_)), tag_(std::exchange(other.tag_, nullptr)) {}
    Workspace& operator=(Workspace other) noexcept {
        object_ = std::move(other.object_);
        tag_ = std::exchange(other.tag_, nullptr);
        return *this;
    }
    ~Workspace() = default;

    template <class T>
    [[nodiscard]] T& get() {
        if (tag_ != &tag_of<T>) {
            tag_ = nullptr;
            // nvcc 13.0 takes the constructor that make_shared calls for one of constant expressions, and fails.
            object_ = std::shared_ptr<T>(new T);
            tag_ = &tag_of<T>;
        }
        return *static_cast<T*>(object_.get());
    }

  private:
    friend class OneCall;
    template <class T>
    static constexpr char tag_of = 0;

    std::shared_ptr<void> object_;
    const char* tag_ = nullptr;
    std::atomic<bool> is_in_call_{false};
};

/// In the place of a part of a call that its types do not have.
struct NoPass {
    static bool run(const auto&...) { return false; }
};
/// A part of a call that few calls have, with the memory that it keeps: made when one does.
template <class Pass>
class RarePass {
  public:
    template <class... Arguments>
    auto run(Arguments&&... arguments) {
        if (!pass_) pass_ = std::make_unique<Pass>();
        return pass_->run(arguments...);
    }

  private:
    std::unique_ptr<Pass> pass_;
};

/// A call of a solver object, for as long as it lasts. Another one, from another thread or by what this one
/// asks meanwhile, would write where this one computes: it throws InvalidArgument.
class OneCall {
  public:
    OneCall(Workspace& workspace, const char* where) : workspace_(workspace) {
        require_argument(
            !workspace.is_in_call_.exchange(true, std::memory_order_acquire),
            "{}: this solver object is in a call already, and serves one at a time; give "
            "each thread a copy of it",
            where);
    }
    OneCall(const OneCall&) = delete;
    OneCall& operator=(const OneCall&) = delete;
    ~OneCall() { workspace_.is_in_call_.store(false, std::memory_order_release); }

  private:
    Workspace& workspace_;
};

/// Empties a result whose call ends in an exception: half of it would be of this call.
template <class Object>
class EmptyUnlessDone {
  public:
    explicit EmptyUnlessDone(Object& object) : object_(&object) {}
    EmptyUnlessDone(const EmptyUnlessDone&) = delete;
    EmptyUnlessDone& operator=(const EmptyUnlessDone&) = delete;
    ~EmptyUnlessDone();
    void done() { object_ = nullptr; }

  private:
    Object* object_;
};
template <class Object>
EmptyUnlessDone<Object>::~EmptyUnlessDone() {
    if (object_) static_cast<void>(*object_ = Object());
}

}  // namespace eddy::inline v0::detail
