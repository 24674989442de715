#pragma once
// The schedules of the checkpointed loop as action lists (checkpoint/action.hpp): the same
// placement and the same split of gaps that CheckpointedLoop asks for, written down instead of
// carried out. Every list runs all steps forward before it reverses one, reverses each step once,
// and leaves storage empty.
// Test: tests/checkpoint/action_schedules.cpp

#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/export.hpp>

namespace eddy::inline v0 {

/// The actions of a CheckpointedLoop with these options in a run of `length` steps and its backward
/// pass, all in memory. Online placements learn the length only at the end, as in a run. Throws
/// InvalidArgument if the options do not allow `length`.
[[nodiscard]] EDDY_EXPORT ActionList loop_actions(std::int64_t length, const LoopOptions& options);

/// The offline schedule with the `memory_slots` most accessed stack indices in memory and
/// `disk_slots` on disk. Stumm & Walther, "MultiStage approaches for optimal offline
/// checkpointing", SIAM J. Sci. Comput. 31(3), 2009.
[[nodiscard]] EDDY_EXPORT ActionList multistage_actions(std::int64_t length,
                                                        std::int64_t memory_slots,
                                                        std::int64_t disk_slots);

}  // namespace eddy::inline v0
