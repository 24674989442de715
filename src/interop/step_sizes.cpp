#include <algorithm>
#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/interop/step_sizes.hpp>

#include <fmt/format.h>
#include <map>

namespace eddy::inline v0 {

template <class Real>
StepSizeHistogram step_size_histogram(const Solution<Real>& solution) {
    std::map<int, std::int64_t> count_of;  // (exponent)
    bool has_steps = solution.num_lanes() == 0;
    for (std::ptrdiff_t lane = 0; lane < solution.num_lanes(); ++lane) {
        const std::ptrdiff_t num_steps = solution.num_steps(lane);
        has_steps = has_steps || num_steps > 0;
        for (std::ptrdiff_t k = 1; k < num_steps; ++k) {
            const double size = std::fabs(solution.step_t(lane, k) - solution.step_t(lane, k - 1));
            if (size > 0) ++count_of[std::ilogb(size)];
        }
    }
    require_argument(
        has_steps,
        "step_size_histogram: the solution holds no steps; solve with .save_steps = true");
    StepSizeHistogram histogram;
    if (count_of.empty()) return histogram;
    histogram.exponent = count_of.begin()->first;
    histogram.counts.resize(
        static_cast<std::size_t>(count_of.rbegin()->first - histogram.exponent + 1));
    for (const auto& [exponent, count] : count_of)
        histogram.counts[static_cast<std::size_t>(exponent - histogram.exponent)] = count;
    return histogram;
}
template StepSizeHistogram step_size_histogram(const Solution<float>&);
template StepSizeHistogram step_size_histogram(const Solution<double>&);

std::string to_text(const StepSizeHistogram& histogram) {
    constexpr double longest_bar = 40;
    std::int64_t most = 1;
    for (const std::int64_t count : histogram.counts) most = std::max(most, count);
    std::string text;
    for (std::size_t k = 0; k < histogram.counts.size(); ++k) {
        const int exponent = histogram.exponent + static_cast<int>(k);
        const auto count = static_cast<double>(histogram.counts[k]);
        const auto length =
            static_cast<std::size_t>(std::ceil(longest_bar * count / static_cast<double>(most)));
        text += fmt::format("{:>9.3g} to {:<9.3g} {:<40} {}\n", std::ldexp(1., exponent),
                            std::ldexp(1., exponent + 1), std::string(length, '#'),
                            histogram.counts[k]);
    }
    return text;
}

}  // namespace eddy::inline v0
