#include <algorithm>
#include <eddy/solve/call/call_link.hpp>

namespace eddy::inline v0::detail {

namespace {

constexpr std::int64_t most_rounds = 256;
constexpr auto interval = std::chrono::milliseconds(50);
constexpr auto well_paced = std::chrono::milliseconds(1), too_slow = std::chrono::milliseconds(5);

}  // namespace

void CallLink::look() {
    const auto now = Clock::now();
    const auto passed = now - looked_;
    looked_ = now;
    if (passed < well_paced)
        rounds_between_looks_ = std::min(most_rounds, 2 * rounds_between_looks_);
    else if (passed > too_slow)
        rounds_between_looks_ = std::max<std::int64_t>(1, rounds_between_looks_ / 4);
    until_look_ = rounds_between_looks_;
    if (now - asked_ < interval || is_cancelled()) return;
    try {
        if (!poll_()) stop();
    } catch (...) {
        thrown_ = std::current_exception();
        stop();
    }
    asked_ = looked_ = Clock::now();
}

std::shared_ptr<void> CallLink::watch(const Watcher& watcher, const char* title,
                                      std::int64_t num_lanes) {
    auto watching = watcher.begin({title, num_lanes, &counts_, has_poll(), this,
                                   [](void* call) { static_cast<CallLink*>(call)->stop(); }});
    is_watched_ = watching != nullptr;
    return watching;
}

}  // namespace eddy::inline v0::detail
