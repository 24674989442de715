#pragma once
// What the tangents of implicit steps have in common: factors of shift − J, and the step of states that they go along.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/linalg/sparse_lu.hpp>
#include <eddy/steppers/stepper.hpp>
#include <eddy/steppers/tangent_parts.hpp>

namespace eddy::inline v0::detail {

/// The factors of shift − J, given the non-zeros of J.
template <class Jacobians, class Matrix, class Number>
void factor_shifted(const Number& shift, const typename Jacobians::template Values<Number>& slopes,
                    SparseLu<Matrix, Number>& lu) {
    static_assert(Matrix::keeps_order);
    typename SparseLu<Matrix, Number>::Entries matrix;
    for (int e = 0; e < Matrix::num_entries; ++e) {
        matrix.data[e] = Matrix::mass[e] != 0 ? shift : Number(0);
        if (e < Jacobians::num_of_y) matrix.data[e] = matrix.data[e] - slopes.by_y[e];
    }
    lu.factor(matrix);
}

/// What was tried, or is tried anew.
template <class Stepper, class Input>
[[nodiscard]] auto tried(const Input& in) {
    typename Stepper::template Trial<NumberOf<Input>> trial;
    Stepper::attempt(in, NoMemory{}, trial);
    return trial;
}
template <class Stepper, class Input, class Trial>
[[nodiscard]] const Trial& tried(const Input&, const Trial& trial) {
    return trial;
}

}  // namespace eddy::inline v0::detail
