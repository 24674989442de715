#pragma once
// A thread as a team of its own: `chains` Numbers taken in turn.
// Test: tests/solve/contracts.cpp, tests/backends/backends.cpp

#include <algorithm>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/team.hpp>

namespace eddy::inline v0::detail {

/// What a thread at work knows of its call.
struct ThreadLink {
    CallLink* call;
    KeptThreads* others = nullptr;  // that may be called in; null: there are none
};

template <int chains>
class ThreadTeam {
  public:
    static constexpr int num_chains = chains;
    static constexpr int num_members = 1;
    static constexpr bool takes_prescribed_steps = true;
    static constexpr Watches watches{.stiffness = true, .tangents = true, .way_back = true};
    static constexpr int calls_between_polls = 1;
    static constexpr bool may_fetch_ahead = false;

    ThreadTeam(const ThreadLink& link, const LaunchPlan& plan, std::ptrdiff_t worker,
               std::ptrdiff_t group)
        : link_(&link),
          worker_(worker),
          first_lane_(plan.first_lane(group)),
          num_lanes_(plan.lanes_of(group)),
          asks_(link.call->asks_here()) {}

    [[nodiscard]] static constexpr int member() { return 0; }
    [[nodiscard]] EDDY_INLINE static bool any(bool flag) { return flag; }
    [[nodiscard]] static std::int64_t max(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t min(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t sum(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t from_first(std::int64_t x) { return x; }
    static void sync() {}
    static void fetch_ahead(const void*) {}

    [[nodiscard]] std::ptrdiff_t worker() const { return worker_; }
    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_lane_; }
    [[nodiscard]] std::int32_t num_lanes() const { return num_lanes_; }
    [[nodiscard]] std::int32_t num_taken() const { return num_taken_; }
    [[nodiscard]] std::int32_t take_lane(bool wants) {
        return wants && num_taken_ < num_lanes_ ? num_taken_++ : no_lane;
    }
    [[nodiscard]] static std::int32_t lane_at(std::int32_t k) { return k; }
    void ended(const LaneOutcome& outcome) const { link_->call->ended(outcome); }
    [[nodiscard]] CallLink& call() const { return *link_->call; }

    [[nodiscard]] bool is_cancelled() {
        if (asks_) link_->call->poll_now_and_then();
        return link_->call->is_cancelled();
    }
    [[nodiscard]] bool attend() {
        if (link_->others) link_->others->call_others();
        if (asks_) link_->call->poll();
        return !link_->call->is_cancelled();
    }
    /// While other threads may be called in, soon at first, then ever more rarely. Where the caller
    /// is asked, as often as rounds take long.
    [[nodiscard]] std::int64_t patience(std::int64_t round) const {
        constexpr std::int64_t longest = 256;
        const std::int64_t most = asks_ ? link_->call->rounds_between_polls() : longest;
        const bool may_call = link_->others && link_->others->may_call_others();
        return may_call ? std::min(most, round + 8) : most;
    }

  private:
    const ThreadLink* link_;
    std::ptrdiff_t worker_;
    std::ptrdiff_t first_lane_;
    std::int32_t num_lanes_, num_taken_ = 0;
    bool asks_;  // the caller
};

/// The team that a thread is for numbers of a type. A step of one pack waits for its own results most
/// of the time; its neighbours, taken in turn, fill the gaps.
template <class Spec>
using ThreadTeamFor = ThreadTeam<(Spec::num_places > 1 ? 3 : 1)>;

}  // namespace eddy::inline v0::detail
