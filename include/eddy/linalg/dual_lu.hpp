#pragma once
// LU factors of a matrix of dual numbers. Only values are factored, for tangents solve systems with the
// same matrix:
//
//   A x = b   ⟹   A ẋ = ḃ − Ȧ x,        Aᵀ x = b   ⟹   Aᵀ ẋ = ḃ − Ȧᵀ x.
//
// Factoring the dual numbers themselves gives the same and costs three times as much. Of dual numbers
// of dual numbers the values are dual numbers again.
// Test: tests/linalg/sparse_lu.cpp

#include <eddy/ad/dual.hpp>
#include <eddy/linalg/sparse_lu.hpp>

namespace eddy::inline v0 {

template <MatrixStructure Structure, class T>
struct SparseLu<Structure, Dual<T>> {
    using Number = Dual<T>;
    using Values = SparseLu<Structure, T>;
    static constexpr int size = Structure::size;
    using Vector = Vec<Number, size>;
    using Entries = Vec<Number, Structure::num_entries>;

    Values values;
    typename Values::Entries tangent;  // Ȧ

    EDDY_INLINE EDDY_HD constexpr void factor(const Entries& entries) {
        typename Values::Entries value;
        static_for<0, Structure::num_entries>([&]<int e>() EDDY_INLINE {
            value.data[e] = entries.data[e].value;
            tangent.data[e] = entries.data[e].tangent;
        });
        values.factor(value);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vector solve(const Vector& b) const {
        return solve<false>(b);
    }
    EDDY_INLINE EDDY_HD constexpr void solve_in_place(Vector& b) const { b = solve<false>(b); }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vector solve_transposed(const Vector& b) const {
        return solve<true>(b);
    }
    EDDY_INLINE EDDY_HD constexpr void solve_transposed_in_place(Vector& b) const {
        b = solve<true>(b);
    }
    /// Growth of the values.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto has_grown(const Entries& entries) const {
        return values.has_grown(values_of(entries));
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto has_infinite_pivot() const {
        return values.has_infinite_pivot();
    }
    [[nodiscard]] EDDY_HD int failed_pivot(const Entries& entries, int place) const {
        return values.failed_pivot(values_of(entries), place);
    }

  private:
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr typename Values::Entries values_of(
        const Entries& entries) {
        typename Values::Entries value;
        static_for<0, Structure::num_entries>(
            [&]<int e>() EDDY_INLINE { value.data[e] = entries.data[e].value; });
        return value;
    }
    template <bool transposed>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vector solve(const Vector& b) const {
        Vec<T, size> value, rest;
        static_for<0, size>([&]<int i>() EDDY_INLINE {
            value.data[i] = b.data[i].value;
            rest.data[i] = b.data[i].tangent;
        });
        value = transposed ? values.solve_transposed(value) : values.solve(value);
        static_for<0, Structure::num_entries>([&]<int e>() EDDY_INLINE {
            constexpr int row = Structure::pattern[e].row, column = Structure::pattern[e].column;
            constexpr int to = transposed ? column : row, from = transposed ? row : column;
            rest.data[to] = mul_add(-tangent.data[e], value.data[from], rest.data[to]);
        });
        rest = transposed ? values.solve_transposed(rest) : values.solve(rest);
        Vector x;
        static_for<0, size>([&]<int i>() EDDY_INLINE {
            x.data[i] = {value.data[i], rest.data[i]};
        });
        return x;
    }
};

}  // namespace eddy::inline v0
