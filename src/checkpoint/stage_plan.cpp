#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/core/error.hpp>

#include "budget_curve.hpp"

// With U the sums of the times, sigma the bytes of x_a if the plan owns it (V), else 0 (H), the least
// time of taking stages a … b back within m bytes, the cotangent of x_{b+1} counted, is the least of
//   record a:               w + v + (V or H)(a + 1, b, m - h), h = r + what the residuals hold
//   keep x_a, advance to j: U_j - U_a + V(j, b, m - sigma) + (V or H)(a, j - 1, m)
//   a = b, direct:          v
// each where its own peak fits. A curve is the step function of m.

namespace eddy::inline v0 {
namespace {

using std::int64_t;

using detail::at;
using detail::BudgetCurve;
using detail::CurvePoint;

constexpr std::int32_t direct =
    -1;  // a choice: an option, this, or first_split + the stage advanced to

class StagePlanner {
  public:
    StagePlanner(const ChainCosts& costs, int64_t budget, int most_points)
        : stages_(costs.stages),
          num_stages_(static_cast<int>(costs.stages.size())),
          budget_(budget),
          algebra_(budget, most_points) {
        for (const StageCost& stage : stages_) {
            add_size(stage.state_bytes, stage.cotangent_bytes);
            starts_.push_back(starts_.back() + stage.time);
        }
        add_size(costs.output_bytes, costs.output_cotangent_bytes);
        for (const StageCost& stage : stages_)
            first_split_ = std::max(first_split_, static_cast<std::int32_t>(stage.options.size()));
        for (auto& curves : curves_) curves.resize(stages_.size() * stages_.size());
        for (int gap = 0; gap < num_stages_; ++gap) {
            for (int a = 0; a + gap < num_stages_; ++a) {
                fill(a, a + gap, owned);
                if (a > 0 && may_hold_output(a - 1)) fill(a, a + gap, lent);
            }
        }
    }

    [[nodiscard]] const BudgetCurve& curve() const { return curve(0, num_stages_ - 1, owned); }

    [[nodiscard]] std::vector<StageAction> actions() {
        emit(0, num_stages_ - 1, budget_, owned);
        return std::move(actions_);
    }

  private:
    enum Owner { owned, lent };  // x_a of a part: the plan's to free, or held by others throughout

    void add_size(int64_t state, int64_t cotangent) {
        sizes_.push_back(state);
        cotangents_.push_back(cotangent < 0 ? state : cotangent);
    }
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] const StageCost& stage(int i) const { return stages_[index(i)]; }
    [[nodiscard]] int64_t size(int i) const { return sizes_[index(i)]; }
    [[nodiscard]] int64_t cotangent(int i) const { return cotangents_[index(i)]; }
    [[nodiscard]] BudgetCurve& curve(int a, int b, Owner owner) {
        return curves_[owner][index(a) * stages_.size() + index(b)];
    }
    [[nodiscard]] const BudgetCurve& curve(int a, int b, Owner owner) const {
        return curves_[owner][index(a) * stages_.size() + index(b)];
    }
    [[nodiscard]] bool may_hold_output(int i) const {
        return std::ranges::any_of(stage(i).options, &StageOption::reads_output);
    }
    [[nodiscard]] int64_t own_size(int a, Owner owner) const {
        return owner == owned ? size(a) : 0;
    }
    [[nodiscard]] int64_t held_by(const StageOption& option, int a, int64_t own) const {
        return option.residual_bytes + (option.reads_input ? own : 0) +
               (option.reads_output ? size(a + 1) : 0);
    }
    static Owner next_owner(const StageOption& option) {
        return option.reads_output ? lent : owned;
    }

    void fill(int a, int b, Owner owner) {
        BudgetCurve& best = curve(a, b, owner);
        for (std::size_t k = 0; k < stage(a).options.size(); ++k)
            record(a, b, owner, static_cast<std::int32_t>(k), best);
        if (a == b && stage(a).direct) {
            const int64_t bytes =
                own_size(a, owner) + cotangent(a + 1) + cotangent(a) + stage(a).direct->transient;
            algebra_.take(BudgetCurve{{bytes, stage(a).direct->time, direct}}, best);
        }
        int64_t need = 0;
        for (int j = a + 1; j <= b; ++j) {
            const int64_t input = j - 1 > a ? size(j - 1) : 0;
            need = std::max(need, cotangent(b + 1) + own_size(a, owner) + input + size(j) +
                                      stage(j - 1).transient);
            algebra_.take_sum(curve(j, b, owned), own_size(a, owner), curve(a, j - 1, owner), need,
                              starts_[index(j)] - starts_[index(a)], first_split_ + j, best);
        }
        algebra_.thin(best);
    }

    void record(int a, int b, Owner owner, std::int32_t choice, BudgetCurve& best) {
        static const BudgetCurve nothing_left{{0, 0, 0}};
        const StageOption& option = stage(a).options[static_cast<std::size_t>(choice)];
        const int64_t own = own_size(a, owner), held = held_by(option, a, own);
        const int64_t need = std::max(
            own + option.residual_bytes + size(a + 1) + option.record_transient + cotangent(b + 1),
            held + cotangent(a + 1) + cotangent(a) + option.pullback_transient);
        const double time = option.record_time + option.pullback_time;
        algebra_.take_shifted(a == b ? nothing_left : curve(a + 1, b, next_owner(option)),
                              a == b ? 0 : held, need, time, choice, best);
    }

    void act(StageActionKind kind, int i, std::int32_t option = 0) {
        actions_.push_back({kind, i, option});
    }

    void emit(int a, int b, int64_t bytes, Owner owner) {
        const CurvePoint& point = *at(curve(a, b, owner), bytes);
        if (point.choice >= first_split_) {
            const int j = point.choice - first_split_;
            for (int i = a; i < j; ++i) {
                act(StageActionKind::advance, i);
                if (i > a) act(StageActionKind::free, i);
            }
            emit(j, b, point.bytes - own_size(a, owner), owned);
            emit(a, j - 1, point.bytes, owner);
        } else if (point.choice == direct) {
            act(StageActionKind::direct, a);
            act(StageActionKind::free, a);
        } else {
            const StageOption& option = stage(a).options[static_cast<std::size_t>(point.choice)];
            act(StageActionKind::record, a, point.choice);
            act(StageActionKind::free, a);
            if (a < b) {
                emit(a + 1, b, point.bytes - held_by(option, a, own_size(a, owner)),
                     next_owner(option));
            } else {
                act(StageActionKind::free, a + 1);
            }
            act(StageActionKind::pullback, a);
        }
    }

    std::span<const StageCost> stages_;
    int num_stages_;
    int64_t budget_;
    detail::BudgetCurves algebra_;
    std::vector<int64_t> sizes_, cotangents_;  // (value)
    std::vector<double> starts_{0};            // (stage) sums of the times before it
    std::int32_t first_split_ = 0;
    std::vector<BudgetCurve> curves_[2];  // (owner)[a, b]
    std::vector<StageAction> actions_;
};

void check(const ChainCosts& costs, const PlanOptions& options) {
    require_argument(options.most_points == 0 || options.most_points >= 2,
                     "plan: most_points = {}; give at least 2, or 0 for all", options.most_points);
    const auto is_time = [](double time) { return time >= 0 && std::isfinite(time); };
    int i = 0;
    for (const StageCost& stage : costs.stages) {
        require_argument(!stage.options.empty() || stage.direct,
                         "plan: stage {} has neither an option to record it nor a direct pullback; "
                         "give one of them",
                         i);
        bool valid = is_time(stage.time) && stage.state_bytes >= 0 && stage.transient >= 0;
        for (const StageOption& option : stage.options)
            valid = valid && is_time(option.record_time) && is_time(option.pullback_time) &&
                    option.residual_bytes >= 0 && option.pullback_transient >= 0;
        if (stage.direct)
            valid = valid && is_time(stage.direct->time) && stage.direct->transient >= 0;
        require_argument(valid,
                         "plan: stage {} has a negative or infinite time or size; give finite ones "
                         "of at least 0",
                         i);
        ++i;
    }
    require_argument(costs.output_bytes >= 0, "plan: output_bytes = {}; give at least 0",
                     costs.output_bytes);
}

/// What is kept of each stage when the first pullback begins.
std::vector<KeptOfStage> kept_between(std::span<const StageAction> actions, std::size_t stages) {
    std::vector<KeptOfStage> kept(stages, KeptOfStage::nothing);
    if (stages > 0) kept[0] = KeptOfStage::input;
    for (const StageAction& action : actions) {
        const auto i = static_cast<std::size_t>(action.stage);
        if (action.kind == StageActionKind::pullback || action.kind == StageActionKind::direct)
            break;
        if (action.kind == StageActionKind::record) kept[i] = KeptOfStage::residuals;
        const bool makes =
            action.kind == StageActionKind::record || action.kind == StageActionKind::advance;
        if (makes && i + 1 < stages) kept[i + 1] = KeptOfStage::input;
        if (action.kind == StageActionKind::free && i < stages && kept[i] == KeptOfStage::input)
            kept[i] = KeptOfStage::nothing;
    }
    return kept;
}

int64_t least_budget(const ChainCosts& costs) {
    return StagePlanner(costs, PlanOptions{}.memory_bytes, 2).curve().front().bytes;
}

}  // namespace

void detail::look_at(const void*) {}

StagePlan plan(const ChainCosts& costs, const PlanOptions& options) {
    check(costs, options);
    if (costs.stages.empty()) return {};
    StagePlanner planner(costs, options.memory_bytes, options.most_points);
    if (planner.curve().empty()) {
        require_argument(
            false,
            "plan: memory_bytes = {}, but no plan of these {} stages fits into less than "
            "{}; raise it, or make the stages smaller",
            options.memory_bytes, costs.stages.size(), least_budget(costs));
    }
    StagePlan result;
    for (const CurvePoint& point : planner.curve())
        result.curve.push_back({point.bytes, point.cost});
    result.least_bytes = result.curve.front().bytes;
    result.peak_bytes = result.curve.back().bytes;
    result.time = result.curve.back().time;
    result.actions = planner.actions();
    result.kept = kept_between(result.actions, costs.stages.size());
    return result;
}

}  // namespace eddy::inline v0
