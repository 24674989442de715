#include "carry_tangents.hpp"
#include <algorithm>
#include <eddy/ad/forward_loop.hpp>
#include <eddy/ad/linear_model.hpp>
#include <eddy/core/error.hpp>

namespace eddy::inline v0::detail {
namespace {

constexpr int states = 1, parameters = 2;  // arguments

/// The walk of one direction.
struct AlongDirection {
    Graph graph;
    int num_primal, num_states, num_parameters;
    int first_of_y = 0,
        first_of_p = -1;  // where its tangents lie in these arguments; −1: they have none
    Direction direction = Direction::given;

    /// Tangents of the results, as nodes; the graph has grown.
    List<int> run() {
        Forward forward(std::move(graph), num_primal);
        for (int i = 0; i < num_primal; ++i) {
            const int tangent = tangent_of(forward.graph(), i);
            if (tangent >= 0) forward.set_tangent(i, tangent);
        }
        forward.run();
        List<int> nodes;
        const Output& x = forward.graph().outputs[0];
        for (int k = 0; k < x.count; ++k)
            nodes.push_back(forward.tangent_or_zero_of(forward.graph().output_node(x, k)).node());
        graph = std::move(forward.graph());
        return nodes;
    }

  private:
    /// Of a node that reads an argument; −1: it has none.
    [[nodiscard]] int tangent_of(Graph& to, int i) const {
        const Node node = to[i];
        if (node.op != Op::argument) return -1;
        if (node.index == states)
            return to.push_argument(states, first_of_y + node.offset, node.size);
        if (node.index != parameters || node.offset >= num_parameters) return -1;
        if (first_of_p >= 0)
            return to.push_argument(parameters, first_of_p + node.offset, node.size);
        if (direction == Direction::of_start) return -1;
        return unit_or_nothing(to, static_cast<int>(direction) - node.offset, node.size);
    }
};

/// What lies behind the parameters moves further back. False where a node reads both.
bool make_room(Graph& graph, int num_parameters, int room) {
    for (Node& node : graph.nodes) {
        if (node.op != Op::argument || node.index != parameters) continue;
        if (node.offset < num_parameters && node.offset + node.size > num_parameters) return false;
        if (node.offset >= num_parameters) node.offset += room;
    }
    return true;
}

}  // namespace

int unit_or_nothing(Graph& graph, int at, int size) {
    if (at < 0 || at >= size) return -1;
    List<int> parts;
    if (at > 0) parts.push_back(graph.push_zeros(at));
    parts.push_back(graph.push_constant(1));
    if (at + 1 < size) parts.push_back(graph.push_zeros(size - at - 1));
    return parts.size() == 1 ? parts[0] : graph.push_list({.op = Op::concat, .size = size}, parts);
}
void require_forward_mode(const Graph& graph) {
    require_argument(
        graph.error == TraceError::none,
        "pushforward: the equation has no forward mode: a function in it has a pullback "
        "of its own (custom_vjp); write custom_jvp, which serves both modes");
}

Graph carry_tangents(const Graph& graph, int num_parameters,
                     const std::vector<Direction>& directions, std::vector<ResultPiece> pieces) {
    if (pieces.empty()) pieces.push_back({graph.outputs[0].size, true});
    AlongDirection along{passes::contract(graph), 0, graph.arguments[states].size, num_parameters};
    along.num_primal = along.graph.size();
    const int given = num_parameters * static_cast<int>(std::count(
                                           directions.begin(), directions.end(), Direction::given));
    if (!make_room(along.graph, num_parameters, given)) return {};
    const int size_of_x = along.graph.outputs[0].size;
    const auto joined = [&](const List<int>& nodes) {
        if (nodes.size() == 1) return nodes[0];
        return along.graph.push_list({.op = Op::concat, .size = size_of_x}, nodes);
    };
    List<int> x{joined(nodes_of(along.graph, along.graph.outputs[0]))};  // then its tangents
    int next_of_p = num_parameters;
    along.first_of_y = along.num_states;
    for (const Direction direction : directions) {
        const bool is_given = direction == Direction::given;
        along.direction = direction;
        along.first_of_p = is_given ? next_of_p : -1;
        const List<int> tangents = along.run();
        x.push_back(joined(tangents));
        next_of_p += is_given ? num_parameters : 0;
        along.first_of_y += along.num_states;
    }
    Graph result = std::move(along.graph);
    require_forward_mode(result);
    const int times = 1 + static_cast<int>(directions.size());
    List<int> parts;
    int size = 0, first = 0;
    for (const ResultPiece& piece : pieces) {
        const int count = piece.has_tangents ? times : 1;
        for (int k = 0; k < count; ++k) {
            const int part = slice_node(result, x[static_cast<std::size_t>(k)], first, piece.size);
            parts.push_back(piece.judges
                                ? result.push({.op = Op::stop_gradient, .size = piece.size}, part)
                                : part);
        }
        size += count * piece.size;
        first += piece.size;
    }
    result.arguments[states].size *= times;
    result.arguments[parameters].size += given;
    result.outputs.clear();
    result.push_output(parts, size, false);
    return passes::simplify(std::move(result));
}

}  // namespace eddy::inline v0::detail
