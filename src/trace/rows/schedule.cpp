// The order in which the operations of a list are computed.

#include <algorithm>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Depth first. What is open is a value, or an operation on blocks as ~place.
class Scheduler {
  public:
    explicit Scheduler(const ScalarList& list)
        : list_(list),
          height_(list.values.size(), 0),
          is_done_(list.values.size(), 0),
          is_block_done_(list.blocks.size(), 0) {
        for (std::size_t i = 0; i < list.values.size(); ++i) {
            is_done_[i] = is_leaf(list.values[i]);
            height_[i] = height_above(list.values[i]);
        }
    }

    std::vector<int> run() {
        // Sums as soon as what they add is there: the less is before them, the sooner.
        // Several to one place stay in their order.
        std::vector<int> blocks = list_.block_results;
        std::vector<int> height(list_.blocks.size(), 0);
        for (std::size_t k = 0; k < blocks.size(); ++k) {
            height[at(blocks[k])] = height_of(list_.blocks[at(blocks[k])]);
            if (k > 0 && place_of(blocks[k]) == place_of(blocks[k - 1]))
                height[at(blocks[k])] = std::max(height[at(blocks[k])], height[at(blocks[k - 1])]);
        }
        std::stable_sort(blocks.begin(), blocks.end(),
                         [&](int a, int b) { return height[at(a)] < height[at(b)]; });
        for (const int block : blocks) compute(~block);
        for (const ScalarList::Result& result : list_.results) compute(result.value);
        return std::move(order_);
    }

  private:
    [[nodiscard]] std::pair<int, int> place_of(int block) const {
        const ScalarBlock::Place& to = list_.blocks[at(block)].parts[0].to;
        return {to.block, to.component};
    }
    [[nodiscard]] int height_above(const ScalarValue& value) const {
        int height = 0;
        const auto see = [&](int v) { height = std::max(height, height_[at(v)] + 1); };
        for (int k = 0; k < value.count; ++k) see(value.operand[k]);
        if (value.block < 0) return height;
        const ScalarBlock& block = list_.blocks[at(value.block)];
        return value.operand[0] > 0 ? height_[at(block.parts[at(value.operand[1])].first_value)]
                                    : height_of(block);
    }
    [[nodiscard]] int height_of(const ScalarBlock& block) const {
        int height = 0;
        for (const RowBlock& from : block.from)
            for (const int v : from) height = std::max(height, height_[at(v)] + 1);
        return height;
    }
    /// What is to be computed before it; 0 where nothing is: no operand is value 0 and not a leaf.
    [[nodiscard]] int next_of(int open, bool& found) {
        int next = 0;
        found = false;
        const auto see = [&](int v) {
            if (is_done_[at(v)] || (found && height_[at(v)] <= height_[at(next)])) return;
            next = v;
            found = true;
        };
        if (open >= 0) {
            const ScalarValue& value = list_.values[at(open)];
            for (int k = 0; k < value.count; ++k) see(value.operand[k]);
            if (value.block >= 0) {
                found = true;
                return ~value.block;
            }
        } else {
            const ScalarBlock& block = list_.blocks[at(~open)];
            for (std::size_t b = 0; b < block.from.size() && !found; ++b) {
                // From where the last look ended: all before it are done.
                std::size_t& seen = seen_of(~open, b);
                while (seen < block.from[b].size() && is_done_[at(block.from[b][seen])]) ++seen;
                if (seen == block.from[b].size()) continue;
                next = block.from[b][seen];
                found = true;
            }
        }
        return next;
    }
    std::size_t& seen_of(int block, std::size_t operand) {
        seen_.resize(list_.blocks.size());
        std::vector<std::size_t>& of_block = seen_[at(block)];
        of_block.resize(list_.blocks[at(block)].from.size(), 0);
        return of_block[operand];
    }
    [[nodiscard]] bool is_done(int open) const {
        return open >= 0 ? is_done_[at(open)] != 0 : is_block_done_[at(~open)] != 0;
    }
    void compute(int root) {
        open_.push_back(root);
        while (!open_.empty()) {
            const int now = open_.back();
            bool has_next = false;
            const int next = is_done(now) ? 0 : next_of(now, has_next);
            if (has_next) {
                open_.push_back(next);
                continue;
            }
            open_.pop_back();
            if (!is_done(now)) finish(now);
        }
    }
    void finish(int now) {
        order_.push_back(now);
        if (now >= 0) {
            is_done_[at(now)] = 1;
            return;
        }
        const ScalarBlock& block = list_.blocks[at(~now)];
        is_block_done_[at(~now)] = 1;
        for (const ScalarBlock::Part& part : block.parts)
            for (int r = 0; r < part.rows; ++r) is_done_[at(part.first_value + r)] = 1;
    }

    const ScalarList& list_;
    std::vector<int> height_, order_, open_;
    std::vector<char> is_done_, is_block_done_;
    std::vector<std::vector<std::size_t>>
        seen_;  // (operation on blocks, operand): the values that are done
};

}  // namespace

std::vector<int> schedule(const ScalarList& list) { return Scheduler(list).run(); }

}  // namespace eddy::inline v0::detail
