#pragma once
// Gradients of some lanes, put into those of all.

#include <algorithm>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/lane_rows.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <numeric>
#include <vector>

namespace eddy::inline v0::detail {

/// Row rows[k] of `from` into row lanes[k] of `to`. Of shared parameters there are no rows, but sums.
template <class Real>
EDDY_EXPORT void put_target(const GradientTarget<Real>& to, const LaneList& lanes,
                            const GradientTarget<Real>& from, const LaneList& rows,
                            bool shares_parameters);
/// The same wherever its arrays lie.
template <class Memory, class Real>
void put_target_into(const Memory& memory, const GradientTarget<Real>& to, const LaneList& lanes,
                     const GradientTarget<Real>& from, const LaneList& rows,
                     bool shares_parameters) {
    if constexpr (is_of_host<Memory>) {
        put_target(to, lanes, from, rows, shares_parameters);
    } else {
        using Target = GradientTarget<Real>;
        const auto put = [&](const auto... arrays) {
            (put_rows_into(memory, to.*arrays, lanes, from.*arrays, rows), ...);
        };
        put(&Target::y0, &Target::y0_tangent, &Target::t0, &Target::t1, &Target::save_at);
        if (!shares_parameters) put(&Target::p, &Target::p_tangent);
    }
}

/// The losses of each block of lanes anew, where they are kept: their sum may have taken their place.
template <class Memory, class Real>
void sum_losses(const Memory& memory, const EnsembleView<Real>& loss, const Outcomes& outcomes,
                std::vector<double>& sums) {
    if (is_of_host<Memory> || sums.empty()) return;
    LaneList all(static_cast<std::size_t>(loss.num_lanes));
    std::iota(all.begin(), all.end(), std::ptrdiff_t{0});
    EnsembleArray<Real> losses;
    gather_rows_from(memory, ensemble_view(loss), all, losses);
    std::fill(sums.begin(), sums.end(), 0.);
    for (const std::ptrdiff_t lane : all) {
        double& sum = sums[static_cast<std::size_t>(lane / lanes_per_block)];
        if (!is_failure(outcomes.result(lane))) sum = sum + static_cast<double>(losses(lane, 0));
    }
}

/// What the workers' ways back cost.
EDDY_EXPORT void set_costs(GradientReport& report, const std::vector<BackCost>& costs);
/// What a gradient of some lanes cost beside that of all.
inline void add_cost(GradientReport& report, const GradientReport& part) {
    add(report.counters, part.counters);
    report.evaluations_back += part.evaluations_back;
    report.bytes_kept += part.bytes_kept;
}

}  // namespace eddy::inline v0::detail
