#pragma once
// A stiff field, its Jacobian and its derivatives with respect to parameters in plain numbers, for solvers that
// ask for them one by one: what eddy's programs compute, with the zeros that they have.

#include <eddy/ad/jacobian.hpp>
#include <eddy/trace/field.hpp>

#include "stiff_times.hpp"
#include "support/stiff_equations.hpp"

namespace peers {

template <class Field>
struct StiffField {
    static constexpr int size = Field::state_size, num_p = Field::parameter_size;
    using Program = eddy::FieldProgram<Field>;
    using ByState = eddy::Jacobian<Program, 1>;
    using ByParameters = eddy::Jacobian<Program, 2>;
    using State = eddy::Vec<double, size>;
    using Parameters = eddy::Vec<double, num_p>;

    Parameters p{};

    void derivative(const double* y, double* dy) const {
        const auto f = Program{}(0.0, state(y), p);
        for (int i = 0; i < size; ++i) dy[i] = f[i];
    }
    /// Calls set(row, column, value) for the non-zeros of ∂f/∂y.
    template <class Set>
    void jacobian(const double* y, Set&& set) const {
        each<ByState>(y, set);
    }
    /// −λᵀ ∂f/∂y.
    void adjoint(const double* y, const double* lambda, double* d_lambda) const {
        for (int i = 0; i < size; ++i) d_lambda[i] = 0;
        each<ByState>(
            y, [&](int row, int column, double value) { d_lambda[column] -= value * lambda[row]; });
    }
    /// −λᵀ ∂f/∂p.
    void adjoint_of_parameters(const double* y, const double* lambda, double* d_p) const {
        for (int i = 0; i < num_p; ++i) d_p[i] = 0;
        each<ByParameters>(
            y, [&](int row, int column, double value) { d_p[column] -= value * lambda[row]; });
    }

  private:
    [[nodiscard]] static State state(const double* y) {
        State copy;
        for (int i = 0; i < size; ++i) copy[i] = y[i];
        return copy;
    }
    template <class Jacobian, class Set>
    void each(const double* y, Set&& set) const {
        const auto values = Jacobian{}(0.0, state(y), p);
        for (int e = 0; e < Jacobian::num_nonzeros; ++e)
            set(Jacobian::pattern[e].row, Jacobian::pattern[e].column, values[e]);
    }
};

}  // namespace peers
