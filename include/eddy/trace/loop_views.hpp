#pragma once
// What of loops takes no memory. A vector that loops only walk along, turn by turn, is read where its
// parts are. What a loop stacks for a result, and for nobody else, is written there in its turn, where
// the results of a call lie apart from its arguments. A chain of a thousand cells in a pack is then read
// once and written once.
// Test: tests/trace/loops.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/trace/loop_structure.hpp>

namespace eddy::inline v0::detail {

/// Beyond, a component costs more to find than to copy.
inline constexpr int most_parts_walked = 4;

/// Is the node a concat that is read by `element`s only?
template <class Code>
[[nodiscard]] constexpr List<char> walked_concats(const Code& code) {
    List<char> is_walked(static_cast<std::size_t>(code.sizes.nodes), 0);
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Node& node = code.nodes[i];
        is_walked[static_cast<std::size_t>(i)] =
            node.op == Op::concat && node.count <= most_parts_walked;
        for (int k = 0; k < node.count; ++k) {
            if (node.op != Op::element)
                is_walked[static_cast<std::size_t>(code.operands[node.first + k])] = 0;
        }
    }
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k)
            is_walked[static_cast<std::size_t>(code.operands[output.first + k])] = 0;
    }
    return is_walked;
}

/// Where in the results a node is written.
struct ResultPlace {
    int output = -1;  // in none
    int offset = 0;
};

/// Which nodes are stacked for one place in the results only, by loops that write all of it.
template <class Code>
[[nodiscard]] constexpr List<ResultPlace> stacked_results(const Code& code) {
    List<int> num_readers(static_cast<std::size_t>(code.sizes.nodes), 0);
    List<ResultPlace> places(num_readers.size());
    const auto at = [&](int k) { return static_cast<std::size_t>(code.operands[k]); };
    for (int i = 0; i < code.sizes.nodes; ++i) {
        for (int k = 0; k < code.nodes[i].count; ++k) ++num_readers[at(code.nodes[i].first + k)];
    }
    for (int o = 0; o < code.sizes.outputs; ++o) {
        const Output& output = code.outputs[o];
        for (int k = 0, offset = 0; k < output.count; ++k) {
            places[at(output.first + k)] = {o, offset};
            ++num_readers[at(output.first + k)];
            offset += code.nodes[code.operands[output.first + k]].size;
        }
    }
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Node& node = code.nodes[i];
        const bool is_written = node.op == Op::stacked && code.loops[node.index].num_fixed() == 3 &&
                                num_readers[static_cast<std::size_t>(i)] == 1;
        if (!is_written) places[static_cast<std::size_t>(i)] = {};
    }
    return places;
}

/// Does a program have such results?
template <class Code>
[[nodiscard]] constexpr bool has_stacked_results(const Code& code) {
    bool any = false;
    if (code.sizes.loops > 0) {
        for (const ResultPlace& place : stacked_results(code)) any = any || place.output >= 0;
    }
    return any;
}

/// A sink whose results lie apart from the arguments: they may be written before all of these are read.
template <class Write>
struct SinkApart {
    Write write;
    template <int output, class Value>
    EDDY_INLINE EDDY_HD constexpr void operator()(int component, const Value& value) {
        write.template operator()<output>(component, value);
    }
};
template <class Write>
SinkApart(Write) -> SinkApart<Write>;
template <class Sink>
inline constexpr bool lies_apart = false;
template <class Write>
inline constexpr bool lies_apart<SinkApart<Write>> = true;

/// For evaluations that write no result before the end.
struct NoSink {};

/// The sink, where results may be written before all arguments are read, and some are.
template <class P, class Sink>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto& early_sink([[maybe_unused]] Sink& sink,
                                                             [[maybe_unused]] NoSink& none) {
    constexpr bool writes_early = lies_apart<Sink> && has_stacked_results(P::code);
    if constexpr (writes_early)
        return sink;
    else
        return none;
}

}  // namespace eddy::inline v0::detail
