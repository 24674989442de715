#pragma once
// What a launch on a device does with an array before the lanes begin that its rows belong to: what kernels
// write holds one number everywhere at first, and what they read is looked at, whether it is finite. Each group
// does so with its own rows, in the kernel that solves it: no launch and no copy is needed for it.

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/saving.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Row r belongs to the group that lane r · `lanes_per_row` is in.
struct RowTask {
    enum class Kind : std::int32_t { fills, looks };
    enum class Type : std::int32_t { of_double, of_float, of_int64 };

    void* first = nullptr;
    std::ptrdiff_t lanes_per_row = 1, num_columns = 1;
    std::ptrdiff_t row_stride = 1, column_stride = 1;  // in numbers
    double value = 0;                                  // to be written
    Kind kind = Kind::fills;
    Type type = Type::of_double;

    template <class Number>
    static constexpr Type type_of = [] {
        static_assert(std::is_same_v<Number, double> || std::is_same_v<Number, float> ||
                      std::is_same_v<Number, std::int64_t>);
        return std::is_same_v<Number, double>  ? Type::of_double
               : std::is_same_v<Number, float> ? Type::of_float
                                               : Type::of_int64;
    }();

    template <class Number>
    [[nodiscard]] static RowTask fills(const EnsembleView<Number>& rows,
                                       std::ptrdiff_t lanes_per_row, const Number& value) {
        return {rows.first,       lanes_per_row,         rows.num_components,
                rows.lane_stride, rows.component_stride, static_cast<double>(value),
                Kind::fills,      type_of<Number>};
    }
    template <class Number>
    [[nodiscard]] static RowTask looks_at(const EnsembleView<const Number>& rows,
                                          std::ptrdiff_t lanes_per_row) {
        return {const_cast<Number*>(rows.first),
                lanes_per_row,
                rows.num_components,
                rows.lane_stride,
                rows.component_stride,
                0,
                Kind::looks,
                type_of<Number>};
    }

    /// A member's share of the rows of lanes [begin, end). False where a number is not finite.
    EDDY_HD bool run(std::ptrdiff_t begin, std::ptrdiff_t end, int member, int num_members) const {
        if (type == Type::of_double) return run_as<double>(begin, end, member, num_members);
        if (type == Type::of_float) return run_as<float>(begin, end, member, num_members);
        return run_as<std::int64_t>(begin, end, member, num_members);
    }

  private:
    template <class Number>
    EDDY_HD bool run_as(std::ptrdiff_t begin, std::ptrdiff_t end, int member,
                        int num_members) const {
        auto* const numbers = static_cast<Number*>(first);
        const std::ptrdiff_t first_row = (begin + lanes_per_row - 1) / lanes_per_row,
                             end_row = (end + lanes_per_row - 1) / lanes_per_row;
        bool all_finite = true;
        for (std::ptrdiff_t i = 0; i < num_columns; ++i) {
            for (std::ptrdiff_t row = first_row + member; row < end_row; row += num_members) {
                Number& number = numbers[row * row_stride + i * column_stride];
                if (kind == Kind::fills)
                    number = static_cast<Number>(value);
                else if constexpr (!std::is_same_v<Number, std::int64_t>)
                    all_finite = is_number(number) && all_finite;
            }
        }
        return all_finite;
    }
};

/// Those of a launch, where its kernels read them.
struct RowTasks {
    const RowTask* first = nullptr;
    std::int32_t count = 0;

    /// A member's share of those of lanes [begin, end). False where a number is not finite.
    EDDY_HD bool run(std::ptrdiff_t begin, std::ptrdiff_t end, int member, int num_members) const {
        bool all_finite = true;
        for (std::int32_t k = 0; k < count; ++k)
            all_finite = first[k].run(begin, end, member, num_members) && all_finite;
        return all_finite;
    }
};

}  // namespace eddy::inline v0::detail
