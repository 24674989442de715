#pragma once
// The inverse of a Hessian, as far as the last steps of a minimisation tell of it: L-BFGS (Nocedal & Wright
// 2006, Numerical Optimization, algorithm 7.4).
// Test: tests/interop/lbfgs.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0::train::detail {

[[nodiscard]] EDDY_EXPORT double dot_of(std::span<const double> a, std::span<const double> b);

/// The last steps and changes of the gradient, and what they say of the Hessian.
class EDDY_EXPORT InverseHessian {
  public:
    explicit InverseHessian(int history);
    InverseHessian(const InverseHessian&);
    InverseHessian(InverseHessian&&) noexcept;
    InverseHessian& operator=(const InverseHessian&);
    InverseHessian& operator=(InverseHessian&&) noexcept;
    ~InverseHessian();

    [[nodiscard]] bool is_empty() const;
    void forget();
    /// A step and how the gradient changed along it; one of negative curvature says nothing.
    void add(std::vector<double> step, std::vector<double> change);
    /// −H⁻¹ g.
    [[nodiscard]] std::vector<double> direction(std::span<const double> gradient) const;

  private:
    struct Pair;

    std::size_t most_;
    std::vector<Pair> pairs_;
};

}  // namespace eddy::inline v0::train::detail
