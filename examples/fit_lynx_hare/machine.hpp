#pragma once
// What the ensembles of all starts run on: a GPU where there is one, else the processor. Trajectories one at a time,
// as the optimiser asks for them, stay on the processor.

#include <eddy/eddy.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lynx_hare {

/// (lane, component). Not Eigen's, for what its arrays look like depends on flags of a compiler, and there may be two.
using Table = eddy::EnsembleArray<double>;

/// (lane, species) and (lane, rate).
struct Lanes {
    Table y0, p;
};

/// The calls of an ensemble on some machine.
struct Machine {
    std::string name;
    /// The logarithms of counts at each save point: (lane, species).
    std::function<std::vector<Table>(const Lanes& lanes, const eddy::SolveOptions& options)>
        log_counts;
    /// The derivatives of the sums of squares with respect to both tables of lanes; `logs` have one row a save point.
    std::function<Lanes(const std::vector<Table>& logs, const Lanes& lanes,
                        const eddy::SolveOptions& options)>
        gradients;
};

/// The one that this run uses.
[[nodiscard]] const Machine& machine();

/// The first GPU; none where the program was built without CUDA, or nothing answers.
[[nodiscard]] std::optional<Machine> gpu();

}  // namespace lynx_hare
