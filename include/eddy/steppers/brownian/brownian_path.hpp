#pragma once
// A Brownian path without memory: the increments of a step are a pure function of seed, path and
// place in time, so that a replay, a method of another kind, or another machine meets the same path.
// Steps between two tstops are counted from the first of them; 2^level steps make a cell, and a step
// is a node at depth `level` of its cell's tree. A step that a tstop cuts short takes the increments
// of its node, scaled to its length: what was before is independent of them, so the law is exact.
// Steps of adaptive size: dyadic_path.hpp.
// Test: tests/steppers/brownian.cpp

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

/// What the tree of a cell splits.
template <class Number, int areas>
using PieceOf = std::conditional_t<(areas >= 2), BrownianMoments<Number>, BrownianPiece<Number>>;

/// Of noise i, a cell as a whole, of length 1, from its root normals: those of W of all noises, then
/// those of H, then those of K.
template <class Piece, int noises, class Single>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Piece root_piece(const Single* z, int i) {
    using Number = typename Piece::value_type;
    constexpr auto root_12 = static_cast<ScalarOf<Number>>(0.28867513459481287);
    constexpr auto root_720 = static_cast<ScalarOf<Number>>(0.037267799624996496);
    const Number w = convert<Number>(z[i]), h = Number(root_12) * convert<Number>(z[noises + i]);
    if constexpr (Piece::num_normals == 3)
        return {w, h, Number(root_720) * convert<Number>(z[2 * noises + i])};
    else
        return {w, h};
}
/// The increments of a step that is `root`² as long as the piece.
template <int areas, class Piece, int noises>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto scaled_pieces(
    const Piece (&piece)[noises], const typename Piece::value_type& root) {
    BrownianIncrements<typename Piece::value_type, noises, areas> result;
    for_components<noises>([&](int i) EDDY_INLINE {
        result.w[i] = root * piece[i].w;
        if constexpr (areas >= 1) result.h[i] = root * piece[i].h;
        if constexpr (areas >= 2) result.k[i] = root * piece[i].k;
    });
    return result;
}

template <class Number, class Single>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto split_by(const BrownianPiece<Number>& whole,
                                                       const Number& root, const Single* z) {
    return split(whole, root, convert<Number>(z[0]), convert<Number>(z[1]));
}
template <class Number, class Single>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto split_by(const BrownianMoments<Number>& whole,
                                                       const Number& root, const Single* z) {
    return split(whole, root, convert<Number>(z[0]), convert<Number>(z[1]), convert<Number>(z[2]));
}
template <class Number, class Mask>
[[nodiscard]] EDDY_INLINE EDDY_HD inline BrownianPiece<Number> select_piece(
    const Mask& mask, const BrownianPiece<Number>& x, const BrownianPiece<Number>& y) {
    return {select(mask, x.w, y.w), select(mask, x.h, y.h)};
}
template <class Number, class Mask>
[[nodiscard]] EDDY_INLINE EDDY_HD inline BrownianMoments<Number> select_piece(
    const Mask& mask, const BrownianMoments<Number>& x, const BrownianMoments<Number>& y) {
    return {select(mask, x.w, y.w), select(mask, x.h, y.h), select(mask, x.k, y.k)};
}

/// From a node of `length` to its right half where `right` is 1, else to its left one; where the mask
/// says so.
template <class Time, class Piece, class Counts, int noises>
EDDY_INLINE EDDY_HD inline void go_down(const PathNoise<Time>& noise, const Counts& cell,
                                        const Counts& node, const Counts& right, double length,
                                        Piece (&piece)[noises],
                                        const MaskOf<typename Piece::value_type>& goes) {
    using Number = typename Piece::value_type;
    constexpr int count = Piece::num_normals;
    eddy::WithElement<Time, float> z[count * noises];
    noise.splitting(cell, node, z);
    const auto goes_right = convert<Number>(static_cast<Time>(right)) > Number(0);
    const Number root(static_cast<ScalarOf<Number>>(std::sqrt(length)));
    for (int i = 0; i < noises; ++i) {
        const auto halves = split_by(piece[i], root, z + count * i);
        piece[i] =
            select_piece(goes, select_piece(goes_right, halves.right, halves.left), piece[i]);
    }
}

}  // namespace detail

/// The number of steps of constant size since the last tstop, read off the elapsed time.
template <class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Time steps_since(const Time& elapsed, const Time& origin,
                                                          const ScalarOf<Time>& per_size) {
    return floor(mul_add(elapsed - origin, Time(per_size), Time(0.5)));
}

/// The path of a step.
template <class Time>
class BrownianPath {
  public:
    /// Its noise is that of a NoisePlan, which numbers paths and cells: steps begin at these.
    static constexpr bool is_numbered = true;
    /// `normals`: those of W, then those of H, then those of K, of the step as a cell, if they are at hand.
    EDDY_INLINE EDDY_HD BrownianPath(const StepInterval<Time>& interval, const NoisePlan& plan,
                                     const NoisePosition<Time>& at,
                                     const WithElement<Time, float>* normals = nullptr)
        : plan_(&plan),
          lane_(interval.lane),
          size_(interval.size),
          at_(at),
          root_(sqrt(interval.size)),
          normals_(normals) {}
    /// The same for a step whose size has the root `root`.
    EDDY_INLINE EDDY_HD BrownianPath(const StepInterval<Time>& interval, const Time& root,
                                     const NoisePlan& plan, const NoisePosition<Time>& at,
                                     const WithElement<Time, float>* normals)
        : plan_(&plan),
          lane_(interval.lane),
          size_(interval.size),
          at_(at),
          root_(root),
          normals_(normals) {}

    /// W of each noise over the step, and H as well where `areas` is 1: the W are the same. Where it is 2,
    /// H and K: within a cell the path is then another one, for the tree of W and H knows no K.
    template <class Number, int noises, int areas>
    [[nodiscard]] EDDY_INLINE EDDY_HD BrownianIncrements<Number, noises, areas> increments() const {
        static_assert(noises <= most_noises, "noise: there may be at most 128 noises");
        if (normals_ != nullptr) [[likely]]
            return scaled<Number, noises, areas>(normals_);
        const BrownianPath copy = *this;  // which alone has an address
        return copy.template drawn<Number, noises, areas>();
    }

    /// √ of the step's length.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD Number root_of_size() const {
        return convert<Number>(root_);
    }

  private:
    /// Where the normals are not at hand: much text, and out of line, for whoever can has them.
    template <class Number, int noises, int areas>
    [[nodiscard, gnu::noinline]] EDDY_HD BrownianIncrements<Number, noises, areas> drawn() const {
        using Counts = typename detail::CountsOf<Time>::type;
        using Single = WithElement<Time, float>;
        using Piece = detail::PieceOf<Number, areas>;
        const detail::PathNoise<Time> noise(
            plan_->key, detail::as_counts(lane_) + Counts(plan_->first_path), plan_->antithetic);
        const Counts step = detail::as_counts(at_.step);
        const Counts cell = detail::as_counts(at_.first_cell) + (step >> plan_->level);

        if (plan_->level == 0) {
            Single z[(1 + areas) * noises];
            noise.template root_of_cell<noises>(cell, z);
            return scaled<Number, noises, areas>(z);
        }
        Single z[Piece::num_normals * noises];
        noise.template root_of_cell<noises>(cell, z);
        Piece piece[noises];
        for_components<noises>(
            [&](int i) EDDY_INLINE { piece[i] = detail::root_piece<Piece, noises>(z, i); });
        const Number root = descend(noise, cell, step, piece);
        return detail::scaled_pieces<areas>(piece, root);
    }
    /// A step that is a cell.
    template <class Number, int noises, int areas>
    [[nodiscard]] EDDY_INLINE EDDY_HD BrownianIncrements<Number, noises, areas> scaled(
        const WithElement<Time, float>* z) const {
        const Number root = convert<Number>(root_);
        if constexpr (areas == 0) {
            BrownianIncrements<Number, noises, 0> result;
            for_components<noises>([&](int i)
                                       EDDY_INLINE { result.w[i] = root * convert<Number>(z[i]); });
            return result;
        } else {
            detail::PieceOf<Number, areas> piece[noises];
            for_components<noises>([&](int i) EDDY_INLINE {
                piece[i] = detail::root_piece<detail::PieceOf<Number, areas>, noises>(z, i);
            });
            return detail::scaled_pieces<areas>(piece, root);
        }
    }
    /// From the root, of length 1, to the step's node. Returns the factor that makes the node's
    /// values those of the step.
    template <class Counts, class Piece, int noises>
    [[nodiscard]] EDDY_HD typename Piece::value_type descend(const detail::PathNoise<Time>& noise,
                                                             const Counts& cell, const Counts& step,
                                                             Piece (&piece)[noises]) const {
        using Number = typename Piece::value_type;
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
