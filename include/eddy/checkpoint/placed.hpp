#pragma once
// Moved to core, where loops inside traced functions read it too.
// Test: tests/checkpoint/online_placement.cpp

#include <eddy/core/placed.hpp>
