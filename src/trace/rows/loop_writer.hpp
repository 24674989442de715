#pragma once
// Loops of a graph as operations on blocks, in the pieces that they are cut in, and where the components of nodes stand
// that are written already.
// Test: tests/trace/rows/loops.cpp

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "graph_reads.hpp"
#include "list_maker.hpp"
#include "loop_pieces.hpp"
#include "several_turns.hpp"

namespace eddy::inline v0::detail {

class LoopWriter : protected ListMaker {
  public:
    LoopWriter(Graph graph, const RowRoles& roles)
        : graph_(std::move(graph)), roles_(roles), reads_(graph_, roles) {
        for (const Argument& argument : graph_.arguments) {
            list_.are_numbers.push_back(is_set(roles.shared, list_.argument_sizes.size()));
            list_.argument_sizes.push_back(argument.size);
        }
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o)
            list_.are_numbers.push_back(is_set(roles.summed, o));
    }

  protected:
    /// Component c of node i; a scalar is every component of itself.
    [[nodiscard]] int at(int i, int c) const {
        const int k = graph_[i].size == 1 ? 0 : c;
        return components_[static_cast<std::size_t>(first_[static_cast<std::size_t>(i)] + k)];
    }
    [[nodiscard]] int operand(const Node& node, int k, int c) const {
        return at(graph_.operand(node, k), c);
    }
    [[nodiscard]] int size_of(const Node& node, int k) const {
        return graph_[graph_.operand(node, k)].size;
    }
    [[nodiscard]] RowBlock values_of(int i) const {
        RowBlock values;
        for (int c = 0; c < graph_[i].size; ++c) values.push_back(at(i, c));
        return values;
    }
    /// Those numbers, side by side.
    [[nodiscard]] ScalarBlock::Place table_numbers(int table) {
        const Node& node = graph_[table];
        if (node.op != Op::constant) return reads_.numbers_of(table);
        const auto [entry, is_new] =
            tables_.try_emplace(table, static_cast<int>(list_.shared.size()));
        for (int c = 0; is_new && c < node.size; ++c)
            list_.shared.push_back(graph_.constants[static_cast<std::size_t>(node.offset + c)]);
        return {ScalarBlock::Place::constants, entry->second};
    }
    /// Rows that an operation on blocks makes, by default the next one.
    ScalarBlock::Part add_part(ScalarBlock& block, int rows, std::size_t ahead = 0) {
        const ScalarBlock::Part part{static_cast<int>(list_.values.size()), rows, {}};
        for (int row = 0; row < rows; ++row)
            push({.op = Op::dense,
                  .operand = {row, static_cast<int>(block.parts.size())},
                  .block = static_cast<int>(list_.blocks.size() + ahead)});
        block.parts.push_back(part);
        return part;
    }
    void give_part(const ScalarBlock::Part& part) {
        for (int row = 0; row < part.rows; ++row) components_.push_back(part.first_value + row);
    }
    [[nodiscard]] ScalarBlock::Part& part_of(const ScalarValue& value) {
        return list_.blocks[static_cast<std::size_t>(value.block)]
            .parts[static_cast<std::size_t>(value.operand[1])];
    }
    [[nodiscard]] bool adds_to(std::size_t output) const {
        return is_set(roles_.adds, output) || is_set(roles_.summed, output);
    }
    void write_loop(int end) {
        const Node node = graph_[end];
        const BodyOnRows& body = reads_.body(end);
        ScalarBlock block;
        block.what.kind = BlockOperation::Kind::loop;
        block.loop.loop = graph_.loops[static_cast<std::size_t>(node.index)];
        block.from.push_back(values_of(graph_.operand(node, 1)));
        for (int k = 3 + block.loop.loop.has_condition; k < block.loop.loop.num_fixed(); ++k)
            block.from.push_back(values_of(graph_.operand(node, k)));
        RowRoles roles{.adds = {}, .shared = {0}, .summed = {}};
        for (std::size_t k = 0; k < body.operands.size(); ++k) {
            const int operand = body.operands[k];
            const bool are_numbers = reads_.are_numbers_in_turns(body, k);
            roles.shared.push_back(are_numbers);
            block.loop.operands.push_back(
                {body.turn.arguments[k + 1].size, body.is_walked[k] != 0, are_numbers});
            block.numbers.push_back(are_numbers ? table_numbers(operand) : ScalarBlock::Place{});
            block.from.push_back(are_numbers ? RowBlock{} : values_of(operand));
        }
        block.loop.turn = std::make_shared<const ProgramCode>(row_code(body.turn, roles));
        if (block.loop.loop.has_condition)
            block.loop.condition =
                std::make_shared<const ProgramCode>(row_code(body.condition, roles));
        std::shared_ptr<const ProgramCode> several;
        if (is_taken_at_once(block.loop))
            several = std::make_shared<const ProgramCode>(
                row_code(several_turns(body, turns_at_once, block.loop.loop.is_backward), roles));
        push_loop(end, std::move(block), several);
    }

    const Graph graph_;
    const RowRoles& roles_;
    GraphReads reads_;
    std::vector<int> first_, components_;  // (node); of all nodes, one after another
    std::unordered_map<int, int> tables_;  // (constant vector): its place among the shared numbers
    std::unordered_map<int, ScalarBlock::Part> parts_;  // (node that a loop makes)

  private:
    /// A turn with products is a few calls, and its state goes through memory: of several turns that are one only once.
    [[nodiscard]] static bool is_taken_at_once(const LoopOperation& loop) {
        constexpr std::size_t longest = 256;  // what is made is so many times as long
        const bool leaves = loop.loop.has_condition || loop.loop.has_guard || loop.loop.has_turns;
        const ProgramCode& turn = *loop.turn;
        return !leaves && loop.loop.length >= turns_at_once && turn.operations.size() <= longest &&
               turn.loops.empty() && !turn.blocks.empty();
    }
    /// In pieces, from the turn that is taken first. `several`: turns_at_once as one, or null.
    void push_loop(int end, ScalarBlock whole, const std::shared_ptr<const ProgramCode>& several) {
        const BodyOnRows& body = reads_.body(end);
        const bool is_backward = whole.loop.loop.is_backward;
        std::vector<int> ends = ends_of_pieces(body, whole);
        if (several) ends = cut_off_rests(ends);
        std::vector<ScalarBlock> pieces;
        std::vector<int> at_once;  // (piece)
        for (std::size_t k = 0; k < ends.size(); ++k) {
            pieces.push_back(piece_of(whole, k > 0 ? ends[k - 1] : 0, ends[k]));
            const bool is_several = several && pieces[k].loop.loop.length % turns_at_once == 0;
            at_once.push_back(is_several ? turns_at_once : 1);
            if (is_several) take_at_once(pieces[k], several);
        }
        if (is_backward) std::reverse(pieces.begin(), pieces.end());
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            if (k > 0) pieces[k].from[0] = rows_of(pieces[k - 1].parts[0]);
            add_part(pieces[k], graph_[end].size, k);
        }
        give_part(pieces.back().parts[0]);
        for (const int s : body.stacked) {
            const int size = graph_[graph_.operand(s, 1)].size;
            parts_.emplace(
                s, ScalarBlock::Part{static_cast<int>(list_.values.size()), graph_[s].size, {}});
            for (std::size_t k = 0; k < pieces.size(); ++k) {
                const std::size_t taken = is_backward ? pieces.size() - 1 - k : k;
                ScalarBlock& piece = pieces[taken];
                const int size_of_turn = size * at_once[k];
                piece.loop.stacks.push_back({size_of_turn, graph_[s].offset == 1});
                add_part(piece, size_of_turn * piece.loop.loop.length, taken);
                piece.parts.back().continues = k > 0;
            }
        }
        for (int k = end + 1; k < graph_.size(); ++k) {
            if (graph_[k].op != Op::turns || graph_.operand(k, 0) != end || !reads_.is_needed(k))
                continue;
            pieces[0].loop.counts_turns = true;  // a loop that lanes leave is one piece
            parts_.emplace(k, add_part(pieces[0], 1));
        }
        for (ScalarBlock& piece : pieces) list_.blocks.push_back(std::move(piece));
    }
    [[nodiscard]] std::vector<int> ends_of_pieces(const BodyOnRows& body,
                                                  const ScalarBlock& whole) const {
        LoopCuts cuts(list_, whole.loop.loop);
        const std::size_t first = whole.from.size() - body.operands.size();
        for (std::size_t k = 0; k < body.operands.size(); ++k)
            if (whole.loop.operands[k].is_walked)
                cuts.see_operand(whole.from[first + k], whole.loop.operands[k].size);
        for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
            for (int k = 0; k < graph_.outputs[o].count && !adds_to(o); ++k) {
                const Node& node = graph_[graph_.output_node(graph_.outputs[o], k)];
                if (node.op != Op::slice) continue;
                const int s = graph_.operand(node, 0);
                if (std::find(body.stacked.begin(), body.stacked.end(), s) != body.stacked.end())
                    cuts.see_result(node.offset, node.size, graph_[graph_.operand(s, 1)].size);
            }
        }
        return cuts.ends(whole.loop.loop.length);
    }
};

}  // namespace eddy::inline v0::detail
