#include "sensitive_rows.hpp"
#include "row_work.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Puts the steps of a solve into lists.
template <class Real>
class StepRecorder final : public RowRecorder<Real> {
  public:
    explicit StepRecorder(StepsOfLanes& steps) : steps_(&steps) {}
    [[nodiscard]] bool wants_steps() const override { return true; }
    void save_step(std::ptrdiff_t lane, const TakenStep& step, const Real*) override {
        if (step.size != 0) steps_->keep(lane, {step.elapsed, step.size});
    }

  private:
    StepsOfLanes* steps_;
};

}  // namespace

template <class Real>
void SensitiveRows<Real>::run(const RowCall& call, const RowProblem<Real>& whole,
                              const RowList& lanes, const ThreadLink& link) {
    const FieldMaker& own = call.own_field ? *call.own_field : *call.field;
    if (!equation_.field) equation_ = with_tangent(own);
    RowProblem<Real> problem = whole;
    problem.add_tangent();
    problem.rows = Rows::of(lanes);
    problem.times.num_saves = 0;
    // Errors of steps add up along an oscillation, by their number: SensitiveSteps.
    const double scale = call.method->order < 4 ? 0.1 : 1;
    atol_.clear();
    for (int i = 0; i < problem.own_size(); ++i)
        atol_.push_back(static_cast<Real>(scale * call.options.atol[i]));
    problem.tolerances = {static_cast<Real>(scale * call.options.rtol), atol_.data(),
                          equation_.counted.data(), static_cast<int>(equation_.counted.size())};
    const auto count = static_cast<std::ptrdiff_t>(lanes.size());
    const int width = row_width(own, *call.method, count, false, problem.sums_tile, sizeof(Real));
    LaunchPlan plan{count, width, 1};
    plan.num_workers = workers_of_threads(call.threads, plan.num_groups());
    steps.reset(count);
    StepRecorder<Real> recorder(steps);
    solve_launch<Real>(kept_, {problem, &equation_, plan, link, steps.outcomes.data(), false},
                       recorder);
}

template class SensitiveRows<double>;
template class SensitiveRows<float>;

}  // namespace eddy::inline v0::detail
