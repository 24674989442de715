// What is reported where the derivative's steps are given: pushforward and pullback; and sums over
// lanes of many parameters.

#include <cmath>
#include <eddy/eddy.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

using eddy::SolveOptions, eddy::Tsit5;
using support::Array, support::rows, support::same_bits;

namespace {

/// Two modes, the second of rate p[1]; of parameters there are many.
template <int num_parameters>
struct Decays {
    static constexpr int state_size = 2, parameter_size = num_parameters;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]), -(p[1] * y[1]));
    }
};
struct Total {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};

/// One lane in three has moved along the second mode.
Array states(std::ptrdiff_t num_lanes) {
    Array y0(num_lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
    }
    return y0;
}

/// A machine on the host whose teams neither watch nor take steps as given.
struct PlainTeam {
    static constexpr eddy::detail::Watches watches{};
    static constexpr bool takes_prescribed_steps = false;
};
struct PlainHost {
    using Memory = eddy::HostMemory;
    template <class Spec>
    using Team = PlainTeam;
};

}  // namespace

TEST_CASE("unreliable: a pushforward tells where its steps do not carry the tangent") {
    constexpr std::ptrdiff_t num_lanes = 20;
    const Array y0 = states(num_lanes), y0_tangent(num_lanes, 2, 1), p_tangent(num_lanes, 2);
    Array p(num_lanes, 2, 1);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        p(lane, 1) = 1 + 5. * static_cast<double>(lane);
    SolveOptions options{.t1 = 10};
    const auto push = [&](const auto&... extras) {
        return eddy::pushforward(Decays<2>{}, Tsit5{}, y0, p, y0_tangent, p_tangent, options,
                                 extras...);
    };
    const auto packs = push(), serial = push(eddy::Serial{});
    options.tangents_in_error_norm = true;
    const auto counted = push();

    int marked = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const auto mark = packs.unreliable(lane);
        const double error = std::abs(packs.tangent()(lane, 1) - std::exp(-10 * p(lane, 1)));
        if (error > 1e-4) CHECK(mark);
        if (y0(lane, 1) == 1) CHECK_FALSE(mark);
        marked += bool(mark);
        CHECK(mark.t == serial.unreliable(lane).t);
        CHECK(mark.ratio == serial.unreliable(lane).ratio);
        CHECK_FALSE(counted.unreliable(lane));
        CHECK(std::abs(counted.tangent()(lane, 1) - std::exp(-10 * p(lane, 1))) < 1e-6);
    }
    CHECK(marked >= 11);
    CHECK(to_text(packs.unreliable(19)).find("tangents_in_error_norm") != std::string::npos);
    CHECK(to_text(packs.unreliable(0)).find("resolved") != std::string::npos);
    CHECK_THROWS_AS(packs.unreliable(num_lanes), eddy::InvalidArgument);
}

TEST_CASE("unreliable: a mark depends on the lane alone, and a second call starts afresh") {
    const Array y0 = states(9), tangent(9, 2, 1), zero(9, 2), one_y0 = rows({{1, 0}});
    Array p(9, 2, 1);
    for (std::ptrdiff_t lane = 0; lane < 9; ++lane) p(lane, 1) = 50;
    auto solver = eddy::ensemble_solver(Decays<2>{}, Tsit5{}, SolveOptions{.t1 = 10});
    const auto alone = eddy::pushforward(Decays<2>{}, Tsit5{}, one_y0, rows({{1, 50}}),
                                         rows({{1, 1}}), rows({{0, 0}}), {.t1 = 10});

    CHECK(solver(y0, p, tangent, zero).unreliable(1).ratio == alone.unreliable(0).ratio);
    CHECK(alone.unreliable(0));
    CHECK_FALSE(solver(y0, p, zero, zero).unreliable(1));
    CHECK_FALSE(solver(y0, p).unreliable(1));
}

TEST_CASE("unreliable: a pullback of a solution brings its report") {
    const auto solution =
        eddy::solve(Decays<2>{}, Tsit5{}, rows({{1, 0}}), rows({{1, 50}}), {.t1 = 10});
    const auto pulled = eddy::pullback(solution, rows({{1, 1}}));

    CHECK(std::abs(pulled.y0(0, 1)) > 1e100);
    CHECK(pulled.report.unreliable(0));
    CHECK_FALSE(pulled.report.redone(0));
    const eddy::Gradient<double> gradient = pulled;
    CHECK(same_bits(gradient.p(0, 0), pulled.p(0, 0)));
}

TEST_CASE("unreliable: lanes are solved again where many parameters are shared") {
    constexpr std::ptrdiff_t num_lanes = 150;
    const Array y0 = states(num_lanes);
    std::vector<double> p(66);
    p[0] = 1;
    p[1] = 50;
    SolveOptions options{.t1 = 0.2};
    const auto gradient = [&] {
        return eddy::value_and_gradient(Decays<66>{}, Tsit5{}, Total{}, y0, eddy::shared(p),
                                        options);
    };
    const auto stable = gradient();

    const double mode = std::exp(-10.), slow = std::exp(-0.2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        CHECK_FALSE(stable.report.unreliable(lane));
        CHECK(stable.report.redone(lane) == (y0(lane, 1) == 0));
        CHECK(std::abs(stable.gradient.y0(lane, 1) - mode) < 1e-6);
    }
    CHECK(std::abs(stable.gradient.p(0, 0) + 0.2 * slow * num_lanes) < 1e-5 * num_lanes);
    CHECK(std::abs(stable.gradient.p(0, 1) + 0.2 * mode * num_lanes / 3) < 1e-5 * num_lanes);

    // Where no second solve succeeds, all is as it was.
    options.max_steps = stable.report.stats(1).accepted - 1;
    const auto kept = gradient();
    options.stable_gradients = false;
    const auto plain = gradient();
    CHECK(kept.report.unreliable(1));
    for (int i = 0; i < 66; ++i) CHECK(same_bits(kept.gradient.p(0, i), plain.gradient.p(0, i)));
}

TEST_CASE("unreliable: a team on the host that does not watch is not believed to") {
    using Spec = eddy::detail::SolveSpec<Decays<2>, Tsit5, eddy::PIDController, double, false>;
    using Workspace =
        eddy::detail::GradientWorkspace<Spec, eddy::detail::LossTermOf<Decays<2>, Total>,
                                        eddy::detail::LossSeeds<Spec>, false>;
    STATIC_REQUIRE(Workspace::watches<eddy::Serial>);
    STATIC_REQUIRE(Workspace::redoes<eddy::Serial>);
    STATIC_REQUIRE_FALSE(Workspace::watches<PlainHost>);
    STATIC_REQUIRE_FALSE(Workspace::redoes<PlainHost>);
}
