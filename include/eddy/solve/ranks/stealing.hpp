#pragma once
// Sums over rows whose costs nobody knows before: a rank that has done its rows takes some of another's. What goes from
// rank to rank are numbers of rows, so that each rank must be able to make all of them.
// Test: tests/solve/stealing.cpp, tests/mpi/ranks.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>
#include <functional>
#include <type_traits>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

using SumOfRows = std::function<std::vector<double>(const RankRows&)>;

[[nodiscard]] EDDY_EXPORT std::vector<double> sum_by_stealing(RankGroup& group,
                                                              std::ptrdiff_t num_rows,
                                                              std::ptrdiff_t rows_at_a_time,
                                                              bool is_float, const SumOfRows& work);

}  // namespace detail

/// The sum over `num_rows` rows of what work(rows) returns for some of them, a vector of totals over these: of a solver
/// without ranks, such as loss and gradient of shared parameters, of 64 at most. On all ranks, with the bits of one call on
/// all rows. A rank begins with as many rows as others, and takes half of another's rest when it has done its own.
/// work(rows) gets `rows_at_a_time` or fewer: 64 or a power of two times that. Other ranks wait for it before they
/// get an answer.
///
///     auto solver = eddy::gradient_solver(field, method, loss, options, eddy::Cpu{});
///     const auto sums = eddy::sum_by_stealing(mpi, all, [&](eddy::RankRows rows) {
///         const auto& result = solver(data, y0_of(rows), eddy::shared(p));
///         return std::vector{result.loss.total, result.gradient.p(0, 0)};
///     });
template <class Backend, class Work>
[[nodiscard]] auto sum_by_stealing(const Backend& backend, std::ptrdiff_t num_rows,
                                   const Work& work, std::ptrdiff_t rows_at_a_time = 512) {
    using Sums = std::invoke_result_t<const Work&, RankRows>;
    using Real = typename Sums::value_type;
    const detail::RankLink ranks = detail::ranks_of(backend);
    if (!ranks.get()) return work(RankRows{0, num_rows});
    const std::vector<double> sums =
        detail::sum_by_stealing(*ranks.get(), num_rows, rows_at_a_time, std::is_same_v<Real, float>,
                                [&](const RankRows& rows) {
                                    const Sums of_rows = work(rows);
                                    return std::vector<double>(of_rows.begin(), of_rows.end());
                                });
    Sums result(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) result[i] = static_cast<Real>(sums[i]);
    return result;
}

}  // namespace eddy::inline v0
