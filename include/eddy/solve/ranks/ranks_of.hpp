#pragma once
// The ranks of a backend that is named behind the options of a call.
// Test: tests/solve/ranks.cpp

#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ranks/rank_group.hpp>

namespace eddy::inline v0::detail {

/// The ranks of a call's backend, or none.
template <class... Extras>
[[nodiscard]] RankLink ranks_of(const Extras&... extras) {
    RankLink ranks;
    (
        [&] {
            if constexpr (IsOfRanks<Extras>) ranks = extras.ranks();
        }(),
        ...);
    return ranks;
}

}  // namespace eddy::inline v0::detail
