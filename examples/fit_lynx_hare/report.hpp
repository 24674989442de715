#pragma once
// What the program prints.

#include "confidence.hpp"
#include "counts.hpp"
#include "estimate.hpp"
#include "refine.hpp"
#include "screening.hpp"

namespace lynx_hare {

void print_data(const Counts& counts, const std::string& file);
void print_screening(const Screening& screening);
void print_refinement(const Refinement& refinement);
void print_estimate(const Estimate& estimate);
void print_band(const Band& band, const Estimate& estimate);

}  // namespace lynx_hare
