#pragma once
// The six unknowns of the fit. They are logarithms, so that rates and counts stay positive whatever
// step the optimiser takes.

#include <Eigen/Core>

namespace lynx_hare {

/// Logarithms of the rates a, b, c, d, and of hares and lynxes in the first year.
inline constexpr int num_unknowns = 6;
inline constexpr const char* unknown_names[num_unknowns] = {"a", "b", "c", "d", "hare0", "lynx0"};

/// Beyond it, rates and their products leave the range of double.
inline constexpr double largest_unknown = 300;
[[nodiscard]] inline bool in_range(const Eigen::VectorXd& unknowns) {
    return unknowns.allFinite() && unknowns.cwiseAbs().maxCoeff() < largest_unknown;
}

/// (lane, unknown): one set of unknowns a row.
using UnknownsArray = Eigen::Array<double, Eigen::Dynamic, num_unknowns>;

[[nodiscard]] inline Eigen::ArrayXXd rates(const UnknownsArray& unknowns) {
    return unknowns.leftCols<4>().exp();
}
[[nodiscard]] inline Eigen::ArrayXXd first_counts(const UnknownsArray& unknowns) {
    return unknowns.rightCols<2>().exp();
}

/// Six lanes with the same unknowns; lane j moves in the direction of unknown j. Unknowns are
/// logarithms: dp = p d(log p).
struct Directions {
    Eigen::ArrayXXd y0, p, y0_tangent, p_tangent;

    explicit Directions(const Eigen::VectorXd& unknowns) {
        const UnknownsArray lanes = unknowns.transpose().replicate<num_unknowns, 1>();
        const UnknownsArray each = Eigen::MatrixXd::Identity(num_unknowns, num_unknowns);
        y0 = first_counts(lanes);
        p = rates(lanes);
        y0_tangent = y0 * each.rightCols<2>();
        p_tangent = p * each.leftCols<4>();
    }
};

}  // namespace lynx_hare
