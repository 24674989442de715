// Which parameters nothing reads.

#include <algorithm>
#include <eddy/solve/call/unread.hpp>

namespace eddy::inline v0::detail {
namespace {

/// Entries of a table that no trajectory selects for a component that is read.
template <class Real>
void list_unselected(std::vector<UnreadParameter>& unread, std::span<const int> components,
                     const ParameterTable<Real>& table, std::ptrdiff_t num_lanes,
                     int num_parameters, std::vector<char>& is_used) {
    const std::ptrdiff_t columns = table.own.num_components;
    is_used.assign(static_cast<std::size_t>(table.own.num_lanes * columns), 0);
    const auto used = [&](std::ptrdiff_t row, std::ptrdiff_t column) -> char& {
        return is_used[static_cast<std::size_t>(row * columns + column)];
    };
    for (int i = 0; i < num_parameters; ++i) {
        if (std::binary_search(components.begin(), components.end(), i)) continue;
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
            used(table.row_of(lane), table.column_of(lane, i)) = 1;
    }
    for (std::ptrdiff_t row = 0; row < table.own.num_lanes; ++row) {
        for (std::ptrdiff_t column = 0; column < columns; ++column) {
            if (!used(row, column)) unread.push_back({row, column, false});
        }
    }
}

}  // namespace

template <class Real>
void list_unread(std::vector<UnreadParameter>& unread, std::span<const int> components,
                 const ParameterTable<Real>* table, std::ptrdiff_t num_lanes, int num_parameters,
                 std::vector<char>& is_used) {
    if (table && table->selects())
        return list_unselected(unread, components, *table, num_lanes, num_parameters, is_used);
    const std::ptrdiff_t num_own = table ? table->own.num_components : num_parameters;
    for (const int component : components) {
        const bool is_shared = component >= num_own;
        unread.push_back(
            {is_shared ? 0 : -1, is_shared ? component - num_own : component, is_shared});
    }
}

template decltype(list_unread<float>) list_unread<float>;
template decltype(list_unread<double>) list_unread<double>;

}  // namespace eddy::inline v0::detail
