#include "sensitive_rows.hpp"
#include <algorithm>
#include <cmath>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/lane/problem.hpp>

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
    [[nodiscard]] bool save(std::ptrdiff_t, int, std::int32_t, const Real*) override {
        return true;
    }

  private:
    StepsOfLanes* steps_;
};

}  // namespace

template <class Real>
bool SensitiveRows<Real>::run(const RowCall& call, const RowArrays<Real>& arrays,
                              const RowList& lanes, const ThreadLink& link, const char* where) {
    call_ = call;
    call_.field = call.field->with_tangents({Direction::given});
    if (!call_.field) return false;
    add_tangents(arrays);
    prepare(lanes, where);
    link_ = link;
    steps.reset(plan_.num_lanes);
    workers_.resize(static_cast<std::size_t>(plan_.num_workers));
    link.others->for_each_group(plan_.num_groups(), plan_.num_workers, *this);
    return true;
}
/// ±1 along y0, ±|p| along p: lane/problem.hpp.
template <class Real>
void SensitiveRows<Real>::add_tangents(const RowArrays<Real>& arrays) {
    const std::ptrdiff_t size = arrays.y0.num_components;
    const auto join = [](EnsembleArray<Real>& both, const EnsembleView<const Real>& given,
                         const auto& direction) {
        const std::ptrdiff_t columns = given.num_components;
        both.assign(given.num_lanes, 2 * columns, Real(0));
        for (std::ptrdiff_t i = 0; i < columns; ++i)
            for (std::ptrdiff_t row = 0; row < given.num_lanes; ++row) {
                both(row, i) = given(row, i);
                both(row, columns + i) = direction(i, given(row, i));
            }
    };
    join(y0_, arrays.y0, [](std::ptrdiff_t i, Real) { return static_cast<Real>(fixed_sign(i)); });
    join(p_, arrays.p, [size](std::ptrdiff_t i, Real p) {
        return static_cast<Real>(fixed_sign(size + i)) * (p == 0 ? Real(1) : std::abs(p));
    });
    arrays_ = {.y0 = ensemble_view(y0_),
               .p = ensemble_view(p_),
               .shares_parameters = arrays.shares_parameters};
}
template <class Real>
void SensitiveRows<Real>::prepare(const RowList& lanes, const char* where) {
    prepared_.prepare(call_, arrays_, where);
    RowProblem<Real>& problem = prepared_.problem;
    problem.rows = Rows::of(lanes);
    problem.counts_tangents = true;
    problem.times.num_saves = 0;
    // Errors of steps add up along an oscillation, by their number: SensitiveSteps.
    const double scale = call_.method->order < 4 ? 0.1 : 1;
    atol_.clear();
    for (int i = 0; i < problem.own_size(); ++i)
        atol_.push_back(static_cast<Real>(scale * call_.options.atol[i]));
    problem.tolerances.rtol = static_cast<Real>(scale * call_.options.rtol);
    problem.tolerances.atol = atol_.data();
    const auto count = static_cast<std::ptrdiff_t>(lanes.size());
    // At least eight: what is measured of tangents lies behind y, and blocks are aligned.
    const int width = std::max(
        8, row_width(*call_.field, *call_.method, count, false, problem.sums_tile, sizeof(Real)));
    plan_ = {count, width, 1};
    plan_.num_workers = workers_of_threads(call_.threads, plan_.num_groups());
}
template <class Real>
void SensitiveRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(link_, plan_, worker, group);
    RowWorker<Real>& at = workers_[static_cast<std::size_t>(worker)];
    if (!at.field)
        at.field = tile_of(*call_.field, prepared_.problem, static_cast<int>(plan_.group_size));
    StepRecorder<Real> recorder(steps);
    at.solve(team, prepared_.problem, recorder, steps.outcomes.data());
}

template class SensitiveRows<double>;
template class SensitiveRows<float>;

}  // namespace eddy::inline v0::detail
