#pragma once
// The version, in the one place from which CMake, pkg-config and the packages take it. Before 1.0 a minor version may
// change the interface, and from 1.0 on a major one only.
// Test: tests/install/consumer/main.cpp

/// The major version.
#define EDDY_VERSION_MAJOR 0
/// The minor version.
#define EDDY_VERSION_MINOR 1
/// The patch of that version.
#define EDDY_VERSION_PATCH 0

/// The version as one number: `#if EDDY_VERSION >= 200` asks for 0.2.0 or later.
#define EDDY_VERSION (EDDY_VERSION_MAJOR * 10000 + EDDY_VERSION_MINOR * 100 + EDDY_VERSION_PATCH)
