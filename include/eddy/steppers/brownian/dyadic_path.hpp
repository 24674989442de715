#pragma once
// The Brownian path of steps of adaptive size: each place of a Time is at a depth of its own in the
// tree of its cell. Where a cell is not cut short, the increments of a step are those that
// BrownianPath gives for steps of that constant size, bit for bit.
// Test: tests/steppers/dyadic.cpp

#include <eddy/steppers/brownian/brownian_path.hpp>

namespace eddy::inline v0 {

/// The path of a step that is a dyadic part of a cell.
template <class Time>
class DyadicPath {
    using Counts = typename detail::CountsOf<Time>::type;

  public:
    static constexpr bool is_numbered = true;
    EDDY_INLINE EDDY_HD DyadicPath(const StepInterval<Time>& interval, const NoisePlan& plan,
                                   const detail::NoisePlace<Time>& at)
        : plan_(&plan), lane_(interval.lane), size_(interval.size), at_(at) {}

    /// W of each noise over the step, and H as well where `areas` is 1: the W are the same.
    template <class Number, int noises, int areas>
    [[nodiscard]] EDDY_HD BrownianIncrements<Number, noises, areas> increments() const {
        static_assert(noises <= most_noises, "noise: there may be at most 128 noises");
        static_assert(areas < 2, "noise: methods that want K take steps of constant size");
        using Piece = BrownianPiece<Number>;
        using Single = WithElement<Time, float>;
        const detail::PathNoise<Time> noise(
            plan_->key, detail::as_counts(lane_) + Counts(plan_->first_path), plan_->antithetic);
        const Counts cell = detail::as_counts(at_.cell);
        Single z[2 * noises];
        noise.template root_of_cell<noises>(cell, z);
        Piece piece[noises];
        for_components<noises>(
            [&](int i) EDDY_INLINE { piece[i] = detail::root_piece<Piece, noises>(z, i); });
        descend(noise, cell, piece);
        return detail::scaled_pieces<areas>(piece, convert<Number>(sqrt(at_.length)));
    }

    /// √ of the step's length.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD Number root_of_size() const {
        return convert<Number>(sqrt(size_));
    }

  private:
    /// From the roots, of length 1, to the step's nodes.
    template <class Number, int noises>
    EDDY_HD void descend(const detail::PathNoise<Time>& noise, const Counts& cell,
                         BrownianPiece<Number> (&piece)[noises]) const {
        const Counts units = detail::as_counts(at_.units);
        Counts node(1);
        double length = 1;
        for (int depth = 0; depth < plan_->level; ++depth) {
            const auto goes_on = at_.part < Time(length);
            if (!any(goes_on)) return;
            const Counts right = (units >> (plan_->level - 1 - depth)) & Counts(1);
            detail::go_down(noise, cell, node, right, length, piece,
                            convert<Number>(select(goes_on, Time(1), Time(0))) > Number(0));
            node = (node << 1) | right;
            length /= 2;
        }
    }

    const NoisePlan* plan_;
    Time lane_, size_;
    detail::NoisePlace<Time> at_;
};

}  // namespace eddy::inline v0
