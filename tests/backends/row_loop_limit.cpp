// A trajectory of a tile whose loops run out of turns says so where Serial does, and the others of its tile go on.

#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/square_root.hpp"

namespace {

using eddy::Result;
using support::Array;
using support::SquareRoot;

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

// Of three kinds in turn: well; out of turns at t = 2; no number in finite time.
constexpr int num_lanes = 19;
Array parameters() {
    Array p(num_lanes, 2);
    for (int lane = 0; lane < num_lanes; ++lane) {
        p(lane, 0) = lane % 3 == 1 ? 0.5 : 0.1;
        p(lane, 1) = lane % 3 == 2 ? 5 : 0;
    }
    return p;
}
const Array starts(num_lanes, 1, 1.0);
const eddy::SolveOptions options{.t1 = 3, .rtol = 1e-6, .atol = 1e-6};

template <bool by_root, class Method, class... Extras>
void check_results(Method method, const eddy::SolveOptions& of_steps, const Extras&... extras) {
    const Array p = parameters();
    const auto field = eddy::trace_field(1, 2, SquareRoot<by_root>{});
    const auto found = eddy::solve(field, method, starts, p, of_steps, extras...);
    const auto expected =
        eddy::solve(SquareRoot<by_root>{}, method, starts, p, of_steps, extras..., eddy::Serial{});

    CHECK(found.result(1) == Result::loop_limit);
    CHECK(std::abs(found.failure(1).t - 2) < 1e-2);
    for (int lane = 0; lane < num_lanes; ++lane) {
        INFO("lane " << lane);
        CHECK(found.result(lane) == expected.result(lane));
        CHECK(found.failure(lane).component == expected.failure(lane).component);
    }
}

}  // namespace

TEST_CASE("rows: a trajectory whose loops run out of turns says so, as by Serial") {
    check_results<false>(eddy::Tsit5{}, options);
    check_results<true>(eddy::Tsit5{}, options);
    check_results<false>(eddy::Rodas5P{}, options);
}
TEST_CASE("rows: steps of constant size say so as well") {
    check_results<false>(eddy::Tsit5{}, {.t1 = 3, .dt0 = 0.01}, eddy::ConstantController{});
}
TEST_CASE("rows: gradients, shared parameters and single precision say so as well") {
    const auto field = eddy::trace_field(1, 2, SquareRoot<false>{});
    const auto of_all =
        eddy::value_and_gradient(field, eddy::Tsit5{}, Square{}, starts, parameters(), options);
    CHECK(of_all.report.result(0) == Result::success);
    CHECK(of_all.report.result(1) == Result::loop_limit);

    // No residual is that small in single precision.
    const eddy::EnsembleArray<float> y0(3, 1, 1.f), p(1, 2, 0.5f);
    const auto single =
        eddy::solve(field, eddy::Tsit5{}, y0, eddy::shared(p), {.t1 = 3, .dt0 = 0.1});
    for (int lane = 0; lane < 3; ++lane) CHECK(single.result(lane) == Result::loop_limit);
}
