#pragma once
// The trajectories of all ranks on each of them, where they are asked for.
// Test: tests/mpi/ranks.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/call/solution.hpp>

namespace eddy::inline v0 {

/// The solution of all trajectories, on every rank: of a call with `Mpi`, all ranks call it, and each needs memory
/// for all. Trajectories are in the order of the ranks. Without ranks it is a copy.
template <class Real>
[[nodiscard]] EDDY_EXPORT Solution<Real> gathered(const Solution<Real>& solution);

extern template EDDY_EXPORT Solution<float> gathered(const Solution<float>&);
extern template EDDY_EXPORT Solution<double> gathered(const Solution<double>&);

}  // namespace eddy::inline v0
