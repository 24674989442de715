#pragma once
// A Brownian path without memory: the increments of a step are a pure function of seed, path and
// place in time, so that a replay, a method of another kind, or another machine meets the same path.
// Steps between two tstops are counted from the first of them; 2^level steps make a cell, and a step
// is a node at depth `level` of its cell's tree. A step that a tstop cuts short takes the increments
// of its node, scaled to its length: what was before is independent of them, so the law is exact.
// Steps of adaptive size: dyadic_path.hpp.

#include <eddy/steppers/brownian/dyadic_grid.hpp>
#include <eddy/steppers/brownian/increments.hpp>
#include <eddy/steppers/term.hpp>

namespace eddy::inline v0 {

/// The noise of a call, as loops read it.
struct NoisePlan {
    PhiloxKey key;
    std::uint64_t first_path = 0;   // the number of lane 0's
    bool antithetic = false;        // paths 2k + 1 are those of 2k with the other sign
    int level = 0;                  // a cell is 2^level steps; of adaptive size, at most
    double cell = 0;                // its length
    double root = 0;                // √dt0, of steps of constant size
    const CellRow* rows = nullptr;  // (tstop) the cells before it
};

/// Where a step is: the number of cells before the last tstop, of steps since then.
template <class Time>
struct NoisePosition {
    Time first_cell, step;
};

namespace detail {

/// A cell as a whole, of length 1, from its root normals.
template <class Number, class Single>
[[nodiscard, gnu::always_inline]] EDDY_HD inline BrownianPiece<Number> root_piece(
    const Single& z, const Single& area) {
    constexpr auto root_12 = static_cast<ScalarOf<Number>>(0.28867513459481287);
    return {convert<Number>(z), Number(root_12) * convert<Number>(area)};
}

/// From a node of `length` to its right half where `right` is 1, else to its left one; where the mask
/// says so.
template <class Time, class Number, class Counts, int noises>
[[gnu::always_inline]] EDDY_HD inline void go_down(const PathNoise<Time>& noise, const Counts& cell,
                                                   const Counts& node, const Counts& right,
                                                   double length,
                                                   BrownianPiece<Number> (&piece)[noises],
                                                   const MaskOf<Number>& goes) {
    eddy::WithElement<Time, float> z[2 * noises];
    noise.template splitting<noises>(cell, node, z);
    const auto goes_right = convert<Number>(static_cast<Time>(right)) > Number(0);
    const Number root(static_cast<ScalarOf<Number>>(std::sqrt(length)));
    for (int i = 0; i < noises; ++i) {
        const auto halves =
            split(piece[i], root, convert<Number>(z[2 * i]), convert<Number>(z[2 * i + 1]));
        piece[i] = {select(goes, select(goes_right, halves.right.w, halves.left.w), piece[i].w),
                    select(goes, select(goes_right, halves.right.h, halves.left.h), piece[i].h)};
    }
}

}  // namespace detail

/// The number of steps of constant size since the last tstop, read off the elapsed time.
template <class Time>
[[nodiscard, gnu::always_inline]] EDDY_HD inline Time steps_since(const Time& elapsed,
                                                                  const Time& origin,
                                                                  double per_size) {
    return floor(mul_add(elapsed - origin, Time(per_size), Time(0.5)));
}

/// The path of a step.
template <class Time>
class BrownianPath {
  public:
    /// `normals`: those of W, then those of H, of the step as a cell, if they are at hand.
    [[gnu::always_inline]] EDDY_HD BrownianPath(const StepInterval<Time>& interval,
                                                const NoisePlan& plan,
                                                const NoisePosition<Time>& at,
                                                const WithElement<Time, float>* normals = nullptr)
        : plan_(&plan),
          lane_(interval.lane),
          size_(interval.size),
          at_(at),
          root_(sqrt(interval.size)),
          normals_(normals) {}
    /// The same for a step whose size has the root `root`.
    [[gnu::always_inline]] EDDY_HD BrownianPath(const StepInterval<Time>& interval,
                                                const Time& root, const NoisePlan& plan,
                                                const NoisePosition<Time>& at,
                                                const WithElement<Time, float>* normals)
        : plan_(&plan),
          lane_(interval.lane),
          size_(interval.size),
          at_(at),
          root_(root),
          normals_(normals) {}

    /// W of each noise over the step, and H as well where `with_area`: the W are the same.
    template <class Number, int noises, bool with_area>
    [[nodiscard, gnu::always_inline]] EDDY_HD BrownianIncrements<Number, noises, with_area>
    increments() const {
        static_assert(noises <= most_noises, "noise: there may be at most 128 noises");
        if (normals_ != nullptr) [[likely]]
            return scaled<Number, noises, with_area>(normals_);
        const BrownianPath copy = *this;  // which alone has an address
        return copy.template drawn<Number, noises, with_area>();
    }

    /// √ of the step's length.
    template <class Number>
    [[nodiscard, gnu::always_inline]] EDDY_HD Number root_of_size() const {
        return convert<Number>(root_);
    }

  private:
    /// Where the normals are not at hand: much text, and out of line, for whoever can has them.
    template <class Number, int noises, bool with_area>
    [[nodiscard, gnu::noinline]] EDDY_HD BrownianIncrements<Number, noises, with_area> drawn()
        const {
        using Counts = typename detail::CountsOf<Time>::type;
        using Single = WithElement<Time, float>;
        const detail::PathNoise<Time> noise(
            plan_->key, detail::as_counts(lane_) + Counts(plan_->first_path), plan_->antithetic);
        const Counts step = detail::as_counts(at_.step);
        const Counts cell = detail::as_counts(at_.first_cell) + (step >> plan_->level);

        if (plan_->level == 0) {
            Single z[with_area ? 2 * noises : noises];
            noise.template root_of_cell<noises>(cell, z);
            return scaled<Number, noises, with_area>(z);
        }
        Single z[2 * noises];
        noise.template root_of_cell<noises>(cell, z);
        BrownianPiece<Number> piece[noises];
        for_components<noises>([&](int i) __attribute__((always_inline)) {
            piece[i] = detail::root_piece<Number>(z[i], z[noises + i]);
        });
        const Number root = descend(noise, cell, step, piece);
        BrownianIncrements<Number, noises, with_area> result;
        for_components<noises>([&](int i) __attribute__((always_inline)) {
            result.w[i] = root * piece[i].w;
            if constexpr (with_area) result.h[i] = root * piece[i].h;
        });
        return result;
    }
    /// A step that is a cell.
    template <class Number, int noises, bool with_area>
    [[nodiscard, gnu::always_inline]] EDDY_HD BrownianIncrements<Number, noises, with_area> scaled(
        const WithElement<Time, float>* z) const {
        const Number root = convert<Number>(root_);
        BrownianIncrements<Number, noises, with_area> result;
        for_components<noises>([&](int i) __attribute__((always_inline)) {
            if constexpr (with_area) {
                const auto piece = detail::root_piece<Number>(z[i], z[noises + i]);
                result.w[i] = root * piece.w;
                result.h[i] = root * piece.h;
            } else {
                result.w[i] = root * convert<Number>(z[i]);
            }
        });
        return result;
    }
    /// From the root, of length 1, to the step's node. Returns the factor that makes the node's
    /// values those of the step.
    template <class Number, class Counts, int noises>
    [[nodiscard]] EDDY_HD Number descend(const detail::PathNoise<Time>& noise, const Counts& cell,
                                         const Counts& step,
                                         BrownianPiece<Number> (&piece)[noises]) const {
        Counts node(1);
        double length = 1;
        for (int depth = 0; depth < plan_->level; ++depth) {
            const Counts right = (step >> (plan_->level - 1 - depth)) & Counts(1);
            detail::go_down(noise, cell, node, right, length, piece, MaskOf<Number>(true));
            node = (node << 1) | right;
            length /= 2;
        }
        return convert<Number>(sqrt(size_ * Time(1 / length)));
    }
    const NoisePlan* plan_;
    Time lane_, size_;
    NoisePosition<Time> at_;
    Time root_;  // √size
    const WithElement<Time, float>* normals_;
};

}  // namespace eddy::inline v0
