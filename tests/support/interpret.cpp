#include "support/interpret.hpp"

template std::vector<eddy::LaneArray<double>> eddy::interpret<double>(
    const eddy::Graph&, const std::vector<eddy::LaneArray<double>>&);
