#pragma once
// The states of a loop that only hands on what it reads: the neighbours of a cell, the last samples of a
// series. Before turn t such a state is what the loop read in turn t − 1, so all of them are a vector
// that is there already, moved by one turn behind the start. The way back walks along it and needs no tape.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/trace/loop_views.hpp>
#include <eddy/trace/slice_node.hpp>

namespace eddy::inline v0::detail {

class DelayedStates {
  public:
    constexpr DelayedStates(Graph& graph, int end)
        : graph_(graph), end_(graph[end]), loop_(graph.loops[at(end_.index)]) {}

    /// For each part of the state its values of all turns; nothing where the loop computes one of them.
    [[nodiscard]] constexpr List<int> make() {
        if (loop_.num_fixed() > 3 || loop_.is_backward || loop_.checkpoints > 0) return {};
        split();
        for (std::size_t pass = 0; pass < parts_.size(); ++pass) {
            for (Part& part : parts_) find(part);
        }
        List<int> all;
        for (const Part& part : parts_) {
            if (part.values.empty()) return {};
            all.push_back(joined_node(graph_, part.values));
        }
        return all;
    }

  private:
    struct Part {
        int node = -1, begin = 0, size = 0;
        List<int> values;  // vectors that follow each other
    };
    static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }

    /// The parts of the next state.
    constexpr void split() {
        const int next = graph_.operand(end_, 2), carry = graph_.operand(end_, 0);
        const bool is_joined = graph_[next].op == Op::concat;
        for (int k = 0, begin = 0; k < (is_joined ? graph_[next].count : 1); ++k) {
            const int node = is_joined ? graph_.operand(next, k) : next;
            parts_.push_back({node, begin, graph_[node].size, {}});
            begin += graph_[node].size;
        }
        carry_ = carry;
    }
    constexpr void find(Part& part) {
        const Node source = graph_[part.node];
        if (!part.values.empty()) return;
        if (source.op == Op::element && source.index == end_.index) {
            const int read = graph_.operand(source, 0);
            const Node& all = graph_[read];
            List<int> values{read};
            if (all.op == Op::concat && all.count < most_parts_walked) {
                values.clear();
                for (int k = 0; k < all.count; ++k) values.push_back(graph_.operand(all, k));
            }
            delay(part, values);
        } else if (source.op == Op::slice && graph_.operand(source, 0) == carry_) {
            for (const Part& other : parts_) {
                if (other.begin == source.offset && other.size == part.size &&
                    !other.values.empty()) {
                    delay(part, other.values);
                    return;
                }
            }
        }
    }
    /// A turn later than `values`, which none needs of the last turn.
    constexpr void delay(Part& part, const List<int>& values) {
        List<int> delayed{slice_node(graph_, graph_.operand(end_, 1), part.begin, part.size)};
        int left = (loop_.length - 1) * part.size;
        for (int value : values) {
            const int size = graph_[value].size < left ? graph_[value].size : left;
            if (size > 0) delayed.push_back(slice_node(graph_, value, 0, size));
            left -= size;
        }
        part.values = delayed;
    }

    Graph& graph_;
    Node end_;
    Loop loop_;
    int carry_ = -1;
    List<Part> parts_;
};

}  // namespace eddy::inline v0::detail
