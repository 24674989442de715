#pragma once
// The ways of Cpu that oracles compare with Serial.

#include <eddy/backends/cpu.hpp>

#include "solve/oracle_cases.hpp"

namespace oracle {

inline const std::vector<Way<eddy::Cpu>> two_threads{{"two threads", {.threads = 2}}};
inline const std::vector<Way<eddy::Cpu>> many_ways{
    {"two threads", {.threads = 2}},          {"one checkpoint", {.threads = 1}, 1},
    {"three checkpoints", {.threads = 2}, 3}, {"no log", {.threads = 1}, 0, 1},
    {"a short log", {.threads = 1}, 4, 6000},
};

}  // namespace oracle
