#pragma once
// Stochastic equations on the table of oracle_cases.hpp, for steps of chosen sizes and of constant ones.

#include <algorithm>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <vector>

#include "solve/oracle_cases.hpp"

namespace oracle {

/// That of the table, pushed by two noises, one of them in both components.
struct RoughNoise {
    static constexpr int state_size = 2, parameter_size = 3;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto t, const auto& y, const auto& p) const { return Rough{}(t, y, p); }
    constexpr auto diffusion(auto t, const auto& y, const auto& p) const {
        return eddy::columns(eddy::vec(0.2 * y[0], 0.1 * p[1]),
                             eddy::vec(0. * y[0], (0.1 + t) / (2 + y[1] * y[1])));
    }
};

/// The cases that go forward in time, from cells of a sixteenth of the span where no size is given.
inline std::vector<Case> with_noise(const std::vector<Case>& cases) {
    std::vector<Case> kept;
    for (const Case& one : cases) {
        if (one.options.t1 < one.options.t0) continue;
        kept.push_back(one);
        eddy::SolveOptions& options = kept.back().options;
        options.atol = eddy::Tolerance(options.rtol);
        options.seed = 3;
        options.antithetic = kept.size() % 2 == 0;
        options.max_steps = std::min<std::int64_t>(options.max_steps, 120);
        if (options.dt0 != 0) continue;
        options.dt0 = (options.t1 - options.t0) / 16;
        options.noise_cell = 2 * options.dt0;
    }
    return kept;
}

template <class Method, class Field = RoughNoise, class Backend, class Controller>
Endings compare_noise(const std::vector<Case>& cases, const std::vector<Way<Backend>>& ways,
                      std::ptrdiff_t count, const Controller& controller) {
    const Lanes<double> lanes(count);
    return compare(
        of_lanes(cases, count), ways,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(Field{}, Method{}, Distance{}, lanes.data(options),
                                            lanes.y0, lanes.p, options, controller, backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); });
}

}  // namespace oracle
