#pragma once
// Lists of times, for all trajectories or of each.
// Test: tests/solve/validation.cpp, tests/solve/own_times.cpp

#include <cstddef>
#include <eddy/solve/ask/own_times.hpp>
#include <initializer_list>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

template <class Array>
concept Doubles = requires(const Array& array) {
    static_cast<const double*>(array.data());
    array.size();
};

/// A copy of all, in order: of a span, or of an Eigen array, as its strides say, such as a row of a table.
template <Doubles Array>
[[nodiscard]] std::vector<double> numbers_of(const Array& array) {
    const double* const first = array.data();
    const auto size = static_cast<std::ptrdiff_t>(array.size());
    if constexpr (requires { array.innerStride() + array.outerStride() + array.innerSize(); }) {
        std::vector<double> numbers;
        numbers.reserve(static_cast<std::size_t>(size));
        for (std::ptrdiff_t k = 0; k < size; ++k) {
            const std::ptrdiff_t outer = k / array.innerSize(), inner = k % array.innerSize();
            numbers.push_back(first[outer * array.outerStride() + inner * array.innerStride()]);
        }
        return numbers;
    } else {
        return std::vector<double>(first, first + size);
    }
}

}  // namespace detail

/// A list of times: from a braced list, a std::vector, or any array of doubles (a span, an Eigen array,
/// a row or column of one).
struct EDDY_EXPORT Times {
    std::vector<double> values;

    Times() = default;
    Times(const Times&);  // in src/, as those of all options: compiled once
    Times(Times&&) noexcept;
    Times& operator=(const Times&);
    Times& operator=(Times&&) noexcept;
    ~Times();
    Times(std::initializer_list<double> times);
    Times(std::vector<double> times) : values(std::move(times)) {}
    template <detail::Doubles Array>
    Times(const Array& array) : values(detail::numbers_of(array)) {}
};

/// Save points, and other numbers that each trajectory may have for its own (times of impulses, knots): a list for all
/// trajectories, or `each(array)`.
struct EDDY_EXPORT SaveTimes : Times {
    OwnTimes own;         ///< the times of each trajectory; empty where all have one list
    bool is_own = false;  ///< has each trajectory its own?

    /// From what `Times` are made of.
    using Times::Times;
    SaveTimes() = default;
    SaveTimes(const SaveTimes&);
    SaveTimes(SaveTimes&&) noexcept;
    SaveTimes& operator=(const SaveTimes&);
    SaveTimes& operator=(SaveTimes&&) noexcept;
    ~SaveTimes();
    SaveTimes(Times times) : Times(std::move(times)) {}
    SaveTimes(OwnTimes times) : own(std::move(times)), is_own(true) {}
};

}  // namespace eddy::inline v0
