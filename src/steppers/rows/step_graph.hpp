#pragma once
// What the graphs of implicit steps have in common: the linear model of f, the factors of J − I/(γh) by the plan of a
// fixed order of elimination, and the solves with them, with the operations and the bits of linalg/sparse_lu.hpp.
// Arguments are (times of the stages, then h; y; p).

#include <eddy/ad/linear_model.hpp>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/linalg/lu_plan.hpp>
#include <eddy/trace/embed.hpp>
#include <functional>
#include <map>
#include <utility>

#include "../../ad/rows/latest_fields.hpp"

namespace eddy::inline v0::detail {

/// The graph of a step that grows; its first argument are times.
class GrowingStep {
  protected:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    template <class... Operands>
    int push(Op op, int size, Operands... operands) {
        return graph_.push({.op = op, .size = size}, operands...);
    }
    int constant(double value);
    int time(int stage) { return graph_.push_argument(0, stage, 1); }

    Graph graph_;

  private:
    std::map<double, int> constants_;
};

class StepGraph : protected GrowingStep {
  protected:
    /// `num_further`: numbers behind h; `num_orders`: derivatives of the step are right to that order.
    StepGraph(const Graph& field, int num_stages, int num_further, double gamma, int num_orders);

    /// f at (t, y, p), the entries of its Jacobian, and ∂f/∂t where the model has it.
    struct Linear {
        int f = -1, entries = -1, slope = -1;
    };
    /// J − I/(γh): its factors (factor), what stood on its diagonal (component), and the smallest |diagonal entry /
    /// pivot|, zero where derivatives are infinite.
    struct Factored {
        List<int> factors, diagonal;
        int health = -1;
    };
    [[nodiscard]] Linear linear_at(int time, int y, int p);
    [[nodiscard]] Factored factored(int entries, int h);
    /// x with W x = right.
    [[nodiscard]] int solve(const Factored& matrix, int right);

    int concat(const List<int>& parts, int size) {
        return graph_.push_list({.op = Op::concat, .size = size}, parts);
    }
    /// sum + weight x.
    int add_scaled(int sum, double weight, int x) {
        return push(Op::mul_add, size_, constant(weight), x, sum);
    }
    /// What only judges the step: it has a derivative where tangents are judged as well.
    int judging(int x) { return num_orders_ > 1 ? x : push(Op::stop_gradient, graph_[x].size, x); }
    /// The graph of these results, one after another.
    Graph finish(const List<int>& results);

    const Graph& field_;
    double gamma_;
    int num_orders_, size_;
    int y_, p_, h_, one_;
    bool depends_on_time_;

  private:
    void factor(Factored& matrix);
    void judge(Factored& matrix, const List<char>& is_plain);

    JacobianPlan jacobian_;
    Graph model_;
    LuPlan plan_{{{}, SquarePattern(0)}, {}, 0, {}, {}, {}};
};

/// The steps of an equation, as an equation of their own, with derivatives of so many orders.
using MakeSteps = std::function<std::shared_ptr<const FieldMaker>(int num_orders)>;
/// The equation, whose tiles bring such steps along.
[[nodiscard]] std::shared_ptr<const FieldMaker> bringing_steps(
    const std::shared_ptr<const FieldMaker>& field, const MakeSteps& make);
/// Steps that the equation keeps, found by their key, or what `make` makes.
template <class Make>
[[nodiscard]] std::shared_ptr<const FieldMaker> kept_steps(const FieldMaker& field,
                                                           const StepsKey& key, const Make& make) {
    const auto* const keeper = dynamic_cast<const KeepsSteps*>(&field);
    return keeper ? keeper->steps.find_or_make(key, make) : make();
}
/// Its program. Throws InvalidArgument where it is none.
[[nodiscard]] const Graph& program_of_steps(const FieldMaker& field);

}  // namespace eddy::inline v0::detail
