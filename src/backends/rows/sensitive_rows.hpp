#pragma once
// Steps over rows that carry derivatives: a solve of y and of one tangent, of fixed signs, whose errors count as those
// of y do (call/sensitive_steps.hpp). Only the steps are kept.

#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/sensitive_steps.hpp>
#include <memory>
#include <vector>
#include "row_work.hpp"
#include "row_workers.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class SensitiveRows {
  public:
    StepsOfLanes steps;

    /// Solves these lanes of a checked call. False: its equation knows no tangents.
    [[nodiscard]] bool run(const RowCall& call, const RowArrays<Real>& arrays, const RowList& lanes,
                           const ThreadLink& link, const char* where);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    void add_tangents(const RowArrays<Real>& arrays);
    void prepare(const RowList& lanes, const char* where);

    RowCall call_;
    EnsembleArray<Real> y0_, p_;
    RowArrays<Real> arrays_;
    PreparedRows<Real> prepared_;
    std::vector<Real> atol_;
    LaunchPlan plan_;
    std::vector<RowWorker<Real>> workers_;
    ThreadLink link_{};
};

}  // namespace eddy::inline v0::detail
