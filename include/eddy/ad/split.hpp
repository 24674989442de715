#pragma once
// A program and its derivative as two programs: forward, which returns the residuals beside its
// results, and backward, which consumes them. Every node of the joint graph is computed by the same
// operation on the same values, on whichever side and however often: that is why the gradient does
// not depend, bit for bit, on what is saved.
//
// A value v that the reversal of region C needs is, in this order: taken from the context around C,
// behind a barrier, if v was made outside C; taken from there if the policy of C keeps it; else
// recomputed inside C. The context around the whole program is memory: values taken from it are the
// residuals.
// Test: tests/ad/remat.cpp, tests/ad/random_remat.cpp

#include <eddy/ad/policies.hpp>
#include <eddy/ad/reverse_loop.hpp>
#include <eddy/core/export.hpp>
#include <eddy/trace/layout.hpp>

namespace eddy::inline v0 {

/// Of which turns a residual is: of a loop, a value of each.
struct ResidualTurns {
    int loop = -1;  // none
    int count = 0;
    Op op = Op::carry;  // what computes the value; carry: the state at the start of a turn
};

/// A value that is kept between forward and backward.
struct Residual {
    Node node;       // what computed it
    int offset = 0;  // place in the residual vector
    Saving saving = Saving::save;
    List<std::string_view> names;
    List<SourcePlace> places{};  // of the names; at run time only
    ResidualTurns turns{};
};

/// forward: x... → results..., residuals (one flat vector; left out where it is empty).
/// backward: (x..., residuals, cotangents of the results...) → cotangents of the chosen arguments.
struct SplitGraph {
    Graph forward;
    Graph backward;
    List<Residual> residuals;
    int residual_size = 0;
};

namespace detail {

class Splitter {
  public:
    /// `joint` has the outputs of the program first, then the cotangents.
    constexpr Splitter(const Graph& joint, int num_results, int num_arguments)
        : joint_(joint),
          num_results_(static_cast<std::size_t>(num_results)),
          num_arguments_(num_arguments),
          is_forward_(forward_nodes(joint, num_results_)),
          loop_of_(loops_of_nodes(joint, joint.size())),
          names_(joint.names.empty() ? 0 : joint.nodes.size()),
          last_known_(joint.nodes.size(), -1) {
        for (int i = 0; i < joint_.size(); ++i) {
            if (joint_[i].op == Op::name) {
                names_[index(resolve(i))].push_back(
                    joint_.names[static_cast<std::size_t>(joint_[i].index)]);
            }
        }
        split_.backward.constants = joint.constants;
        split_.backward.arguments = joint.arguments;
        split_.backward.regions = joint.regions;
        split_.backward.loops = joint.loops;
        split_.backward.names = joint.names;
        split_.backward.places = joint.places;
        split_.backward.run_time = joint.run_time;
        split_.backward.arguments.insert(split_.backward.arguments.begin() + num_arguments_,
                                         Argument{0, false});
    }

    constexpr SplitGraph run() {
        for (int i = 0; i < joint_.size(); ++i) {
            if (!is_forward_[index(i)]) set(i, 0, copy(i, joint_[i].region));
        }
        write_outputs();
        return std::move(split_);
    }

  private:
    struct Known {
        int region = 0;
        int node = 0;
        int before = -1;  // the entry of the same value before this one
    };
    struct Wanted {
        int value = 0;
        int region = 0;
    };

    static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }
    /// What the results need, and what loops among it stack for the way back.
    static constexpr List<char> forward_nodes(const Graph& joint, std::size_t num_results) {
        List<int> roots = passes::output_nodes(joint, 0, num_results);
        List<char> needed = passes::cone(joint, roots);
        if (joint.loops.empty()) return needed;
        for (int i = 0; i < joint.size(); ++i) {
            const bool is_of_loop = joint[i].op == Op::stacked || joint[i].op == Op::turns;
            if (is_of_loop && needed[index(joint.operand(i, 0))]) roots.push_back(i);
        }
        return passes::cone(joint, roots);
    }
    /// The backward node that holds value v while `region` is reversed; -1 where there is none yet.
    /// Backward values are known to region 0.
    [[nodiscard]] constexpr int known(int v, int region) const {
        for (int e = last_known_[index(v)]; e >= 0;) {
            const Known& entry = known_[index(e)];
            if (entry.region == region) return entry.node;
            e = entry.before;
        }
        return -1;
    }
    constexpr void set(int v, int region, int node) {
        known_.push_back({region, node, last_known_[index(v)]});
        last_known_[index(v)] = static_cast<int>(known_.size()) - 1;
    }
    [[nodiscard]] constexpr List<std::string_view> names_of(int v) const {
        if (names_.empty()) return {};
        return names_[index(v)];
    }

    /// Annotations are other names of their operands.
    [[nodiscard]] constexpr int resolve(int v) const {
        while (passes::is_annotation(joint_[v])) v = joint_.operand(v, 0);
        return v;
    }
    [[nodiscard]] constexpr bool is_inside(int v, int region) const {
        const bool is_leaf = joint_[v].op == Op::argument || joint_[v].op == Op::constant;
        int r = is_leaf ? 0 : joint_[v].region;
        while (r > region)
            r = joint_.regions[index(r)].parent;  // parents are numbered below their children
        return r == region;
    }

    [[nodiscard]] constexpr bool is_argument(const Node& node, int k) const {
        return node.count > 1 && joint_[resolve(joint_.operand(node, k))].op == Op::argument;
    }
    /// Comparisons and broadcasts are cheaper to repeat wherever they are needed than to keep.
    [[nodiscard]] constexpr bool is_cheap(int v) const {
        return is_mask(joint_[v].op) || joint_[v].op == Op::broadcast;
    }
    /// The policy's answer. Constants are in the program.
    [[nodiscard]] constexpr eddy::Saving ask(int v, int region) const {
        const Node& node = joint_[v];
        if (node.op == Op::constant) return eddy::Saving::recompute;
        if (node.op == Op::argument) return eddy::Saving::save;
        Candidate candidate{.op = node.op, .size = node.size, .graph = &joint_, .node = v};
        candidate.weights_are_arguments =
            is_argument(node, 0) || (node.op == Op::dot && is_argument(node, 1));
        if (!names_.empty()) {
            candidate.names = names_[index(v)].data();
            candidate.num_names = static_cast<int>(names_[index(v)].size());
        }
        return joint_.ask(region, candidate);
    }

    /// The backward node that holds forward value v while region `region` is reversed. What it
    /// depends on is made first, from a list of what is still to be made rather than by recursion:
    /// chains may be long.
    constexpr int materialise(int v, int region) {
        v = resolve(v);
        if (const int there = known(v, region); there >= 0) return there;
        List<Wanted> wanted{{v, region}};
        while (!wanted.empty()) {
            const Wanted now = wanted.back();
            const std::size_t before = wanted.size();
            const bool is_there = known(now.value, now.region) >= 0;
            const bool recomputed = !is_there && is_recomputed(now);
            if (!is_there) want_missing(now, recomputed, wanted);
            if (wanted.size() > before) continue;
            wanted.pop_back();
            if (!is_there) set(now.value, now.region, make(now, recomputed));
        }
        return known(v, region);
    }

    /// A loop runs again where what it stacks, or the number of its turns, is recomputed.
    [[nodiscard]] constexpr bool is_replayed(const Wanted& now) const {
        for (int i = now.value + 1; i < joint_.size(); ++i) {
            const bool is_of_loop = joint_[i].op == Op::stacked || joint_[i].op == Op::turns;
            if (is_of_loop && is_forward_[index(i)] && joint_.operand(i, 0) == now.value &&
                is_recomputed({i, now.region}))
                return true;
        }
        return false;
    }
    /// Is the value of `now` recomputed in its region (else it comes from the context around)?
    [[nodiscard]] constexpr bool is_recomputed(const Wanted& now) const {
        if (is_cheap(now.value) || loop_of_[index(now.value)] >= 0) return true;
        if (joint_[now.value].op == Op::loop && is_replayed(now)) return true;
        return (now.region == 0 || is_inside(now.value, now.region)) &&
               ask(now.value, now.region) == eddy::Saving::recompute;
    }

    /// Appends what `make(now, recomputed)` needs and is not there yet, the first needed last.
    constexpr void want_missing(const Wanted& now, bool recomputed, List<Wanted>& wanted) const {
        if (recomputed) {
            const Node& node = joint_[now.value];
            for (int k = node.count - 1; k >= 0; --k) {
                const int operand = resolve(joint_.operand(node, k));
                if (known(operand, now.region) < 0) wanted.push_back({operand, now.region});
            }
        } else if (now.region != 0) {
            const int parent = joint_.regions[index(now.region)].parent;
            if (known(now.value, parent) < 0) wanted.push_back({now.value, parent});
        }
    }

    constexpr int make(const Wanted& now, bool recomputed) {
        const auto [v, region] = now;
        if (recomputed) return copy(v, region);
        if (region == 0) return keep(v);
        const int outer = known(v, joint_.regions[index(region)].parent);
        // Long arguments are read where they are; hiding them would copy them. There is nothing to
        // hide in a constant.
        const bool is_long_argument =
            joint_[v].op == Op::argument && joint_[v].size > longest_unrolled;
        if (is_inside(v, region) || is_long_argument || joint_[v].op == Op::constant) return outer;
        return push({.op = Op::barrier, .size = joint_[v].size}, {outer}, region);
    }

    constexpr int copy(int i, int region) {
        const Node& node = joint_[i];
        List<int> operands(index(node.count), -1);
        for (int k = 0; k < node.count; ++k) {
            const int operand = joint_.operand(node, k);
            const bool is_forward = is_forward_[index(operand)];
            operands[index(k)] = is_forward ? materialise(operand, region) : known(operand, 0);
        }
        Node copied = node;
        if (node.op == Op::argument && node.index >= num_arguments_)
            ++copied.index;  // after the residuals
        if (is_loop_op(node.op) && is_forward_[index(i)]) copied.index += first_loop(region);
        return push(copied, operands, region);
    }
    constexpr int push(Node node, const List<int>& operands, int region) {
        split_.backward.current_region = region;
        return split_.backward.push_list(node, operands);
    }

    /// A loop that is recomputed in several regions is another one in each.
    constexpr int first_loop(int region) {
        for (const Known& entry : loops_) {
            if (entry.region == region) return entry.node;
        }
        List<Loop>& loops = split_.backward.loops;
        loops_.push_back({region, static_cast<int>(loops.size()), -1});
        loops.insert(loops.end(), joint_.loops.begin(), joint_.loops.end());
        return loops_.back().node;
    }

    [[nodiscard]] List<SourcePlace> places_of(int v) const {
        List<SourcePlace> places;
        if (names_of(v).empty()) return places;
        for (int i = v; i < joint_.size(); ++i) {
            if (joint_[i].op == Op::name && resolve(i) == v)
                places.push_back(joint_.place_of_name(joint_[i].index));
        }
        return places;
    }

    /// Keeps v in memory between forward and backward; arguments are there already.
    constexpr int keep(int v) {
        const Node& node = joint_[v];
        if (node.op == Op::argument) return push(node, {}, 0);
        eddy::Saving saving = ask(v, 0);  // offload, where a policy on the way said so
        for (int region = node.region; region != 0; region = joint_.regions[index(region)].parent) {
            if (ask(v, region) == eddy::Saving::offload) saving = eddy::Saving::offload;
        }
        if (node.op == Op::stacked) joint_.nodes[index(v)].offset = 0;  // all of it is kept
        const int offset = split_.residual_size;
        split_.residuals.push_back({node, offset, saving, names_of(v)});
        if (!std::is_constant_evaluated()) split_.residuals.back().places = places_of(v);
        if (node.op == Op::stacked)
            split_.residuals.back().turns = {node.index, joint_.loops[index(node.index)].length,
                                             joint_[joint_.operand(v, 1)].op};
        kept_.push_back(v);
        split_.residual_size += node.size;
        return push(
            {.op = Op::argument, .size = node.size, .index = num_arguments_, .offset = offset}, {},
            0);
    }

    constexpr void write_outputs() {
        Graph& backward = split_.backward;
        for (std::size_t o = num_results_; o < joint_.outputs.size(); ++o) {
            List<int> list;
            for (int k = 0; k < joint_.outputs[o].count; ++k) {
                const int node = joint_.output_node(joint_.outputs[o], k);
                list.push_back(is_forward_[index(node)] ? materialise(node, 0) : known(node, 0));
            }
            backward.push_output(list, joint_.outputs[o].size, joint_.outputs[o].is_scalar);
        }
        backward.arguments[index(num_arguments_)].size = split_.residual_size;
        backward.current_region = 0;
        backward = passes::eliminate_dead_code(backward);

        Graph& forward = split_.forward;
        forward = joint_;
        forward.outputs.resize(num_results_);
        forward.arguments.resize(index(num_arguments_));
        if (split_.residual_size > 0) forward.push_output(kept_, split_.residual_size, false);
        forward = passes::simplify(passes::strip_annotations(forward));
    }

    Graph joint_;
    std::size_t num_results_;
    int num_arguments_;
    List<char> is_forward_;
    List<int> loop_of_;
    List<Known> loops_;                   // where the loops that are recomputed in a region begin
    List<List<std::string_view>> names_;  // (value); empty where nothing has a name
    List<Known> known_;
    List<int> last_known_;  // (value): its entry that was made last; -1: none
    List<int> kept_;        // in the order of the residuals
    SplitGraph split_;
};

/// A contracted program with the cotangents of `joint` after its results, as both are split.
[[nodiscard]] constexpr Graph joined(const Graph& program, Graph joint) {
    joint.outputs.insert(joint.outputs.begin(), program.outputs.begin(), program.outputs.end());
    joint = passes::simplify(joint);
    return passes::contract(
        joint, passes::cone(joint, passes::output_nodes(joint, 0, program.outputs.size())));
}
/// The same of a program that is not contracted, differentiated with respect to the flagged arguments.
[[nodiscard]] constexpr Graph joint_graph(const Graph& graph, const List<char>& with_respect_to) {
    const Graph program = passes::contract(graph);
    return joined(program, vjp_graph(program, with_respect_to));
}
[[nodiscard]] constexpr SplitGraph split_joined(const Graph& joint, const Graph& program) {
    return Splitter(joint, static_cast<int>(program.outputs.size()),
                    static_cast<int>(program.arguments.size()))
        .run();
}
/// Splits `joint`, whose outputs are the cotangents, from its program, both contracted.
[[nodiscard]] constexpr SplitGraph split_joint(const Graph& program, Graph joint) {
    return split_joined(joined(program, std::move(joint)), program);
}
/// What `split_graph` does when the program runs: compiled once, in the library.
EDDY_EXPORT SplitGraph split_at_run_time(const Graph&, const List<char>& with_respect_to);

}  // namespace detail

/// Splits a program and its derivative with respect to the flagged arguments. The program as a whole
/// has the policy of its region 0, which keeps whatever is read; the regions that `remat` made have
/// theirs.
[[nodiscard]] constexpr SplitGraph split_graph(const Graph& graph,
                                               const List<char>& with_respect_to) {
    if (!std::is_constant_evaluated()) return detail::split_at_run_time(graph, with_respect_to);
    return detail::split_joined(detail::joint_graph(graph, with_respect_to), graph);
}

/// The same under a policy of the program as a whole.
template <class Policy>
[[nodiscard]] constexpr SplitGraph split_graph(Graph graph, const List<char>& with_respect_to,
                                               const Policy& policy) {
    detail::set_policy(graph, 0, policy);
    return split_graph(graph, with_respect_to);
}

}  // namespace eddy::inline v0
