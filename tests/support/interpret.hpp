#pragma once
// The interpreter of graphs, which each source of a test would compile for three seconds: here it is
// compiled once, with the flags of the tests, so that it contracts as they do.

#include <eddy/trace/interpret.hpp>

extern template std::vector<eddy::LaneArray<double>> eddy::interpret<double>(
    const eddy::Graph&, const std::vector<eddy::LaneArray<double>>&);
