#pragma once
// One text of the calls for all machines, compiled for each where its compiler is.

#include <utility>

#include "machine.hpp"
#include "model.hpp"

namespace lynx_hare {

template <class Backend>
[[nodiscard]] Machine machine_of(std::string name, const Backend& backend) {
    const auto log_counts = [backend](const Lanes& lanes, const eddy::SolveOptions& options) {
        const auto solution = eddy::solve(LotkaVolterra{}, eddy::Tsit5{}, lanes.y0, lanes.p,
                                          options, eddy::observe(LogCounts{}), backend);
        std::vector<Table> logs;
        for (int k = 0; k < solution.num_saves(); ++k) logs.emplace_back(solution.y(k));
        return logs;
    };
    const auto gradients = [backend](const std::vector<Table>& logs, const Lanes& lanes,
                                     const eddy::SolveOptions& options) {
        const auto result =
            eddy::value_and_gradient(LotkaVolterra{}, eddy::Tsit5{}, SquaredLogError{}, logs,
                                     lanes.y0, lanes.p, options, backend);
        return Lanes{.y0 = Table(result.gradient.y0), .p = Table(result.gradient.p)};
    };
    return {std::move(name), log_counts, gradients};
}

}  // namespace lynx_hare
