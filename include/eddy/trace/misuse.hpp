#pragma once
// How the tracer tells of what no program may do: a compile-time trace remembers it in the graph,
// where a static_assert of Program finds it; a run-time trace throws, with the sizes at hand.

#include <eddy/core/error.hpp>
#include <eddy/trace/graph.hpp>
#include <string>
#include <type_traits>

namespace eddy::detail {

/// Reports a misuse; `message()` is called by run-time traces only.
template <class Message>
constexpr void report(Graph& graph, TraceError error, Message message) {
    graph.error = error;
    if (!std::is_constant_evaluated()) throw InvalidArgument(message());
}

inline std::string sizes_differ_message(int a, int b) {
    return "trace: vectors of " + std::to_string(a) + " and " + std::to_string(b) +
           " components are combined; slice or concat them first";
}
inline std::string past_end_message(int offset, int size, int length) {
    return "trace: " +
           (size == 1
                ? "component " + std::to_string(offset)
                : std::to_string(size) + " components from " + std::to_string(offset) + " on") +
           " of a vector of " + std::to_string(length) +
           " is read; check the index and the size of the vector";
}

}  // namespace eddy::detail
