#pragma once
// What a launch on a device does with an array before the lanes begin that its rows belong to: what kernels
// write holds one number everywhere at first, what they read is checked, whether it is finite, and where lanes are
// not the rows of an array one after another, each takes its row, and puts one
// back when it has ended. Each group does so for its own lanes, in the kernel
// that solves it: no launch and no copy is needed for it.
// Test: tests/solve/device_calls.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Lanes [begin, end) of a group, and the rows that the lanes of its launch are given.
struct GroupLanes {
    std::ptrdiff_t group, begin, end;
    Rows input_rows;
};

/// Row r belongs to the group that lane r · `lanes_per_row` is in; or to group r.
struct RowTask {
    enum class Kind : std::int32_t { fills, checks, takes, puts };
    enum class Type : std::int32_t { of_double, of_float, of_int64 };

    static constexpr std::ptrdiff_t per_group = 0;  // in the place of lanes per row

    void* first = nullptr;
    std::ptrdiff_t lanes_per_row = 1, num_columns = 1;
    std::ptrdiff_t row_stride = 1, column_stride = 1;  // in numbers
    double value = 0;                                  // to be written
    void* others = nullptr;                            // rows that are taken, or put into
    std::ptrdiff_t other_row_stride = 0, other_column_stride = 0;
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
        RowTask task = of(rows, lanes_per_row, Kind::fills);
        task.value = static_cast<double>(value);
        return task;
    }
    template <class Number>
    [[nodiscard]] static RowTask checks(const EnsembleView<const Number>& rows,
                                        std::ptrdiff_t lanes_per_row) {
        return of(rows, lanes_per_row, Kind::checks);
    }
    /// A lane takes the row of `from` that it is given, and checks it.
    template <class Number>
    [[nodiscard]] static RowTask takes(const EnsembleView<Number>& of_lanes,
                                       const EnsembleView<const Number>& from) {
        return between(of_lanes, from, Kind::takes);
    }
    /// A lane that has ended puts its row into that of `to` that it is given.
    template <class Number>
    [[nodiscard]] static RowTask puts(const EnsembleView<Number>& of_lanes,
                                      const EnsembleView<Number>& to) {
        return between(of_lanes, to, Kind::puts);
    }

    /// A member's share of the rows of a group. False where a number is not finite.
    EDDY_HD bool run(const GroupLanes& lanes, int member, int num_members) const {
        if (type == Type::of_double) return run_as<double>(lanes, member, num_members);
        if (type == Type::of_float) return run_as<float>(lanes, member, num_members);
        return run_as<std::int64_t>(lanes, member, num_members);
    }

  private:
    template <class Number>
    [[nodiscard]] static RowTask of(const EnsembleView<Number>& rows, std::ptrdiff_t lanes_per_row,
                                    Kind kind) {
        using Plain = std::remove_const_t<Number>;
        RowTask task;
        task.first = const_cast<Plain*>(rows.first);
        task.lanes_per_row = lanes_per_row;
        task.num_columns = rows.num_components;
        task.row_stride = rows.lane_stride;
        task.column_stride = rows.component_stride;
        task.kind = kind;
        task.type = type_of<Plain>;
        return task;
    }
    template <class Number, class Other>
    [[nodiscard]] static RowTask between(const EnsembleView<Number>& of_lanes,
                                         const EnsembleView<Other>& others, Kind kind) {
        RowTask task = of(of_lanes, 1, kind);
        task.others = const_cast<Number*>(others.first);
        task.other_row_stride = others.lane_stride;
        task.other_column_stride = others.component_stride;
        return task;
    }
    [[nodiscard]] EDDY_HD std::ptrdiff_t first_row_from(std::ptrdiff_t lane) const {
        return (lane + lanes_per_row - 1) / lanes_per_row;
    }
    template <class Number>
    EDDY_HD bool run_as(const GroupLanes& lanes, int member, int num_members) const {
        auto* const numbers = static_cast<Number*>(first);
        const bool is_of_group = lanes_per_row == per_group;
        const std::ptrdiff_t first_row = is_of_group ? lanes.group : first_row_from(lanes.begin),
                             end_row = is_of_group ? first_row + 1 : first_row_from(lanes.end);
        bool all_finite = true;
        for (std::ptrdiff_t i = 0; i < num_columns; ++i) {
            for (std::ptrdiff_t row = first_row + member; row < end_row; row += num_members) {
                Number& number = numbers[row * row_stride + i * column_stride];
                if (kind == Kind::fills) {
                    number = static_cast<Number>(value);
                } else if (kind == Kind::puts) {
                    other<Number>(lanes, row, i) = number;
                } else if constexpr (!std::is_same_v<Number, std::int64_t>) {
                    if (kind == Kind::takes) number = other<Number>(lanes, row, i);
                    all_finite = is_number(number) && all_finite;
                }
            }
        }
        return all_finite;
    }
    template <class Number>
    [[nodiscard]] EDDY_HD Number& other(const GroupLanes& lanes, std::ptrdiff_t row,
                                        std::ptrdiff_t i) const {
        return static_cast<Number*>(
            others)[to_index(lanes.input_rows(LaunchLane{row})) * other_row_stride +
                    i * other_column_stride];
    }
};

/// The row tasks of a launch, where its kernels read them.
struct RowTasks {
    const RowTask* first = nullptr;
    std::int32_t count = 0;

    /// A member's share of those of a group. False where a number is not finite.
    EDDY_HD bool run(const GroupLanes& lanes, int member, int num_members) const {
        bool all_finite = true;
        for (std::int32_t k = 0; k < count; ++k)
            all_finite = first[k].run(lanes, member, num_members) && all_finite;
        return all_finite;
    }
};

}  // namespace eddy::inline v0::detail
