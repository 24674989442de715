// Every backend computes the same bits, for equations of + − · / and square roots: the packs of Cpu
// those of Serial, whatever the level of instructions, in groups and in company of their own.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using support::Array;
using support::Lorenz;
using support::same_array;
using support::same_bits;

struct Ensemble {
    Array y0, p;
};

/// Lorenz from calm to chaotic, at many sizes.
Ensemble lorenz_lanes(std::ptrdiff_t lanes) {
    support::Random random(17);
    Ensemble ensemble{Array(lanes, 3), Array(lanes, 3)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const double size = std::ldexp(1, random.below(8) - 5);
        for (int i = 0; i < 3; ++i) ensemble.y0(lane, i) = size * random.uniform(-1, 1);
        ensemble.p(lane, 0) = random.uniform(8, 12);
        ensemble.p(lane, 1) = random.uniform(0, 28);
        ensemble.p(lane, 2) = random.uniform(2, 3);
    }
    return ensemble;
}

/// How many lanes end in another way, or after other steps.
std::ptrdiff_t num_different_outcomes(const eddy::Outcomes& a, const eddy::Outcomes& b) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes(); ++lane) {
        const auto left = a.stats(lane), right = b.stats(lane);
        count += a.result(lane) != b.result(lane) || left.accepted != right.accepted ||
                 left.rejected != right.rejected || left.evaluations != right.evaluations;
    }
    return count;
}

const eddy::Cpu two_threads{.threads = 2};

}  // namespace

TEST_CASE("same bits: Serial and Cpu choose the same steps, the first one included") {
    const auto lanes = lorenz_lanes(2000);
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.7, 2}};
    const auto solve_by = [&](const auto& backend) {
        return eddy::solve(Lorenz{}, eddy::Tsit5{}, lanes.y0, lanes.p, options, backend);
    };

    const auto serial = solve_by(eddy::Serial{});
    const auto packs = solve_by(two_threads);

    CHECK(num_different_outcomes(serial, packs) == 0);
    CHECK(same_array(serial.y(0), packs.y(0)));
    CHECK(same_array(serial.y(1), packs.y(1)));
}
