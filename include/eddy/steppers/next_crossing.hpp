#pragma once
// Where a function of one number next crosses zero, whatever the function: no stretch is left behind in which
// bounds of its values (ad/interval.hpp) do not leave zero out, or those of its slope, which then is of one sign, so
// that the signs at its ends tell. A stretch that bounds do not settle is quartered, down to `width`: where rounding
// leaves the sign open, as around a zero itself, signs are compared, at distances that grow. So no crossing is
// missed but two that lie so close together; a zero that is only touched is none.
// Test: tests/steppers/next_crossing.cpp

#include <eddy/ad/interval.hpp>
#include <eddy/steppers/root_bracket.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Which crossings count.
struct CrossingsSought {
    bool rising, falling;
};

/// What a search has found: a crossing at `at`; or none before, and what is beyond is unknown, after too many tries,
/// or as the function is no number there.
struct NextCrossing {
    double at;
    bool is_found;
};

/// `f(x)` is its value, `f.bounds(a, b)` and `f.slopes(a, b)` are intervals; `f.width(x)` what x resolves.
template <class Function>
class CrossingSearch {
  public:
    EDDY_HD CrossingSearch(const Function& f, const CrossingsSought& sought)
        : f_(f), sought_(sought) {}

    /// Between `from`, not with it, and `to`.
    [[nodiscard]] EDDY_HD NextCrossing run(double from, double to) {
        at_ = from;
        side_ = f_(from);
        if (side_ != side_) return {from, false};
        double size = to - from, grown = 0;
        for (int tries = 0; tries < most_tries && at_ < to; ++tries) {
            const double least = max(f_.width(at_), grown), left = to - at_;
            const double length = min(max(size, least), left);
            const double end = length == left ? to : at_ + length;
            const Interval values = f_.bounds(at_, end);
            grown = 0;
            if (values.are_numbers() && (values.excludes_zero() || values.is_zero())) {
                if (!values.is_zero()) side_ = values.low > 0 ? values.low : values.high;
            } else if (const Slope slope = slope_of(values, end); slope != Slope::unknown) {
                if (crosses_until(end, slope)) return {refined(end), true};
            } else if (length > least) {
                size = 0.25 * length;
                continue;
            } else {
                if (crosses_until(end, slope)) return {refined(end), true};
                grown = 2 * length;
            }
            if (side_ != side_) return {at_, false};
            size = 2 * length;
            at_ = end;
        }
        return {at_, false};
    }

  private:
    static constexpr int most_tries = 1024;
    enum class Slope : signed char { falls = -1, unknown, rises };

    [[nodiscard]] EDDY_HD Slope slope_of(const Interval& values, double end) const {
        if (!values.is_continuous()) return Slope::unknown;
        const Interval slopes = f_.slopes(at_, end);
        return slopes.low > 0 ? Slope::rises : slopes.high < 0 ? Slope::falls : Slope::unknown;
    }
    /// Does a crossing that counts lie up to `end`? One that does not changes the side.
    [[nodiscard]] EDDY_HD bool crosses_until(double end, Slope slope) {
        now_ = f_(end);
        // A zero at the end is a crossing where the function has a slope.
        const double least = std::numeric_limits<double>::min();
        const double now = now_ != 0 ? now_ : static_cast<double>(slope) * least;
        const bool rises = side_ < 0 && now > 0, falls = side_ > 0 && now < 0;
        if ((rises && sought_.rising) || (falls && sought_.falling)) return true;
        if (now != 0) side_ = now;
        return false;
    }
    /// The crossing between at_ and end.
    [[nodiscard]] EDDY_HD double refined(double end) const {
        if (now_ == 0) return end;
        const double width = f_.width(at_);
        RootBracket bracket = RootBracket::begin(end - at_, side_, now_);
        while (!bracket.is_closed(width)) {
            const double size = bracket.next(width);
            if (!(size > bracket.low && size < bracket.high)) break;
            const double value = f_(at_ + size);
            if (value == 0) return at_ + size;
            bracket.narrow(size, value, side_ < 0 ? value > 0 : value < 0);
        }
        return at_ + bracket.high;
    }

    const Function& f_;
    CrossingsSought sought_;
    double at_ = 0, side_ = 0, now_ = 0;
};

}  // namespace eddy::inline v0::detail
