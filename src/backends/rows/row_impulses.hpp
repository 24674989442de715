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
        : width_(width), size_(std::int64_t{problem.times.num_impulses} * width) {
        if (!goes_back) return;
        found_ = arena.take<Real>(size_);
        of_amounts_ = arena.take<Real>(size_);
    }
    /// Other lanes begin; and their way back.
    void begin() { std::fill_n(found_, found_ ? size_ : 0, Real(0)); }
    void begin_back() { std::fill_n(of_amounts_, size_, Real(0)); }

    /// What some of those of a lane, in a place, make of its state, whose components lie `stride` apart.
    void meet(int place, const LaneTimes& times, const ImpulseRange& range, Real* y,
              std::ptrdiff_t stride) {
        for (std::int32_t k = range.first; k < range.end; ++k) {
            const PlannedImpulse& impulse = times.impulses[k];
            meet_impulse(impulse, static_cast<Real>(impulse.amount), y[impulse.component * stride],
                         [&](Real number) {
                             if (found_) found_[at(place, k)] = number;
                         });
        }
    }
    /// From the cotangent of the state behind them to that before them.
    void pull(int place, const LaneTimes& times, const ImpulseRange& range, Real* cotangent,
              std::ptrdiff_t stride) {
        for (std::int32_t k = range.end; k-- > range.first;) {
            const PlannedImpulse& impulse = times.impulses[k];
            pull_impulse(
                impulse, static_cast<Real>(impulse.amount), cotangent[impulse.component * stride],
                [&] { return found_[at(place, k)]; },
                [&](Real value) { of_amounts_[at(place, k)] += value; });
        }
    }
    /// What the amount of an impulse has got.
    [[nodiscard]] Real of_amount(int place, std::int32_t k) const {
        return of_amounts_[at(place, k)];
    }

  private:
    [[nodiscard]] std::ptrdiff_t at(int place, std::int32_t k) const {
        return std::ptrdiff_t{k} * width_ + place;
    }

    int width_;
    std::int64_t size_;
    Real *found_ = nullptr, *of_amounts_ = nullptr;  // (impulse, place)
};

}  // namespace eddy::inline v0::detail
