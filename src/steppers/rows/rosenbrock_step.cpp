// A step of a Rosenbrock method as a graph (steppers/rosenbrock.hpp), with the operations and the bits of the step that
// is compiled for an equation. What the programs of f and of its linear model contract is contracted in them; none of
// the sums here is one that could be contracted further.

#include <algorithm>
#include <eddy/steppers/rows/rosenbrock_on_rows.hpp>

#include "step_graph.hpp"

namespace eddy::inline v0::detail {
namespace {

class RosenbrockStep : StepGraph {
  public:
    RosenbrockStep(const Graph& field, const RosenbrockOnRows& method, int num_orders)
        : StepGraph(field, method.num_stages, 0, method.gamma, num_orders), method_(method) {}

    Graph run() {
        const Linear start = linear_at(time(0), y_, p_);
        slopes_.push_back(start.f);
        slope_ = start.slope;
        matrix_ = factored(start.entries, h_);
        per_step_ = push(Op::div, 1, one_, h_);
        const Graph f = finish_code(field_);
        for (int i = 0; i < method_.num_stages; ++i) {
            states_.push_back(i == 0 ? y_ : state(i));
            const int point = method_.point[i];
            if (i > 0)
                slopes_.push_back(point < i
                                      ? slopes_[at(point)]
                                      : embed_graph(f, graph_, {time(i), states_[at(i)], p_})[0]);
            solved_.push_back(solve(matrix_, right_side(i)));
        }
        return results();
    }

  private:
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
    Graph results() {
        List<int> results{state(method_.stride)};
        if (method_.estimates_error) results.push_back(judging(error()));
        results.push_back(push(Op::stop_gradient, 1, matrix_.health));
        results.insert(results.end(), solved_.begin(), solved_.begin() + method_.num_needed);
        return finish(results);
    }

    const RosenbrockOnRows& method_;
    int per_step_ = -1, slope_ = -1;
    Factored matrix_;
    List<int> states_, slopes_, solved_;  // (stage): Y, f, U
};

}  // namespace

std::shared_ptr<const FieldMaker> with_steps(const std::shared_ptr<const FieldMaker>& field,
                                             const RosenbrockOnRows& method, RowLevel level) {
    const Graph& graph = program_of_steps(*field);
    const FieldSizes sizes = field->sizes();
    // y⁺, the error, whether the step has failed, and each U_i.
    std::vector<ResultPiece> pieces{{sizes.states, true}};
    if (method.estimates_error) pieces.push_back({sizes.states, true, true});
    pieces.push_back({1, false});
    pieces.insert(pieces.end(), static_cast<std::size_t>(method.num_needed), {sizes.states, true});
    return bringing_steps(field, [=, &method, &graph](int num_orders) {
        return kept_steps(*field, {&method, level, num_orders}, [&] {
            return graph_field(RosenbrockStep(graph, method, num_orders).run(), sizes, level,
                               pieces);
        });
    });
}

}  // namespace eddy::inline v0::detail
