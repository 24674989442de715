#pragma once
// The cases of oracle_cases.hpp as a device takes them: the same claims for Cuda on a device and for its
// launcher on emulated warps.

#include "solve/oracle_cases.hpp"

namespace oracle {

/// No lane of a device is solved again.
inline const std::vector<Case> device_cases = [] {
    std::vector<Case> cases = adaptive_cases;
    for (Case& one : cases) one.options.stable_gradients = false;
    return cases;
}();
inline const std::vector<Case> device_jumps{device_cases.at(3)};

template <class Device>
std::vector<Way<Device>> as_it_is(const Device& device = {}) {
    return {{"", device}};
}
/// `room` is for all rounds, `little` for a log of a few.
template <class Device>
std::vector<Way<Device>> two_ways(std::size_t room, std::size_t little, const Device& device = {}) {
    return {{"all rounds kept", device, 4096, room},
            {"three checkpoints, a short log", device, 3, little}};
}

}  // namespace oracle
