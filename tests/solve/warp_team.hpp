#pragma once
// The emulated warp as a team of the group loops: 32 members with plain numbers.

#include <bit>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/team.hpp>

#include "support/emulated_grid.hpp"

namespace support {

class WarpTeam {
    using Place = eddy::test::Place;

  public:
    static constexpr int num_chains = 1;
    static constexpr int num_members = eddy::test::EmulatedWarp::num_members;
    static constexpr eddy::detail::Watches watches{
        .stiffness = true, .tangents = true, .way_back = true};
    static constexpr bool takes_prescribed_steps = true;
    static constexpr int calls_between_polls = 1;
    static constexpr bool may_fetch_ahead = false;

    WarpTeam(eddy::test::EmulatedWarp& warp, const eddy::LaunchPlan& plan, std::ptrdiff_t worker,
             std::ptrdiff_t group)
        : warp_(&warp),
          worker_(worker),
          first_lane_(plan.first_lane(group)),
          num_lanes_(plan.lanes_of(group)) {}

    [[nodiscard]] int member() const { return warp_->member(); }
    [[nodiscard]] bool any(bool flag, Place where = Place::current()) {
        return warp_->any(flag, where);
    }
    [[nodiscard]] std::int64_t max(std::int64_t x, Place where = Place::current()) {
        return warp_->max(x, where);
    }
    [[nodiscard]] std::int64_t min(std::int64_t x, Place where = Place::current()) {
        return warp_->min(x, where);
    }
    [[nodiscard]] std::int64_t sum(std::int64_t x, Place where = Place::current()) {
        return warp_->sum(x, where);
    }
    [[nodiscard]] std::int64_t from_first(std::int64_t x, Place where = Place::current()) {
        return warp_->broadcast(x, 0, where);
    }
    void sync(Place where = Place::current()) { warp_->sync(where); }
    static void fetch_ahead(const void*) {}

    [[nodiscard]] std::ptrdiff_t worker() const { return worker_; }
    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_lane_; }
    [[nodiscard]] std::int32_t num_lanes() const { return num_lanes_; }
    [[nodiscard]] std::int32_t num_taken() const { return num_taken_; }
    [[nodiscard]] std::int32_t take_lane(bool wants, Place where = Place::current()) {
        const std::uint32_t all = warp_->ballot(wants, where);
        const std::uint32_t before = all & ((std::uint32_t{1} << member()) - 1);
        const std::int32_t lane = num_taken_ + std::popcount(before);
        const bool has_one = wants && lane < num_lanes_;
        num_taken_ = std::min(num_lanes_, num_taken_ + std::popcount(all));
        return has_one ? lane : eddy::detail::no_lane;
    }
    [[nodiscard]] static std::int32_t lane_at(std::int32_t k) { return k; }
    void ended(const eddy::LaneOutcome&) const {}

    [[nodiscard]] static bool is_cancelled() { return false; }
    [[nodiscard]] static bool attend() { return true; }
    [[nodiscard]] static std::int64_t patience(std::int64_t) { return 16; }

  private:
    eddy::test::EmulatedWarp* warp_;
    std::ptrdiff_t worker_, first_lane_;
    std::int32_t num_lanes_, num_taken_ = 0;
};
static_assert(eddy::detail::Team<WarpTeam>);

}  // namespace support
