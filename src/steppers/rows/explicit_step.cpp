#include "explicit_step.hpp"

#include <algorithm>
#include <eddy/trace/program.hpp>

#include "step_graph.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Sums begin with what they add to and take stages in the order of row_sums_text.hpp. None of them could be contracted
/// further: sums without weights have the weight one.
class ExplicitStep : GrowingStep {
  public:
    ExplicitStep(const Graph& field, const MethodOnRows& method)
        : method_(method), size_(field.outputs[0].size), size_p_(field.arguments[2].size) {}

    /// (times of stages, y, p, h) → (y⁺, errors, each k_i, states and residuals of the first `num_kept` stages). Where none
    /// are kept, k_0 is the last argument, and no result. From k_`first` on they are results.
    Graph forward(const Graph& f, int num_kept, int num_residuals, int first) {
        begin(size_);
        const int y = graph_.push_argument(1, 0, size_);
        if (num_kept == 0) k_.push_back(take(size_));
        const int num_known = 1 - std::min(num_kept, 1);
        List<int> kept;
        int next = -1;
        for (int i = num_known; i < method_.num_stages; ++i) {
            const int now = sum(y, method_.a + i * method_.num_dense, i);
            if (method_.carries_last) next = now;
            const List<int> results = embed_graph(f, graph_, {time(i), now, p_});
            k_.push_back(results[0]);
            if (i >= num_kept) continue;
            kept.push_back(now);
            if (num_residuals > 0) kept.push_back(results[1]);
        }
        if (!method_.carries_last) next = sum(y, method_.b, method_.num_needed);
        write({next}, size_);
        List<int> errors;
        if (method_.estimates_error) errors.push_back(error(method_.b_error));
        if (method_.b_coarse) errors.push_back(error(method_.b_coarse));
        write(errors, size_ * static_cast<int>(errors.size()));
        for (int i = std::max(first, num_known); i < method_.num_stages; ++i)
            write({k_[at(i)]}, size_);
        if (num_kept > 0) write(kept, num_kept * (size_ + num_residuals));
        return finish();
    }
    /// (times of stages, what was kept of those that y⁺ needs, p, h, cotangent of y⁺) → (that of y, that of p).
    Graph back(const Graph& pull, int num_residuals) {
        const int count = method_.num_needed, size_of_stage = size_ + num_residuals;
        begin(count * size_of_stage);
        List<int> states, residuals;
        for (int i = 0; i < count; ++i) {
            states.push_back(graph_.push_argument(1, i * size_of_stage, size_));
            residuals.push_back(num_residuals > 0 ? graph_.push_argument(
                                                        1, i * size_of_stage + size_, num_residuals)
                                                  : -1);
        }
        return back(pull, states, residuals);
    }
    /// The same from y in the place of what was kept, where that is states alone: they are computed again.
    Graph back_from_start(const Graph& f, const Graph& pull) {
        begin(size_);
        const int y = graph_.push_argument(1, 0, size_);
        List<int> states;
        for (int i = 0; i < method_.num_needed; ++i) {
            states.push_back(sum(y, method_.a + i * method_.num_dense, i));
            k_.push_back(embed_graph(f, graph_, {time(i), states.back(), p_})[0]);
        }
        return back(pull, states, List<int>(states.size(), -1));
    }

  private:
    Graph back(const Graph& pull, const List<int>& states, const List<int>& residuals) {
        const int count = method_.num_needed, of_next = take(size_);
        List<int> of_states(at(count), -1);
        int of_p = -1;
        for (int i = count - 1; i >= 0; --i) {
            int of_k = add_scaled(-1, method_.b[i], of_next);
            for (int j = count - 1; j > i; --j)
                of_k = add_scaled(of_k, method_.a_of(j, i), of_states[at(j)]);
            if (of_k < 0) of_k = graph_.push_zeros(size_);
            const List<int> results =
                embed_graph(pull, graph_, {time(i), states[at(i)], p_, residuals[at(i)], of_k});
            of_states[at(i)] = results[0];
            if (size_p_ > 0) of_p = of_p < 0 ? results[1] : add(of_p, results[1]);
        }
        int of_y = of_next;
        for (int i = count - 1; i >= 0; --i) of_y = add(of_y, of_states[at(i)]);
        write({of_y}, size_);
        if (size_p_ > 0) write({of_p}, size_p_);
        return finish();
    }
    /// A further argument.
    int take(int size) {
        graph_.arguments.push_back({size, false});
        return graph_.push_argument(static_cast<int>(graph_.arguments.size()) - 1, 0, size);
    }
    void begin(int size_y) {
        graph_.arguments = {{method_.num_stages, false}, {size_y, false}, {size_p_, false}};
        p_ = size_p_ > 0 ? graph_.push_argument(2, 0, size_p_) : -1;
        h_ = take(1);
    }
    int add(int sum, int x) { return push(Op::mul_add, graph_[x].size, constant(1), x, sum); }
    /// sum + weight x; weight x where there is no sum yet.
    int add_product(int sum, int weight, int x) {
        return sum < 0 ? push(Op::mul, size_, weight, x) : push(Op::mul_add, size_, weight, x, sum);
    }
    /// sum + (weight h) x.
    int add_scaled(int sum, double weight, int x) {
        return weight == 0 ? sum : add_product(sum, push(Op::mul, 1, constant(weight), h_), x);
    }
    int sum(int y, const double* weights, int count) {
        for (int j = 0; j < count; ++j) y = add_scaled(y, weights[j], k_[at(j)]);
        return y;
    }
    int error(const double* weights) {
        int sum = -1;
        for (int j = 0; j < method_.num_stages; ++j)
            if (weights[j] != 0) sum = add_product(sum, constant(weights[j]), k_[at(j)]);
        return sum;
    }
    void write(const List<int>& parts, int size) { graph_.push_output(parts, size, false); }
    Graph finish() { return finish_code(passes::simplify(graph_)); }

    const MethodOnRows& method_;
    int size_, size_p_;
    int p_ = -1, h_ = -1;
    List<int> k_;
};

/// Up to here all attempts that were measured gained: 2 to 8 states by 4 to 13 stages, of one trajectory and of 512, to 0.7
/// to 0.98 of the time.
constexpr int most_of_attempt = 300;
/// Longer ones of solves gain at least up to here on tiles whose rows stay in the first-level cache: by vectors of 64 bytes
/// 20 and 100 states, to 0.6 and 0.7 of the time, by half of that 20 and 40, to 0.6 and 0.8, and 100 nothing.
constexpr int most_of_long = 8000, most_of_long_by_half = 4000;
/// Pullbacks of several lanes gain at least up to here: gradients of 20 and 100 states.
constexpr int most_of_pull = 8000;
/// To make a long one takes as long as some of these, attempts of trajectories, save by it.
constexpr std::int64_t attempts_before_long = 1 << 15;

/// Has an attempt so few operations?
bool is_short(const Graph& f, const MethodOnRows& method, int most_operations) {
    if (std::ssize(f.nodes) > most_operations || !f.loops.empty()) return false;
    std::int64_t of_stage = std::int64_t{f.outputs[0].size} * method.num_stages / 2;
    for (const Node& node : f.nodes) {
        if (node.op == Op::dense || node.op == Op::dense_transposed) return false;
        of_stage += node.size;
    }
    return of_stage * method.num_stages <= most_operations;
}

}  // namespace

template <class Real>
ProgramCode ExplicitStepOnTile<Real>::list(Kind kind) const {
    ExplicitStep step(field_.graph(), method_);
    RowRoles roles;
    if (field_.shares_parameters()) roles.shared = {0, 0, 1};
    const int last = method_.num_stages - (method_.carries_last ? 1 : 0);
    if (kind == plain || kind == ends_alone) {
        const int first = kind == plain ? 0 : last;
        return row_code(step.forward(finish_code(field_.graph()), 0, 0, first), roles);
    }
    const SplitGraph split = field_.split();
    if (kind == keeps_needed || kind == keeps_alone || kind == keeps_all) {
        const Graph f = split.residual_size > 0 ? split.forward : finish_code(field_.graph());
        const int num_kept = kind == keeps_all ? method_.num_stages : method_.num_needed;
        const int first = kind == keeps_alone ? last : 0;
        return row_code(step.forward(f, num_kept, split.residual_size, first), roles);
    }
    roles.adds = {0, 1};
    if (kind == back) return row_code(step.back(split.backward, split.residual_size), roles);
    return row_code(step.back_from_start(finish_code(field_.graph()), split.backward), roles);
}
template <class Real>
void ExplicitStepOnTile<Real>::run(Kind kind, const Real* const* blocks) {
    std::optional<RowProgramOf<Real>>& program = programs_[kind];
    if (!program)
        program.emplace(field_.list(&method_, kind, [&] { return list(kind); }), width_,
                        field_.level());
    program->run(blocks);
}
template <class Real>
void ExplicitStepOnTile<Real>::attempt(const Reads& from, Real* next, Real* errors, Real* const* k,
                                       Real* kept, int num_kept, bool leaves_stages) {
    const Real* blocks[7 + MethodOnRows::most_stages] = {from.times, from.y, from.p, from.h};
    const Real** to = blocks + 4;
    if (!kept) *to++ = k[0];
    *to++ = next;
    *to++ = errors;
    const int first =
        leaves_stages ? (kept ? 0 : 1) : method_.num_stages - (method_.carries_last ? 1 : 0);
    to = std::copy_n(k + first, method_.num_stages - first, to);
    *to = kept;
    if (leaves_stages)
        run(!kept ? plain : num_kept == method_.num_stages ? keeps_all : keeps_needed, blocks);
    else
        run(kept ? keeps_alone : ends_alone, blocks);
}
template <class Real>
void ExplicitStepOnTile<Real>::pull(const Reads& from, bool is_kept, const Real* next_cotangent,
                                    Real* cotangent, Real* of_p) {
    const Real* const blocks[] = {from.times,     from.y,    from.p, from.h,
                                  next_cotangent, cotangent, of_p};
    run(is_kept ? back : back_from_start, blocks);
}
template <class Real>
std::int64_t ExplicitStepOnTile<Real>::num_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& program : programs_) bytes += program ? program->num_bytes() : 0;
    return bytes;
}

namespace {

/// Those of a tile, which has them as its guest.
template <class Real>
ExplicitStepOnTile<Real>* steps_of(ProgramTile& of, const MethodOnRows& method, int width) {
    auto* there = static_cast<ExplicitStepOnTile<Real>*>(of.guest.get());
    if (there && &there->method() == &method) return there;
    auto made = std::make_unique<ExplicitStepOnTile<Real>>(*of.program, method, width);
    there = made.get();
    of.guest = std::move(made);
    return there;
}
/// Of a tile whose attempts may be programs.
template <class Real>
ProgramTile* program_tile(FieldOnTileOf<Real>& tile, const MethodOnRows& method) {
    const bool may_be = !method.is_implicit() && has_machine_code();
    auto* const of = may_be ? dynamic_cast<ProgramTile*>(&tile) : nullptr;
    // Inputs beside shared parameters are an argument of their own.
    return of && of->program->graph().arguments.size() == 3 ? of : nullptr;
}
template <class Real>
ExplicitStepOnTile<Real>* step_of(FieldOnTileOf<Real>& tile, const MethodOnRows& method,
                                  bool first_has_short, bool first_has_long, int most_operations) {
    ProgramTile* const of = program_tile(tile, method);
    if (!of) return nullptr;
    const bool may_be_short = !of->is_first || first_has_short,
               may_be_long = !of->is_first || first_has_long;
    if (!may_be_long) most_operations = most_of_attempt;
    if (!may_be_short || !is_short(of->program->graph(), method, most_operations)) return nullptr;
    return steps_of<Real>(*of, method, tile.width());
}

}  // namespace

bool gains_by_long_step(const Graph* field, const MethodOnRows& method) {
    return field && !method.is_implicit() && has_machine_code() &&
           !is_short(*field, method, most_of_attempt) &&
           is_short(*field, method, has_wide_vectors() ? most_of_long : most_of_long_by_half);
}
template <class Real>
std::atomic<std::int64_t>* attempts_before_step(FieldOnTileOf<Real>& tile,
                                                const MethodOnRows& method) {
    ProgramTile* const of = program_tile(tile, method);
    const bool fills_vectors = static_cast<std::size_t>(tile.width()) * sizeof(Real) >= 64;
    if (!of || !fills_vectors || !gains_by_long_step(&of->program->graph(), method)) return nullptr;
    return &of->program->attempts_without();
}
template <class Real>
ExplicitStepOnTile<Real>* long_step_on(FieldOnTileOf<Real>& tile, const MethodOnRows& method,
                                       const std::atomic<std::int64_t>& attempts) {
    if (attempts.load(std::memory_order_relaxed) < attempts_before_long) return nullptr;
    return steps_of<Real>(*program_tile(tile, method), method, tile.width());
}
template <class Real>
ExplicitStepOnTile<Real>* step_on(FieldOnTileOf<Real>& tile, const MethodOnRows& method,
                                  bool at_once) {
    return step_of(tile, method, at_once, false, most_of_attempt);
}
template <class Real>
ExplicitStepOnTile<Real>* step_back_on(FieldOnTileOf<Real>& tile, const MethodOnRows& method,
                                       bool has_worked) {
    const bool is_wide = tile.width() > 1;
    return step_of(tile, method, is_wide || has_worked, has_worked,
                   is_wide ? most_of_pull : most_of_attempt);
}

template class ExplicitStepOnTile<double>;
template class ExplicitStepOnTile<float>;
template std::atomic<std::int64_t>* attempts_before_step(FieldOnTile&, const MethodOnRows&);
template std::atomic<std::int64_t>* attempts_before_step(FieldOnTileOf<float>&,
                                                         const MethodOnRows&);
template ExplicitStepOnTile<double>* long_step_on(FieldOnTile&, const MethodOnRows&,
                                                  const std::atomic<std::int64_t>&);
template ExplicitStepOnTile<float>* long_step_on(FieldOnTileOf<float>&, const MethodOnRows&,
                                                 const std::atomic<std::int64_t>&);
template ExplicitStepOnTile<double>* step_on(FieldOnTile&, const MethodOnRows&, bool);
template ExplicitStepOnTile<float>* step_on(FieldOnTileOf<float>&, const MethodOnRows&, bool);
template ExplicitStepOnTile<double>* step_back_on(FieldOnTile&, const MethodOnRows&, bool);
template ExplicitStepOnTile<float>* step_back_on(FieldOnTileOf<float>&, const MethodOnRows&, bool);

}  // namespace eddy::inline v0::detail
