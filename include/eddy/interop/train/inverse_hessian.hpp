#pragma once
// The inverse of a Hessian, as far as the last steps of a minimisation tell of it: L-BFGS (Nocedal & Wright
// 2006, Numerical Optimization, algorithm 7.4).

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace eddy::inline v0::train::detail {

[[nodiscard]] inline double dot_of(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// The last steps and changes of the gradient, and what they say of the Hessian.
class InverseHessian {
  public:
    explicit InverseHessian(int history) : most_(static_cast<std::size_t>(history)) {}

    [[nodiscard]] bool is_empty() const { return pairs_.empty(); }
    void forget() { pairs_.clear(); }
    /// A step and how the gradient changed along it; one of negative curvature says nothing.
    void add(std::vector<double> step, std::vector<double> change) {
        const double curvature = dot_of(step, change);
        const double scale = dot_of(change, change);
        if (!(curvature > std::numeric_limits<double>::epsilon() * scale)) return;
        if (pairs_.size() == most_) pairs_.erase(pairs_.begin());
        pairs_.push_back({std::move(step), std::move(change), curvature});
    }
    /// −H⁻¹ g.
    [[nodiscard]] std::vector<double> direction(std::span<const double> gradient) const {
        std::vector<double> d(gradient.begin(), gradient.end()), part(pairs_.size());
        for (std::size_t k = pairs_.size(); k-- > 0;) {
            part[k] = dot_of(pairs_[k].step, d) / pairs_[k].curvature;
            add_multiple(d, -part[k], pairs_[k].change);
        }
        double scale = -1;
        if (!pairs_.empty()) {
            const Pair& last = pairs_.back();
            scale = -last.curvature / dot_of(last.change, last.change);
        }
        for (double& x : d) x *= scale;
        for (std::size_t k = 0; k < pairs_.size(); ++k) {
            const double again = dot_of(pairs_[k].change, d) / pairs_[k].curvature;
            add_multiple(d, -part[k] - again, pairs_[k].step);
        }
        return d;
    }

  private:
    struct Pair {
        std::vector<double> step, change;
        double curvature;
    };
    static void add_multiple(std::vector<double>& to, double factor,
                             const std::vector<double>& from) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
    }

    std::size_t most_;
    std::vector<Pair> pairs_;
};

}  // namespace eddy::inline v0::train::detail
