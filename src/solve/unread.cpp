// Which parameters nothing reads.

#include <eddy/solve/call/unread.hpp>

namespace eddy::inline v0::detail {
namespace {

/// Entries of a table that no trajectory selects for a component that is read.
template <class Real>
void list_unselected(std::vector<UnreadParameter>& unread, const std::vector<char>& is_read,
                     const ParameterTable<Real>& table, std::ptrdiff_t num_lanes) {
    const std::ptrdiff_t columns = table.own.num_components;
    std::vector<char> is_used(static_cast<std::size_t>(table.own.num_lanes * columns), 0);
    const auto used = [&](std::ptrdiff_t row, std::ptrdiff_t column) -> char& {
        return is_used[static_cast<std::size_t>(row * columns + column)];
    };
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (std::size_t i = 0; i < is_read.size(); ++i) {
            const auto component = static_cast<std::ptrdiff_t>(i);
            if (is_read[i]) used(table.row_of(lane), table.column_of(lane, component)) = 1;
        }
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
                 const ParameterTable<Real>* table, std::ptrdiff_t num_lanes, int num_parameters) {
    if (table && table->selects()) {
        std::vector<char> is_read(static_cast<std::size_t>(num_parameters), 1);
        for (const int component : components) is_read[static_cast<std::size_t>(component)] = 0;
        return list_unselected(unread, is_read, *table, num_lanes);
    }
    const std::ptrdiff_t num_own = table ? table->own.num_components : num_parameters;
    for (const int component : components) {
        const bool is_shared = component >= num_own;
        unread.push_back(
            {is_shared ? 0 : -1, is_shared ? component - num_own : component, is_shared});
    }
}

template void list_unread(std::vector<UnreadParameter>&, std::span<const int>,
                          const ParameterTable<float>*, std::ptrdiff_t, int);
template void list_unread(std::vector<UnreadParameter>&, std::span<const int>,
                          const ParameterTable<double>*, std::ptrdiff_t, int);

}  // namespace eddy::inline v0::detail
