#pragma once
// The checks of a call's arguments, before any work.

#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ensemble_array.hpp>
#include <eddy/solve/options.hpp>
#include <string>

namespace eddy::detail {

/// rtol and atol; `state_size` components.
void require_tolerances(const SolveOptions& options, int state_size, const char* where);

/// "where: name is an array of 3 x 2; give ...".
void require_shape(std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t wanted_rows,
                   std::ptrdiff_t wanted_cols, const char* name, const char* where);

[[noreturn]] void throw_not_finite(double value, std::ptrdiff_t lane, std::ptrdiff_t component,
                                   const char* name, const char* where);

template <class Real>
void require_finite(const EnsembleView<Real>& array, const char* name, const char* where) {
    for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
        for (std::ptrdiff_t lane = 0; lane < array.num_lanes; ++lane) {
            const auto value = array(lane, i);
            if (!std::isfinite(value))
                throw_not_finite(static_cast<double>(value), lane, i, name, where);
        }
    }
}

}  // namespace eddy::detail
