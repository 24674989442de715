#pragma once
// What the program prints.

#include <string>

#include "checks.hpp"
#include "search.hpp"

namespace short_rate {

void print_data(const Rates& rates, const std::string& file);
void print_checks(const Checks& checks);
void print_search(const Search& search, const Simulation& simulation);
void print_estimate(const Summit& best, const Eigen::VectorXd& errors,
                    const Simulation& simulation);

}  // namespace short_rate
