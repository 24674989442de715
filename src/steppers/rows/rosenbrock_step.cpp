// A step of a Rosenbrock method as a graph (steppers/rosenbrock.hpp), with the operations and the bits of the step that
// is compiled for an equation. What the programs of f and of its linear model contract is contracted in them; none of
// the sums here is one that could be contracted further.

#include <algorithm>
#include <eddy/ad/linear_model.hpp>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/core/error.hpp>
#include <eddy/linalg/lu_plan.hpp>
#include <eddy/steppers/rows/rosenbrock_on_rows.hpp>
#include <eddy/trace/embed.hpp>
#include <map>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

class StepGraph {
  public:
    StepGraph(const Graph& field, const RosenbrockOnRows& method)
        : field_(field), method_(method), size_(field.outputs[0].size) {
        graph_.arguments = field.arguments;
        graph_.arguments[0] = {method.num_stages + 1, false};
        y_ = graph_.push_argument(1, 0, size_);
        const int size_of_p = field.arguments[2].size;
        p_ = size_of_p > 0 ? graph_.push_argument(2, 0, size_of_p) : -1;
        h_ = graph_.push_argument(0, method.num_stages, 1);
        one_ = constant(1);
    }

    Graph run() {
        begin();
        per_step_ = push(Op::div, 1, one_, h_);
        const Graph f = finish_code(field_);
        for (int i = 0; i < method_.num_stages; ++i) {
            states_.push_back(i == 0 ? y_ : state(i));
            const int point = method_.point[i];
            if (i > 0)
                slopes_.push_back(point < i
                                      ? slopes_[at(point)]
                                      : embed_graph(f, graph_, {time(i), states_[at(i)], p_})[0]);
            solved_.push_back(solve(right_side(i)));
        }
        return finish();
    }

  private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    template <class... Operands>
    int push(Op op, int size, Operands... operands) {
        return graph_.push({.op = op, .size = size}, operands...);
    }
    int constant(double value) {
        const auto [found, is_new] = constants_.try_emplace(value, -1);
        if (is_new) found->second = graph_.push_constant(value);
        return found->second;
    }
    int time(int stage) { return graph_.push_argument(0, stage, 1); }
    /// sum + weight x.
    int add_scaled(int sum, double weight, int x) {
        return push(Op::mul_add, size_, constant(weight), x, sum);
    }

    /// f, the matrix J − I/(γh), its factors, and ∂f/∂t.
    void begin() {
        const bool depends_on_time = !jacobian_pattern(field_, 0).empty();
        JacobianPlan plan;
        if (reads_argument(field_, 1)) plan = plan_jacobian(field_, 1);
        const Graph model =
            finish_code(passes::simplify(linear_model_graph(field_, plan, depends_on_time)));
        const List<int> results = embed_graph(model, graph_, {time(0), y_, p_});
        slopes_.push_back(results[0]);
        if (depends_on_time) slope_ = results.back();
        SquarePattern pattern(size_);
        for (const JacobianEntry& entry : plan.entries) pattern.insert(entry.row, entry.column);
        plan_ = plan_lu(pattern);
        factors_.assign(at(plan_.num_factors), -1);
        for (std::size_t e = 0; e < plan.entries.size(); ++e)
            factors_[at(plan_.at(plan.entries[e].row, plan.entries[e].column))] =
                slice_node(graph_, results[1], static_cast<int>(e), 1);
        shift_diagonal();
        factor();
    }
    void shift_diagonal() {
        const int shift = push(Op::div, 1, constant(1 / method_.gamma), h_);
        const int alone = push(Op::neg, 1, shift);
        for (int i = 0; i < size_; ++i) {
            int& entry = factors_[at(plan_.at(i, i))];
            entry = entry < 0 ? alone : push(Op::neg_mul_add, 1, one_, shift, entry);
            diagonal_.push_back(entry);
        }
    }
    void factor() {
        List<char> is_plain(factors_.size(), 1);
        for (const LuStep& step : plan_.factor) {
            int& to = factors_[at(step.to)];
            if (step.kind == LuStep::invert) {
                to = push(Op::div, 1, one_, to);
            } else if (step.kind == LuStep::scale) {
                to = push(Op::mul, 1, to, factors_[at(step.a)]);
            } else if (step.kind == LuStep::subtract) {
                to = push(Op::neg_mul_add, 1, factors_[at(step.a)], factors_[at(step.b)], to);
                is_plain[at(step.to)] = 0;
            } else {
                to = push(Op::mul, 1, push(Op::neg, 1, factors_[at(step.a)]), factors_[at(step.b)]);
            }
        }
        judge_factors(is_plain);
    }
    /// The smallest |diagonal entry / pivot| (linalg/sparse_lu.hpp); zero where derivatives are infinite.
    void judge_factors(const List<char>& is_plain) {
        health_ = one_;
        int smallest = one_;
        for (const int i : plan_.elimination.order) {
            const int place = plan_.at(i, i), reciprocal = factors_[at(place)];
            smallest = push(Op::min, 1, smallest, push(Op::abs, 1, reciprocal));
            if (is_plain[at(place)]) continue;
            const int ratio = push(Op::mul, 1, diagonal_[at(i)], reciprocal);
            health_ = push(Op::min, 1, health_, push(Op::abs, 1, ratio));
        }
        if (!may_have_infinite_slopes(field_)) return;
        const int zero = constant(0);
        health_ = push(Op::select, 1, push(Op::less_equal, 1, smallest, zero), zero, health_);
    }

    /// Y_i; y⁺ for the stage behind the last of the method.
    int state(int i) {
        if (method_.extends[i])
            return push(Op::mul_add, size_, one_, solved_[at(i - 1)], states_[at(i - 1)]);
        int sum = y_;
        for (int j = 0; j < std::min(i, method_.num_stages); ++j)
            if (method_.a_of(i, j) != 0) sum = add_scaled(sum, method_.a_of(i, j), solved_[at(j)]);
        return sum;
    }
    int right_side(int i) {
        int right = push(Op::neg, size_, slopes_[at(i)]);
        const int first = method_.first_coupled[i];
        if (first < i) {
            const double* const coupling = method_.coupling + i * method_.stride;
            int sum = push(Op::mul, size_, constant(coupling[first]), solved_[at(first)]);
            for (int j = first + 1; j < i; ++j)
                if (coupling[j] != 0) sum = add_scaled(sum, coupling[j], solved_[at(j)]);
            right = push(Op::neg_mul_add, size_, per_step_, sum, right);
        }
        if (slope_ >= 0 && method_.d[i] != 0) {
            const int weight = push(Op::mul, 1, constant(-method_.d[i]), h_);
            right = push(Op::mul_add, size_, weight, slope_, right);
        }
        return right;
    }
    /// U with W U = right.
    int solve(int right) {
        List<int> x;
        for (int c = 0; c < size_; ++c) x.push_back(slice_node(graph_, right, c, 1));
        for (const LuStep& step : plan_.solve) {
            int& to = x[at(step.to)];
            to = step.kind == LuStep::scale
                     ? push(Op::mul, 1, to, factors_[at(step.a)])
                     : push(Op::neg_mul_add, 1, factors_[at(step.a)], x[at(step.b)], to);
        }
        return graph_.push_list({.op = Op::concat, .size = size_}, x);
    }
    int error() {
        int sum = -1;
        for (int i = 0; i < method_.num_stages; ++i) {
            const double e = method_.m_error[i];
            if (e == 0) continue;
            if (sum < 0)
                sum = e == 1 ? solved_[at(i)] : push(Op::mul, size_, constant(e), solved_[at(i)]);
            else
                sum = add_scaled(sum, e, solved_[at(i)]);
        }
        return sum;
    }
    Graph finish() {
        List<int> results{state(method_.stride)};
        int size = size_ + 1;
        // What only judges the step has no derivative.
        if (method_.estimates_error) {
            results.push_back(push(Op::stop_gradient, size_, error()));
            size += size_;
        }
        results.push_back(push(Op::stop_gradient, 1, health_));
        for (int i = 0; i < method_.num_needed; ++i, size += size_)
            results.push_back(solved_[at(i)]);
        graph_.push_output(results, size, false);
        return std::move(graph_);
    }

    const Graph& field_;
    const RosenbrockOnRows& method_;
    int size_;
    Graph graph_;
    std::map<double, int> constants_;
    int y_, p_, h_, one_, per_step_ = -1, slope_ = -1, health_ = -1;
    LuPlan plan_{{{}, SquarePattern(0)}, {}, 0, {}, {}, {}};
    List<int> factors_, diagonal_;        // (factor), (component)
    List<int> states_, slopes_, solved_;  // (stage): Y, f, U
};

/// An equation whose tiles bring their steps along.
class FieldWithSteps final : public FieldMaker {
  public:
    FieldWithSteps(std::shared_ptr<const FieldMaker> field, std::shared_ptr<const FieldMaker> steps)
        : FieldMaker(field->sizes()), field_(std::move(field)), steps_(std::move(steps)) {}

    [[nodiscard]] std::vector<int> counted_components() const override {
        return field_->counted_components();
    }
    [[nodiscard]] std::vector<int> unread_parameters() const override {
        return field_->unread_parameters();
    }
    [[nodiscard]] const Graph* graph() const override { return field_->graph(); }
    [[nodiscard]] std::shared_ptr<const FieldMaker> with_tangents(
        const std::vector<Direction>& directions) const override {
        auto field = field_->with_tangents(directions), steps = steps_->with_tangents(directions);
        if (!field || !steps) return nullptr;
        return std::make_shared<const FieldWithSteps>(std::move(field), std::move(steps));
    }
    [[nodiscard]] std::unique_ptr<FieldOnTile> on_tile(int width) const override {
        return both(field_->on_tile(width), steps_->on_tile(width));
    }
    [[nodiscard]] std::unique_ptr<FieldOnTile> on_shared_tile(int width) const override {
        return both(field_->on_shared_tile(width), steps_->on_shared_tile(width));
    }
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<float>> on_float_tile(int width) const override {
        return both(field_->on_float_tile(width), steps_->on_float_tile(width));
    }
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<float>> on_shared_float_tile(
        int width) const override {
        return both(field_->on_shared_float_tile(width), steps_->on_shared_float_tile(width));
    }

  private:
    template <class Real>
    static std::unique_ptr<FieldOnTileOf<Real>> both(std::unique_ptr<FieldOnTileOf<Real>> field,
                                                     std::unique_ptr<FieldOnTileOf<Real>> steps) {
        if (!field || !steps) return nullptr;
        field->bring(std::move(steps));
        return field;
    }

    std::shared_ptr<const FieldMaker> field_, steps_;
};

}  // namespace

Graph rosenbrock_step(const Graph& field, const RosenbrockOnRows& method) {
    return StepGraph(field, method).run();
}
std::shared_ptr<const FieldMaker> with_steps(const std::shared_ptr<const FieldMaker>& field,
                                             const RosenbrockOnRows& method, RowLevel level) {
    const Graph* const graph = field->graph();
    require_argument(graph != nullptr,
                     "solve: the equation is no program, and this method asks for its Jacobian; "
                     "give a field of trace_field or parse_field, or take an explicit method, such "
                     "as Tsit5");
    const FieldSizes& sizes = field->sizes();
    // y⁺, the error, whether the step has failed, and each U_i.
    std::vector<ResultPiece> pieces{{sizes.states, true}};
    if (method.estimates_error) pieces.push_back({sizes.states, false});
    pieces.push_back({1, false});
    pieces.insert(pieces.end(), static_cast<std::size_t>(method.num_needed), {sizes.states, true});
    return std::make_shared<const FieldWithSteps>(
        field, graph_field(rosenbrock_step(*graph, method), sizes, level, std::move(pieces)));
}

}  // namespace eddy::inline v0::detail
