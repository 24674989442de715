#include "fan.hpp"

#include <algorithm>
#include <cmath>
#include <eddy/eddy.hpp>

#include "model.hpp"

namespace short_rate {

Fan fan_of(const Rates& rates, const Unknowns& unknowns, double years) {
    constexpr int num_paths = 4096, steps_to_a_gap = 8;
    const auto count = static_cast<int>(std::lround(years / rates.gap()));
    eddy::SolveOptions options{.t1 = count * rates.gap(), .dt0 = rates.gap() / steps_to_a_gap};
    Fan fan;
    for (int k = 0; k <= count; ++k) {
        options.save_at.values.push_back(k * rates.gap());
        fan.year.push_back(rates.year.back() + k * rates.gap());
    }
    const Eigen::ArrayXXd start = Eigen::ArrayXXd::Constant(num_paths, 1, rates.rate.back());
    const auto solution =
        eddy::solve(Ckls{}, eddy::EulerMaruyama{}, start, eddy::shared(unknowns), options);

    fan.quantiles.resize(count + 1, std::size(fan_parts));
    fan.paths.resize(count + 1, num_shown_paths);
    std::vector<double> sorted(num_paths);
    for (int k = 0; k <= count; ++k) {
        for (int path = 0; path < num_paths; ++path)
            sorted[static_cast<std::size_t>(path)] = solution.y(k)(path, 0);
        std::copy_n(sorted.begin(), num_shown_paths, fan.paths.row(k).begin());
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t part = 0; part < std::size(fan_parts); ++part)
            fan.quantiles(k, static_cast<int>(part)) =
                sorted[static_cast<std::size_t>(fan_parts[part] * num_paths)];
    }
    return fan;
}

}  // namespace short_rate
