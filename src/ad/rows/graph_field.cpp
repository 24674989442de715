// The way from a graph to the lists that a tile walks: f alone, and both halves of its derivative.

#include <algorithm>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <eddy/trace/zero_components.hpp>
#include <mutex>
#include <optional>
#include "carry_tangents.hpp"
#include "equation_program.hpp"
#include "latest_fields.hpp"
#include "same_program.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Sums and products are cheaper to compute again than to write to memory and read.
[[nodiscard]] Saving keep_what_is_dear(const Candidate& value) {
    switch (value.op) {
        case Op::add:
        case Op::sub:
        case Op::mul:
        case Op::neg:
        case Op::mul_add:
        case Op::mul_sub:
        case Op::neg_mul_add:
        case Op::abs:
        case Op::min:
        case Op::max:
        case Op::sign:
        case Op::floor:
        case Op::relu:
        case Op::select:
        case Op::slice:
        case Op::concat:
        case Op::broadcast:
        case Op::outer: return Saving::recompute;
        default: return Saving::save;
    }
}

/// Is there a loop that is NaN where it runs out?
[[nodiscard]] bool has_limited_loops(const Graph& graph) {
    return std::any_of(graph.loops.begin(), graph.loops.end(),
                       [](const Loop& loop) { return loop.fails_when_out; });
}

/// The lists of an equation, shared by all tiles. Each is made once, by whoever asks first.
class FieldCode final : public EquationProgram {
  public:
    struct Halves {
        Code forward, pull;
        int num_residuals;
    };

    /// `shares`: are the numbers of p those of all lanes?
    FieldCode(const Graph& graph, RowLevel level, bool shares, bool pulls_inputs = false)
        : graph_(graph), level_(level), shares_(shares), pulls_inputs_(pulls_inputs) {}

    [[nodiscard]] RowLevel level() const override { return level_; }
    [[nodiscard]] bool shares_parameters() const override { return shares_; }
    /// Are inputs an argument behind p, to which is pulled back, too?
    [[nodiscard]] bool pulls_inputs() const { return pulls_inputs_; }
    [[nodiscard]] const Graph& graph() const override { return graph_; }
    [[nodiscard]] const List<Argument>& arguments() const { return graph_.arguments; }
    [[nodiscard]] Code f() const {
        std::call_once(f_is_made_, [&] { f_ = code(finish_code(graph_), {}); });
        return f_;
    }
    [[nodiscard]] const Halves& halves() const {
        std::call_once(halves_are_made_, [&] {
            const SplitGraph split = this->split();
            const bool keeps = split.residual_size > 0;
            halves_ = {keeps ? code(split.forward, {}) : f(), code(split.backward, {0, 1}),
                       split.residual_size};
        });
        return halves_;
    }
    [[nodiscard]] SplitGraph split() const override {
        List<char> wants(graph_.arguments.size(), 0);
        wants[1] = wants[2] = 1;
        if (pulls_inputs_) wants[3] = 1;
        return split_graph(graph_, wants, keep_what_is_dear);
    }
    /// The same, whose loops give their last state where they run out. Null where none can.
    [[nodiscard]] std::shared_ptr<const FieldCode> with_last_states() const {
        std::call_once(last_states_are_made_, [&] {
            if (!has_limited_loops(graph_)) return;
            Graph graph = graph_;
            for (Loop& loop : graph.loops) loop.fails_when_out = false;
            last_states_ = std::make_shared<const FieldCode>(graph, level_, shares_, pulls_inputs_);
        });
        return last_states_;
    }
    /// (t, y, p, c) → the cotangent of t.
    [[nodiscard]] Code time_pull() const {
        std::call_once(time_pull_is_made_, [&] {
            List<char> wants(graph_.arguments.size(), 0);
            wants[0] = 1;
            time_pull_ = code(finish_code(passes::simplify(vjp_graph(graph_, wants))), {});
        });
        return time_pull_;
    }

  private:
    /// `adds`: results that are added to what is there; over all lanes, where these share parameters.
    [[nodiscard]] Code code(const Graph& graph, const std::vector<char>& adds) const {
        RowRoles roles;
        (shares_ ? roles.summed : roles.adds) = adds;
        if (pulls_inputs_ && !adds.empty()) roles.adds = {0, 0, 1};
        if (shares_) roles.shared = {0, 0, 1};
        return std::make_shared<const ProgramCode>(row_code(graph, roles));
    }

    Graph graph_;
    RowLevel level_;
    bool shares_, pulls_inputs_;
    mutable std::once_flag f_is_made_, halves_are_made_, time_pull_is_made_, last_states_are_made_;
    mutable Code f_, time_pull_;
    mutable std::shared_ptr<const FieldCode> last_states_;
    mutable Halves halves_{};
};

template <class Real>
class GraphOnTile final : public FieldOnTileOf<Real>, public ProgramTile {
    using FieldOnTileOf<Real>::width;

  public:
    GraphOnTile(std::shared_ptr<const FieldCode> code, const FieldSizes& sizes, int width)
        : FieldOnTileOf<Real>(sizes, width), ProgramTile(*code), code_(std::move(code)) {}

    [[nodiscard]] int num_residuals() const override { return code_->halves().num_residuals; }

    void f(const Real* t, const Real* y, const Real* p, Real* dy) override {
        if (!f_) f_.emplace(code_->f(), width(), code_->level());
        run(*f_, t, y, p, {dy});
    }
    void forward(const Real* t, const Real* y, const Real* p, Real* dy, Real* kept) override {
        if (kept_rows_ < 0) kept_rows_ = num_residuals();
        if (kept_rows_ == 0) return f(t, y, p, dy);
        if (!forward_) forward_.emplace(code_->halves().forward, width(), code_->level());
        run(*forward_, t, y, p, {dy, kept});
    }
    void pull(const Real* t, const Real* y, const Real* p, const Real* kept, const Real* c,
              Real* ybar, Real* pbar) override {
        if (!pull_) pull_.emplace(code_->halves().pull, width(), code_->level());
        if (code_->pulls_inputs())
            run(*pull_, t, y, p, {kept, c, ybar, pbar, pbar + size_of_p()});
        else
            run(*pull_, t, y, p, {kept, c, ybar, pbar});
        ++sums_.evaluation;
    }
    [[nodiscard]] bool pulls_time() const override { return true; }
    void pull_time(const Real* t, const Real* y, const Real* p, const Real* c,
                   Real* tbar) override {
        if (!pull_time_) pull_time_.emplace(code_->time_pull(), width(), code_->level());
        run(*pull_time_, t, y, p, {c, tbar});
    }
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<Real>> with_last_states() const override {
        std::shared_ptr<const FieldCode> code = code_->with_last_states();
        if (!code) return nullptr;
        return std::make_unique<GraphOnTile>(std::move(code), this->sizes(), 1);
    }
    [[nodiscard]] std::int64_t num_bytes() const override {
        std::int64_t bytes = guest ? guest->num_bytes() : 0;
        for (const auto* program : {&f_, &forward_, &pull_, &pull_time_})
            bytes += *program ? (*program)->num_bytes() : 0;
        return bytes;
    }
    void sum_over(const int* trajectories, int count, int num_pulls) override {
        sums_ = {trajectories, count, 0, num_pulls};
    }

  private:
    /// The numbers of p in its block.
    [[nodiscard]] std::ptrdiff_t size_of_p() const {
        const std::ptrdiff_t size = code_->arguments()[2].size;
        return code_->shares_parameters() ? (size + 7) / 8 * 8 : size * width();
    }
    /// Arguments behind p lie behind it, too.
    void run(RowProgramOf<Real>& program, const Real* t, const Real* y, const Real* p,
             std::initializer_list<const Real*> others) {
        const Real* blocks[10] = {t, y};
        int count = 2;
        for (std::size_t k = 2; k < code_->arguments().size(); ++k) {
            blocks[count++] = p;
            p += k == 2 ? size_of_p() : std::ptrdiff_t{code_->arguments()[k].size} * width();
        }
        for (const Real* block : others) blocks[count++] = block;
        program.run(blocks, sums_);
    }

    std::shared_ptr<const FieldCode> code_;
    detail::SummedLanes sums_;
    int kept_rows_ = -1;  // of residuals; −1: nobody has asked yet
    std::optional<RowProgramOf<Real>> f_, forward_, pull_, pull_time_;
};

/// The components of y in the first result that are not zero whatever the arguments.
std::vector<int> components_that_change(const Graph& graph, int num_states) {
    const ZeroComponents zeros(graph);
    std::vector<int> changing;
    int component = 0;
    for (int k = 0; k < graph.outputs[0].count; ++k) {
        const int node = graph.operands[static_cast<std::size_t>(graph.outputs[0].first + k)];
        for (int c = 0; c < graph.nodes[static_cast<std::size_t>(node)].size; ++c, ++component)
            if (component < num_states && !zeros.is_zero(node, c)) changing.push_back(component);
    }
    return changing;
}

/// The same program, whose inputs are an argument of their own. Empty where it reads them and p at once.
Graph with_inputs_apart(Graph graph, int room) {
    if (room == 0) return graph;
    const int num_p = graph.arguments[2].size - room;
    graph.arguments[2].size = num_p;
    graph.arguments.push_back({room, false});
    for (Node& node : graph.nodes) {
        if (node.op != Op::argument || node.index != 2) continue;
        if (node.offset < num_p && node.offset + node.size > num_p) return {};
        if (node.offset < num_p) continue;
        node.index = 3;
        node.offset -= num_p;
    }
    return graph;
}

class GraphField final : public FieldMaker, public KeepsSteps {
  public:
    GraphField(const Graph& graph, const FieldSizes& sizes, RowLevel level,
               std::vector<ResultPiece> pieces = {})
        : FieldMaker(sizes),
          pieces_(std::move(pieces)),
          code_(std::make_shared<const FieldCode>(graph, level, false)),
          shared_code_(std::make_shared<const FieldCode>(
              with_inputs_apart(graph, sizes.inputs.room()), level, true, sizes.inputs.size > 0)) {}

    [[nodiscard]] const Graph* graph() const override { return &code_->graph(); }
    [[nodiscard]] std::unique_ptr<FieldOnTile> on_tile(int width) const override {
        return make<double>(code_, width);
    }
    [[nodiscard]] std::unique_ptr<FieldOnTile> on_shared_tile(int width) const override {
        return make<double>(shared_code_, width);
    }
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<float>> on_float_tile(int width) const override {
        return make<float>(code_, width);
    }
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<float>> on_shared_float_tile(
        int width) const override {
        return make<float>(shared_code_, width);
    }
    [[nodiscard]] std::vector<int> counted_components() const override {
        // What is zero is made of literals.
        const List<double>& constants = code_->graph().constants;
        std::vector<int> changing;
        if (std::find(constants.begin(), constants.end(), 0.) != constants.end())
            changing = components_that_change(code_->graph(), sizes().own_states());
        return changing.empty() ? FieldMaker::counted_components() : changing;
    }
    [[nodiscard]] std::shared_ptr<const FieldMaker> with_tangents(
        const std::vector<Direction>& directions) const override {
        return tangents_.find_or_make(directions, [&] { return make_tangents(directions); });
    }
    [[nodiscard]] int longest_of_products() const override {
        const Graph& graph = code_->graph();
        int longest = 0;
        for (const Node& node : graph.nodes)
            if (node.op == Op::dense || node.op == Op::dense_transposed)
                longest = std::max({longest, node.size, graph[graph.operand(node, 1)].size});
        return longest;
    }
    [[nodiscard]] std::vector<int> unread_parameters() const override {
        // Behind them lie inputs.
        const int count = code_->arguments()[2].size - sizes().inputs.room();
        std::vector<char> is_read(static_cast<std::size_t>(count), 0);
        for (const Node& node : code_->graph().nodes) {
            if (node.op != Op::argument || node.index != 2) continue;
            for (int i = node.offset; i < std::min(node.offset + node.size, count); ++i)
                is_read[static_cast<std::size_t>(i)] = 1;
        }
        std::vector<int> unread;
        for (int i = 0; i < count; ++i)
            if (!is_read[static_cast<std::size_t>(i)]) unread.push_back(i);
        return unread;
    }

  private:
    [[nodiscard]] std::shared_ptr<const FieldMaker> make_tangents(
        const std::vector<Direction>& directions) const {
        FieldSizes all = sizes();
        const int num_p = code_->arguments()[2].size - all.inputs.room();
        const Graph graph = carry_tangents(code_->graph(), num_p, directions, pieces_);
        if (graph.arguments.empty()) return nullptr;
        all.tangents = static_cast<int>(directions.size());
        all.states *= 1 + all.tangents;
        all.parameters_have_tangent = directions.front() == Direction::given;
        if (all.parameters_have_tangent) all.parameters += num_p;
        return std::make_shared<const GraphField>(graph, all, code_->level());
    }
    template <class Real>
    [[nodiscard]] std::unique_ptr<FieldOnTileOf<Real>> make(
        const std::shared_ptr<const FieldCode>& code, int width) const {
        if (code->arguments().empty()) return nullptr;
        // On the thread that asks, so that it hears what rows do not have.
        static_cast<void>(code->f());
        return std::make_unique<GraphOnTile<Real>>(code, sizes(), width);
    }

    std::vector<ResultPiece> pieces_;
    std::shared_ptr<const FieldCode> code_, shared_code_;
    // Of gradients that are taken again, of pushforwards and sensitivities.
    mutable LatestTangents tangents_;
};

/// What makes an equation of a program.
struct FieldKey {
    const Graph* graph;
    FieldSizes sizes;
    RowLevel level;
    std::vector<ResultPiece> pieces;

    [[nodiscard]] bool operator==(const FieldKey& other) const {
        return level == other.level && sizes == other.sizes && pieces == other.pieces &&
               are_same_program(*graph, *other.graph);
    }
};

}  // namespace

std::shared_ptr<const FieldMaker> graph_field(const Graph& graph, const FieldSizes& sizes,
                                              RowLevel level, std::vector<ResultPiece> pieces) {
    const auto make = [&] {
        return std::make_shared<const GraphField>(graph, sizes, level, pieces);
    };
    constexpr int most_nodes = 1000;  // larger ones take memory, and no time beside their work
    if (graph.size() > most_nodes) return make();
    static LatestFields<FieldKey, 8> latest;
    return latest.find_or_make({&graph, sizes, level, pieces}, make, [&](const FieldMaker& made) {
        return FieldKey{made.graph(), sizes, level, pieces};
    });
}

}  // namespace eddy::inline v0::detail
