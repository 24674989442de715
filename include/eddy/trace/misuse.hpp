#pragma once
// How the tracer tells of what no program may do: a compile-time trace remembers it in the graph,
// where a static_assert of Program finds it; a run-time trace throws, with the sizes at hand.
// Test: tests/compile_fail/trace_branch.cpp, tests/compile_fail/slice_past_end.cpp

#include <eddy/core/error.hpp>
#include <eddy/trace/graph.hpp>
#include <string>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Reports a misuse; `message()` is called by run-time traces only.
template <class Message>
constexpr void report(Graph& graph, TraceError error, Message message) {
    graph.error = error;
    if (!std::is_constant_evaluated()) throw InvalidArgument(message());
}

// What does not even compile, in one sentence each.

template <class T>
constexpr void refuse_assignment() {
    static_assert(sizeof(T) == 0,
                  "trace: this traced value is constant or temporary and cannot be assigned to; "
                  "copy the vector first: auto f = y; f[0] = ...");
}
template <class Number>
constexpr Number refuse_number() {
    static_assert(sizeof(Number) == 0,
                  "trace: a traced value is not a number yet and cannot become a double; where a "
                  "function of std:: takes it, call eddy's of the same name, such as eddy::sin(x) "
                  "or eddy::lgamma(x), or using std::sin; sin(x); and give variables that hold it "
                  "its type: decltype(y[0] + y[0]) sum = 0");
    return {};
}
template <class T>
constexpr T refuse_mask(const T& other = {}) {
    static_assert(sizeof(T) == 0,
                  "trace: a traced comparison is not a number; use eddy::select(condition, 1, 0)");
    return other;
}

inline std::string sizes_differ_message(int a, int b) {
    return compose(
        "trace: vectors of {} and {} components are combined; slice or concat them first", a, b);
}
inline std::string past_end_message(int offset, int size, int length) {
    return compose(
        "trace: {} of a vector of {} is read; check the index and the size of the vector",
        size == 1 ? compose("component {}", offset)
                  : compose("{} components from {} on", size, offset),
        length);
}

}  // namespace eddy::inline v0::detail
