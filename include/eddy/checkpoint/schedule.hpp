#pragma once
// Moved to core, where loops inside traced functions read it too.
// Test: tests/checkpoint/schedule.cpp

#include <eddy/core/schedule.hpp>
