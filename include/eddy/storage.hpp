#pragma once
// The door to eddy::storage: stores that keep checkpoints elsewhere than in memory, and schedules
// written down as lists of actions. A solve needs none of it, so <eddy/eddy.hpp> does not include
// it.
// Test: tests/install/consumer/storage.cpp

#include <eddy/checkpoint/action.hpp>
#include <eddy/checkpoint/action_schedules.hpp>
#include <eddy/checkpoint/chain.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/host_store.hpp>
#include <eddy/checkpoint/hrevolve.hpp>
#include <eddy/checkpoint/measure.hpp>
#include <eddy/checkpoint/offload.hpp>
#include <eddy/checkpoint/scheduled_loop.hpp>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/checkpoint/tiered_store.hpp>
