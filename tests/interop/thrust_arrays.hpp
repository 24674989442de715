#pragma once
// The same in vectors of Thrust, wherever its device system has them.

#include <thrust/copy.h>
#include <thrust/device_vector.h>

#include <eddy/interop/thrust.hpp>

#include "interop/thrust_problem.hpp"

namespace thrust_calls {

using eddy::view;
using Vector = thrust::device_vector<double>;

/// A vector of Thrust with the same numbers, which is one array in all calls.
class There {
  public:
    explicit There(const Array& values)
        : rows_(values.rows()), columns_(values.cols()), numbers_(values.size()) {
        thrust::copy(values.begin(), values.end(), numbers_.begin());
    }
    There(std::ptrdiff_t rows, std::ptrdiff_t columns) : There(Array(rows, columns, -1)) {}
    [[nodiscard]] auto in_place() const { return view(numbers_, rows_, columns_); }
    [[nodiscard]] auto in_place() { return view(numbers_, rows_, columns_); }
    [[nodiscard]] Array values() const {
        Array copy(rows_, columns_);
        thrust::copy(numbers_.begin(), numbers_.end(), copy.begin());
        return copy;
    }
    [[nodiscard]] const Vector& numbers() const { return numbers_; }

  private:
    std::ptrdiff_t rows_, columns_;
    Vector numbers_;
};

inline Arrays<There> problem_there() {
    return problem().changed([](const Array& array) { return There(array); });
}
inline auto views_of(const Arrays<There>& arrays) {
    return arrays.changed([](const There& array) { return array.in_place(); });
}

}  // namespace thrust_calls
