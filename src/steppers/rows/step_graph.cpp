#include "step_graph.hpp"

#include <eddy/core/error.hpp>

namespace eddy::inline v0::detail {

StepGraph::StepGraph(const Graph& field, int num_stages, int num_further, double gamma,
                     int num_orders)
    : field_(field), gamma_(gamma), num_orders_(num_orders), size_(field.outputs[0].size) {
    graph_.arguments = field.arguments;
    graph_.arguments[0] = {num_stages + 1 + num_further, false};
    y_ = graph_.push_argument(1, 0, size_);
    const int size_of_p = field.arguments[2].size;
    p_ = size_of_p > 0 ? graph_.push_argument(2, 0, size_of_p) : -1;
    h_ = graph_.push_argument(0, num_stages, 1);
    one_ = constant(1);
    depends_on_time_ = !jacobian_pattern(field_, 0).empty();
    if (reads_argument(field_, 1)) jacobian_ = plan_jacobian(field_, 1);
    model_ = finish_code(passes::simplify(linear_model_graph(field_, jacobian_, depends_on_time_)));
    SquarePattern pattern(size_);
    for (const JacobianEntry& entry : jacobian_.entries) pattern.insert(entry.row, entry.column);
    plan_ = plan_lu(pattern);
}

int GrowingStep::constant(double value) {
    const auto [found, is_new] = constants_.try_emplace(value, -1);
    if (is_new) found->second = graph_.push_constant(value);
    return found->second;
}
StepGraph::Linear StepGraph::linear_at(int time, int y, int p) {
    const List<int> results = embed_graph(model_, graph_, {time, y, p});
    return {results[0], jacobian_.entries.empty() ? -1 : results[1],
            depends_on_time_ ? results.back() : -1};
}
StepGraph::Factored StepGraph::factored(int entries, int h) {
    Factored matrix;
    matrix.factors.assign(at(plan_.num_factors), -1);
    for (std::size_t e = 0; e < jacobian_.entries.size(); ++e)
        matrix.factors[at(plan_.at(jacobian_.entries[e].row, jacobian_.entries[e].column))] =
            slice_node(graph_, entries, static_cast<int>(e), 1);
    const int shift = push(Op::div, 1, constant(1 / gamma_), h);
    const int alone = push(Op::neg, 1, shift);
    for (int i = 0; i < size_; ++i) {
        int& entry = matrix.factors[at(plan_.at(i, i))];
        entry = entry < 0 ? alone : push(Op::neg_mul_add, 1, one_, shift, entry);
        matrix.diagonal.push_back(entry);
    }
    factor(matrix);
    return matrix;
}
void StepGraph::factor(Factored& matrix) {
    List<int>& factors = matrix.factors;
    List<char> is_plain(factors.size(), 1);
    for (const LuStep& step : plan_.factor) {
        int& to = factors[at(step.to)];
        if (step.kind == LuStep::invert) {
            to = push(Op::div, 1, one_, to);
        } else if (step.kind == LuStep::scale) {
            to = push(Op::mul, 1, to, factors[at(step.a)]);
        } else if (step.kind == LuStep::subtract) {
            to = push(Op::neg_mul_add, 1, factors[at(step.a)], factors[at(step.b)], to);
            is_plain[at(step.to)] = 0;
        } else {
            to = push(Op::mul, 1, push(Op::neg, 1, factors[at(step.a)]), factors[at(step.b)]);
        }
    }
    judge(matrix, is_plain);
}
void StepGraph::judge(Factored& matrix, const List<char>& is_plain) {
    int health = one_, smallest = one_;
    for (const int i : plan_.elimination.order) {
        const int place = plan_.at(i, i), reciprocal = matrix.factors[at(place)];
        smallest = push(Op::min, 1, smallest, push(Op::abs, 1, reciprocal));
        if (is_plain[at(place)]) continue;
        const int ratio = push(Op::mul, 1, matrix.diagonal[at(i)], reciprocal);
        health = push(Op::min, 1, health, push(Op::abs, 1, ratio));
    }
    if (may_have_infinite_slopes(field_)) {
        const int zero = constant(0);
        health = push(Op::select, 1, push(Op::less_equal, 1, smallest, zero), zero, health);
    }
    matrix.health = health;
}
int StepGraph::solve(const Factored& matrix, int right) {
    List<int> x;
    for (int c = 0; c < size_; ++c) x.push_back(slice_node(graph_, right, c, 1));
    for (const LuStep& step : plan_.solve) {
        int& to = x[at(step.to)];
        to = step.kind == LuStep::scale
                 ? push(Op::mul, 1, to, matrix.factors[at(step.a)])
                 : push(Op::neg_mul_add, 1, matrix.factors[at(step.a)], x[at(step.b)], to);
    }
    return concat(x, size_);
}
Graph StepGraph::finish(const List<int>& results) {
    int size = 0;
    for (const int result : results) size += graph_[result].size;
    graph_.push_output(results, size, false);
    return std::move(graph_);
}

namespace {

/// An equation whose tiles bring their steps along.
class FieldWithSteps final : public FieldMaker {
  public:
    FieldWithSteps(std::shared_ptr<const FieldMaker> field, std::shared_ptr<const FieldMaker> steps,
                   MakeSteps make)
        : FieldMaker(field->sizes()),
          field_(std::move(field)),
          steps_(std::move(steps)),
          make_(std::move(make)) {}

    [[nodiscard]] std::vector<int> counted_components() const override {
        return field_->counted_components();
    }
    [[nodiscard]] std::vector<int> unread_parameters() const override {
        return field_->unread_parameters();
    }
    [[nodiscard]] const Graph* graph() const override { return field_->graph(); }
    [[nodiscard]] std::shared_ptr<const FieldMaker> with_tangents(
        const std::vector<Direction>& directions) const override {
        // Tangents are pulled back as well.
        auto field = field_->with_tangents(directions);
        auto steps = make_ ? make_(2)->with_tangents(directions) : nullptr;
        if (!field || !steps) return nullptr;
        return std::make_shared<const FieldWithSteps>(std::move(field), std::move(steps), nullptr);
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
    MakeSteps make_;  // null: it has tangents
};

}  // namespace

std::shared_ptr<const FieldMaker> bringing_steps(const std::shared_ptr<const FieldMaker>& field,
                                                 const MakeSteps& make) {
    return std::make_shared<const FieldWithSteps>(field, make(1), make);
}
const Graph& program_of_steps(const FieldMaker& field) {
    const Graph* const graph = field.graph();
    require_argument(graph != nullptr,
                     "solve: the equation is no program, and this method asks for its Jacobian; "
                     "give a field of trace_field or parse_field, or take an explicit method, such "
                     "as Tsit5");
    return *graph;
}

}  // namespace eddy::inline v0::detail
