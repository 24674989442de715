#pragma once
// Options with impulses of all kinds, on equations of three components: at both ends, two at once, of each lane's own.

#include <eddy/solve/ask/options.hpp>
#include <limits>

namespace support {

[[nodiscard]] inline eddy::SolveOptions with_impulses(eddy::SolveOptions options, double t0,
                                                      double t1, bool saved_before) {
    using enum eddy::Impulse;
    const double span = t1 - t0;
    options.impulses = {.times = {t0, t0 + 0.25 * span, t0 + 0.25 * span, t0 + 0.5 * span, t1},
                        .components = {0, 1, 0, 2, 1},
                        .amounts = {1.5, 0.8, 0.6, 20, 0.4},
                        .kinds = {scale, add, scale, replace, scale},
                        .saved_before = saved_before};
    return options;
}
/// Up to two of each lane, within [0, 1].
[[nodiscard]] inline eddy::SolveOptions with_own_impulses(eddy::SolveOptions options,
                                                          std::ptrdiff_t lanes, bool saved_before) {
    eddy::EnsembleArray<double> times(lanes, 2), amounts(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::ptrdiff_t k = 0; k < 2; ++k) {
            constexpr double none = std::numeric_limits<double>::quiet_NaN();
            const bool is_there = k < lane % 3;
            times(lane, k) = is_there ? 0.25 * static_cast<double>(lane % 2 + 2 * k) : none;
            amounts(lane, k) = is_there ? 1 + 0.125 * static_cast<double>(lane % 7) : none;
        }
    }
    using enum eddy::Impulse;
    options.impulses = {.times = eddy::each(times),
                        .components = {1, 0},
                        .amounts = eddy::each(amounts),
                        .kinds = {add, scale},
                        .saved_before = saved_before};
    return options;
}

}  // namespace support
