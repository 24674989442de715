#pragma once
// How tests of events are compared with Serial: on Cpu whatever the width of vectors, the threads, the number of
// checkpoints and the memory for logs; on emulated warps, and by the launcher of devices on them.

#include "solve/cpu_ways.hpp"
#include "solve/device_cases.hpp"
#include "solve/emulated_device.hpp"
#include "solve/event_cases.hpp"
#include "solve/warp_backend.hpp"

namespace oracle {

using support::EmulatedDevice;
using support::Warps;

constexpr std::ptrdiff_t num_event_lanes = 101;

constexpr std::size_t budget_of(std::size_t rounds) { return 1 + rounds * 4 * 32 * sizeof(double); }
inline const std::vector<Way<Warps>> event_warps{
    {"all rounds kept", {}, 4096},
    {"three checkpoints, a short log", {2}, 3, budget_of(13)},
    {"eight checkpoints, no log", {3}, 8, budget_of(0)}};
inline const auto event_launches = two_ways<EmulatedDevice>(std::size_t{8} << 20, 40'000);

}  // namespace oracle
