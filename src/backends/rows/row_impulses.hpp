#pragma once
// The impulses of the lanes of a tile, which they meet one by one: few numbers, at rare moments. What those that scale
// found is kept for the way back.

#include <algorithm>
#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/meet_impulses.hpp>

namespace eddy::inline v0::detail {

template <class Real>
class RowImpulses {
  public:
    RowImpulses(const RowProblem<Real>& problem, int width, bool goes_back, Arena& arena)
        : width_(width),
          num_impulses_(problem.times.num_impulses),
          num_blocks_(1 + problem.num_tangents),
          own_size_(problem.own_size()),
          size_(std::int64_t{num_blocks_} * num_impulses_ * width) {
        if (!goes_back) return;
        found_ = arena.take<Real>(size_);
        of_amounts_ = arena.take<Real>(size_);
    }
    /// Other lanes begin; and their way back.
    void begin() { std::fill_n(found_, found_ ? size_ : 0, Real(0)); }
    void begin_back() { std::fill_n(of_amounts_, size_, Real(0)); }

    /// What some of those of a lane, in a place, make of its state, whose components lie `stride` apart. Amounts are
    /// constant: they have no tangents.
    void meet(int place, const LaneTimes& times, const ImpulseRange& range, Real* y,
              std::ptrdiff_t stride) {
        for (std::int32_t k = range.first; k < range.end; ++k) {
            const PlannedImpulse& impulse = times.impulses[k];
            for (int block = 0; block < num_blocks_; ++block) {
                const bool has_amount = block == 0 || impulse.kind == Impulse::scale;
                const Real amount = has_amount ? static_cast<Real>(impulse.amount) : Real(0);
                meet_impulse(impulse, amount, y[row_of(impulse, block) * stride], [&](Real number) {
                    if (found_) found_[at(place, k, block)] = number;
                });
            }
        }
    }
    /// From the cotangent of the state behind them to that before them.
    void pull(int place, const LaneTimes& times, const ImpulseRange& range, Real* cotangent,
              std::ptrdiff_t stride) {
        for (std::int32_t k = range.end; k-- > range.first;) {
            const PlannedImpulse& impulse = times.impulses[k];
            const bool scales = impulse.kind == Impulse::scale;
            if (scales && num_blocks_ > 1)
                of_amounts_[at(place, k, 1)] +=
                    cotangent[row_of(impulse, 1) * stride] * found_[at(place, k, 0)];
            for (int block = 0; block < num_blocks_; ++block)
                pull_impulse(
                    impulse, static_cast<Real>(impulse.amount),
                    cotangent[row_of(impulse, block) * stride],
                    [&] { return found_[at(place, k, block)]; },
                    [&](Real value) { of_amounts_[at(place, k, scales ? 0 : block)] += value; });
        }
    }
    /// Amounts, then their tangents.
    [[nodiscard]] int num_amounts() const { return num_blocks_ * num_impulses_; }
    /// What one of these has got.
    [[nodiscard]] Real of_amount(int place, int k) const { return of_amounts_[at(place, k, 0)]; }

  private:
    [[nodiscard]] std::ptrdiff_t at(int place, std::int32_t k, int block) const {
        return (std::ptrdiff_t{block} * num_impulses_ + k) * width_ + place;
    }
    /// Of y, or of its tangents.
    [[nodiscard]] std::ptrdiff_t row_of(const PlannedImpulse& impulse, int block) const {
        return impulse.component + std::ptrdiff_t{block} * own_size_;
    }

    int width_, num_impulses_, num_blocks_, own_size_;
    std::int64_t size_;
    Real *found_ = nullptr, *of_amounts_ = nullptr;  // (block, impulse, place)
};

}  // namespace eddy::inline v0::detail
