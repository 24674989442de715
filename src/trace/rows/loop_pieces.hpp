#pragma once
// Where a loop is cut in pieces, each a loop of its own from the state that the last one leaves: what it walks along
// is often rows that lie somewhere already, as all y but the first, with one of its own at an end. A piece reads each of
// them where it lies, and stacks where its results belong, where all turns at once would have copies of them.
// Test: tests/trace/rows/loops.cpp

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

/// Cuts are numbers of turns, and there are few, for a piece is a call.
class LoopCuts {
  public:
    LoopCuts(const ScalarList& list, const Loop& loop) : list_(list), length_(loop.length) {
        // Lanes that leave take the clock of one loop.
        if (loop.has_condition || loop.has_guard || loop.has_turns) length_ = 0;
    }

    /// What is walked along, `size` values a turn. Where it lies in many places, it is copied.
    void see_operand(const RowBlock& values, int size) {
        std::vector<int> cuts;
        for (int c = 1; c < static_cast<int>(values.size()); ++c) {
            if (follows(values[at(c) - 1], values[at(c)])) continue;
            // What a turn reads in two places is copied for that turn.
            cuts.insert(cuts.end(), {c / size, (c + size - 1) / size});
            if (static_cast<int>(cuts.size()) > 2 * most()) return;
        }
        add(cuts);
    }
    /// Components of what is stacked, `size` a turn, that are a result.
    void see_result(int first, int count, int size) {
        if (size > 0 && first % size == 0 && count % size == 0)
            add({first / size, (first + count) / size});
    }
    /// The turn behind each piece.
    [[nodiscard]] std::vector<int> ends(int length) const {
        std::vector<int> ends;
        if (static_cast<int>(cuts_.size()) <= most()) ends = cuts_;
        ends.push_back(length);
        return ends;
    }

  private:
    static constexpr int most_cuts = 4, least_turns = 5;  // for each cut
    [[nodiscard]] int most() const { return std::min(most_cuts, length_ / least_turns); }
    /// Does v lie behind u, or can it?
    [[nodiscard]] bool follows(int u, int v) const {
        const ScalarValue &before = list_.values[at(u)], &now = list_.values[at(v)];
        if (before.op == Op::argument || now.op == Op::argument)
            return before.op == now.op && before.index == now.index &&
                   before.operand[0] + 1 == now.operand[0];
        if (before.block >= 0 || now.block >= 0) return v == u + 1 && now.block >= 0;
        return true;
    }
    void add(const std::vector<int>& cuts) {
        for (const int cut : cuts)
            if (cut > 0 && cut < length_) cuts_.push_back(cut);
        std::sort(cuts_.begin(), cuts_.end());
        cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    }

    const ScalarList& list_;
    int length_;
    std::vector<int> cuts_;
};

/// The turns from `first` on.
[[nodiscard]] inline ScalarBlock piece_of(const ScalarBlock& whole, int first, int last) {
    ScalarBlock piece = whole;
    piece.loop.loop.length = last - first;
    const std::size_t operands = whole.from.size() - whole.numbers.size();
    for (std::size_t k = 0; k < whole.numbers.size(); ++k) {
        const LoopOperation::Operand& operand = whole.loop.operands[k];
        if (!operand.is_walked) continue;
        RowBlock& values = piece.from[operands + k];
        if (operand.are_numbers)
            piece.numbers[k].component += first * operand.size;
        else
            values = {values.begin() + first * operand.size, values.begin() + last * operand.size};
    }
    return piece;
}

/// How many turns are taken as one.
inline constexpr int turns_at_once = 4;
/// Ends of pieces of which those are whole groups of turns that have one, and the rest of each is a piece of its own.
[[nodiscard]] inline std::vector<int> cut_off_rests(const std::vector<int>& ends) {
    std::vector<int> cut;
    int first = 0;
    for (const int end : ends) {
        const int rest = (end - first) % turns_at_once;
        if (rest > 0 && end - rest > first) cut.push_back(end - rest);
        cut.push_back(end);
        first = end;
    }
    return cut;
}
/// A piece of whole groups, of which `turns` is one.
inline void take_at_once(ScalarBlock& piece, std::shared_ptr<const ProgramCode> turns) {
    piece.loop.turn = std::move(turns);
    piece.loop.loop.length /= turns_at_once;
    for (LoopOperation::Operand& operand : piece.loop.operands)
        if (operand.is_walked) operand.size *= turns_at_once;
}
[[nodiscard]] inline RowBlock rows_of(const ScalarBlock::Part& part) {
    RowBlock values;
    for (int row = 0; row < part.rows; ++row) values.push_back(part.first_value + row);
    return values;
}

}  // namespace eddy::inline v0::detail
