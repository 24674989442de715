#pragma once
// What ties the work of a call to its caller: whether to go on, and what has been done.
// Test: tests/solve/poll.cpp, tests/interop/progress.cpp

#include <atomic>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/cancellation.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/watcher.hpp>
#include <eddy/solve/lane/lost_states.hpp>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace eddy::inline v0::detail {

class RankGroup;  // ranks/rank_group.hpp

class EDDY_EXPORT CallLink {
  public:
    CallLink() = default;
    CallLink(const std::stop_token& cancelled, const Poll& poll, RankGroup* ranks = nullptr);
    /// The link of a call whose lanes several processes may share (`ranks`): any of them ends it
    /// for all.
    CallLink(const Cancellation& cancellation, const SolveOptions& options,
             RankGroup* ranks = nullptr);
    /// The link of another part of a call, whose lanes have been counted: it ends by the same token
    /// and function.
    [[nodiscard]] CallLink uncounted() const { return {cancelled_, poll_, ranks_}; }
    ~CallLink();
    CallLink(const CallLink&) = delete;
    CallLink& operator=(const CallLink&) = delete;

    // For any thread.

    [[nodiscard]] bool is_cancelled() const {
        return stopped_.load(std::memory_order_relaxed) || cancelled_.stop_requested();
    }
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    /// Counts a lane that has ended.
    void ended(const LaneOutcome& outcome) {
        if (is_watched_) counts_.add(outcome);
    }
    /// Does anybody want the state at which the loss of a lane was not finite? keep_state keeps it.
    [[nodiscard]] bool wants_states() const { return lost_states_ != nullptr; }
    void keep_state(std::ptrdiff_t lane, std::vector<double> y) {
        const std::lock_guard lock(one_keeps_);
        lost_states_->add(lane, std::move(y));
    }
    /// Is there a function to ask, and is this the thread that asks it? None but the one that called:
    /// an interpreter, or MPI, may be used from no other.
    [[nodiscard]] bool asks_here() const {
        return has_poll() && std::this_thread::get_id() == caller_;
    }

    /// Counts lanes that have ended, as another machine has counted them.
    void ended(std::int64_t lanes, std::int64_t accepted, std::int64_t rejected) {
        counts_.add(lanes, accepted, rejected);
    }
    /// Does anybody count?
    [[nodiscard]] bool is_watched() const { return is_watched_; }
    /// May anything end the call before it is done?
    [[nodiscard]] bool may_be_stopped() const {
        return is_watched_ || has_poll() || cancelled_.stop_possible();
    }

    // For the calling thread.

    [[nodiscard]] bool has_poll() const { return poll_ || ranks_ != nullptr; }
    /// Looks at the clock, and asks the caller whether to go on, if it is time.
    void poll();
    /// Polls once in some rounds: so many that they take about a millisecond, as measured.
    void poll_now_and_then() {
        if (--until_poll_ <= 0) poll();
    }
    [[nodiscard]] std::int64_t rounds_between_polls() const { return rounds_between_polls_; }
    /// Does the call go on? Asked in each round of a loop on the calling thread.
    [[nodiscard]] bool goes_on() {
        if (has_poll()) poll_now_and_then();
        return !is_cancelled();
    }
    /// Names the place for states that are kept from now on, null: they are not kept; returns the one before.
    LostStates* keep_states_in(LostStates* states) { return std::exchange(lost_states_, states); }
    /// Are lanes that end from now on counted, if anybody does? Those of another rank's call are not.
    bool count_lanes(bool are_counted) { return std::exchange(is_watched_, are_counted); }
    /// The ranks among which the lanes may be divided anew; null: none.
    [[nodiscard]] RankGroup* sharing_ranks() const { return is_whole_call_ ? ranks_ : nullptr; }
    /// Has the watcher watch while the returned object lives.
    [[nodiscard]] std::shared_ptr<void> watch(const Watcher& watcher, const char* title,
                                              std::int64_t num_lanes);
    /// Throws what the caller's function has thrown.
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

  private:
    std::stop_token cancelled_;
    std::atomic<bool> stopped_{false};
    bool is_watched_ = false;
    CallCounts counts_;
    LostStates* lost_states_ = nullptr;
    std::mutex one_keeps_;

    Poll poll_;
    RankGroup* ranks_ = nullptr;  // null: this process only
    bool is_whole_call_ = false;
    std::thread::id caller_;
    std::int64_t asked_ = 0, polled_ = 0;  // nanoseconds of the steady clock
    std::int64_t rounds_between_polls_ = 1, until_poll_ = 1;
    std::exception_ptr thrown_;
};

}  // namespace eddy::inline v0::detail
