#pragma once
// The impulses of the lanes of a tile, which they meet one by one: few numbers, at rare moments. What those that scale
// found is kept for the way back, by lane.

#include <algorithm>
#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/meet_impulses.hpp>

namespace eddy::inline v0::detail {

template <class Real>
class RowImpulses {
  public:
    explicit RowImpulses(const RowProblem<Real>& problem)
        : num_impulses_(problem.times.num_impulses),
          num_blocks_(1 + problem.num_tangents),
          own_size_(problem.own_size()) {}
    /// Room for what those of so many lanes find, for their way back.
    void keep(std::int64_t num_lanes, Arena& arena) {
        size_ = num_lanes * num_blocks_ * num_impulses_;
        found_ = arena.take<Real>(size_);
    }
    /// Other lanes begin, from this one on; and their way back, with zeros (lane, amount): amounts, then their tangents.
    void begin(std::ptrdiff_t first) {
        first_ = first;
        std::fill_n(found_, size_, Real(0));
    }
    void begin_back(const EnsembleView<Real>& of_amounts) { of_amounts_ = of_amounts; }

    /// What some of those of a lane make of its state, whose components lie `stride` apart. Amounts are constant: they
    /// have no tangents.
    void meet(std::ptrdiff_t lane, const LaneTimes& times, const ImpulseRange& range, Real* y,
              std::ptrdiff_t stride) {
        for (std::int32_t k = range.first; k < range.end; ++k) {
            const PlannedImpulse& impulse = times.impulses[k];
            for (int block = 0; block < num_blocks_; ++block) {
                const bool has_amount = block == 0 || impulse.kind == Impulse::scale;
                const Real amount = has_amount ? static_cast<Real>(impulse.amount) : Real(0);
                meet_impulse(impulse, amount, y[row_of(impulse, block) * stride], [&](Real number) {
                    if (found_) found_[at(lane, k, block)] = number;
                });
            }
        }
    }
    /// From the cotangent of the state behind them to that before them.
    void pull(std::ptrdiff_t lane, const LaneTimes& times, const ImpulseRange& range,
              Real* cotangent, std::ptrdiff_t stride) {
        for (std::int32_t k = range.end; k-- > range.first;) {
            const PlannedImpulse& impulse = times.impulses[k];
            const bool scales = impulse.kind == Impulse::scale;
            if (scales && num_blocks_ > 1)
                of_amounts_(lane, num_impulses_ + k) +=
                    cotangent[row_of(impulse, 1) * stride] * found_[at(lane, k, 0)];
            for (int block = 0; block < num_blocks_; ++block)
                pull_impulse(
                    impulse, static_cast<Real>(impulse.amount),
                    cotangent[row_of(impulse, block) * stride],
                    [&] { return found_[at(lane, k, block)]; },
                    [&](Real value) {
                        of_amounts_(lane, (scales ? 0 : block * num_impulses_) + k) += value;
                    });
        }
    }

  private:
    [[nodiscard]] std::ptrdiff_t at(std::ptrdiff_t lane, std::int32_t k, int block) const {
        return ((lane - first_) * num_blocks_ + block) * num_impulses_ + k;
    }
    /// Of y, or of its tangents.
    [[nodiscard]] std::ptrdiff_t row_of(const PlannedImpulse& impulse, int block) const {
        return impulse.component + std::ptrdiff_t{block} * own_size_;
    }

    int num_impulses_, num_blocks_, own_size_;
    std::int64_t size_ = 0;
    std::ptrdiff_t first_ = 0;
    Real* found_ = nullptr;  // (lane, block, impulse)
    EnsembleView<Real> of_amounts_{};
};

}  // namespace eddy::inline v0::detail
