// Lanes of single precision that keep time in pairs of floats, on a device: the steps of double times but for
// rounding, and replays to the bit.
#include <cmath>
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

constexpr std::ptrdiff_t lanes = 1009;

template <class Backend>
auto gradient(int checkpoints, const Backend& backend) {
    eddy::EnsembleArray<float> y0(lanes, 2, 1.f), p(lanes, 2, 1.f);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = 1 + 2 * static_cast<float>(lane) / lanes;
    const eddy::SolveOptions options{
        .t1 = 4, .rtol = 1e-4, .atol = 1e-6, .checkpoints = checkpoints};
    return eddy::value_and_gradient(support::Forced{}, eddy::Tsit5{}, Squares{}, y0, p, options,
                                    backend);
}

}  // namespace

TEST_CASE("device float time: gradients are those of double times, but for rounding") {
    const auto found = gradient(1000, eddy::CudaFloatTime{});
    const auto expected = gradient(1000, eddy::Serial{});

    REQUIRE(found.report.success());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        INFO("lane " << lane);
        CHECK(std::abs(found.report.stats(lane).accepted - expected.report.stats(lane).accepted) <=
              1);
        CHECK(std::abs(found.gradient.y0(lane, 0) - expected.gradient.y0(lane, 0)) < 1e-3f);
        CHECK(std::abs(found.gradient.p(lane, 1) - expected.gradient.p(lane, 1)) < 1e-3f);
    }
}

TEST_CASE("device float time: a replay makes the steps of the first time, to the bit") {
    const auto kept = gradient(1000, eddy::CudaFloatTime{});
    const auto replayed = gradient(2, eddy::CudaFloatTime{});

    CHECK(support::same_array(replayed.gradient.y0, kept.gradient.y0));
    CHECK(support::same_array(replayed.gradient.p, kept.gradient.p));
}
