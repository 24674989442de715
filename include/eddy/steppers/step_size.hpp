#pragma once
// The size of a step, as the coefficients of a method that are multiplied by it: a_ij dt and b_i dt
// are what the sums of a step need. `StepSize` forms each product where it is used, one size per
// lane; `UniformStepSize` holds all of them, formed once for a size that many steps of all lanes
// share. The sums are then the same, bit for bit.
// Test: tests/steppers/stiffness.cpp, tests/solve/stochastic_path.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// A step of `dt` for numbers of type Real: dt in the type of the time, h the same in that of the
/// state.
template <class Time, class Real>
struct StepSize {
    Time dt;
    Real h;

    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Time fraction(double c) const {
        return Time(static_cast<ScalarOf<Time>>(c)) * dt;
    }
    template <class Tableau, int i, int j>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real a() const {
        if constexpr (reads_operands)
            return Real(detail::operands_of<Tableau>().a[i][j]) * h;
        else
            return weight(Tableau::tableau.a[i][j]);
    }
    template <class Tableau, int i>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real b() const {
        constexpr int row = row_like_b<Tableau>();
        if constexpr (reads_operands && row >= 0)
            return a<Tableau, row, i>();  // the same operand: what is made of it is made once
        else if constexpr (reads_operands)
            return Real(detail::operands_of<Tableau>().b[i]) * h;
        else
            return weight(Tableau::tableau.b[i]);
    }

  private:
    static constexpr bool reads_operands =
        compiling_for_device && std::is_same_v<ScalarOf<Real>, double>;

    /// The row of a method whose last stage is taken at the new state; -1: of no other.
    template <class Tableau>
    static consteval int row_like_b() {
        const auto& tableau = Tableau::tableau;
        for (int row = 0; row < tableau.num_stages; ++row) {
            bool is_alike = true;
            for (int j = 0; j < tableau.num_stages; ++j)
                is_alike = is_alike && tableau.a[row][j] == tableau.b[j];
            if (is_alike) return row;
        }
        return -1;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real weight(double coefficient) const {
        return Real(static_cast<ScalarOf<Real>>(coefficient)) * h;
    }
};

/// One dt for all lanes, in the units of the time that steps start from; h is the size for the
/// state, with its sign. The products are read from memory, where an instruction can broadcast
/// them.
template <class Tableau, class Scalar>
class UniformStepSize {
  public:
    UniformStepSize() = default;
    UniformStepSize(double time_step, double state_step)
        : dt(time_step), h(static_cast<Scalar>(state_step)) {
        const auto& tableau = Tableau::tableau;
        for (int i = 0; i < num_stages; ++i) {
            b_[i] = static_cast<Scalar>(tableau.b[i]) * h;
            for (int j = 0; j < i; ++j) a_[i][j] = static_cast<Scalar>(tableau.a[i][j]) * h;
        }
    }

    double dt = 0;
    Scalar h = 0;

    [[nodiscard]] EDDY_INLINE EDDY_HD double fraction(double c) const { return c * dt; }
    template <class SameTableau, int i, int j>
    [[nodiscard]] EDDY_INLINE EDDY_HD Scalar a() const {
        return a_[i][j];
    }
    template <class SameTableau, int i>
    [[nodiscard]] EDDY_INLINE EDDY_HD Scalar b() const {
        return b_[i];
    }

  private:
    static constexpr int num_stages = Tableau::tableau.num_stages;
    Scalar a_[num_stages][num_stages]{};
    Scalar b_[num_stages]{};
};

/// A bare number or pack as the size of a step; a StepSize is one already.
template <class Size>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr decltype(auto) as_step_size(const Size& size) {
    if constexpr (requires { size.fraction(0.5); }) {
        return (size);
    } else {
        return StepSize<Size, Size>{size, size};
    }
}

}  // namespace eddy::inline v0
