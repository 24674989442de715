#pragma once
// Options whose trajectories begin, end and are seen at times of their own, up to twice, some of them never.

#include <eddy/solve/ask/options.hpp>
#include <limits>

namespace support {

[[nodiscard]] inline eddy::SolveOptions with_own_times(eddy::SolveOptions options,
                                                       std::ptrdiff_t lanes, double span) {
    eddy::EnsembleArray<double> t0(lanes, 1), t1(lanes, 1), save_at(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        t0(lane, 0) = 0.125 * static_cast<double>(lane % 3) * span;
        t1(lane, 0) = t0(lane, 0) + span * (0.25 + 0.125 * static_cast<double>(lane % 7));
        for (std::ptrdiff_t k = 0; k < 2; ++k)
            save_at(lane, k) = k < lane % 3
                                   ? t0(lane, 0) + 0.125 * static_cast<double>(k + 1) * span
                                   : std::numeric_limits<double>::quiet_NaN();
    }
    options.t0 = eddy::each(t0);
    options.t1 = eddy::each(t1);
    options.save_at = eddy::each(save_at);
    return options;
}

}  // namespace support
