#pragma once
// An equation whose loops run out of turns: they look for a root that there is only for a while.

#include <eddy/ad/root.hpp>
#include <eddy/trace/loops.hpp>

namespace support {

/// y' = x + p₁ y² with x² = 1 − p₀ t, which has no solution from t = 1/p₀ on.
template <bool by_root, bool takes_last = false>
struct SquareRoot {
    static constexpr int state_size = 1, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        const auto square = 1 - p[0] * t;
        const auto residual = [&](const auto& x) { return x * x - square; };
        const auto is_far = [&](const auto& x) { return abs(residual(x)) > 1e-12; };
        const auto step = [&](const auto& x) { return x - residual(x) / (2 * x); };
        const auto root = [&] {
            if constexpr (by_root)
                return eddy::root(1 + 0 * t, residual, {.max_steps = 20});
            else if constexpr (takes_last)
                return eddy::bounded_while<20>(1 + 0 * square, is_far, step, eddy::take_last);
            else
                return eddy::bounded_while<20>(1 + 0 * square, is_far, step);
        };
        const auto x = root();
        return eddy::vec(x + p[1] * y[0] * y[0]);
    }
};

}  // namespace support
