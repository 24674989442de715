#pragma once
// All calls on arrays of the host, compiled once (thrust_on_host.cpp) for the tests of each of Thrust's host systems.

#include <Eigen/Core>
#include <eddy/backends/cpu.hpp>
#include <vector>

#include "interop/thrust_problem.hpp"

namespace thrust_calls {

using View = eddy::EnsembleView<const double>;

/// All that the calls give on these, on arrays of Eigen's and on vectors of Thrust; a steady state last.
[[nodiscard]] std::vector<Array> all_results(const Arrays<Eigen::ArrayXXd>& of);
[[nodiscard]] std::vector<Array> all_results(const Arrays<View>& of);

/// Where results are to be written.
struct Outputs {
    eddy::EnsembleView<double> y, y0, p, loss;
};
/// Solves and takes a gradient, at the end of the first save point, into these.
void write_results(const Arrays<View>& of, const Outputs& into);
/// What is to be written.
[[nodiscard]] std::vector<Array> results_to_write(const Arrays<Eigen::ArrayXXd>& of);

}  // namespace thrust_calls
