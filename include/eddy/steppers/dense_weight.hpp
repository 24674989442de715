#pragma once
// The weight of a stage in dense output, w(θ) = Σ_m c_m θ^(m+1), and its derivative by θ: Horner's rule
// with coefficients that are known when it is compiled.
// Test: tests/steppers/interpolants.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>

namespace eddy::inline v0::detail {

/// Of stage i: `Table::dense_weight(i, m)` is c_m, m < `Table::num_powers`.
template <class Table, int i>
struct DenseWeight {
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real at(const Real& theta) {
        return theta * polynomial<false>(theta);
    }
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real slope(const Real& theta) {
        return polynomial<true>(theta);
    }

  private:
    /// Σ_m c_m θ^m, or with each term times m + 1.
    template <bool times_power, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real polynomial(const Real& theta) {
        constexpr int last = Table::num_powers - 1;
        Real value = coefficient<last, times_power, Real>();
        static_for<0, last>([&]<int reversed>() EDDY_INLINE {
            constexpr int m = last - 1 - reversed;
            value = mul_add(value, theta, coefficient<m, times_power, Real>());
        });
        return value;
    }
    template <int m, bool times_power, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real coefficient() {
        constexpr double weight = Table::dense_weight(i, m) * (times_power ? m + 1 : 1);
        return Real(static_cast<ScalarOf<Real>>(weight));
    }
};

}  // namespace eddy::inline v0::detail
