#pragma once
// How the lanes of a call become groups for the workers of a backend. Which worker takes which group
// may depend on chance; no result does.
// Test: tests/backends/backends.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/ask/memory.hpp>

namespace eddy::inline v0 {

/// A call's lanes, divided: groups of `group_size` lanes, the last of what is left, for workers that
/// take one at a time.
struct LaunchPlan {
    std::ptrdiff_t num_lanes = 0;
    std::ptrdiff_t group_size = 1;
    std::ptrdiff_t num_workers = 1;

    bool operator==(const LaunchPlan&) const = default;
    [[nodiscard]] EDDY_HD std::ptrdiff_t num_groups() const {
        return (num_lanes + group_size - 1) / group_size;
    }
    [[nodiscard]] EDDY_HD std::ptrdiff_t first_lane(std::ptrdiff_t group) const {
        return group * group_size;
    }
    [[nodiscard]] EDDY_HD std::int32_t lanes_of(std::ptrdiff_t group) const {
        return static_cast<std::int32_t>(min(group_size, num_lanes - first_lane(group)));
    }
};

namespace detail {

/// How many lanes form a group where `wanted_groups` would do: enough in each to refill its places
/// many times, not so many that progress and memory suffer.
template <class Spec, class Team>
[[nodiscard]] std::ptrdiff_t lanes_per_group(std::ptrdiff_t num_lanes,
                                             std::ptrdiff_t wanted_groups) {
    constexpr std::ptrdiff_t most_refills = 64;
    constexpr std::ptrdiff_t places =
        std::ptrdiff_t{Spec::num_places} * Team::num_chains * Team::num_members;
    const std::ptrdiff_t share = (num_lanes + wanted_groups - 1) / wanted_groups;
    return std::clamp<std::ptrdiff_t>((share + places - 1) / places, 1, most_refills) * places;
}

/// Lanes of a group such that each worker has about four groups, of which the last leave few workers with nothing to do:
/// a thousand steps of 2^20 lanes in double precision take an H100 4 % less so, by the model of docs/design/devices.md.
template <class Spec, class Team>
[[nodiscard]] std::ptrdiff_t balanced_lanes_per_group(std::ptrdiff_t num_lanes,
                                                      std::ptrdiff_t workers) {
    std::ptrdiff_t best = 0, least = 0;
    for (const std::ptrdiff_t groups : {5, 4, 3}) {
        const std::ptrdiff_t size = lanes_per_group<Spec, Team>(num_lanes, groups * workers);
        const std::ptrdiff_t of_busiest =
            (num_lanes + size * workers - 1) / (size * workers) * size;
        if (best == 0 || of_busiest < least) best = size, least = of_busiest;
    }
    return best;
}

/// How many groups a backend works on at a time, of so many. Where it depends on what a lane takes
/// (registers), the backend is told: num_workers_for<Spec, goes_back>(count); a gradient goes back.
template <class Spec, bool goes_back, class Backend>
[[nodiscard]] std::ptrdiff_t num_workers(const Backend& backend, std::ptrdiff_t num_groups) {
    if constexpr (is_of_device<Backend>)
        return backend.template num_workers_for<Spec, goes_back>(num_groups);
    else
        return backend.num_workers(num_groups);
}

template <class Spec, bool goes_back, class Backend>
[[nodiscard]] LaunchPlan plan_launch(const Backend& backend, std::ptrdiff_t num_lanes,
                                     std::ptrdiff_t group_size) {
    LaunchPlan plan{num_lanes, group_size, 1};
    plan.num_workers = num_workers<Spec, goes_back>(backend, plan.num_groups());
    return plan;
}

/// Plan of a forward pass without sums over lanes: few groups for each worker, so that a place has many
/// lanes.
template <class Spec, class Backend>
[[nodiscard]] LaunchPlan plan_way_forward(const Backend& backend, std::ptrdiff_t num_lanes) {
    using Team = typename Backend::template Team<Spec>;
    const std::ptrdiff_t workers = num_workers<Spec, false>(backend, num_lanes);
    return plan_launch<Spec, false>(backend, num_lanes,
                                    balanced_lanes_per_group<Spec, Team>(num_lanes, workers));
}

}  // namespace detail

}  // namespace eddy::inline v0
