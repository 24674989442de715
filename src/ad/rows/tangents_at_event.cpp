#include "tangents_at_event.hpp"
#include <eddy/ad/jvp.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/program.hpp>
#include "carry_tangents.hpp"

namespace eddy::inline v0::detail {
namespace {

/// (t, y, p) of a point, or of a direction from it, as nodes; −1 where there is nothing.
struct Arguments {
    int t, y, p;

    [[nodiscard]] List<int> all() const { return {t, y, p}; }
};

/// A program (t, y, p) → x in the graph that grows.
class Inner {
  public:
    Inner(const Graph& program, Graph& graph) : program_(finish_code(program)), graph_(graph) {}

    [[nodiscard]] DynamicTraced at(const Arguments& point) const {
        return {graph_, embed_graph(program_, graph_, point.all())[0]};
    }
    [[nodiscard]] DynamicTraced along(const Arguments& point, const Arguments& direction) const {
        List<int> arguments = point.all();
        List<char> moves;
        for (const int node : direction.all()) {
            moves.push_back(node >= 0 ? 1 : 0);
            if (node >= 0) arguments.push_back(node);
        }
        return {graph_, embed_graph(jvp_graph(program_, moves), graph_, arguments)[0]};
    }

  private:
    Graph program_;
    Graph& graph_;
};

}  // namespace

Graph tangents_at_event(const EventOfGraph& event, const std::vector<Direction>& directions) {
    const int num_states = event.field.arguments[1].size, num_p = event.field.arguments[2].size;
    const auto num_tangents = static_cast<int>(directions.size());
    const bool is_given = directions.front() == Direction::given;
    const auto with_tangents = [&](const auto& t, const DynamicTraced& y, const DynamicTraced& p) {
        Graph& graph = *t.graph();
        const Inner f(event.field, graph), g(event.functions, graph);
        const auto own = [&](const DynamicTraced& x, int part, int size) {
            return size > 0 ? slice(x, part * size, size).node() : -1;
        };
        const auto root = [&](const DynamicTraced& values) { return values[event.index]; };
        const Arguments here{t.node(), own(y, 0, num_states), own(p, 0, num_p)};
        const DynamicTraced slope = f.at(here);
        const auto moves = root(g.along(here, {graph.push_constant(1), slope.node(), -1}));
        DynamicTraced after{graph, here.y}, slope_after = slope;
        if (event.jump) {
            after = Inner(*event.jump, graph).at(here);
            slope_after = f.at({here.t, after.node(), here.p});
        }
        std::vector<DynamicTraced> parts{after};
        for (int k = 0; k < num_tangents; ++k) {
            const Direction direction = directions[static_cast<std::size_t>(k)];
            const DynamicTraced tangent{graph, own(y, 1 + k, num_states)};
            const int of_p = is_given ? own(p, 1, num_p)
                                      : unit_or_nothing(graph, static_cast<int>(direction), num_p);
            const auto passing = root(g.along(here, {-1, tangent.node(), of_p}));
            const auto when = -(passing / moves);
            const DynamicTraced at_root = tangent + when * slope;
            if (event.jump)
                parts.push_back(
                    Inner(*event.jump, graph).along(here, {when.node(), at_root.node(), of_p}) -
                    when * slope_after);
            else
                parts.push_back(at_root);
        }
        return concat(parts);
    };
    Graph result =
        trace_graph(with_tangents, Scalar{}, DynamicVector{num_states * (1 + num_tangents)},
                    DynamicVector{num_p * (is_given ? 2 : 1)});
    require_forward_mode(result);
    return result;
}

}  // namespace eddy::inline v0::detail
