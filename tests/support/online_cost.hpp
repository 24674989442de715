#pragma once
// What it would cost to stop an online placement after every number of steps: the positions it
// holds then, reversed by any rule that divides gaps. Written from the definition of the stack, not
// from the code under test.

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/placed.hpp>
#include <eddy/core/schedule.hpp>
#include <vector>

namespace support {

using std::int64_t;

// cost(length, slots) of a gap divided binomially: the optimum.
struct BinomialGap {
    int64_t operator()(int64_t length, int64_t slots) const {
        return eddy::schedule::untaped_advances(length, slots);
    }
};

// Calls visit(n, recomputed, positions) for n = 1 .. max_length, where `placement.next()` yields
// the stores.
template <class Placement, class GapCost, class Visit>
void for_every_length(Placement placement, int64_t checkpoints, int64_t max_length,
                      const GapCost& gap_cost, Visit visit) {
    std::vector<int64_t> positions, slots,
        closed;  // closed[i]: cost of the gaps below positions[i]
    eddy::Placed next = placement.next();
    for (int64_t n = 1; n <= max_length; ++n) {
        if (next.step == n - 1) {  // stored before step n - 1 is run
            std::size_t from = 0;
            while (from < slots.size() && slots[from] != next.slot) ++from;
            if (from < slots.size()) {
                slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(from));
                positions.erase(positions.begin() + static_cast<std::ptrdiff_t>(from));
            }
            slots.push_back(next.slot);
            positions.push_back(next.step);
            closed.resize(positions.size(), 0);
            for (std::size_t i = from == 0 ? 1 : from; i < positions.size(); ++i) {
                closed[i] = closed[i - 1] + gap_cost(positions[i] - positions[i - 1],
                                                     checkpoints - static_cast<int64_t>(i) + 1);
            }
            next = placement.next();
        }
        const auto used = static_cast<int64_t>(positions.size());
        visit(n, closed.back() + gap_cost(n - positions.back(), checkpoints - used + 1), positions);
    }
}

// Workspace and generator in one.
template <class Generator>
class Owned {
  public:
    explicit Owned(int64_t checkpoints)
        : workspace_(static_cast<std::size_t>(Generator::workspace_size(checkpoints))),
          generator_(checkpoints, workspace_.data()) {}

    eddy::Placed next() { return generator_.next(); }

  private:
    std::vector<int64_t> workspace_;  // moved along, never copied: the generator points into it
    Generator generator_;
};

// Calls visit(ours, published) for loops of 1 .. max_length steps: evaluations under CostGreedy and
// under OnlineTreeverse.
template <class Visit>
void for_both_placements(int64_t checkpoints, int64_t max_length, Visit visit) {
    std::vector<int64_t> published(static_cast<std::size_t>(max_length) + 1);
    for_every_length(Owned<eddy::OnlineTreeverse>(checkpoints), checkpoints, max_length,
                     BinomialGap{},
                     [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                         published[static_cast<std::size_t>(n)] = 2 * n + recomputed;
                     });
    for_every_length(Owned<eddy::CostGreedy>(checkpoints), checkpoints, max_length, BinomialGap{},
                     [&](int64_t n, int64_t recomputed, const std::vector<int64_t>&) {
                         visit(2 * n + recomputed, published[static_cast<std::size_t>(n)]);
                     });
}

}  // namespace support
