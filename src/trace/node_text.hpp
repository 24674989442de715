#pragma once
// What texts and drawings call the nodes of a program.

#include <eddy/trace/print.hpp>

namespace eddy::inline v0::detail {

/// The shortest text that reads back as `value`.
std::string number_text(double value);

/// Components [first, first + count): "[2]" or "[0:128]".
std::string range_text(int first, int count);

/// The name of argument `index`.
std::string argument_name(const ArgumentNames& names, int index);

/// "net.cpp:12 (layer)".
std::string place_text(const SourcePlace& place);

/// A node without its operands: "mul", "argument y[2]", "constant 0.5", "slice [1:3]", "powi 3".
std::string node_text(const Graph& graph, const Node& node, const ArgumentNames& names);

}  // namespace eddy::inline v0::detail
