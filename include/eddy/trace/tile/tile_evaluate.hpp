#pragma once
// Evaluation of a finished program on a tile: its nodes in order, each one call that goes through all
// components and lanes. What such a call costs to compile does not depend on the widths of vectors,
// and its cost at run time is spread over a tile: a program is as long as its text. The arithmetic of a
// lane is that of evaluate.hpp, operation by operation.
// Test: tests/trace/tile_fusion.cpp

#include <eddy/core/tile/outer.hpp>
#include <eddy/trace/tile/tile_layout.hpp>
#include <eddy/trace/tile/tile_operations.hpp>
#include <eddy/trace/tile/tile_tables.hpp>
#include <eddy/trace/trace.hpp>

namespace eddy::inline v0::detail {

/// What one evaluation reads and writes. A result is a block of rows; one that is summed over lanes is
/// handed to a sink instead.
template <class Real, int num_arguments, int num_results>
struct TileCall {
    int width = 0;
    TileVector<Real> arguments[num_arguments];
    Real* results[num_results] = {};
    Real* scratch = nullptr;  // (row, lane), TileProgram::num_rows of them
};

/// Program P on tiles. `summed`: the result that goes to a sink; −1: none.
template <class P, class Real, int summed = -1>
class TileProgram {
    static_assert(!has_loops(P::code),
                  "Tiles: a loop of the language (repeat, bounded_while, scan, root) inside a "
                  "function is not computed on tiles; leave Tiles{} out");
    static constexpr auto layout = make_tile_layout(P::code, summed);

  public:
    static constexpr int num_rows = layout.num_rows;
    /// Of the outer products that it hands over: rows_of_outer, added.
    static constexpr int num_outer_rows = [] {
        int rows = 0;
        for (int i = 0; i < P::code.size(); ++i) {
            const Node& node = P::code.nodes[i];
            const auto size = [&](int k) {
                return P::code.nodes[P::code.operands[node.first + k]].size;
            };
            if (layout.places[i].kind == TilePlace::product)
                rows += rows_of_outer<Real>(size(0), size(1));
        }
        return rows;
    }();
    using Call = TileCall<Real, P::code.num_arguments(), P::code.num_outputs()>;

    /// For a summed result the sink is told of its pieces, from component `begin` on:
    /// sink.add(begin, size, x) of rows, sink.add_outer(begin, rows, columns, u, v) of outer products.
    template <class Sink>
    static void run(const Call& call, Sink&& sink) {
        static_for<0, P::code.size()>([&]<int i>() EDDY_INLINE { step<i>(call); });
        static_for<0, P::code.num_outputs()>([&]<int o>() EDDY_INLINE {
            if constexpr (o == summed)
                hand_over<o, 0, 0>(call, sink);
            else
                complete<o, 0, 0>(call);
        });
    }
    static void run(const Call& call) requires(summed < 0) { run(call, 0); }

  private:
    static constexpr int num_constants = P::code.sizes.constants;
    struct Constants {
        Real value[num_constants + 1];
    };
    static constexpr Constants constants = [] {
        Constants converted{};
        for (int k = 0; k < num_constants; ++k)
            converted.value[k] = static_cast<Real>(P::code.constants[k]);
        return converted;
    }();

    template <int i>
    static consteval int operand(int k) {
        return P::code.operands[P::code.nodes[i].first + k];
    }
    template <int i>
    static constexpr int size_of = P::code.nodes[i].size;

    /// The value of node i, as an operand of an operation on `size` components.
    template <int i>
    [[nodiscard]] static TileVector<Real> vector(const Call& call, int size = 0) {
        constexpr TilePlace place = layout.places[i];
        TileVector<Real> x;
        if constexpr (place.kind == TilePlace::argument)
            x = call.arguments[place.index].from(place.offset);
        else if constexpr (place.kind == TilePlace::constant)
            x = {constants.value + place.offset, 1, true};
        else
            x = {rows<i>(call), call.width, false};
        if (size_of<i> == 1 && size > 1) x.stride = 0;
        return x;
    }
    /// The rows that node i is stored in.
    template <int i>
    [[nodiscard]] static Real* rows(const Call& call) {
        constexpr TilePlace place = layout.places[i];
        static_assert(place.kind == TilePlace::scratch || place.kind == TilePlace::output);
        Real* const block =
            place.kind == TilePlace::output ? call.results[place.index] : call.scratch;
        return block + static_cast<std::ptrdiff_t>(place.offset) * call.width;
    }

    template <int i>
    static void step(const Call& call) {
        constexpr Node node = P::code.nodes[i];
        constexpr TilePlace place = layout.places[i];
        if constexpr (place.node != i || place.kind == TilePlace::argument ||
                      place.kind == TilePlace::constant || place.kind == TilePlace::product ||
                      place.kind == TilePlace::fused || place.kind == TilePlace::pieces) {
            return;  // read, or computed, where it is wanted
        } else if constexpr (is_identity(node.op)) {
            copy_rows(rows<i>(call), node.size, call.width, vector<operand<i>(0)>(call, node.size));
        } else if constexpr (is_elementwise(node.op)) {
            elementwise<i, 0>(call);
        } else {
            vector_operation<i>(call);
        }
    }

    /// What the pass reads that computes node i.
    template <int i>
    static constexpr FusedOperands operands_of = [] {
        FusedOperands operands;
        collect_operands(
            P::code, [](int k) { return layout.places[k].kind == TilePlace::fused; }, i, operands);
        return operands;
    }();
    template <int i>
    static constexpr int index_of = has_index(P::code.nodes[i].op) ? P::code.nodes[i].index : 0;

    /// Node i from the vectors of its operands, with the nodes that it computes on the way.
    template <int i>
    struct Chain {
        template <class... Vectors>
        [[nodiscard]] EDDY_INLINE static TilePack<Real> apply(const Vectors&... vectors) {
            const TilePack<Real> of_operands[]{vectors...};
            return value<i>(of_operands);
        }

      private:
        template <int node>
        EDDY_INLINE static TilePack<Real> value(const TilePack<Real>* of_operands) {
            constexpr int place = node == i ? -1 : operands_of<i>.place_of(node);
            if constexpr (place >= 0) {
                return of_operands[place];
            } else {
                return [&]<int... k>(std::integer_sequence<int, k...>) EDDY_INLINE {
                    return OneOperation<P::code.nodes[node].op, index_of<node>>::apply(
                        value<operand<node>(k)>(of_operands)...);
                }
                (std::make_integer_sequence<int, P::code.nodes[node].count>{});
            }
        }
    };
    /// A node that computes nothing else on its way shares its pass with other programs.
    template <int i>
    static constexpr bool is_chain = [] {
        for (int k = 0; k < P::code.nodes[i].count; ++k) {
            if (operands_of<i>.node[k] != P::code.operands[P::code.nodes[i].first + k]) return true;
        }
        return operands_of<i>.count != P::code.nodes[i].count;
    }();
    template <int i>
    using PassOf =
        std::conditional_t<is_chain<i>, Chain<i>, OneOperation<P::code.nodes[i].op, index_of<i>>>;

    /// Node i from component `begin` on: as far as no operand in pieces comes to its next one.
    template <int i, int begin>
    static void elementwise(const Call& call) {
        constexpr int size = size_of<i>, count = operands_of<i>.count;
        constexpr int end = [] {
            int first = size;
            for (int k = 0; k < count; ++k) {
                const int next = end_of_piece(operands_of<i>.node[k], begin);
                first = next < first ? next : first;
            }
            return first;
        }();
        [&]<int... k>(std::integer_sequence<int, k...>) {
            apply_to_rows<PassOf<i>>(
                rows<i>(call) + static_cast<std::ptrdiff_t>(begin) * call.width, end - begin,
                call.width, vector_from<operands_of<i>.node[k], begin>(call, size)...);
        }
        (std::make_integer_sequence<int, count>{});
        if constexpr (end < size) elementwise<i, end>(call);
    }
    /// Where the piece ends that component `begin` of a node lies in.
    static constexpr int end_of_piece(int node, int begin) {
        const Node& of = P::code.nodes[node];
        if (layout.places[node].kind != TilePlace::pieces) return of.size > 1 ? of.size : 1 << 30;
        int end = 0;
        for (int k = 0; end <= begin; ++k)
            end += P::code.nodes[P::code.operands[of.first + k]].size;
        return end;
    }
    /// The components of a node from `begin` on, as operands of an operation on `size` of them.
    template <int node, int begin>
    [[nodiscard]] static TileVector<Real> vector_from(const Call& call, int size) {
        if constexpr (layout.places[node].kind == TilePlace::pieces) {
            constexpr Piece piece = piece_at(node, begin);
            return vector<piece.node>(call).from(begin - piece.begin);
        } else {
            return vector<node>(call, size).from(begin);
        }
    }
    struct Piece {
        int node, begin;
    };
    static constexpr Piece piece_at(int node, int component) {
        int begin = 0;
        for (int k = 0;; ++k) {
            const int part = P::code.operands[P::code.nodes[node].first + k];
            if (component < begin + P::code.nodes[part].size) return {part, begin};
            begin += P::code.nodes[part].size;
        }
    }

    template <int i>
    static void vector_operation(const Call& call) {
        constexpr Node node = P::code.nodes[i];
        constexpr int a = operand<i>(0), length = size_of<a>;
        Real* const to = rows<i>(call);
        if constexpr (node.op == Op::concat) {
            concatenate<i, 0, 0>(call);
        } else if constexpr (node.op == Op::broadcast) {
            copy_rows(to, node.size, call.width, vector<a>(call, node.size));
        } else if constexpr (node.op == Op::sum) {
            sum_of_rows<Real>(to, length, call.width, vector<a>(call), nullptr);
        } else if constexpr (node.op == Op::dot || node.op == Op::norm) {
            constexpr int b = node.op == Op::dot ? operand<i>(1) : a;
            const TileVector<Real> other = vector<b>(call);
            sum_of_rows(to, length, call.width, vector<a>(call), &other);
            if constexpr (node.op == Op::norm)
                for_vectors<Real>(call.width, [&](int lane) {
                    root_of_squares(TilePack<Real>::load(to + lane)).store(to + lane);
                });
        } else if constexpr (node.op == Op::dense || node.op == Op::dense_transposed) {
            product<i>(call);
        } else if constexpr (is_table_op(node.op)) {
            use_table<i>(call);
        } else {
            static_assert(node.op == Op::outer);
            outer_of_rows(to, length, size_of<operand<i>(1)>, call.width, vector<a>(call),
                          vector<operand<i>(1)>(call));
        }
    }

    template <int i>
    static void use_table(const Call& call) {
        constexpr Node node = P::code.nodes[i];
        constexpr int length = size_of<operand<i>(0)>;
        const TileVector<Real> x = vector<operand<i>(0)>(call),
                               second = vector<operand<i>(1)>(call);
        Real* const to = rows<i>(call);
        if constexpr (node.op == Op::at) {
            rows_at(to, node.size, call.width, x, length, second);
        } else if constexpr (node.op == Op::knot) {
            rows_of_knots(to, call.width, x, length, node.index == 1, second);
        } else {
            copy_rows(to, length, call.width, x);
            add_rows_at(to, call.width, added_at<i>(call));
        }
    }
    template <int i>
    [[nodiscard]] static AddedAt<Real> added_at(const Call& call) {
        return {size_of<i>, vector<operand<i>(1)>(call), vector<operand<i>(2)>(call),
                size_of<operand<i>(2)>};
    }
    template <int i, class Sink>
    static void hand_over_sparse(const Call& call, int begin, Sink& sink) {
        if constexpr (P::code.nodes[operand<i>(0)].op == Op::add_at)
            hand_over_sparse<operand<i>(0)>(call, begin, sink);
        sink.add_at(begin, added_at<i>(call));
    }

    template <int i, int part, int offset>
    static void concatenate(const Call& call) {
        if constexpr (part < P::code.nodes[i].count) {
            constexpr int from = operand<i>(part);
            copy_rows(rows<i>(call) + static_cast<std::ptrdiff_t>(offset) * call.width,
                      size_of<from>, call.width, vector<from>(call));
            concatenate<i, part + 1, offset + size_of<from>>(call);
        }
    }

    /// W x (+ b), or Wᵀ c: with the strides swapped.
    template <int i>
    static void product(const Call& call) {
        constexpr Node node = P::code.nodes[i];
        constexpr int columns = size_of<operand<i>(1)>;
        constexpr bool is_transposed = node.op == Op::dense_transposed;
        constexpr int row_step = is_transposed ? 1 : columns;
        constexpr int column_step = is_transposed ? node.size : 1;
        const TileVector<Real> weights = vector<operand<i>(0)>(call),
                               x = vector<operand<i>(1)>(call);
        TileVector<Real> bias;
        if constexpr (node.count == 3) bias = vector<operand<i>(2)>(call);
        const bool has_plain_bias = bias.is_uniform || !bias.data;
        if (weights.is_uniform && !x.is_uniform && has_plain_bias)
            multiply<Real>({weights.data, row_step, column_step, node.size, columns, bias.data},
                           x.data, rows<i>(call), call.width);
        else
            multiply_each(rows<i>(call), call.width, weights, node.size, columns, row_step,
                          column_step, x, bias.data ? &bias : nullptr);
    }

    /// Copies those parts of a result that lie elsewhere.
    template <int o, int part, int begin>
    static void complete(const Call& call) {
        constexpr Output output = P::code.outputs[o];
        if constexpr (part < output.count) {
            constexpr int node = P::code.operands[output.first + part];
            constexpr TilePlace place = layout.places[node];
            if constexpr (place.kind != TilePlace::output || place.index != o ||
                          place.offset != begin)
                copy_rows(call.results[o] + static_cast<std::ptrdiff_t>(begin) * call.width,
                          size_of<node>, call.width, vector<node>(call));
            complete<o, part + 1, begin + size_of<node>>(call);
        }
    }

    template <int o, int part, int begin, class Sink>
    static void hand_over(const Call& call, Sink& sink) {
        constexpr Output output = P::code.outputs[o];
        if constexpr (part < output.count) {
            constexpr int node = P::code.operands[output.first + part];
            if constexpr (layout.places[node].kind == TilePlace::product)
                sink.add_outer(begin, size_of<operand<node>(0)>, size_of<operand<node>(1)>,
                               vector<operand<node>(0)>(call), vector<operand<node>(1)>(call));
            else if constexpr (layout.places[node].kind == TilePlace::none)
                hand_over_sparse<node>(call, begin, sink);
            else if constexpr (P::code.nodes[node].op != Op::constant)
                sink.add(begin, size_of<node>, vector<node>(call));
            else if constexpr (!is_zero<node>())
                sink.add(begin, size_of<node>, vector<node>(call));
            hand_over<o, part + 1, begin + size_of<node>>(call, sink);
        }
    }
    template <int node>
    static consteval bool is_zero() {
        for (int k = 0; k < size_of<node>; ++k) {
            if (P::code.constants[P::code.nodes[node].offset + k] != 0) return false;
        }
        return true;
    }
};

}  // namespace eddy::inline v0::detail
