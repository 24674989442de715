#pragma once
// Which rows a rank takes: by count, or by what trajectories have cost in a call before. And what one rank does for all.
// Every function takes a backend; one without ranks has all rows, and does all work itself.
// Test: tests/solve/ranks.cpp, tests/mpi/ranks.cpp

#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/outcomes.hpp>
#include <eddy/solve/ranks/ranks_of.hpp>
#include <functional>
#include <span>

namespace eddy::inline v0 {

/// The rows of one rank: `count` of them, from row `first` on.
struct RankRows {
    std::ptrdiff_t first = 0;  ///< among the trajectories of all ranks
    std::ptrdiff_t count = 0;  ///< of trajectories

    friend bool operator==(const RankRows&, const RankRows&) = default;
};

namespace detail {

/// The rows of a rank where each has as many, cut at multiples; 0: of 64 where each has 512 or more, of which a rank
/// keeps fewest sums, else anywhere.
[[nodiscard]] EDDY_EXPORT RankRows rows_by_count(std::ptrdiff_t num_rows, int rank, int num_ranks,
                                                 std::ptrdiff_t multiple = 0);
/// The rows of a rank where each has the same cost, of the costs of blocks of `block` rows.
[[nodiscard]] EDDY_EXPORT RankRows rows_by_cost(std::span<const std::int64_t> costs,
                                                std::ptrdiff_t block, std::ptrdiff_t num_rows,
                                                int rank, int num_ranks);
/// The same of the attempted steps of a call, which the ranks tell each other.
[[nodiscard]] EDDY_EXPORT RankRows rows_by_steps(const RankLink& ranks, const Outcomes& last,
                                                 std::ptrdiff_t multiple);
/// The bytes that the first rank has, on all; work runs there only.
EDDY_EXPORT void copy_from_first(RankGroup& group, const char* where,
                                 const std::function<void()>& work,
                                 std::span<const std::span<std::byte>> numbers);

}  // namespace detail

/// The rows of this rank, of `num_rows` that are divided by count. Cuts are at multiples of `multiple`, which a gradient of
/// more than 64 shared parameters asks for; 0: of 64 if each rank has 512 rows or more, else anywhere.
template <class Backend>
[[nodiscard]] RankRows rank_rows(const Backend& backend, std::ptrdiff_t num_rows,
                                 std::ptrdiff_t multiple = 0) {
    const detail::RankLink ranks = detail::ranks_of(backend);
    return detail::rows_by_count(num_rows, ranks.rank(), ranks.num_ranks(), multiple);
}
/// The rows of this rank for the next call, divided so that each rank has as many steps as the others. `last` is the
/// solution of a call of all ranks, or the report of a gradient. All ranks call it.
template <class Backend>
[[nodiscard]] RankRows rank_rows(const Backend& backend, const Outcomes& last,
                                 std::ptrdiff_t multiple = 0) {
    return detail::rows_by_steps(detail::ranks_of(backend), last, multiple);
}

/// Calls work() on the first rank only, such as writing or reading a file, and then copies contiguous ranges of numbers from
/// there to all ranks. All ranks call it, with ranges of the same sizes, and wait until it is done. Where it throws, the
/// others throw RankError.
template <class Backend, class Work, class... Numbers>
void on_first_rank(const Backend& backend, const Work& work, Numbers&&... numbers) {
    if (detail::RankGroup* const group = detail::ranks_of(backend).get()) {
        const std::array<std::span<std::byte>, sizeof...(Numbers)> bytes{
            std::as_writable_bytes(std::span(numbers))...};
        detail::copy_from_first(*group, "on_first_rank", work, bytes);
    } else {
        work();
    }
}

}  // namespace eddy::inline v0
