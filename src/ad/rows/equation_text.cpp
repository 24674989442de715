// A right-hand side as text: what is read more than once, or is deep, gets a name.

#include <cmath>
#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/message.hpp>
#include <set>

namespace eddy::inline v0 {
namespace {

using detail::compose;

std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

/// So deep is a formula before a part of it gets a name.
constexpr int deepest_formula = 40;

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "(-inf)";
    const std::string text = compose("{}", value);
    return std::signbit(value) ? "(" + text + ")" : text;
}

class TextWriter {
  public:
    explicit TextWriter(const RuntimeField& field) : names_(field.names()) {
        require_argument(field.num_inputs() == 0,
                         "to_text: a field that reads inputs; keep the text that it was made of");
        complete(names_.states, field.num_states(), "y");
        complete(names_.parameters, field.num_parameters(), "p");
        complete(names_.observables, static_cast<int>(field.observables().outputs.size()), "o");
        text_.states = names_.states;
        text_.parameters = names_.parameters;
        used_.insert(names_.states.begin(), names_.states.end());
        used_.insert(names_.parameters.begin(), names_.parameters.end());
    }
    FieldText run(const RuntimeField& field) {
        text_.equations = formulas(field.graph());
        const std::vector<std::string> observed = formulas(field.observables());
        for (std::size_t k = 0; k < observed.size(); ++k)
            text_.observables.push_back({names_.observables[k], observed[k]});
        return std::move(text_);
    }

  private:
    static void complete(std::vector<std::string>& names, int count, const char* letter) {
        for (int k = static_cast<int>(names.size()); k < count; ++k)
            names.push_back(compose("{}{}", letter, k));
    }

    std::vector<std::string> formulas(const Graph& graph) {
        std::vector<int> uses(graph.nodes.size(), 0);
        for (const Node& node : graph.nodes) {
            for (int k = 0; k < node.count; ++k) ++uses[index_of(graph.operand(node, k))];
        }
        std::vector<std::string> of_node(graph.nodes.size());
        std::vector<int> depth(graph.nodes.size(), 0);
        for (int i = 0; i < graph.size(); ++i) {
            const Node& node = graph[i];
            if (node.op == Op::constant && node.size != 1) continue;  // zeros of a result
            for (int k = 0; k < node.count; ++k)
                depth[index_of(i)] =
                    std::max(depth[index_of(i)], depth[index_of(graph.operand(node, k))] + 1);
            of_node[index_of(i)] = node_text(graph, node, of_node);
            const bool is_leaf = node.op == Op::argument || node.op == Op::constant;
            if (is_leaf || (uses[index_of(i)] < 2 && depth[index_of(i)] < deepest_formula))
                continue;
            const std::string name = new_name();
            text_.where.push_back({name, of_node[index_of(i)]});
            of_node[index_of(i)] = name;
            depth[index_of(i)] = 0;
        }
        std::vector<std::string> result;
        for (const Output& output : graph.outputs) {
            for (int k = 0; k < output.count; ++k) {
                const int i = graph.output_node(output, k);
                if (graph[i].size == 1) {
                    result.push_back(of_node[index_of(i)]);
                } else {
                    for (int c = 0; c < graph[i].size; ++c)
                        result.push_back(
                            number_text(graph.constants[index_of(graph[i].offset + c)]));
                }
            }
        }
        return result;
    }
    std::string new_name() {
        std::string name;
        do name = compose("v{}", ++num_named_);
        while (used_.count(name) > 0);
        return name;
    }

    std::string node_text(const Graph& graph, const Node& node,
                          const std::vector<std::string>& of_node) {
        const auto operand = [&](int k) { return of_node[index_of(graph.operand(node, k))]; };
        const auto infix = [&](const char* text) {
            return "(" + operand(0) + text + operand(1) + ")";
        };
        require_argument(node.size == 1 && (is_elementwise(node.op) || node.count == 0),
                         "to_text: the right-hand side has the operation '{}' on {} numbers; text "
                         "has single numbers only",
                         name(node.op), node.size);
        switch (node.op) {
            case Op::argument:
                return node.index == 0   ? "t"
                       : node.index == 1 ? names_.states[index_of(node.offset)]
                                         : names_.parameters[index_of(node.offset)];
            case Op::constant: return number_text(graph.constant_value(node));
            case Op::add: return infix(" + ");
            case Op::sub: return infix(" - ");
            case Op::mul: return infix(" * ");
            case Op::div: return infix(" / ");
            case Op::neg: return "(-" + operand(0) + ")";
            case Op::powi: return "(" + operand(0) + "^" + compose("({})", node.index) + ")";
            case Op::less: return infix(" < ");
            case Op::less_equal: return infix(" <= ");
            case Op::equal: return infix(" == ");
            case Op::mask_and: return infix(" && ");
            case Op::mask_or: return infix(" || ");
            case Op::mask_not: return "(!" + operand(0) + ")";
            case Op::select:
                return "piecewise(" + operand(1) + ", " + operand(0) + ", " + operand(2) + ")";
            case Op::fma:
            case Op::polygamma:
            case Op::stop_gradient:
            case Op::own:
            case Op::barrier:
                require_argument(false,
                                 "to_text: the right-hand side has the operation '{}', which text "
                                 "does not have; write the function without it",
                                 name(node.op));
                return {};
            case Op::name: return operand(0);
            default: break;
        }
        std::string text = std::string(name(node.op)) + "(" + operand(0);
        for (int k = 1; k < node.count; ++k) text += ", " + operand(k);
        return text + ")";
    }

    FieldNames names_;
    FieldText text_;
    std::set<std::string> used_;
    int num_named_ = 0;
};

}  // namespace

FieldText to_text(const RuntimeField& field) { return TextWriter(field).run(field); }

}  // namespace eddy::inline v0
