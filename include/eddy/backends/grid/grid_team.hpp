#pragma once
// A warp as a team of the group loops: 32 members with plain numbers. `Warp` is a thread's sight of
// its warp, a few instructions of a device (cuda/warp.hpp) or their emulation on the host.
// Test: tests/solve/grid_backend.cpp, tests/solve/grid_watch.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/grid_watch.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/team.hpp>

namespace eddy::inline v0::detail {

/// What warps at work know of their call.
struct GridLink {
    GridRelay* relay = nullptr;           // null: nobody watches, or may stop it
    GridMailbox* mailbox = nullptr;       // in memory of the host; null: nobody reads it
    bool is_counted = false;              // does anybody watch?
    const std::int32_t* order = nullptr;  // (lane) of its group; null: as they come
};

template <class Warp>
class GridTeam {
    using Place = typename Warp::Place;  // in the source, for those who check

  public:
    static constexpr int num_chains = 1;
    static constexpr int num_members = 32;
    static constexpr Watches watches{.stiffness = false, .tangents = true, .way_back = true};
    static constexpr bool takes_prescribed_steps = true;
    static constexpr int calls_between_polls = 256;
    static constexpr bool may_fetch_ahead = true;

    EDDY_HD GridTeam(const Warp& warp, const GridLink& link, const LaunchPlan& plan,
                     std::ptrdiff_t group)
        : warp_(warp),
          link_(&link),
          group_(group),
          first_lane_(plan.first_lane(group)),
          num_lanes_(plan.lanes_of(group)) {}

    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD int member() const { return warp_.member(); }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD bool any(bool flag, Place where = Place::current()) {
        return warp_.any(flag, where);
    }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD std::int64_t max(std::int64_t x,
                                                               Place where = Place::current()) {
        return warp_.max(x, where);
    }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD std::int64_t min(std::int64_t x,
                                                               Place where = Place::current()) {
        return warp_.min(x, where);
    }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD std::int64_t sum(std::int64_t x,
                                                               Place where = Place::current()) {
        return warp_.sum(x, where);
    }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD std::int64_t from_first(
        std::int64_t x, Place where = Place::current()) {
        return warp_.from_first(x, where);
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void sync(Place where = Place::current()) { warp_.sync(where); }

    EDDY_HD_AS_ARGUMENT EDDY_HD void fetch_ahead(const void* address) const {
        warp_.fetch_ahead(address);
    }

    /// Each group leaves what it has cost in a place of its own, whoever's memory it works in.
    [[nodiscard]] EDDY_HD std::ptrdiff_t worker() const { return group_; }
    [[nodiscard]] EDDY_HD std::ptrdiff_t first_lane() const { return first_lane_; }
    [[nodiscard]] EDDY_HD std::int32_t num_lanes() const { return num_lanes_; }
    [[nodiscard]] EDDY_HD std::int32_t num_taken() const { return num_taken_; }
    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD std::int32_t take_lane(
        bool wants, Place where = Place::current()) {
        const std::uint32_t who = warp_.ballot(wants, where);
        const std::uint32_t before = who & ((std::uint32_t{1} << member()) - 1);
        const std::int32_t lane = num_taken_ + Warp::count(before);
        const bool has_one = wants && lane < num_lanes_;
        num_taken_ = eddy::min(num_lanes_, num_taken_ + Warp::count(who));
        return has_one ? lane_at(lane) : no_lane;
    }
    /// The k-th lane that is taken.
    [[nodiscard]] EDDY_HD std::int32_t lane_at(std::int32_t k) const {
        return link_->order ? link_->order[first_lane_ + k] : k;
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void ended(const LaneOutcome& outcome) {
        if (!link_->is_counted) return;
        GridCounts& counts = link_->relay->counts;
        warp_.add(counts.lanes_done, outcome.result == Result::cancelled ? 0 : 1);
        warp_.add(counts.accepted, outcome.accepted);
        warp_.add(counts.rejected, outcome.rejected);
    }

    /// Looks rarely: the memory of the device is far away. Once it was, it is.
    [[nodiscard]] EDDY_HD bool is_cancelled(Place where = Place::current()) {
        if (--calls_to_poll_ > 0) [[likely]]
            return false;
        return poll(where);
    }
    [[nodiscard]] EDDY_HD bool attend(Place where = Place::current()) { return !poll(where); }
    [[nodiscard]] EDDY_HD std::int64_t patience(std::int64_t) const {
        return link_->relay ? 256 : std::int64_t{1} << 40;
    }

  private:
    /// Together: members that ask by themselves might see different things.
    [[gnu::noinline]] EDDY_HD bool poll(Place where) {
        if (!is_cancelled_ && link_->relay) is_cancelled_ = any(is_told(), where);
        calls_to_poll_ = is_cancelled_ ? 0 : calls_between_polls;
        return is_cancelled_;
    }

    [[nodiscard]] EDDY_HD bool is_told() const {
        if (member() != 0) return false;
        carry_news(warp_, *link_->relay, *link_->mailbox);
        return warp_.read(link_->relay->cancelled) != 0;
    }

    Warp warp_;
    const GridLink* link_;
    std::ptrdiff_t group_, first_lane_;
    std::int32_t num_lanes_, num_taken_ = 0;
    int calls_to_poll_ = calls_between_polls;
    bool is_cancelled_ = false;
};

}  // namespace eddy::inline v0::detail
