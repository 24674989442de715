#pragma once
// Moved to core, where loops inside traced functions read it too.
// Test: tests/checkpoint/online_placement.cpp, tests/checkpoint/placement_view.cpp

#include <eddy/core/staircase.hpp>
