#pragma once
// What became of a lane.

#include <cstdint>
#include <eddy/core/result.hpp>

namespace eddy {

/// What became of a lane; of fixed layout, so that other languages can read an array of them.
struct LaneOutcome {
    std::int64_t accepted = 0;
    std::int64_t rejected = 0;
    std::int64_t evaluations = 0;  ///< of f, on the way forward
    double t = 0;                  ///< where it ended
    std::int32_t component = -1;   ///< of the state that failed; −1: none
    Result result = Result::success;
};

}  // namespace eddy
