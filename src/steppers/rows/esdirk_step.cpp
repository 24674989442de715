// A step of an ESDIRK method as a graph (steppers/esdirk.hpp), with the operations and the bits of the step that is compiled
// for an equation; of norms of updates alone the last digits differ. Newton's iteration of a stage is a loop, whose state
// is (Y, θ, the norm before, updates so far, status). No derivative goes through it: increment and state of a stage have
// one of their own, which solves the stage's equation when it is differentiated (steppers/esdirk_adjoint.hpp).

#include <eddy/ad/jvp.hpp>
#include <eddy/ad/own_derivative.hpp>
#include <eddy/steppers/rows/esdirk_on_rows.hpp>
#include <eddy/trace/loops.hpp>
#include <limits>

#include "step_graph.hpp"

namespace eddy::inline v0::detail {
namespace {

class EsdirkStep : StepGraph {
  public:
    /// `counted`: the components that count in norms.
    EsdirkStep(const FieldMaker& field, const Graph& graph, const EsdirkOnRows& method,
               const NewtonOnRows& newton, int num_orders)
        : StepGraph(graph, method.num_stages, 1, method.gamma, num_orders),
          method_(method),
          newton_(newton),
          counted_(field.counted_components()),
          f_(finish_code(graph)),
          along_(finish_code(passes::simplify(
              jvp_graph(graph, {depends_on_time_, 1, graph.arguments[2].size > 0})))) {}

    Graph run() {
        begin();
        for (int i = 1; i < method_.num_stages; ++i) {
            const int base = known(i), found = iterated(i, still(base));
            const int both = with_derivative(i, base, found);
            increments_.push_back(slice_node(graph_, both, 0, size_));
            states_.push_back(slice_node(graph_, both, size_, size_));
        }
        return results();
    }

  private:
    /// What Newton's iteration leaves, beside Y.
    enum : int { rate, last, updates, status, num_told };
    enum : int { failed = -1, converged, active };
    struct Told {
        int node[num_told];
    };

    int still(int node) { return push(Op::stop_gradient, graph_[node].size, node); }
    int scaled(int size, int factor, int x) { return push(Op::mul, size, factor, x); }
    int choose(int mask, int a, int b, int size = 1) { return push(Op::select, size, mask, a, b); }
    int below(int a, int b) { return push(Op::less_equal, 1, a, b); }
    int both(int a, int b) { return push(Op::mask_and, 1, a, b); }
    int either(int a, int b) { return push(Op::mask_or, 1, a, b); }
    int negated(int mask) { return push(Op::mask_not, 1, mask); }
    int status_is(int node, int what) { return push(Op::equal, 1, node, constant(what)); }

    void begin() {
        still_y_ = still(y_);
        still_h_ = still(h_);
        still_p_ = p_ < 0 ? -1 : still(p_);
        increment_ = push(Op::mul, 1, constant(method_.gamma), h_);
        per_increment_ = push(Op::div, 1, constant(1 / method_.gamma), still_h_);
        const int rounding = graph_.push_argument(0, method_.num_stages + 1, 1);
        const int least = push(Op::mul, 1, constant(20), rounding);
        rtol_ = push(Op::max, 1, constant(newton_.share * newton_.rtol), least);
        floor_ = push(Op::div, 1, least, rtol_);
        const Linear start = linear_at(time(0), y_, p_);
        matrix_ = factored(still_entries(start), still_h_);
        states_.push_back(y_);
        increments_.push_back(scaled(size_, increment_, start.f));
        const int cannot_solve = push(Op::less, 1, matrix_.health, rounding);
        told_ = {{one_, one_, constant(0), choose(cannot_solve, constant(failed), constant(0))}};
    }
    int still_entries(const Linear& linear) {
        return linear.entries < 0 ? -1 : still(linear.entries);
    }

    /// ψ_i.
    int known(int i) {
        int sum = y_;
        for (int j = 0; j < i; ++j)
            if (method_.weight[i][j] != 0)
                sum = add_scaled(sum, method_.weight[i][j], increments_[at(j)]);
        return sum;
    }
    int guess(int i) {
        int sum = -1;
        for (int j = 0; j < i; ++j) {
            const double weight = method_.first_guess[i][j];
            if (weight == 0) continue;
            const int from = still(states_[at(j)]);
            if (sum < 0)
                sum = weight == 1 ? from : scaled(size_, constant(weight), from);
            else
                sum = add_scaled(sum, weight, from);
        }
        return sum;
    }

    // Iterations

    /// Y_i. A step whose size stays tries Newton's own iteration where the other has failed.
    int iterated(int i, int base) {
        const int start = guess(i), had_failed = status_is(told_.node[status], failed);
        told_.node[status] = choose(had_failed, constant(failed), constant(active));
        const int found = iterate(i, base, start, told_, &matrix_);
        if (method_.estimates_error) return found;
        const int stalls = both(status_is(told_.node[status], failed), negated(had_failed));
        Told anew{{one_, one_, constant(0), choose(stalls, constant(active), constant(failed))}};
        const int found_anew = iterate(i, base, start, anew, nullptr);
        const int solved = status_is(anew.node[status], converged);
        told_.node[status] = choose(solved, constant(converged), told_.node[status]);
        told_.node[updates] = push(Op::add, 1, told_.node[updates], anew.node[updates]);
        return choose(solved, found_anew, found, size_);
    }
    /// With a matrix, or a Jacobian in each turn. Where it has not converged when the turns run out it has failed.
    int iterate(int i, int base, int start, Told& told, const Factored* matrix) {
        told.node[last] = constant(-1);  // there is none
        const int init =
            concat({start, told.node[rate], told.node[last], told.node[updates], told.node[status]},
                   size_ + num_told);
        const int at_stage = still(time(i));
        const int loop = push_loop(
            graph_, DynamicTraced(graph_, init),
            {.length = matrix ? 10 : 50, .has_condition = true}, [&](Graph&, const auto& state) {
                const int y = slice_node(graph_, state.node(), 0, size_);
                Told before;
                for (int k = 0; k < num_told; ++k)
                    before.node[k] = slice_node(graph_, state.node(), size_ + k, 1);
                const int goes_on = status_is(before.node[status], active);
                return List<int>{turn(at_stage, base, y, before, matrix), goes_on};
            });
        for (int k = 0; k < num_told; ++k) told.node[k] = slice_node(graph_, loop, size_ + k, 1);
        const int has_converged = status_is(told.node[status], converged);
        told.node[status] = choose(has_converged, constant(converged), constant(failed));
        return slice_node(graph_, loop, 0, size_);
    }
    int turn(int at_stage, int base, int y, const Told& before, const Factored* matrix) {
        Linear anew;
        Factored own;
        if (matrix) {
            anew.f = embed_graph(f_, graph_, {at_stage, y, still_p_})[0];
        } else {
            anew = linear_at(at_stage, y, still_p_);
            own = factored(anew.entries, still_h_);
        }
        int right = push(Op::neg, size_, anew.f);
        right = push(Op::mul_add, size_, per_increment_, push(Op::sub, size_, y, base), right);
        const int update = solve(matrix ? *matrix : own, right);
        const int next = push(Op::mul_add, size_, one_, update, y);
        const int norm = norm_of(update, next);
        // NewtonProgress::take
        const int is_number = below(norm, constant(1e30));
        const int is_first = push(Op::less, 1, before.node[last], constant(0));
        const int ratio = push(Op::div, 1, norm, before.node[last]);
        const int theta =
            choose(is_first, before.node[rate], push(Op::max, 1, ratio, constant(1e-3)));
        const int stagnates = both(negated(is_first), below(one_, ratio));
        const int is_small = below(scaled(1, theta, norm), push(Op::sub, 1, one_, theta));
        const int has_converged =
            either(either(is_small, below(norm, floor_)), both(stagnates, below(norm, one_)));
        int diverges = negated(is_number);
        if (matrix)
            diverges = either(diverges, both(both(negated(is_first), below(constant(2), ratio)),
                                             negated(has_converged)));
        const int told = choose(diverges, constant(failed),
                                choose(has_converged, constant(converged), constant(active)));
        return concat({choose(is_number, next, y, size_), theta, norm,
                       push(Op::add, 1, before.node[updates], one_), told},
                      size_ + num_told);
    }
    int picked(int x) {
        if (static_cast<int>(counted_.size()) == size_) return x;
        List<int> parts;
        for (const int c : counted_) parts.push_back(slice_node(graph_, x, c, 1));
        return concat(parts, static_cast<int>(parts.size()));
    }
    /// In units of what may be left of the error.
    int norm_of(int update, int next) {
        const auto size = static_cast<int>(counted_.size());
        const int magnitude = push(Op::max, size, push(Op::abs, size, picked(next)),
                                   push(Op::abs, size, picked(still_y_)));
        List<int> atol;
        for (const int c : counted_) atol.push_back(constant(newton_.share * newton_.atol_of(c)));
        const int scale = push(Op::mul_add, size, magnitude, rtol_, concat(atol, size));
        constexpr double smallest = std::numeric_limits<float>::min();
        const int ratio =
            push(Op::div, size, picked(update), push(Op::max, size, scale, constant(smallest)));
        return push(Op::sqrt, 1, scaled(1, push(Op::dot, 1, ratio, ratio), constant(1. / size)));
    }

    // Derivatives

    /// (z_i, Y_i), with the derivatives of the stage's equation. Those of second order ask for what stands at a state
    /// that has one of first order.
    int with_derivative(int i, int base, int found) {
        int y = found, result = -1;
        for (int order = 0; order < num_orders_; ++order) {
            const int value = concat({push(Op::sub, size_, found, base), found}, 2 * size_);
            const Seeds seeds{seed(time(i)), seed(base), p_ < 0 ? -1 : seed(p_), seed(h_)};
            List<int> operands{value, tangent(i, base, y, seeds)};
            for (const int of : {seeds.t, seeds.base, seeds.p, seeds.h})
                if (of >= 0) operands.push_back(of);
            result = graph_.push_list({.op = Op::own, .size = 2 * size_, .index = own_pushforward},
                                      operands);
            y = slice_node(graph_, result, size_, size_);
        }
        return result;
    }
    struct Seeds {
        int t, base, p, h;
    };
    int seed(int node) { return push(Op::barrier, graph_[node].size, node); }
    /// N_i ż = −(∂f along (ṫ, ψ̇, ṗ)) − ḣ/h z/(γh), and Ẏ = ψ̇ + ż.
    int tangent(int i, int base, int y, const Seeds& seeds) {
        List<int> arguments{time(i), y, p_};
        if (depends_on_time_) arguments.push_back(seeds.t);
        arguments.push_back(seeds.base);
        if (p_ >= 0) arguments.push_back(seeds.p);
        int right = push(Op::neg, size_, embed_graph(along_, graph_, arguments)[0]);
        const int per_increment = push(Op::div, 1, constant(1 / method_.gamma), h_);
        const int rate_of_h = push(Op::mul, 1, per_increment, push(Op::div, 1, seeds.h, h_));
        right = push(Op::neg_mul_add, size_, rate_of_h, push(Op::sub, size_, y, base), right);
        const int z = solve(factored(linear_at(time(i), y, p_).entries, h_), right);
        return concat({z, push(Op::add, size_, seeds.base, z)}, 2 * size_);
    }

    Graph results() {
        List<int> results{states_.back()};
        if (method_.estimates_error) results.push_back(judging(error()));
        const int has_failed = status_is(told_.node[status], failed);
        results.push_back(still(choose(has_failed, constant(0), one_)));
        results.push_back(still(told_.node[updates]));
        results.insert(results.end(), increments_.begin(), increments_.end());
        return passes::simplify(finish(results));
    }
    int error() {
        int sum = -1;
        for (int i = 0; i < method_.num_stages; ++i) {
            if (method_.error[i] == 0) continue;
            const int z = judging(increments_[at(i)]), weight = constant(method_.error[i]);
            sum = sum < 0 ? scaled(size_, weight, z) : push(Op::mul_add, size_, weight, z, sum);
        }
        if (!method_.filters_error) return sum;
        return solve(matrix_, scaled(size_, push(Op::neg, 1, per_increment_), sum));
    }

    const EsdirkOnRows& method_;
    const NewtonOnRows& newton_;
    std::vector<int> counted_;
    Graph f_, along_;
    // Without derivatives: what iterations read.
    int still_y_ = -1, still_h_ = -1, still_p_ = -1, increment_ = -1, per_increment_ = -1;
    int rtol_ = -1, floor_ = -1;
    Factored matrix_;
    Told told_{};
    List<int> states_, increments_;  // (stage)
};

}  // namespace

std::shared_ptr<const FieldMaker> with_steps(const std::shared_ptr<const FieldMaker>& field,
                                             const EsdirkOnRows& method, const NewtonOnRows& newton,
                                             RowLevel level) {
    const Graph& graph = program_of_steps(*field);
    const FieldSizes sizes = field->sizes();
    std::vector<ResultPiece> pieces{{sizes.states, true}};
    if (method.estimates_error) pieces.push_back({sizes.states, true, true});
    pieces.insert(pieces.end(), 2, {1, false});
    pieces.insert(pieces.end(), static_cast<std::size_t>(method.num_stages), {sizes.states, true});
    std::vector<double> numbers{newton.share, newton.rtol};
    numbers.insert(numbers.end(), newton.atol.begin(), newton.atol.end());
    return bringing_steps(field, [=, &method, &graph](int num_orders) {
        return kept_steps(*field, {&method, level, num_orders, numbers}, [&] {
            return graph_field(EsdirkStep(*field, graph, method, newton, num_orders).run(), sizes,
                               level, pieces);
        });
    });
}

}  // namespace eddy::inline v0::detail
