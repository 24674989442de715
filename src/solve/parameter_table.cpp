// Parameters in tables: what may be wrong with one, and gradients added up.

#include <eddy/core/error.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

void require_index_shape(const EnsembleView<const int>& index, std::ptrdiff_t lanes,
                         std::ptrdiff_t size, const char* where) {
    const std::ptrdiff_t rows = index.num_lanes == 1 ? 1 : lanes;
    require_shape(array_shape(index), {rows, size}, "the index of selected", where);
}
template <class Real>
void require_places(const ParameterTable<Real>& table, std::ptrdiff_t lanes, std::ptrdiff_t size,
                    const char* where) {
    require_index_shape(table.index, lanes, size, where);
    const std::ptrdiff_t num_rows = table.own.num_lanes, num_columns = table.own.num_components;
    if (table.rows.first) {
        const std::ptrdiff_t given = table.rows.num_lanes * table.rows.num_components;
        require_argument(
            given == lanes && (table.rows.num_lanes == 1 || table.rows.num_components == 1),
            "{}: the rows of selected are {} x {}; give one for each of {} trajectories", where,
            table.rows.num_lanes, table.rows.num_components, lanes);
    } else {
        require_argument(
            num_rows == 1 || num_rows == lanes,
            "{}: the table of selected has {} rows for {} trajectories; give 1, or {}, "
            "or say by selected(theta, rows, index) which row each has",
            where, num_rows, lanes, lanes);
    }
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const std::ptrdiff_t row = table.row_of(lane);
        require_argument(
            row >= 0 && row < num_rows,
            "{}: row {} of the table, for trajectory {}, which has {} rows; count from 0", where,
            row, lane, num_rows);
        for (std::ptrdiff_t i = 0; i < size; ++i) {
            const std::ptrdiff_t column = table.column_of(lane, i);
            require_argument(
                column >= 0 && column < num_columns,
                "{}: index({}, {}) = {}, of parameter {} of trajectory {}, but the table "
                "has {} columns; count from 0",
                where, table.index.num_lanes == 1 ? 0 : lane, i, column, i, lane, num_columns);
        }
    }
}

}  // namespace

template <class Real>
void require_table(const ParameterTable<Real>& table, std::ptrdiff_t lanes, std::ptrdiff_t size,
                   const char* name, const char* where) {
    if (table.selects()) {
        require_places(table, lanes, size, where);
    } else {
        const std::ptrdiff_t num_own = table.own.num_components;
        require_argument(
            table.shared.num_lanes == 1,
            "{}: shared parameters are {} x {}; give one row that all trajectories use", where,
            table.shared.num_lanes, table.shared.num_components);
        require_argument(
            num_own + table.shared.num_components == size,
            "{}: {} parameters of each trajectory and {} shared ones are {}, but the equation has "
            "{}; give as many",
            where, num_own, table.shared.num_components, num_own + table.shared.num_components,
            size);
        require_shape(array_shape(table.own), {lanes, num_own}, name, where);
        require_finite(table.shared, "the shared p", where);
    }
    require_finite(table.own, table.selects() ? "the table of selected" : name, where);
}

template <class Real>
void gather_parameters(const ParameterTable<Real>& table, std::ptrdiff_t lanes, std::ptrdiff_t size,
                       EnsembleArray<Real>& rows) {
    rows.assign(lanes, size, Real(0));
    for (std::ptrdiff_t i = 0; i < size; ++i) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) rows(lane, i) = table(lane, i);
    }
}

template <class Real>
void add_rows_of_table(const ParameterTable<Real>& table, EnsembleArray<Real>& p,
                       EnsembleArray<Real>& shared) {
    const EnsembleArray<Real> rows = std::move(p);
    p = {};
    const std::ptrdiff_t num_own = table.own.num_components,
                         num_shared = table.shared.num_components;
    p.assign(table.own.num_lanes, num_own, Real(0));
    shared.assign(table.selects() ? 0 : 1, num_shared, Real(0));
    const std::ptrdiff_t by_rows = table.selects() ? rows.cols() : num_own;
    for (std::ptrdiff_t lane = 0; lane < rows.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < by_rows; ++i)
            p(table.row_of(lane), table.column_of(lane, i)) += rows(lane, i);
    }
    for (std::ptrdiff_t i = 0; i < num_shared; ++i)
        shared(0, i) = sum_over_lanes<Real>(
            rows.rows(), [&](std::ptrdiff_t lane) { return rows(lane, num_own + i); });
}

template decltype(require_table<float>) require_table<float>;
template decltype(gather_parameters<float>) gather_parameters<float>;
template decltype(add_rows_of_table<float>) add_rows_of_table<float>;
template decltype(require_table<double>) require_table<double>;
template decltype(gather_parameters<double>) gather_parameters<double>;
template decltype(add_rows_of_table<double>) add_rows_of_table<double>;

}  // namespace eddy::inline v0::detail
