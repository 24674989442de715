// Stochastic equations on the table of cases that every backend is compared on: Cpu and emulated warps
// compute what Serial does, bit for bit, by dyadic steps and by constant ones, whatever is kept.

#include <eddy/backends/cpu.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/spark.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/oracle_cases.hpp"
#include "solve/warp_backend.hpp"

namespace {

using oracle::Case;
using support::Warps;

/// That of the table, pushed by two noises, one of them in both components.
struct RoughNoise {
    static constexpr int state_size = 2, parameter_size = 3;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        return oracle::Rough{}(t, y, p);
    }
    constexpr auto diffusion(auto t, const auto& y, const auto& p) const {
        return eddy::columns(eddy::vec(0.2 * y[0], 0.1 * p[1]),
                             eddy::vec(0. * y[0], (0.1 + t) / (2 + y[1] * y[1])));
    }
};

/// The cases that go forward in time, from cells of a sixteenth of the span where no size is given.
std::vector<Case> forward(const std::vector<Case>& cases) {
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

template <class Method, class Backend, class Controller>
oracle::Endings compare(const std::vector<Case>& cases,
                        const std::vector<oracle::Way<Backend>>& ways,
                        const Controller& controller) {
    const oracle::Lanes<double> lanes(37);
    return oracle::compare(
        cases, ways,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::value_and_gradient(RoughNoise{}, Method{}, oracle::Distance{},
                                            lanes.data(options), lanes.y0, lanes.p, options,
                                            controller, backend);
        },
        [](const auto& expected, const auto& got) { oracle::check_same(expected, got); });
}

const std::vector<oracle::Way<eddy::Cpu>> many_ways{
    {"two threads", {.threads = 2}},          {"one checkpoint", {.threads = 1}, 1},
    {"three checkpoints", {.threads = 2}, 3}, {"no log", {.threads = 1}, 0, 1},
    {"a short log", {.threads = 1}, 4, 6000},
};
const std::vector<oracle::Way<Warps>> warps{{"all rounds kept", {}, 4096},
                                            {"three checkpoints, a short log", {2}, 3, 13400}};

}  // namespace

TEST_CASE("oracle: gradients by dyadic steps of noise are those of Serial") {
    const auto cases = forward(oracle::adaptive_cases);
    const auto endings = compare<eddy::SPaRK>(cases, many_ways, eddy::pi_controller());
    CHECK(endings == oracle::adaptive_endings);
    CHECK(compare<eddy::SPaRK>(cases, warps, eddy::pi_controller()) == endings);
}

TEST_CASE("oracle: so are those by steps of noise of constant size") {
    const auto cases = forward(oracle::constant_cases);
    const auto endings = compare<eddy::Heun>(cases, many_ways, eddy::ConstantController{});
    CHECK(endings == oracle::constant_endings);
}
