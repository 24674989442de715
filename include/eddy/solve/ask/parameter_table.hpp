#pragma once
// Parameters of trajectories that do not lie in rows of one array: some of each trajectory and some of all, or
// picked from a table. A solve on the host reads them where they are, when a trajectory begins and at its save points, and
// so copies none; devices and `Rows` are given rows that are gathered before. Gradients arrive in rows, one for each trajectory, and are added up here where several read one number:
// in the order of the trajectories, whoever computed them.
// Test: tests/solve/parameter_tables.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <type_traits>

namespace eddy::inline v0 {
namespace detail {

/// Where the parameters of trajectories lie.
template <class Real>
struct ParameterTable {
    EnsembleView<const Real> own;  // (trajectory, component); the table where numbers are selected
    EnsembleView<const Real> shared;  // one row, behind those
    EnsembleView<const int> rows,
        index;  // of numbers that are selected: (trajectory), (trajectory, component)

    [[nodiscard]] EDDY_HD bool selects() const { return index.first != nullptr; }
    [[nodiscard]] EDDY_HD std::ptrdiff_t row_of(std::ptrdiff_t lane) const {
        if (!selects()) return lane;
        if (rows.first) return rows.num_lanes == 1 ? rows(0, lane) : rows(lane, 0);
        return own.num_lanes == 1 ? 0 : lane;
    }
    [[nodiscard]] EDDY_HD std::ptrdiff_t column_of(std::ptrdiff_t lane, std::ptrdiff_t i) const {
        return selects() ? index(index.num_lanes == 1 ? 0 : lane, i) : i;
    }
    [[nodiscard]] EDDY_HD Real operator()(std::ptrdiff_t lane, std::ptrdiff_t i) const {
        const std::ptrdiff_t column = column_of(lane, i);
        return column < own.num_components ? own(row_of(lane), column)
                                           : shared(0, column - own.num_components);
    }
    /// So many trajectories, if the arrays say it; else 0.
    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        if (!selects()) return own.num_lanes;
        if (index.num_lanes != 1) return index.num_lanes;
        if (rows.first) return rows.num_lanes * rows.num_components;
        return own.num_lanes == 1 ? 0 : own.num_lanes;
    }
};

/// The shapes fit `lanes` trajectories of `size` parameters, all numbers are finite, and all places are in the table.
template <class Real>
EDDY_EXPORT void require_table(const ParameterTable<Real>& table, std::ptrdiff_t lanes,
                               std::ptrdiff_t size, const char* name, const char* where);
/// A row for each trajectory, for a machine that does not see the table.
template <class Real>
EDDY_EXPORT void gather_parameters(const ParameterTable<Real>& table, std::ptrdiff_t lanes,
                                   std::ptrdiff_t size, EnsembleArray<Real>& rows);
/// From rows (trajectory, component) of a gradient to those of `own` or of the table, and of `shared`.
template <class Real>
EDDY_EXPORT void add_rows_of_table(const ParameterTable<Real>& table, EnsembleArray<Real>& p,
                                   EnsembleArray<Real>& shared);

}  // namespace detail

/// Parameters of which the first are those of each trajectory, and the others of all. Refers to both arrays.
template <class Real>
struct PartlySharedParameters {
    using Scalar = Real;
    using has_table = void;  ///< it stands where p stands
    detail::ParameterTable<Real> table;
};
/// Parameters that are picked from a table. Refers to the table and to the places.
template <class Real>
struct SelectedParameters {
    using Scalar = Real;
    using has_table = void;  ///< it stands where p stands
    detail::ParameterTable<Real> table;
};

namespace detail {

/// The table that the parameters of a call lie in; null where they are an array.
template <class Parameters>
[[nodiscard]] const ParameterTable<ParameterScalarOf<Parameters>>* table_of(const Parameters&) {
    return nullptr;
}
template <HasTable Parameters>
[[nodiscard]] const ParameterTable<typename Parameters::Scalar>* table_of(const Parameters& p) {
    return &p.table;
}

/// The parameters of a call, wherever the caller keeps them.
template <class Real>
struct GivenParameters {
    EnsembleView<const Real> rows{};
    ParameterTable<Real> table{};
    bool is_shared = false, has_table = false;

    template <class Parameters>
    [[nodiscard]] static GivenParameters of(const Parameters& p) {
        const auto* const table = table_of(p);
        return {parameter_view(p), table ? *table : ParameterTable<Real>{},
                detail::is_shared<Parameters>, table != nullptr};
    }
    [[nodiscard]] Real operator()(std::ptrdiff_t lane, std::ptrdiff_t i) const {
        return has_table ? table(lane, i) : rows(is_shared ? 0 : lane, i);
    }
    /// So many trajectories, if the parameters say it; else 0.
    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        if (has_table) return table.num_lanes();
        return is_shared ? 0 : rows.num_lanes;
    }
};

template <class... Arrays>
inline constexpr bool are_of_host = (... && (is_ensemble_array<Arrays> &&
                                             std::is_same_v<MemoryOf<Arrays>, HostMemory>));

/// An array of int: (trajectory, parameter); a list of numbers is one row.
template <class Index>
[[nodiscard]] EnsembleView<const int> index_view(const Index& index) {
    constexpr bool is_array = is_ensemble_array<Index>;
    static_assert(is_array,
                  "selected: rows and index must be arrays of int, such as "
                  "Eigen::ArrayXXi or std::vector<int>");
    if constexpr (is_array) {
        constexpr bool is_int = std::is_same_v<EnsembleScalarOf<Index>, int>;
        static_assert(is_int,
                      "selected: rows and index must be arrays of int, such as "
                      "Eigen::ArrayXXi or std::vector<int>");
        if constexpr (is_int) return ensemble_view(index);
    }
    return {};
}
template <class Table>
consteval bool check_table() {
    constexpr bool is_here = are_of_host<Table>;
    static_assert(is_here,
                  "selected: the table must be an array of float or double on the host, such as "
                  "Eigen::ArrayXXd or std::vector<double>");
    return is_here;
}

}  // namespace detail

/// Parameters of each trajectory, `own` (trajectory, component), and behind them those of all trajectories, `shared`:
/// stands where p stands. The gradient has `gradient.p`, of the shape of `own`, and `gradient.shared`, one row that is summed
/// over the trajectories.
template <class Own, class Shared>
[[nodiscard]] auto parameters(const Own& own, const Shared& shared) {
    constexpr bool are_here = detail::are_of_host<Own, Shared>;
    static_assert(are_here,
                  "parameters: own and shared must be arrays of float or double on the host, such "
                  "as Eigen::ArrayXXd and Eigen::ArrayXd");
    if constexpr (are_here) {
        using Real = EnsembleScalarOf<Own>;
        constexpr bool same = std::is_same_v<Real, EnsembleScalarOf<Shared>>;
        static_assert(same, "parameters: own and shared must hold the same type of number");
        if constexpr (same)
            return PartlySharedParameters<Real>{
                {ensemble_view(own), ensemble_view(shared), {}, {}}};
    }
}
/// Parameter j of trajectory l is theta(l, index(l, j)), or theta(0, index(l, j)) where theta has one row; an index of
/// one row serves all trajectories. The gradient is of the shape of theta.
template <class Table, class Index>
[[nodiscard]] auto selected(const Table& theta, const Index& index) {
    if constexpr (detail::check_table<Table>())
        return SelectedParameters<EnsembleScalarOf<Table>>{
            {ensemble_view(theta), {}, {}, detail::index_view(index)}};
}
/// Parameter j of trajectory l is theta(rows(l), index(l, j)).
template <class Table, class Rows, class Index>
[[nodiscard]] auto selected(const Table& theta, const Rows& rows, const Index& index) {
    if constexpr (detail::check_table<Table>())
        return SelectedParameters<EnsembleScalarOf<Table>>{
            {ensemble_view(theta), {}, detail::index_view(rows), detail::index_view(index)}};
}

}  // namespace eddy::inline v0
