#pragma once
// Where along a step a function g of its size changes its sign, by trying sizes: a bracket of two sizes
// that g tells apart, and which size to try next. The secant of Anderson & Björck (1973, BIT 13, 253),
// which lowers the weight of an end that does not move; a size is kept off both ends by half the width
// that is asked for, so that the last one closes the bracket; after a dozen tries it is halved. Whatever
// g is, a bracket closes.
// Test: tests/steppers/root_bracket.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/core/math.hpp>

namespace eddy::inline v0 {

/// Plain numbers, all zero where nothing is sought. Invariant: 0 <= low < high where it is open.
struct RootBracket {
    double low = 0, high = 0;      // sizes: g is at `high` beyond its root
    double g_low = 0, g_high = 0;  // the secant's weights
    double tries = 0;              // so far
    double moved = 0;              // which end the last one has moved: −1 low, 1 high

    static constexpr double most_secants = 12;

    [[nodiscard]] EDDY_HD bool is_open() const { return high > 0; }
    [[nodiscard]] EDDY_HD bool is_closed(double width) const { return high - low <= width; }

    /// g is beyond its root at `size`; at zero it is not.
    EDDY_HD static RootBracket begin(double size, double g_at_zero, double g_at_size) {
        return {0, size, g_at_zero, g_at_size, 0, 0};
    }
    /// What was tried takes the place of one end.
    EDDY_HD void narrow(double size, double g, bool is_beyond) {
        ++tries;
        if (is_beyond) {
            if (moved > 0) g_low *= lowered(g, g_high);
            high = size;
            g_high = g;
        } else {
            if (moved < 0) g_high *= lowered(g, g_low);
            low = size;
            g_low = g;
        }
        moved = is_beyond ? 1 : -1;
    }
    /// What was tried is not beyond the root that was followed, but beyond another function's, which is
    /// about g_at_low at the lower end.
    EDDY_HD void turn_to(double size, double g_at_low, double g) {
        ++tries;
        high = size;
        g_low = g_at_low;
        g_high = g;
        moved = 1;
    }
    /// The size to try next, between the ends; `width` is where the bracket will be closed. The lowest end
    /// may be a root that the step began at: the first sizes keep a twentieth off it.
    [[nodiscard]] EDDY_HD double next(double width) const {
        const double whole = high - low, half = low + 0.5 * whole;
        if (tries >= most_secants) return half;
        const double lowest = low + max(0.5 * width, low == 0 ? 0.05 * whole : 0.);
        const double highest = high - 0.5 * width;
        const double root = low + whole * (g_low / (g_low - g_high));
        if (!(root >= low && root <= high) || !(lowest < highest)) return half;
        return min(max(root, lowest), highest);
    }
    /// The size to try next where it may not close at `size`: less by hardly a width. It closes there, but
    /// where that is beyond the root.
    [[nodiscard]] EDDY_HD double step_back(double size, double width) {
        high = size;
        const double less = size - 0.875 * width;
        return less > 0 ? less : 0.5 * size;
    }

  private:
    /// A weight's factor, from what its other end was and is.
    [[nodiscard]] EDDY_HD static double lowered(double now, double before) {
        const double factor = 1 - now / before;
        return factor > 0 ? factor : 0.5;
    }
};

}  // namespace eddy::inline v0
