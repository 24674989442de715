// A text of names and formulas, as a right-hand side.

#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/message.hpp>
#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/passes/simplify.hpp>

#include "equation_parser.hpp"

namespace eddy::inline v0::detail {
namespace {

class FieldBuilder {
  public:
    RuntimeField run(const FieldText& text, RowLevel level) {
        require_argument(text.equations.size() == text.states.size(),
                         "parse_field: {} equations for {} states; give one for each",
                         text.equations.size(), text.states.size());
        const InputSizes sizes{static_cast<int>(text.inputs.size())};
        const RunTimeInputs inputs(static_cast<int>(text.parameters.size()), sizes);
        graph_.arguments = {
            {1, true}, {static_cast<int>(text.states.size()), false}, {inputs.size_of_q(), false}};
        const int t = graph_.push_argument(0, 0, 1);
        names_["t"] = t;
        names_["time"] = t;
        declare(text.states, 1, "state");
        declare(text.parameters, 2, "parameter");
        if (!text.inputs.empty()) declare_inputs(text.inputs, t, inputs);
        for (const FieldText::Named& part : text.where)
            add("name", part.name,
                formula(part.formula, compose("the formula of '{}'", part.name), true));
        List<int> results;
        for (std::size_t k = 0; k < text.states.size(); ++k)
            results.push_back(
                formula(text.equations[k], compose("the equation of '{}'", text.states[k])));
        graph_.push_output(results, static_cast<int>(results.size()), false);
        FieldNames names{text.states, text.parameters, {}, text.inputs};
        for (const FieldText::Named& part : text.observables) {
            const int value = formula(part.formula, compose("the observable '{}'", part.name));
            graph_.push_output({value}, 1, true);
            names.observables.push_back(part.name);
        }
        return RuntimeField(passes::simplify(passes::order_canonically(graph_)), std::move(names),
                            level, sizes);
    }

  private:
    int formula(const std::string& text, const std::string& where, bool may_be_condition = false) {
        return parse_formula(graph_, names_, text, where, may_be_condition);
    }
    void declare(const std::vector<std::string>& names, int argument, std::string_view kind) {
        int component = 0;
        for (const std::string& name : names)
            add(kind, name, graph_.push_argument(argument, component++, 1));
    }
    void declare_inputs(const std::vector<std::string>& names, int t, const RunTimeInputs& inputs) {
        const DynamicTraced q(graph_, graph_.push_argument(2, 0, inputs.size_of_q()));
        const DynamicTraced u = inputs.value(Traced<scalar_shape>(graph_, t), q);
        int component = 0;
        for (const std::string& name : names) add("input", name, u[component++].node_in(graph_));
    }
    void add(std::string_view kind, const std::string& name, int node) {
        require_argument(is_name(name),
                         "parse_field: the {} '{}' is no name; take letters, digits and _, a "
                         "letter first",
                         kind, name.substr(0, 60));
        require_argument(!is_reserved_name(name),
                         "parse_field: the {} '{}' means something else in formulas; take another "
                         "name",
                         kind, name);
        require_argument(names_.emplace(name, node).second,
                         "parse_field: the {} '{}' has a name that is given before; take another",
                         kind, name);
    }

    Graph graph_;
    NamedNodes names_;
};

}  // namespace

RuntimeField parse_field(const FieldText& text, RowLevel level) {
    return FieldBuilder().run(text, level);
}

}  // namespace eddy::inline v0::detail
