// Methods of other kinds than the usual on a device: two error estimates and further stages for dense
// output, steps to each save point, fields in two parts, stiff methods in single precision. All have the
// bits of Serial.
#include <eddy/backends/cuda.hpp>
#include <eddy/solvers/cash_karp.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/rodas4.hpp>

#include "solve/device_cases.hpp"

namespace {

const auto as_it_is = oracle::as_it_is<eddy::Cuda>();

/// Diffusion between two cells of the rough equation, which is fast.
struct TwoCells {
    static constexpr int state_size = 4, parameter_size = 3;
    constexpr auto stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(1e3 * p[1] * (y[2] - y[0]), 1e3 * p[2] * (y[3] - y[1]),
                         1e3 * p[1] * (y[0] - y[2]), 1e3 * p[2] * (y[1] - y[3]));
    }
    constexpr auto non_stiff(auto t, const auto& y, const auto& p) const {
        return eddy::concat(oracle::Rough{}(t, eddy::vec(y[0], y[1]), p),
                            oracle::Rough{}(t, eddy::vec(y[2], y[3]), p));
    }
};

}  // namespace

TEST_CASE("device methods: gradients of Dopri8") {
    CHECK(oracle::compare_gradients<eddy::Dopri8, double>(oracle::device_cases, as_it_is, 101) ==
          oracle::adaptive_endings);
}

TEST_CASE("device methods: CashKarp, which ends a step at each save point") {
    const oracle::Lanes<double> lanes(1009);
    CHECK(oracle::compare(
              oracle::adaptive_cases, as_it_is,
              [&](eddy::SolveOptions options, const auto& backend) {
                  options.save_steps = true;
                  return eddy::solve(oracle::Rough{}, eddy::CashKarp{}, lanes.y0, lanes.p, options,
                                     eddy::observe(oracle::Observed{}), backend);
              },
              [](const auto& expected, const auto& got) {
                  oracle::check_same(expected, got, false);
              }) == oracle::adaptive_endings);
}

TEST_CASE("device methods: gradients of KenCarp4, of a field in two parts") {
    const oracle::Lanes<double> lanes(101);
    support::Array y0(101, 4);
    for (std::ptrdiff_t lane = 0; lane < 101; ++lane) {
        for (int i = 0; i < 4; ++i) y0(lane, i) = lanes.y0(lane, i % 2) * (i < 2 ? 1 : 0.5);
    }
    const auto endings = oracle::compare(
        oracle::device_cases, as_it_is,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            const std::size_t saves = options.save_at.values.size();
            const std::vector data(saves > 0 ? saves : 1, support::Array(1, 4, 0.25));
            return eddy::value_and_gradient(TwoCells{}, eddy::KenCarp4{}, support::HalfSquares{},
                                            data, y0, lanes.p, options, backend);
        },
        [](const auto& expected, const auto& got) { oracle::check_same(expected, got); });
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.size() > 1);
}

TEST_CASE("device methods: gradients of Rodas4 in single precision, by steps of constant size") {
    const auto endings = oracle::compare_gradients<eddy::Rodas4, float>(
        oracle::constant_cases, as_it_is, 101, eddy::ConstantController{});
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.count(eddy::Result::max_steps_reached) == 1);
}
