#pragma once
// Which machine solves a call that names none: Tiles where the equation has layers, whose products with shared weights
// take a fraction of their time there, and nothing that is asked for stands in the way; else Cpu. Types decide, so that
// only one of the two is compiled.
// Test: tests/solve/choose_machine.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/solve/ask/check_combination.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <type_traits>

namespace eddy::inline v0 {

struct Tiles;  // backends/tiles.hpp

namespace detail {

/// So many weights take less time as a product: as many as 32 by 32 whatever the number of trajectories, 16 by 2 do not
/// for a few.
inline constexpr int least_weights = 1024;

/// Has the right-hand side a product with so large a matrix that is a part of p? Asked of its graph, whose argument 2 is p,
/// with inputs behind it.
template <class AnyGraph>
[[nodiscard]] constexpr bool has_layers(const AnyGraph& graph, int num_parameters) {
    const auto operand = [&](const Node& node, int k) { return graph.operands[node.first + k]; };
    const auto is_of_p = [&](int i) {
        int begin = 0;
        for (; graph.nodes[i].op == Op::slice || is_identity(graph.nodes[i].op);
             i = operand(graph.nodes[i], 0))
            begin += graph.nodes[i].op == Op::slice ? graph.nodes[i].offset : 0;
        const Node& node = graph.nodes[i];
        return node.op == Op::argument && node.index == 2 && begin < num_parameters;
    };
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph.nodes[i];
        if ((node.op == Op::dense || node.op == Op::dense_transposed) &&
            graph.nodes[operand(node, 0)].size >= least_weights && is_of_p(operand(node, 0)))
            return true;
    }
    return false;
}

/// Is a call by Tiles, where no machine is named?
template <CallKind call, class Field, class Method, class Choice, class Parameters>
inline constexpr bool goes_by_tiles = [] {
    if constexpr (compiled_by_nvcc || Choice::names_backend || !is_shared<Parameters> ||
                  family_of<Field, Method> != Family::explicit_rk ||
                  refusal_of(features_of<Field, Method, Choice, call>, Family::explicit_rk,
                             Machine::tiles, call) != Refusal::none)
        return false;
    else
        return has_layers(FieldProgram<Field>::graph, Field::parameter_size);
}();

/// The backend of a call: the one that is named, or chosen.
template <CallKind call, class Field, class Method, class Choice, class Parameters>
using BackendOfCall = std::conditional_t<goes_by_tiles<call, Field, Method, Choice, Parameters>,
                                         Tiles, typename Choice::Backend>;

}  // namespace detail

}  // namespace eddy::inline v0
