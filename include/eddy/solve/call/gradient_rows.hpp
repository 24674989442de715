#pragma once
// Gradients of some lanes, put into those of all.

#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/lane_rows.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Row rows[k] of `from` into row lanes[k] of `to`. Of shared parameters there are no rows, but sums.
template <class Real>
EDDY_EXPORT void put_target(const GradientTarget<Real>& to, const LaneList& lanes,
                            const GradientTarget<Real>& from, const LaneList& rows,
                            bool shares_parameters);

/// What the workers' ways back cost.
inline void set_costs(GradientReport& report, const std::vector<BackCost>& costs) {
    report.counters = {};
    report.bytes_kept = report.evaluations_back = 0;
    for (const BackCost& cost : costs) {
        add(report.counters, cost.loops);
        report.evaluations_back += cost.evaluations;
        report.bytes_kept += cost.most_bytes;
    }
}
/// What a gradient of some lanes cost beside that of all.
inline void add_cost(GradientReport& report, const GradientReport& part) {
    add(report.counters, part.counters);
    report.evaluations_back += part.evaluations_back;
    report.bytes_kept += part.bytes_kept;
}

}  // namespace eddy::inline v0::detail
