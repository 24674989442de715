#pragma once
// How fits are judged: the best sum of squares, and the share of starts that found it. arms/lynx_hare.py has the same.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../../examples/fit_lynx_hare/unknowns.hpp"

namespace peers {

inline constexpr double best_known = 2.018661353;

class Found {
  public:
    void add(double sum_of_squares) {
        ++total_;
        if (!std::isfinite(sum_of_squares)) return;
        best_ = std::min(best_, sum_of_squares);
        if (sum_of_squares < best_known * (1 + 1e-4)) ++at_best_;
    }
    /// Appended to the answer to `run`.
    [[nodiscard]] std::string text() const {
        return " found='" + std::to_string(std::lround(100. * at_best_ / std::max(total_, 1))) +
               " % of starts reach the best optimum'";
    }
    [[nodiscard]] std::vector<double> values(int check) const {
        return std::vector<double>(static_cast<std::size_t>(check), best_ / best_known);
    }

  private:
    int total_ = 0, at_best_ = 0;
    double best_ = std::numeric_limits<double>::infinity();
};

[[nodiscard]] inline lynx_hare::UnknownsArray every(const lynx_hare::UnknownsArray& starts,
                                                    int stride) {
    lynx_hare::UnknownsArray kept(starts.rows() / stride, lynx_hare::num_unknowns);
    for (Eigen::Index i = 0; i < kept.rows(); ++i) kept.row(i) = starts.row(i * stride);
    return kept;
}

}  // namespace peers
