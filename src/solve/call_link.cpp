#include <algorithm>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/ranks/rank_group.hpp>

#include "steady_clock.hpp"

namespace eddy::inline v0::detail {

namespace {

constexpr std::int64_t most_rounds = 256;
constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t interval = 50 * millisecond;
constexpr std::int64_t well_paced = millisecond, too_slow = 5 * millisecond;

}  // namespace

CallLink::CallLink(const std::stop_token& cancelled, const Poll& poll, RankGroup* ranks)
    : cancelled_(cancelled),
      poll_(poll),
      ranks_(ranks && ranks->num_ranks() > 1 ? ranks : nullptr) {
    if (!has_poll()) return;
    caller_ = std::this_thread::get_id();
    asked_ = polled_ = now_in_ns();
}
CallLink::CallLink(const Cancellation& cancellation, const SolveOptions& options, RankGroup* ranks)
    : CallLink(cancellation.token_or(options.cancelled),
               cancellation.poll_or(options.poll ? Poll(options.poll) : Poll()), ranks) {
    is_whole_call_ = true;
    if (ranks_) ranks_->attend(cancelled_, poll_);
}
CallLink::~CallLink() {
    if (ranks_ && is_cancelled()) ranks_->stop();
}

void CallLink::poll() {
    const std::int64_t now = now_in_ns();
    const std::int64_t passed = now - polled_;
    polled_ = now;
    if (passed < well_paced)
        rounds_between_polls_ = std::min(most_rounds, 2 * rounds_between_polls_);
    else if (passed > too_slow)
        rounds_between_polls_ = std::max<std::int64_t>(1, rounds_between_polls_ / 4);
    until_poll_ = rounds_between_polls_;
    const bool is_time = now - asked_ >= interval, others_wait = ranks_ && ranks_->gives();
    if ((!is_time && !others_wait) || is_cancelled()) return;
    try {
        if (ranks_ && !ranks_->goes_on()) stop();
        if (!is_time) return;
        if (poll_ && !poll_()) stop();
    } catch (...) {
        thrown_ = std::current_exception();
        stop();
    }
    asked_ = polled_ = now_in_ns();
}

std::shared_ptr<void> CallLink::watch(const Watcher& watcher, const char* title,
                                      std::int64_t num_lanes) {
    auto watching = watcher.begin({title, num_lanes, &counts_, static_cast<bool>(poll_), this,
                                   [](void* call) { static_cast<CallLink*>(call)->stop(); }});
    is_watched_ = watching != nullptr;
    return watching;
}

}  // namespace eddy::inline v0::detail
