// Calls of other kinds on a device: steady states, a solve inside something else, sums over processes, no lanes
// at all.
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/differentiable_solve.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/steady_state.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/steady_equations.hpp"

namespace {

using device_lanes::Norm;
using support::Array;
using support::Forced;
using support::same_array;
using support::same_bits;

const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-5, .atol = 1e-8, .stable_gradients = false};

auto differentiate(std::ptrdiff_t first, std::ptrdiff_t count, const eddy::GatherSums& gather,
                   const auto& backend) {
    const Array all = device_lanes::varied(1000, 0.2);
    Array y0(count, 2);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        for (int i = 0; i < 2; ++i) y0(lane, i) = all(first + lane, i);
    }
    auto gathering = options;
    gathering.gather_sums = gather;
    return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, Norm{}, y0,
                                    eddy::shared(std::vector<double>{0.9, 0.7}), gathering,
                                    backend);
}

}  // namespace

TEST_CASE("device rest: steady states and their derivatives have the bits of Serial") {
    constexpr std::ptrdiff_t lanes = 1009;
    Array y0 = device_lanes::varied(lanes, 0.), p = device_lanes::varied(lanes, 1.5);
    y0(17, 0) = y0(17, 1) = 0.4, p(17, 0) = p(17, 1) = 2;  // between both winners
    const auto rest = [&](const auto& backend) {
        return eddy::steady_state(support::Switch{}, y0, p, {.rtol = 1e-6, .atol = 1e-9}, backend);
    };
    const Array cotangents(lanes, 2, 0.5);

    const auto expected = rest(eddy::Serial{});
    const auto found = rest(eddy::Cuda{});

    CHECK(same_array(found.y(), expected.y()));
    std::ptrdiff_t different = 0, at_rest = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        different += found.result(lane) != expected.result(lane) ||
                     found.stats(lane).accepted != expected.stats(lane).accepted;
        at_rest += found.result(lane) == eddy::Result::success;
    }
    CHECK(different == 0);
    CHECK(at_rest > lanes - 10);
    const auto of_expected = eddy::pullback(expected, cotangents),
               of_found = eddy::pullback(found, cotangents);
    CHECK(same_array(of_found.p, of_expected.p));
    CHECK(same_array(of_found.y0, of_expected.y0));
}

TEST_CASE("device rest: a solve as a function with a pullback") {
    const Array y0 = device_lanes::varied(333, 0.2);
    const eddy::Vec<double, 2> p{0.9, 0.7};
    const auto linearize = [&](const auto& backend) {
        return eddy::differentiable_solve(Forced{}, eddy::Bosh3{}, options, backend)
            .linearize(y0, p);
    };
    auto here = linearize(eddy::Serial{});
    auto there = linearize(eddy::Cuda{});
    const Array cotangents(333, 2, 0.5);

    const auto [of_y0, of_p] = here.pullback(cotangents);
    const auto [of_y0_there, of_p_there] = there.pullback(cotangents);

    CHECK(same_array(there.value, here.value));
    CHECK(same_array(of_y0_there, of_y0));
    CHECK(same_bits(of_p_there[0], of_p[0]));
    CHECK(same_bits(of_p_there[1], of_p[1]));
}

TEST_CASE("device rest: sums over two processes are those of one") {
    const auto all = differentiate(0, 1000, {}, eddy::Serial{});
    std::vector<double> of_first;
    static_cast<void>(differentiate(
        0, 640, [&](std::vector<double>& sums, std::ptrdiff_t) { of_first = sums; }, eddy::Cuda{}));
    const auto second = differentiate(
        640, 360,
        [&](std::vector<double>& sums, std::ptrdiff_t) {
            sums.insert(sums.begin(), of_first.begin(), of_first.end());
        },
        eddy::Cuda{});

    CHECK(same_bits(second.loss.total_of_successful, all.loss.total_of_successful));
    CHECK(same_array(second.gradient.p, all.gradient.p));
}

TEST_CASE("device rest: no lanes are a call without work") {
    const auto none = differentiate(0, 0, {}, eddy::Cuda{});
    CHECK(none.loss.total == 0);
    CHECK(none.gradient.p(0, 1) == 0);
    CHECK(none.report.num_lanes() == 0);
    const auto solution =
        eddy::solve(Forced{}, eddy::Bosh3{}, Array(0, 2), Array(0, 2), options, eddy::Cuda{});
    CHECK(solution.num_lanes() == 0);
    CHECK(solution.success());
}
