// The members of methods that are chosen when the program runs, at their extremes.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/trbdf2.hpp>

#include "fuzz/check_extremes.hpp"

namespace {

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return -p[0] * y; }
};

}  // namespace

TEST_CASE("options_methods: newton_tolerance at its extremes") {
    const eddy::EnsembleArray<double> y0(3, 1, 2.), p(3, 1, 0.5);
    fuzz::check_extremes(eddy::TRBDF2{}, "TRBDF2", [&](const eddy::TRBDF2& method) {
        const auto solution =
            eddy::solve(Decay{}, method, y0, p, {.t1 = 1, .rtol = 1e-4}, eddy::Serial{});
        CHECK((method.newton_tolerance > 0 && method.newton_tolerance <= 1));
        REQUIRE(solution.success());
        CHECK(solution.y()(2, 0) == Approx(2 * std::exp(-0.5)).epsilon(1e-2));
    });
}
