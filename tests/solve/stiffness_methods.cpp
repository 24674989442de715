// Every explicit method with an error estimate sees the lanes that it is too slow for, and only those.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/all.hpp>

#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"

namespace {

using switching::Array;
using switching::Field;

/// A slow lane and two stiff ones, of Van der Pol with these μ.
const Array mu = support::rows({{1}, {2e4}, {1e5}});
const Array y0 = support::rows({{2, 0}, {2, 0}, {2, 0}});

template <class Method>
void check_stats() {
    INFO("stages: " << Method::tableau.num_stages << ", order: " << Method::order);
    const auto solution = eddy::solve(Field{}, Method{}, y0, mu,
                                      {.t1 = 5, .rtol = 1e-4, .max_steps = 5000}, eddy::Serial{});

    CHECK(solution.stats(0).stiff_steps == 0);
    for (const std::ptrdiff_t lane : {1, 2}) {
        const eddy::LaneStats stats = solution.stats(lane);
        CHECK(stats.accepted + stats.rejected == 5000);
        CHECK(2 * stats.stiff_steps > stats.accepted);
    }
}

template <class Method>
void check_switch() {
    INFO("stages: " << Method::tableau.num_stages << ", order: " << Method::order);
    const eddy::SolveOptions asked{.t1 = 1, .rtol = 1e-4, .max_steps = 500};
    const auto solution = eddy::solve(Field{}, eddy::AutoSwitch{Method{}, eddy::Rodas3{}}, y0, mu,
                                      asked, eddy::Serial{});

    REQUIRE(solution.success());
    CHECK(!solution.switched(0));
    CHECK(solution.switched(1));
    CHECK(solution.switched(2));
}

}  // namespace

TEST_CASE("stiffness: explicit methods count the steps of stiff lanes, and of no others") {
    check_stats<eddy::Bosh3>();
    check_stats<eddy::CashKarp>();
    check_stats<eddy::Fehlberg45>();
    check_stats<eddy::Dopri5>();
    check_stats<eddy::Vern7>();
    check_stats<eddy::Fehlberg78>();
    check_stats<eddy::Dopri8>();
}

TEST_CASE("AutoSwitch: methods without two stages of one time send stiff lanes on as well") {
    check_switch<eddy::Bosh3>();
    check_switch<eddy::Dopri8>();
}
