// The bits of states, statistics and gradients, held to those of golden_bits.txt: a change of text
// that ought to change no number must not change one. All methods; steps of chosen and of constant
// size; single and double precision; save points, jumps, stops, failures, backward time.
//
// Where a change is meant to change bits, say so, and write the file anew, once on a host that fuses
// multiply-adds and once without (any level of x86-64 from v3 on, and v2 or below; see
// EDDY_TEST_LEVEL):
//
//     EDDY_WRITE_GOLDEN_BITS=1 test_golden_bits
//
// The file must then do for every compiler. support/golden_bits.hpp says what its lines mean.

#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/all.hpp>

#include "solve/golden_problem.hpp"
#include "steppers/exact_problem.hpp"

namespace {

using eddy::SolveOptions;
using golden::Lanes;
using golden::Swing;

constexpr std::ptrdiff_t num_lanes = 101;

template <class Solution>
void add_solution(support::GoldenBits& bits, const std::string& name, const Solution& solution) {
    bits.add_outcomes(name, solution);
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k)
        bits.add_array(name + ".y" + std::to_string(k), solution.y(k));
}

template <class Solution>
void add_steps(support::GoldenBits& bits, const std::string& name, const Solution& solution) {
    support::BitHash hash;
    for (std::ptrdiff_t lane = 0; lane < solution.num_lanes(); ++lane) {
        for (std::ptrdiff_t k = 0; k < solution.num_steps(lane); ++k) {
            hash.add(solution.step_t(lane, k));
            for (int i = 0; i < 2; ++i) hash.add(solution.step_y(lane, k, i));
        }
    }
    bits.add(name + ".steps", hash);
    bits.add(name + ".first_step", solution.step_t(0, 1));
}

/// One type of solver for many options.
class ByTsit5 {
  public:
    ByTsit5(support::GoldenBits& bits, const Lanes<double>& lanes) : bits_(bits), lanes_(lanes) {}

    void operator()(const std::string& name, const SolveOptions& options,
                    const eddy::PIDController& controller = {}) {
        const auto solution = eddy::solve(Swing{}, eddy::Tsit5{}, lanes_.y0, lanes_.p, options,
                                          controller, golden::two_threads);
        add_solution(bits_, name, solution);
        if (options.save_steps) add_steps(bits_, name, solution);
    }

  private:
    support::GoldenBits& bits_;
    const Lanes<double>& lanes_;
};

}  // namespace

TEST_CASE("golden bits: every method, steps of chosen size where it can choose") {
    auto bits = golden::bits_of("methods");
    const Lanes<double> lanes(num_lanes);
    eddy::AllMethods::for_each([&]<class Method>() {
        const bool chooses = eddy::detail::has_error_estimate<Method>;
        const SolveOptions options{.t1 = 2,
                                   .rtol = 1e-5,
                                   .atol = 1e-7,
                                   .save_at = {0.3, 1.1, 2},
                                   .dt0 = chooses ? 0 : 0.0625};
        add_solution(
            bits, std::string(support::type_name<Method>()),
            eddy::solve(Swing{}, Method{}, lanes.y0, lanes.p, options, golden::two_threads));
    });
    bits.check();
}

TEST_CASE("golden bits: options of a solve") {
    auto bits = golden::bits_of("options");
    const Lanes<double> lanes(num_lanes);
    ByTsit5 solve(bits, lanes);

    solve("end", {.t1 = 2});
    solve("loose", {.t1 = 2, .rtol = 1e-2, .atol = {1e-3, 1e-1}});
    solve("tight", {.t1 = 2, .rtol = 1e-12, .atol = 0});
    solve("integral", {.t1 = 2}, eddy::i_controller());
    solve("differential", {.t1 = 2}, eddy::pid_controller());
    solve("dt0", {.t1 = 2, .dt0 = 0.5, .dt_max = 0.6});
    solve("backward", {.t0 = 2, .t1 = -0.5, .save_at = {1.5, 0.25, -0.5}});
    solve("late", {.t0 = 1e9, .t1 = 1e9 + 1, .rtol = 1e-4, .save_at = {1e9 + 0.3, 1e9 + 1}});
    solve("stops", {.t1 = 2,
                    .rtol = 1e-4,
                    .save_at = {0, 0.5, 0.7, 2},
                    .step_to = {0.5, 0.6},
                    .jump_times = {0.7, 1.9}});
    solve("steps", {.t1 = 2, .save_at = {0.7, 2}, .save_steps = true});
    bits.check();
}

TEST_CASE("golden bits: lanes that fail") {
    auto bits = golden::bits_of("failures");
    const Lanes<double> lanes(num_lanes, 4);
    ByTsit5 solve(bits, lanes);

    solve("run_away", {.t1 = 3, .rtol = 1e-4, .save_at = {0.2, 1, 3}});
    solve("max_steps", {.t1 = 3, .rtol = 1e-4, .save_at = {0.2, 1, 3}, .max_steps = 25});
    solve("dt_min", {.t1 = 3, .rtol = 1e-4, .save_at = {0.2, 1, 3}, .dt_min = 1e-3});
    bits.check();
}

TEST_CASE("golden bits: steps of constant size") {
    auto bits = golden::bits_of("constant");
    const SolveOptions options{
        .t1 = 2, .save_at = {0.3, 1.1, 2}, .step_to = {0.71}, .dt0 = 0.03125};
    const Lanes<float> singles(num_lanes);
    const auto solution = eddy::solve(Swing{}, eddy::Dopri5{}, singles.y0, singles.p, options,
                                      eddy::ConstantController{}, golden::two_threads);
    add_solution(bits, "single", solution);
    bits.check();
}

TEST_CASE("golden bits: single precision") {
    auto bits = golden::bits_of("single");
    const Lanes<float> singles(num_lanes, 3);
    add_solution(bits, "run_away",
                 eddy::solve(Swing{}, eddy::Bosh3{}, singles.y0, singles.p,
                             {.t1 = 3, .rtol = 1e-3, .atol = 1e-4, .save_at = {0.2, 3}},
                             golden::two_threads));
    bits.check();
}
