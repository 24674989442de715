// Cpu computes what Serial does, bit for bit, for equations of + − · / and square roots: whatever the
// width of vectors, the threads, the number of checkpoints and the memory for logs.

#include <eddy/backends/cpu.hpp>

#include "solve/oracle_cases.hpp"

namespace {

using oracle::adaptive_cases;
using oracle::constant_cases;
using oracle::Endings;
using oracle::Lanes;

constexpr std::ptrdiff_t num_lanes = 101;
const std::vector<oracle::Way<eddy::Cpu>> two_threads{{"two threads", {.threads = 2}}};

/// Steps that stops cut short, behind others that were accepted or rejected.
const std::vector<oracle::Case> stopping_cases{
    {"many stops",
     {.t1 = 1.2,
      .rtol = 1e-5,
      .save_at = {0.6, 1.2},
      .step_to = {0.07, 0.1, 0.2, 0.22, 0.3, 0.45, 0.5, 0.65, 0.7, 0.76, 0.85, 0.9, 1, 1.1},
      .max_steps = oracle::most_steps}},
    {"stops behind a first size that is too large",
     {.t1 = 1.2,
      .rtol = 1e-6,
      .save_at = {0.6, 1.2},
      .step_to = {0.02, 0.025, 0.03, 0.7, 0.76, 0.78, 0.8},
      .dt0 = 1.1,
      .max_steps = oracle::most_steps}},
};

}  // namespace

TEST_CASE("oracle: Cpu takes the steps of Serial, the first one included, to the same states") {
    CHECK(oracle::compare_solves(two_threads, num_lanes) == oracle::adaptive_endings);
}

TEST_CASE("oracle: steps that stops cut short say nothing to a controller, of two errors neither") {
    CHECK(oracle::compare_solves(two_threads, num_lanes, stopping_cases, eddy::pid_controller())
              .contains(eddy::Result::success));
}

TEST_CASE("oracle: Cpu pushes tangents forward as Serial does, by steps of constant size") {
    const Lanes<double> lanes(num_lanes);
    const Endings endings = oracle::compare(
        constant_cases, two_threads,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::pushforward(oracle::Rough{}, eddy::Tsit5{}, lanes.y0, lanes.p,
                                     lanes.y0_direction, lanes.p_direction, options,
                                     eddy::observe(oracle::Observed{}), eddy::ConstantController{},
                                     backend);
        },
        [](const auto& expected, const auto& got) { oracle::check_same(expected, got, true); });
    CHECK(endings == oracle::constant_endings);
}

TEST_CASE(
    "oracle: products of a Hessian of Cpu with a direction, summed over lanes, are those of "
    "Serial") {
    for (const std::ptrdiff_t count : {num_lanes, std::ptrdiff_t{4200}}) {
        INFO(count << " lanes");
        const Lanes<double> lanes(count);
        const std::vector<oracle::Case> cases(
            adaptive_cases.begin(),
            count > 1000 ? adaptive_cases.begin() + 1 : adaptive_cases.end());
        static_cast<void>(oracle::compare(
            cases, two_threads,
            [&](const eddy::SolveOptions& options, const auto& backend) {
                return eddy::hessian_vector_product(
                    oracle::Rough{}, eddy::Tsit5{}, oracle::Distance{}, lanes.data(options),
                    lanes.y0, eddy::shared(lanes.shared_p), lanes.y0_direction,
                    eddy::shared(lanes.shared_direction), options, backend);
            },
            [](const auto& expected, const auto& got) { oracle::check_same(expected, got); }));
    }
}
