#pragma once
// How long the steps of a solve were: a histogram over all lanes, by powers of two. It shows at a glance
// what a controller made of an equation: one hump, or the few tiny steps that cost the most.
// Test: tests/interop/step_sizes.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/solution.hpp>
#include <string>
#include <vector>

namespace eddy::inline v0 {

/// How many accepted steps were how long. Bin k counts sizes from 2^(exponent + k) up to, and without,
/// 2^(exponent + k + 1), in the unit of t; the first and the last bin are not empty.
struct StepSizeHistogram {
    int exponent = 0;
    std::vector<std::int64_t> counts{};  // (bin)
};

/// A histogram of the step sizes of all trajectories. The solution must have been made with
/// `.save_steps = true`; otherwise the call throws InvalidArgument. Steps too short for the digits
/// of t are left out.
template <class Real>
[[nodiscard]] EDDY_EXPORT StepSizeHistogram step_size_histogram(const Solution<Real>& solution);
extern template StepSizeHistogram step_size_histogram(const Solution<float>&);
extern template StepSizeHistogram step_size_histogram(const Solution<double>&);

/// A line for each bin: its range of sizes, a bar of up to 40 characters, its count.
[[nodiscard]] EDDY_EXPORT std::string to_text(const StepSizeHistogram& histogram);

}  // namespace eddy::inline v0
