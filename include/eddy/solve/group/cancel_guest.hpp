#pragma once
// The guest that asks now and then whether the call is cancelled.
// Test: tests/solve/failures.cpp, tests/solve/cancelled.cpp

#include <eddy/solve/group/round_guests.hpp>

namespace eddy::inline v0::detail {

struct CancelGuest : Guest<CancelGuest> {
    EDDY_HD static void mean(const auto& at, const auto&, auto& meaning, auto&) {
        meaning.cancelled = !at.team.attend();
    }
    [[nodiscard]] EDDY_HD static std::int64_t rounds_left(const auto& at) {
        return at.team.patience(at.round);
    }
};

}  // namespace eddy::inline v0::detail
