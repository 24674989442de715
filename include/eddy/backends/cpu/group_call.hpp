#pragma once
// The work on groups, as those call it who know nothing of it: threads.
// Test: tests/backends/executor.cpp

#include <cstddef>

namespace eddy::inline v0::detail {

class GroupCall {
  public:
    GroupCall() = default;
    template <class Work>
    explicit GroupCall(Work& work)
        : work_(&work), call_([](const void* called, std::ptrdiff_t worker, std::ptrdiff_t group) {
              of<Work>(called)(worker, group);
          }) {
        if constexpr (requires { work.attends(); }) {
            if (work.attends()) attend_ = [](const void* called) { of<Work>(called).attend(); };
        }
    }
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group) const {
        call_(work_, worker, group);
    }
    /// Has the calling thread something to do while it waits?
    [[nodiscard]] bool attends() const { return attend_ != nullptr; }
    void attend() const { attend_(work_); }

  private:
    template <class Work>
    static Work& of(const void* called) {
        return *static_cast<Work*>(const_cast<void*>(called));
    }
    const void* work_ = nullptr;
    void (*call_)(const void*, std::ptrdiff_t, std::ptrdiff_t) = nullptr;
    void (*attend_)(const void*) = nullptr;
};

}  // namespace eddy::inline v0::detail
