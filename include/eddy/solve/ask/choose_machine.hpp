#pragma once
// Which machine solves a call that names none: Tiles where the equation is wide, so that registers do not hold a step, or
// has layers, whose products with shared weights take a fraction of their time there, and nothing that is asked for
// stands in the way; else Cpu. Types decide, so that only one of the two is compiled.
// Test: tests/solve/choose_machine.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/simd/layout.hpp>
#include <eddy/solve/ask/check_combination.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <limits>
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

/// A step of so many components takes less time over rows, and its call a third of the time to compile: they lie in the
/// registers of no pack. With packs of eight doubles there must be more; gradients of more than four floats are faster in packs.
template <class Real>
inline constexpr int least_states = [] {
    // Else rows have no machine code (other processors than x86), or vectors half as long as packs.
    constexpr bool are_level = (row_level == RowLevel::fused) == (simd::native_bytes > 16);
    constexpr bool is_double = std::is_same_v<Real, double>;
    if (!are_level || !(is_double || simd::native_bytes == 16))
        return std::numeric_limits<int>::max();
    return simd::native_bytes == 64 ? 40 : simd::native_bytes == 32 ? 16 : 20;
}();

/// Is it a call over rows? Of one trajectory such functions take three times as long there.
[[nodiscard]] constexpr bool calls_over_rows(Op op) {
    return op >= Op::pow && op <= Op::softplus && op != Op::sqrt && op != Op::abs &&
           op != Op::min && op != Op::max;
}
/// Are there so many components, and little else than arithmetic? What matrices, tables and loops take depends on their
/// sizes.
template <class Real, class AnyGraph>
[[nodiscard]] constexpr bool is_wide(const AnyGraph& graph, int num_states) {
    if (num_states < least_states<Real>) return false;
    int called = 0;
    for (int i = 0; i < graph.size(); ++i) {
        if (graph.nodes[i].op >= Op::dense) return false;
        if (calls_over_rows(graph.nodes[i].op)) called += graph.nodes[i].size;
    }
    return 8 * called <= num_states;
}

/// Is a call by Tiles, where no machine is named?
template <CallKind call, class Field, class Method, class Choice, class Parameters>
inline constexpr bool goes_by_tiles = [] {
    constexpr bool has_array = is_shared<Parameters> || is_ensemble_array<Parameters>;
    if constexpr (compiled_by_nvcc || Choice::names_backend || !has_array ||
                  family_of<Field, Method> != Family::explicit_rk ||
                  refusal_of(features_of<Field, Method, Choice, call>, Family::explicit_rk,
                             Machine::tiles, call) != Refusal::none)
        return false;
    else
        return is_wide<ParameterScalarOf<Parameters>>(FieldProgram<Field>::graph,
                                                      Field::state_size) ||
               (is_shared<Parameters> &&
                has_layers(FieldProgram<Field>::graph, Field::parameter_size));
}();

/// The backend of a call: the one that is named, or chosen.
template <CallKind call, class Field, class Method, class Choice, class Parameters>
using BackendOfCall = std::conditional_t<goes_by_tiles<call, Field, Method, Choice, Parameters>,
                                         Tiles, typename Choice::Backend>;

}  // namespace detail

}  // namespace eddy::inline v0
