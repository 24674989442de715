#pragma once
// Steps over rows that carry derivatives: a solve of y and of one tangent, of fixed signs, whose errors count as those
// of y do (call/sensitive_steps.hpp). Only the steps are kept.

#include <eddy/backends/rows/row_call.hpp>
#include <eddy/backends/rows/row_launch.hpp>
#include <eddy/solve/call/sensitive_steps.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Of the calls of one solver object.
template <class Real>
class SensitiveRows {
  public:
    StepsOfLanes steps;

    /// Solves these lanes of a call's problem; all fail where its equation knows no tangents.
    void run(const RowCall& call, const RowProblem<Real>& whole, const RowList& lanes,
             const ThreadLink& link);

  private:
    RowEquation equation_;
    std::vector<Real> atol_;
    Workspace kept_;
};

}  // namespace eddy::inline v0::detail
