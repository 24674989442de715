#pragma once
// Other numbers in the place of some that options hold, in their memory: for a solver object that is called again.
// Test: tests/solve/new_values.cpp, tests/backends/row_objects.cpp

#include <eddy/core/error.hpp>
#include <eddy/solve/ask/options.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Array>
concept ArrayOfHost = is_ensemble_array<Array> && std::is_same_v<MemoryOf<Array>, HostMemory>;

/// Copies an array of `rows` × `columns` numbers; of one row also a list.
template <class Array>
void replace(std::vector<double>& numbers, std::ptrdiff_t rows, std::ptrdiff_t columns,
             const Array& array, const char* where, const char* name) {
    static_assert(ArrayOfHost<Array>,
                  "solver object: new values must be an array of the host, such as "
                  "Eigen::ArrayXXd or std::vector<double>, of the shape of those in the options");
    if constexpr (ArrayOfHost<Array>) {
        auto view = ensemble_view(array);
        const bool is_list = view.num_components == 1 && rows == 1;
        const std::ptrdiff_t given_rows = is_list ? 1 : view.num_lanes,
                             given_columns = is_list ? view.num_lanes : view.num_components;
        require_argument(given_rows == rows && given_columns == columns,
                         "{}: {} x {} numbers, but the {} are {} x {}; give as many, or make "
                         "another solver object",
                         where, given_rows, given_columns, name, rows, columns);
        std::size_t at = 0;
        for (std::ptrdiff_t row = 0; row < rows; ++row) {
            for (std::ptrdiff_t column = 0; column < columns; ++column)
                numbers[at++] = static_cast<double>(is_list ? view(column, 0) : view(row, column));
        }
    }
}
/// In the place of values at knots.
template <class Array>
void replace_values(KnotValues& values, const Array& array, const char* where, const char* name) {
    const std::ptrdiff_t rows = values.num_knots > 0 ? values.num_knots : values.rows.num_lanes;
    const std::ptrdiff_t all = values.rows.num_lanes * values.rows.num_times;
    replace(values.rows.values, rows, rows > 0 ? all / rows : 0, array, where, name);
}
/// In the place of a list, or of each trajectory's own.
template <class Array>
void replace_numbers(SaveTimes& numbers, const Array& array, const char* where, const char* name) {
    if (numbers.is_own)
        replace(numbers.own.values, numbers.own.num_lanes, numbers.own.num_times, array, where,
                name);
    else
        replace(numbers.values, 1, static_cast<std::ptrdiff_t>(numbers.values.size()), array, where,
                name);
}

/// The base of a solver object, whose Self::renew(where, replace) calls replace(options) and lets the next call plan with
/// what these hold then.
template <class Self>
class NewValues {
  public:
    /// Other values at the knots of `.inputs` from the next call on: an array of the shape that those of the
    /// options have, (knot, component), or (trajectory, knot · component) where each trajectory has its own.
    /// They are copied. Nothing else is planned anew.
    template <class Values>
    void set_inputs(const Values& values) {
        constexpr const char* where = "set_inputs";
        self().renew(where, [&](SolveOptions& options) {
            replace_values(options.inputs.values, values, where, "values of .inputs");
        });
    }
    /// The same for the amounts of `.impulses`: a list, or an array (trajectory, impulse) where each trajectory has
    /// its own.
    template <class Amounts>
    void set_impulse_amounts(const Amounts& amounts) {
        constexpr const char* where = "set_impulse_amounts";
        self().renew(where, [&](SolveOptions& options) {
            replace_numbers(options.impulses.amounts, amounts, where, "amounts of .impulses");
        });
    }

  private:
    [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace eddy::inline v0::detail
