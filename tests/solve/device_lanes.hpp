#pragma once
// Numbers for the lanes of device tests, and a loss.

#include <cstddef>
#include <eddy/core/vec_math.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>

namespace device_lanes {

/// Two columns. Every seventh lane oscillates too fast for its steps, where `fails` says so.
inline eddy::EnsembleArray<double> varied(std::ptrdiff_t lanes, double first, bool fails = false) {
    eddy::EnsembleArray<double> array(lanes, 2);
    for (int i = 0; i < 2; ++i) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            array(lane, i) = fails && lane % 7 == 3
                                 ? 1e3
                                 : first + 0.01 * static_cast<double>((7 * lane + 3 * i) % 100);
    }
    return array;
}

/// |y|².
struct Norm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

}  // namespace device_lanes
