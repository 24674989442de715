#pragma once
// What the writer of machine code asks a list: when each value is read next, and where its row lies.

#include <algorithm>
#include <eddy/trace/rows/program_code.hpp>
#include <limits>
#include <vector>

#include "row_engine.hpp"
#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

inline constexpr int never = std::numeric_limits<int>::max();

/// When the value of each operand, and of each result, is read next.
struct NextReads {
    struct Of {
        int place[3] = {-1, -1, -1};  // −1: a value that has no row
        int operand[3] = {never, never, never};
        int result = never;
    };
    std::vector<Of> of;      // (operation)
    std::vector<int> first;  // (place): of what lies there before the first operation

    NextReads(const ProgramCode& code, const std::vector<int>& read_at_end)
        : of(code.operations.size()), first(at(code.num_shared() + code.num_rows()), never) {
        std::vector<int>& next = first;
        for (const int place : read_at_end) next[at(place)] = static_cast<int>(of.size());
        const auto& operations = code.operations;
        for (std::size_t s = operations.size(); s-- > 0;) {
            const RowOperation& now = operations[s];
            Of& reads = of[s];
            if (now.is_stored) {
                reads.result = std::min(reads.result, next[at(now.to)]);
                next[at(now.to)] = never;
            }
            const int count = row_operand_count(now.op);
            for (int k = 0; k < count; ++k) {
                const bool is_last = now.kind[k] == RowOperand::last;
                if (is_last) of[s - 1].result = static_cast<int>(s);
                reads.place[k] = !is_last                      ? now.from[k]
                                 : operations[s - 1].is_stored ? operations[s - 1].to
                                                               : -1;
                if (reads.place[k] >= 0) reads.operand[k] = next[at(reads.place[k])];
            }
            for (int k = 0; k < count; ++k)
                if (reads.place[k] >= 0) next[at(reads.place[k])] = static_cast<int>(s);
        }
    }
};

/// Where places lie.
class Places {
  public:
    struct Place {
        int block = 0, row = 0;
        bool is_shared = false;
    };

    explicit Places(const ProgramCode& code) {
        add(code.num_shared(), true);
        add(code.num_scratch, false);
        std::size_t block = 0;
        for (const auto* sizes : {&code.argument_sizes, &code.result_sizes})
            for (const int size : *sizes) {
                add(size, block < code.are_numbers.size() && code.are_numbers[block] != 0);
                ++block;
            }
    }
    [[nodiscard]] Place operator[](int place) const {
        const auto next = std::upper_bound(ends_.begin(), ends_.end(), place);
        const auto block = next - ends_.begin();
        const int first = block == 0 ? 0 : ends_[static_cast<std::size_t>(block - 1)];
        return {static_cast<int>(block), place - first,
                is_shared_[static_cast<std::size_t>(block)] != 0};
    }
    [[nodiscard]] bool is_scratch(int place) const { return place >= ends_[0] && place < ends_[1]; }

  private:
    void add(int size, bool is_shared) {
        ends_.push_back(size + (ends_.empty() ? 0 : ends_.back()));
        is_shared_.push_back(is_shared);
    }
    std::vector<int> ends_;
    std::vector<char> is_shared_;  // (block)
};

/// How many operations from s on are one function of rows that follow each other, for places that do: they are one call.
/// None reads what another makes, and no operation on blocks lies between. Of one lane they lie in one block.
[[nodiscard]] inline int count_functions(const ProgramCode& code, const Places& places, int s,
                                         int width) {
    const RowOperation& first = code.operations[at(s)];
    int last = static_cast<int>(code.operations.size());
    for (const BlockOperation& block : code.blocks)
        if (block.before > s) last = std::min(last, block.before);
    const auto follows = [&](int place, int before, int count) {
        return place == before + count &&
               (width > 1 || places[place].block == places[before].block);
    };
    int count = 1;
    for (; row_operand_count(first.op) == 1 && s + count < last; ++count) {
        const RowOperation& now = code.operations[at(s + count)];
        const bool is_alike = now.op == first.op && now.index == first.index &&
                              follows(now.from[0], first.from[0], count) &&
                              follows(now.to, first.to, count);
        if (!is_alike || (now.from[0] >= first.to && now.from[0] < now.to)) break;
    }
    return count;
}

}  // namespace eddy::inline v0::detail
