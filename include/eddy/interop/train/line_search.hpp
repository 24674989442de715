#pragma once
// How far to go along a direction: to where the loss has fallen enough and its slope is flat enough, the
// strong Wolfe conditions (Nocedal & Wright 2006, Numerical Optimization, algorithms 3.5 and 3.6). A loss
// that is not finite is too far.
// Test: tests/interop/lbfgs.cpp

#include <algorithm>
#include <cmath>

namespace eddy::inline v0::train {

/// The loss along a line, so far from where the search begins.
struct LinePoint {
    double at = 0;
    double value = 0, slope = 0;
};

template <class Line>
class LineSearch {
  public:
    /// line(at) computes a LinePoint; `start` is at 0, its slope negative.
    LineSearch(const LinePoint& start, const Line& line) : start_(start), line_(line) {}

    /// A point that satisfies both conditions; after so many evaluations as make no sense any more one that
    /// has fallen enough, or the start.
    [[nodiscard]] LinePoint from(double first) {
        LinePoint last = start_, here = line_(first);
        for (; evaluations_ < most_evaluations; ++evaluations_) {
            if (!has_fallen(here) || !(here.value < last.value || last.at == 0))
                return between(last, here);
            if (is_flat(here)) return here;
            if (here.slope >= 0) return between(here, last);
            last = here;
            here = line_(2 * here.at);
        }
        return last;
    }

  private:
    static constexpr double least_fall = 1e-4, most_slope = 0.9;  // of those at the start
    static constexpr int most_evaluations = 40;

    [[nodiscard]] bool has_fallen(const LinePoint& to) const {
        return to.value <= start_.value + least_fall * to.at * start_.slope &&
               std::isfinite(to.slope);
    }
    [[nodiscard]] bool is_flat(const LinePoint& to) const {
        return std::abs(to.slope) <= -most_slope * start_.slope;
    }
    /// `low` has fallen the most so far; its slope points towards `other`.
    [[nodiscard]] LinePoint between(LinePoint low, LinePoint other) {
        for (; evaluations_ < most_evaluations; ++evaluations_) {
            const LinePoint here = line_(least_of_cubic(low, other));
            if (here.at == low.at || here.at == other.at) break;
            if (!has_fallen(here) || here.value >= low.value) {
                other = here;
            } else {
                if (is_flat(here)) return here;
                if (here.slope * (other.at - low.at) >= 0) other = low;
                low = here;
            }
        }
        return low;
    }
    /// Of the cubic through both, a tenth away from either at least; the middle where there is none.
    [[nodiscard]] static double least_of_cubic(const LinePoint& a, const LinePoint& b) {
        const double width = b.at - a.at;
        const double chord = 3 * (a.value - b.value) / width + a.slope + b.slope;
        const double root = std::copysign(std::sqrt(chord * chord - a.slope * b.slope), width);
        const double part = 1 - (b.slope + root - chord) / (b.slope - a.slope + 2 * root);
        return a.at + width * (std::isfinite(part) ? std::clamp(part, 0.1, 0.9) : 0.5);
    }

    LinePoint start_;
    const Line& line_;
    int evaluations_ = 0;
};

}  // namespace eddy::inline v0::train
