#pragma once
// Kepler's equation, E with E − e sin E = M, solved inside a traced function.

#include <eddy/ad/root.hpp>

namespace support {

/// Newton's iteration as a loop of at most `most` turns.
template <int most>
struct KeplerByWhile {
    constexpr auto operator()(const auto& M, const auto& e) const {
        return eddy::bounded_while<most>(
            M + 0.85 * e, [&](const auto& E) { return abs(E - e * sin(E) - M) > 1e-13; },
            [&](const auto& E) { return E - (E - e * sin(E) - M) / (1 - e * cos(E)); });
    }
};
struct KeplerByRoot {
    constexpr auto operator()(const auto& M, const auto& e) const {
        return eddy::root(M + 0.85 * e, [&](const auto& E) { return E - e * sin(E) - M; },
                          {.tolerance = 1e-13});
    }
};

}  // namespace support
