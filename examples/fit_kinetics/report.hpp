#pragma once
// What the program prints.

#include <string>
#include <vector>

#include "estimate.hpp"
#include "profiles.hpp"

namespace kinetics {

/// What the search from all starts took.
struct SearchCost {
    double seconds = 0;
    std::int64_t num_trajectories = 0, num_tangents = 0, num_accepted = 0;
};

void print_data(const Measurements& data, const std::string& file);
void print_search(const std::vector<Fit>& fits, const SearchCost& cost);
void print_estimate(const Estimate& estimate, const std::vector<Profile>& profiles);
/// The published likelihood by the same trajectories: for the measurements that it was published for.
void print_published(const Measurements& data, const Estimate& estimate);

}  // namespace kinetics
