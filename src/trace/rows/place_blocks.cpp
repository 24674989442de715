// Rows that follow each other, for operations on blocks.

#include <algorithm>
#include <eddy/trace/layout.hpp>
#include <vector>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {
namespace {

class BlockPlacer {
  public:
    explicit BlockPlacer(ScalarList& list) : list_(list), result_of_(list.values.size()) {
        for (const ScalarList::Result& result : list.results)
            result_of_[at(result.value)] = {result.block, result.component};
        rows_.of.resize(list.values.size());
    }

    BlockRows run() {
        std::vector<ScalarBlock::Part> parts;
        for (const ScalarBlock& block : list_.blocks)
            for (const ScalarBlock::Part& part : block.parts)
                if (part.to.block < 0) parts.push_back(part);
        std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
            return a.first_value < b.first_value;
        });
        for (std::size_t k = 0; k < parts.size(); ++k)
            make_rows(parts[k],
                      k > 0 && parts[k].continues &&
                          parts[k - 1].first_value + parts[k - 1].rows == parts[k].first_value);
        for (ScalarBlock& block : list_.blocks)
            for (RowBlock& from : block.from)
                if (!from.empty() && !follows(from)) gather(from);
        return std::move(rows_);
    }

  private:
    void make_rows(const ScalarBlock::Part& part, bool continues) {
        if (!continues) rows_.run_sizes.push_back(0);
        int& size = rows_.run_sizes.back();
        for (int r = 0; r < part.rows; ++r)
            rows_.of[at(part.first_value + r)] = {num_runs() - 1, size++};
    }
    [[nodiscard]] int num_runs() const { return static_cast<int>(rows_.run_sizes.size()); }
    /// Where a value lies that has a place already: as a row of scratch, or of an argument or a result.
    [[nodiscard]] ScalarBlock::Place place_of(int v) const {
        const ScalarValue& value = list_.values[at(v)];
        const BlockRows::Row row = rows_.of[at(v)];
        if (row.run >= 0) return {runs + row.run, row.row};
        if (value.op == Op::argument && !list_.is_shared(v)) return {value.index, value.operand[0]};
        if (value.block >= 0) {
            const ScalarBlock::Place to =
                list_.blocks[at(value.block)].parts[at(value.operand[1])].to;
            return {to.block, to.component + value.operand[0]};
        }
        return result_of_[at(v)];
    }
    [[nodiscard]] bool follows(const RowBlock& values) const {
        const ScalarBlock::Place first = place_of(values[0]);
        for (std::size_t c = 0; c < values.size(); ++c) {
            const ScalarBlock::Place place = place_of(values[c]);
            if (place.block == nowhere || place.block != first.block ||
                place.component != first.component + static_cast<int>(c))
                return false;
        }
        return true;
    }
    void gather(RowBlock& values) {
        int row = 0;
        for (int& v : values) {
            const bool is_free = list_.values[at(v)].op != Op::constant && !list_.is_shared(v) &&
                                 place_of(v).block == nowhere;
            if (!is_free) v = copy_of(v);
            rows_.of[at(v)] = {num_runs(), row++};
        }
        rows_.run_sizes.push_back(row);
    }
    int copy_of(int v) {
        list_.values.push_back({Op::name, 1, {v}, 0});
        rows_.of.emplace_back();
        result_of_.emplace_back();
        return static_cast<int>(list_.values.size()) - 1;
    }

    static constexpr int nowhere = -1, runs = 1 << 20;  // behind all arguments and results
    ScalarList& list_;
    std::vector<ScalarBlock::Place> result_of_;  // (value)
    BlockRows rows_;
};

/// From when to when a run is used, as places in the order.
struct Life {
    int first = -1, last = -1;
};
std::vector<Life> lives_of(const ScalarList& list, const BlockRows& rows,
                           const std::vector<int>& order) {
    std::vector<Life> lives(rows.run_sizes.size());
    for (std::size_t s = 0; s < order.size(); ++s) {
        const auto use = [&](int v) {
            const int run = rows.of[at(v)].run;
            if (run < 0) return;
            Life& life = lives[at(run)];
            if (life.first < 0) life.first = static_cast<int>(s);
            life.last = static_cast<int>(s);
        };
        if (order[s] >= 0) {
            const ScalarValue& value = list.values[at(order[s])];
            use(order[s]);
            for (int k = 0; k < value.count; ++k) use(value.operand[k]);
            continue;
        }
        const ScalarBlock& block = list.blocks[at(~order[s])];
        for (const ScalarBlock::Part& part : block.parts)
            if (part.rows > 0) use(part.first_value);
        for (const RowBlock& from : block.from)
            if (!from.empty()) use(from[0]);
    }
    return lives;
}

}  // namespace

BlockRows gather_blocks(ScalarList& list) { return BlockPlacer(list).run(); }

std::vector<int> place_runs(const ScalarList& list, const BlockRows& rows,
                            const std::vector<int>& order) {
    const std::vector<Life> lives = lives_of(list, rows, order);
    std::vector<std::vector<int>> beginning(order.size());
    for (std::size_t run = 0; run < lives.size(); ++run)
        if (lives[run].first >= 0) beginning[at(lives[run].first)].push_back(static_cast<int>(run));
    std::vector<int> first(lives.size() + 1, 0);
    ScratchAllocator scratch;
    for (std::size_t s = 0; s < order.size(); ++s) {
        if (!beginning[s].empty()) scratch.retire(static_cast<int>(s) - 1);
        for (const int run : beginning[s])
            first[at(run)] = scratch.allocate(rows.run_sizes[at(run)], lives[at(run)].last);
    }
    first.back() = scratch.size();
    return first;
}

}  // namespace eddy::inline v0::detail
