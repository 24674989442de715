#pragma once
// A Graph evaluated node by node, for every lane of a batch: the way for programs whose sizes are
// known only at run time, and the oracle of the compiled ones. Each operation is the same text
// (trace/apply.hpp) with the same order of accumulation (trace/evaluate.hpp) that a Program uses,
// so the same graph gives the same bits. Invariant: the value of a node is a view of a (component,
// lane) array; what is the same for all components or all lanes has stride 0.
// Test: tests/trace/interpret.cpp

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/list.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/trace/apply.hpp>
#include <eddy/trace/interpret_table.hpp>
#include <eddy/trace/lane_arguments.hpp>
#include <eddy/trace/lane_array.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/solve_linear.hpp>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

[[nodiscard]] constexpr bool takes_mask(Op op, int operand) {
    return op == Op::mask_and || op == Op::mask_or || op == Op::mask_not ||
           (op == Op::select && operand == 0);
}

/// Evaluates a graph on up to `capacity` lanes at a time.
template <class Real>
class Interpreter {
    using Mask = MaskOf<Real>;

  public:
    using Arrays = std::vector<LaneArray<Real>>;

    Interpreter(const Graph& graph, const Arrays& arguments, std::int64_t capacity)
        : graph_(graph),
          arguments_(arguments),
          loop_of_(loops_of_nodes(graph, graph.size())),
          views_(graph.nodes.size()),
          mask_views_(graph.nodes.size()) {
        for (double value : graph.constants)
            constants_.push_back(convert<Real>(static_cast<ScalarOf<Real>>(value)));
        std::int64_t num_values = 0, num_masks = 0;
        for (const Node& node : graph.nodes) {
            offsets_.push_back((is_mask(node.op) ? num_masks : num_values) * capacity);
            (is_mask(node.op) ? num_masks : num_values) += needs_storage(node.op) ? node.size : 0;
        }
        values_.assign(static_cast<std::size_t>(num_values * capacity), Real(0));
        masks_ = std::make_unique<Mask[]>(static_cast<std::size_t>(num_masks * capacity));
    }

    /// Evaluates lanes [first, first + count).
    void run(std::int64_t first, std::int64_t count, Arrays& results) {
        first_lane_ = first;
        num_lanes_ = count;
        run_nodes(-1, 0, graph_.size());
        for (std::size_t o = 0; o < results.size(); ++o) {
            const Output& output = graph_.outputs[o];
            int begin = 0;
            for (int k = 0; k < output.count; ++k) {
                const int node = graph_.output_node(output, k);
                for_each(graph_[node].size, [&](int c, std::int64_t lane) {
                    results[o](begin + c, first + lane) = view(node)(c, lane);
                });
                begin += graph_[node].size;
            }
        }
    }

    /// Components that a node stores: none where it is a view of something else.
    [[nodiscard]] static constexpr bool needs_storage(Op op) {
        return op != Op::argument && op != Op::constant && op != Op::slice && op != Op::loop;
    }

  private:
    using Step = void (Interpreter::*)(int);

    [[nodiscard]] static Step step(Op op) {
        static constexpr auto steps = []<int... op_index>(std::integer_sequence<int, op_index...>) {
            return std::array{&Interpreter::template compute<static_cast<Op>(op_index)>...};
        }
        (std::make_integer_sequence<int, static_cast<int>(last_op) + 1>{});
        return steps[static_cast<std::size_t>(op)];
    }

    [[nodiscard]] LaneView<Real>& view(int i) { return views_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] LaneView<Mask>& mask_view(int i) {
        return mask_views_[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] std::int64_t offset(int i) const { return offsets_[static_cast<std::size_t>(i)]; }

    template <class Body>
    void for_each(int size, Body body) const {
        for (int c = 0; c < size; ++c) {
            for (std::int64_t lane = 0; lane < num_lanes_; ++lane) body(c, lane);
        }
    }
    /// Storage as the value of node i: (component, lane).
    template <class T>
    [[nodiscard]] LaneView<T> stored(int i, const T* data) const {
        return {data, graph_[i].size == 1 ? 0 : num_lanes_, 1};
    }
    /// Stores value(component, lane) as node i.
    template <class Value>
    void store(int i, Value value) {
        Real* to = values_.data() + offset(i);
        view(i) = stored(i, to);
        for_each(graph_[i].size,
                 [&](int c, std::int64_t lane) { to[c * num_lanes_ + lane] = value(c, lane); });
    }

    template <Op op>
    void compute(int i) {
        if constexpr (op == Op::argument) {
            read_argument(i);
        } else if constexpr (op == Op::constant) {
            view(i) = {constants_.data() + graph_[i].offset, graph_[i].size == 1 ? 0 : 1, 0};
        } else if constexpr (op == Op::slice) {
            const LaneView<Real> whole = view(graph_.operand(i, 0));
            view(i) = {whole.data + graph_[i].offset * whole.component_stride,
                       graph_[i].size == 1 ? 0 : whole.component_stride, whole.lane_stride};
        } else if constexpr (op == Op::loop) {
            run_loop(i);
        } else if constexpr (op == Op::element) {
            const LaneView<Real> xs = view(graph_.operand(i, 0));
            const int first = turn_[static_cast<std::size_t>(graph_[i].index)] * graph_[i].size;
            store(i, [&](int c, std::int64_t lane) { return xs(first + c, lane); });
        } else if constexpr (is_loop_op(op)) {
            // its loop writes it
        } else if constexpr (is_elementwise(op)) {
            elementwise<op>(i, std::make_integer_sequence<int, operand_count(op)>{});
        } else {
            vector_operation<op>(i);
        }
    }

    /// Those of nodes [first, last) that are in this loop and in none inside it.
    void run_nodes(int loop, int first, int last) {
        for (int i = first; i < last; ++i) {
            if (loop_of_[static_cast<std::size_t>(i)] == loop) (this->*step(graph_[i].op))(i);
        }
    }
    [[nodiscard]] Real* storage(int i) { return values_.data() + offset(i); }
    /// Trajectories leave by flags; what one computes after it has left is not kept.
    void run_loop(int i) {
        const Node& node = graph_[i];
        const Loop& loop = graph_.loops[static_cast<std::size_t>(node.index)];
        const int carry = graph_.operand(node, 0), next = graph_.operand(node, 2);
        const LaneView<Real> start = view(graph_.operand(node, 1));
        store(carry, [&](int c, std::int64_t lane) { return start(c, lane); });
        view(i) = view(carry);
        if (loop.replays) return;  // every state is kept here
        std::vector<int> stacked, turns(static_cast<std::size_t>(num_lanes_), 0);
        for (int s = i + 1; s < graph_.size(); ++s) {
            if (graph_[s].op != Op::stacked || graph_.operand(s, 0) != i) continue;
            stacked.push_back(s);
            store(s, [](int, std::int64_t) { return Real(0); });
        }
        std::vector<char> goes_on(turns.size(), 1);
        const auto limit = [&](std::int64_t lane) {  // by the guard and the turns of another loop
            if (loop.has_guard && !mask_view(graph_.operand(node, 3))(0, lane)) return 0;
            return loop.has_turns ? static_cast<int>(primal(
                                        view(graph_.operand(node, 3 + loop.has_guard))(0, lane)))
                                  : loop.length;
        };
        for (int t = 0; t <= loop.length; ++t) {
            const int turn = loop.is_backward ? loop.length - 1 - t : t;
            if (t == loop.length && !loop.has_condition) break;
            turn_[static_cast<std::size_t>(node.index)] = turn;
            // Past the last turn only the condition is read, which has no element.
            run_nodes(node.index, 0, i);
            for (std::size_t lane = 0; lane < turns.size(); ++lane) {
                const auto l = static_cast<std::int64_t>(lane);
                goes_on[lane] = loop.has_condition
                                    ? goes_on[lane] && mask_view(graph_.operand(node, 3))(0, l)
                                    : turn < limit(l);
                turns[lane] += goes_on[lane];
            }
            if (t == loop.length) break;
            const auto keep = [&](int from, Real* to, int first) {
                const LaneView<Real> of = view(from);
                for_each(graph_[from].size, [&](int c, std::int64_t lane) {
                    if (goes_on[static_cast<std::size_t>(lane)])
                        to[(first + c) * num_lanes_ + lane] = of(c, lane);
                });
            };
            for (int s : stacked) {
                const int y = graph_.operand(s, 1);
                keep(y, storage(s), turn * graph_[y].size);
            }
            keep(next, storage(carry), 0);
        }
        for (int k = i + 1; k < graph_.size(); ++k) {
            if (graph_[k].op != Op::turns || graph_.operand(k, 0) != i) continue;
            store(k, [&](int, std::int64_t lane) {
                const int count = turns[static_cast<std::size_t>(lane)];
                return convert<Real>(
                    static_cast<ScalarOf<Real>>(count < loop.length ? count : loop.length));
            });
        }
        if (!loop.fails_when_out) return;
        for_each(node.size, [&](int c, std::int64_t lane) {
            Real& state = storage(carry)[c * num_lanes_ + lane];
            if (goes_on[static_cast<std::size_t>(lane)])
                state = state * std::numeric_limits<ScalarOf<Real>>::quiet_NaN();
        });
    }

    void read_argument(int i) {
        const Node& node = graph_[i];
        const LaneArray<Real>& argument = arguments_[static_cast<std::size_t>(node.index)];
        const bool is_shared = argument.num_lanes() == 1;
        view(i) = {
            argument.data() + node.offset * argument.num_lanes() + (is_shared ? 0 : first_lane_),
            node.size == 1 ? 0 : argument.num_lanes(), is_shared ? 0 : 1};
    }

    template <Op op, int k>
    [[nodiscard]] auto operand_view(int i) {
        if constexpr (takes_mask(op, k)) {
            return mask_view(graph_.operand(i, k));
        } else {
            return view(graph_.operand(i, k));
        }
    }
    template <Op op, int... k>
    void elementwise(int i, std::integer_sequence<int, k...>) {
        const std::tuple operands{operand_view<op, k>(i)...};
        const auto value = [&](int c, std::int64_t lane) {
            if constexpr (op == Op::powi) {
                return pow(std::get<0>(operands)(c, lane), graph_[i].index);
            } else if constexpr (op == Op::polygamma) {
                return polygamma(graph_[i].index, std::get<0>(operands)(c, lane));
            } else {
                return apply<op>(std::get<k>(operands)(c, lane)...);
            }
        };
        if constexpr (is_mask(op)) {
            Mask* to = masks_.get() + offset(i);
            mask_view(i) = stored(i, to);
            for_each(graph_[i].size,
                     [&](int c, std::int64_t lane) { to[c * num_lanes_ + lane] = value(c, lane); });
        } else {
            store(i, value);
        }
    }

    template <Op op>
    void vector_operation(int i) {
        const Node& node = graph_[i];
        const LaneView<Real> a = view(graph_.operand(node, 0));
        const LaneView<Real> b = view(graph_.operand(node, node.count > 1 ? 1 : 0));
        const int length = graph_[graph_.operand(node, 0)].size;
        const int length_b = graph_[graph_.operand(node, node.count > 1 ? 1 : 0)].size;
        if constexpr (is_table_op(op)) {
            interpret_table<op>(
                graph_, i, [&](int k) { return view(graph_.operand(i, k)); },
                [&](auto value) { store(i, value); });
        } else if constexpr (op == Op::concat) {
            concatenate(i);
        } else if constexpr (op == Op::broadcast) {
            store(i, [&](int, std::int64_t lane) { return a(0, lane); });
        } else if constexpr (op == Op::sum) {
            store(i, [&](int, std::int64_t lane) {
                if (length == 0) return Real(0);
                Real total = a(0, lane);
                for (int c = 1; c < length; ++c) total = total + a(c, lane);
                return total;
            });
        } else if constexpr (op == Op::dot) {
            store(i, [&](int, std::int64_t lane) { return inner_product(a, b, length, lane); });
        } else if constexpr (op == Op::norm) {
            store(i, [&](int, std::int64_t lane) {
                return root_of_squares(inner_product(a, a, length, lane));
            });
        } else if constexpr (op == Op::dense) {
            dense(i, a, b, length_b);
        } else if constexpr (op == Op::dense_transposed) {
            store(i, [&](int column, std::int64_t lane) {
                if (length_b == 0) return Real(0);
                Real total = a(column, lane) * b(0, lane);
                for (int r = 1; r < length_b; ++r)
                    total = mul_add(a(r * node.size + column, lane), b(r, lane), total);
                return total;
            });
        } else if constexpr (op >= Op::solve && op <= Op::root) {
            find_solution<op>(i, a, b);
        } else {
            static_assert(op == Op::outer);
            store(i, [&](int flat, std::int64_t lane) {
                return a(flat / length_b, lane) * b(flat % length_b, lane);
            });
        }
    }
    template <Op op>
    void find_solution(int i, const LaneView<Real>& a, const LaneView<Real>& b) {
        if constexpr (op == Op::root) {
            store(i, [&](int c, std::int64_t lane) { return a(c, lane); });
        } else {
            const int size = graph_[i].size;
            const bool transposed = op == Op::solve_transposed;
            Real* const to = storage(i);
            view(i) = stored(i, to);
            for (std::int64_t lane = 0; lane < num_lanes_; ++lane) {
                Real x[longest_solved];
                solve_linear_of_size<1>(
                    size, [&](int k) { return a(k, lane); }, [&](int k) { return b(k, lane); }, x,
                    transposed);
                for (int c = 0; c < size; ++c) to[c * num_lanes_ + lane] = x[c];
            }
        }
    }
    void concatenate(int i) {
        int part = 0, begin = 0;
        store(i, [&](int c, std::int64_t lane) {
            while (c >= begin + graph_[graph_.operand(i, part)].size)
                begin += graph_[graph_.operand(i, part++)].size;
            return view(graph_.operand(i, part))(c - begin, lane);
        });
    }
    [[nodiscard]] static Real inner_product(const LaneView<Real>& a, const LaneView<Real>& b,
                                            int length, std::int64_t lane) {
        if (length == 0) return Real(0);
        Real total = a(0, lane) * b(0, lane);
        for (int c = 1; c < length; ++c) total = mul_add(a(c, lane), b(c, lane), total);
        return total;
    }
    void dense(int i, const LaneView<Real>& w, const LaneView<Real>& x, int columns) {
        const bool has_bias = graph_[i].count == 3;
        const LaneView<Real> bias = view(graph_.operand(i, has_bias ? 2 : 0));
        store(i, [&](int row, std::int64_t lane) {
            const int begin = row * columns;
            if (columns == 0) return has_bias ? bias(row, lane) : Real(0);
            Real total = has_bias ? mul_add(w(begin, lane), x(0, lane), bias(row, lane))
                                  : w(begin, lane) * x(0, lane);
            for (int c = 1; c < columns; ++c)
                total = mul_add(w(begin + c, lane), x(c, lane), total);
            return total;
        });
    }

    const Graph& graph_;
    const Arrays& arguments_;
    List<int> loop_of_;
    std::vector<int> turn_ = std::vector<int>(graph_.loops.size(), 0);  // (loop)
    std::vector<LaneView<Real>> views_;
    std::vector<LaneView<Mask>> mask_views_;
    std::vector<std::int64_t> offsets_;
    std::vector<Real> constants_, values_;
    std::unique_ptr<Mask[]> masks_;
    std::int64_t first_lane_ = 0, num_lanes_ = 0;
};

}  // namespace detail

/// Evaluates `graph` for all trajectories, from one (component, trajectory) array for each argument
/// to one for each result. An argument with one column is shared by all trajectories. Throws
/// InvalidArgument if an argument does not fit.
/// Trajectories are evaluated in chunks, so that intermediate values take at most about 2^20
/// numbers.
template <class Real>
[[nodiscard]] std::vector<LaneArray<Real>> interpret(
    const Graph& graph, const std::vector<LaneArray<Real>>& arguments) {
    const std::int64_t num_lanes = detail::checked_num_lanes(graph, arguments);
    std::vector<LaneArray<Real>> results;
    for (const Output& output : graph.outputs) results.emplace_back(output.size, num_lanes);
    std::int64_t lane_size = 1;
    for (const Node& node : graph.nodes)
        lane_size += detail::Interpreter<Real>::needs_storage(node.op) ? node.size : 0;
    const std::int64_t chunk =
        std::min(std::max(std::int64_t{1}, (std::int64_t{1} << 20) / lane_size), num_lanes);
    detail::Interpreter<Real> interpreter(graph, arguments, chunk);
    for (std::int64_t first = 0; first < num_lanes; first += chunk)
        interpreter.run(first, std::min(chunk, num_lanes - first), results);
    return results;
}

}  // namespace eddy::inline v0
