// Two methods for one batch: each lane is that of one of them alone, bit for bit, and of the second where
// stability bounds the steps of the first.

#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "solve/switch_lanes.hpp"
#include "support/alarm.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using namespace switching;
using eddy::Result;
using support::same_array;
using support::same_row;

template <class A, class B>
bool same_states(const A& a, const B& b, std::ptrdiff_t lane) {
    bool same = a.num_saves() == b.num_saves();
    for (std::ptrdiff_t k = 0; same && k < a.num_saves(); ++k)
        same = same_row(a.y(k), lane, b.y(k), lane);
    return same;
}
template <class A, class B>
bool same_steps(const A& a, const B& b, std::ptrdiff_t lane) {
    bool same = a.num_steps(lane) == b.num_steps(lane);
    for (std::ptrdiff_t k = 0; same && k < a.num_steps(lane); ++k) {
        same = a.step_t(lane, k) == b.step_t(lane, k) &&
               a.step_y(lane, k, 0) == b.step_y(lane, k, 0) &&
               a.step_y(lane, k, 1) == b.step_y(lane, k, 1);
    }
    return same;
}

/// Each lane of `both` is that of one method; returns how many are that of the second.
template <class Backend>
std::ptrdiff_t check_lanes(const Lanes& lanes, const eddy::SolveOptions& asked,
                           const Backend& backend) {
    const auto both = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked, backend);
    const auto first = eddy::solve(Field{}, First{}, lanes.y0, lanes.p, asked, backend);
    const auto second = eddy::solve(Field{}, Second{}, lanes.y0, lanes.p, asked, backend);
    std::ptrdiff_t switched = 0;
    const auto check = [&](const auto& one, std::ptrdiff_t lane) {
        CHECK(same_outcome(both, one, lane));
        CHECK(same_states(both, one, lane));
        CHECK(same_steps(both, one, lane));
    };
    for (std::ptrdiff_t lane = 0; lane < both.num_lanes(); ++lane) {
        INFO("lane " << lane << ", mu = " << lanes.p(lane, 0));
        if (both.switched(lane))
            check(second, lane), ++switched;
        else
            check(first, lane);
        CHECK(!first.switched(lane));
    }
    CHECK(both.num_switched() == switched);
    return switched;
}

/// y1 is 1/(1 − p1 t), until it explodes; y2 follows its cosine at the rate p2.
struct Explosion {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0], p[1] * (eddy::cos(0.1 * y[0]) - y[1]));
    }
};
/// y1 grows towards 1 from t = 0.55 on; y2 follows cos(1 − y1) at the rate p.
struct Dosed {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto dose = eddy::select(t < 0.55, 0.0 * y[0], 1.0 - y[0]);
        return eddy::vec(dose, p[0] * (eddy::cos(1.0 - y[0]) - y[1]));
    }
};

using Alarm = support::Alarm<eddy::PredictiveController>;

auto solve_with_alarm(const Lanes& lanes, std::int64_t attempts) {
    Alarm::left = attempts;
    Alarm::source = std::stop_source{};
    auto asked = options;
    asked.cancelled = Alarm::source.get_token();
    return eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked, Alarm{}, eddy::Serial{});
}

}  // namespace

TEST_CASE("AutoSwitch: each lane is that of one method alone, bit for bit") {
    auto asked = options;
    asked.save_steps = true;
    const Lanes lanes(37);

    const auto switched = check_lanes(lanes, asked, eddy::Cpu{.threads = 1});
    CHECK(check_lanes(lanes, asked, eddy::Cpu{.threads = 3}) == switched);
    CHECK(check_lanes(lanes, asked, eddy::Serial{}) == switched);

    CHECK(switched > 9);
    CHECK(switched < 28);
}

TEST_CASE("AutoSwitch: stiff lanes are switched, the others are not") {
    const Lanes lanes(200);

    const auto both = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, options);
    const auto oracle = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, options, eddy::Serial{});

    REQUIRE(both.success());
    CHECK(both.total_stats().accepted < 200 * 200);
    for (std::ptrdiff_t lane = 0; lane < 200; ++lane) {
        INFO("mu = " << lanes.p(lane, 0));
        CHECK(both.switched(lane) == oracle.switched(lane));
        if (lanes.p(lane, 0) < 50) CHECK(!both.switched(lane));
        if (lanes.p(lane, 0) > 1000) CHECK(both.switched(lane));
    }
}

TEST_CASE("AutoSwitch: one lane of either kind, and none") {
    const eddy::AutoSwitch both{First{}, Second{}};
    const Array y0 = support::rows({{2, 0}});
    const Array slow = support::rows({{1}}), stiff = support::rows({{1e6}});

    CHECK(!eddy::solve(Field{}, both, y0, slow, options).switched(0));
    const auto switched = eddy::solve(Field{}, both, y0, stiff, options);
    CHECK(switched.switched(0));
    CHECK(switched.stats(0).jacobians > 0);
    CHECK(switched.total_stats().jacobians == switched.stats(0).jacobians);
    CHECK(eddy::solve(Field{}, both, Array(0, 2), Array(0, 1), options).num_switched() == 0);
}

TEST_CASE("AutoSwitch: all lanes of a batch are switched, or none") {
    Lanes slow(19), stiff(19);
    for (std::ptrdiff_t lane = 0; lane < 19; ++lane) {
        slow.p(lane, 0) = 1 + 0.1 * static_cast<double>(lane);
        stiff.p(lane, 0) = 5000 + 100 * static_cast<double>(lane);
    }
    auto asked = options;
    asked.save_steps = true;

    CHECK(check_lanes(slow, asked, eddy::Cpu{.threads = 3}) == 0);
    CHECK(check_lanes(stiff, asked, eddy::Cpu{.threads = 3}) == 19);
}

TEST_CASE("AutoSwitch: a lane fails as it does by the method that took it last") {
    const Array y0 = support::rows({{2, 0}, {2, 0}, {2, 0}});
    const Array p = support::rows({{1}, {1e5}, {1e4}});
    auto few = options;
    few.max_steps = 40;  // too few for either: the second lane is known to be stiff by then
    auto some = options;
    some.rtol = 1e-2;
    some.max_steps = 90;  // the first method is at its second look with attempt 96
    auto large = options;
    large.dt_min = 0.01;  // for the first method alone

    const auto neither = eddy::solve(Field{}, Both{}, y0, p, few);
    const auto one = eddy::solve(Field{}, Both{}, y0, p, some);
    const auto stalled = eddy::solve(Field{}, Both{}, y0, p, large);
    const auto stalled_first = eddy::solve(Field{}, First{}, y0, p, large);

    CHECK(neither.switched(1));
    CHECK(neither.result(1) == Result::max_steps_reached);
    CHECK(neither.stats(1).jacobians == 40);
    CHECK(one.switched(1));
    CHECK(one.result(1) == Result::success);
    CHECK(one.stats(1).accepted + one.stats(1).rejected > 40);
    CHECK(stalled.result(1) == Result::dt_underflow);
    CHECK(!stalled.switched(1));
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
        CHECK(same_outcome(stalled, stalled_first, lane));
}

TEST_CASE("AutoSwitch: a lane that neither method can finish ends as by the second") {
    // y1 is infinite at t = 1/p1, and draws y2 along with p2.
    const Array y0 = support::rows({{1, 1}, {1, 1}, {1, 1}, {1, 1}});
    const Array p = support::rows({{0.2, 1}, {2, 3e4}, {0.2, 3e4}, {2, 1}});
    const auto end_by = [&](const auto& method) {
        return eddy::solve(Explosion{}, method, y0, p, options, eddy::Serial{});
    };

    const auto both = end_by(Both{});
    const auto first = end_by(First{});
    const auto second = end_by(Second{});

    for (std::ptrdiff_t lane = 0; lane < 4; ++lane) {
        INFO("lane " << lane);
        const bool is_stiff = p(lane, 1) > 1, explodes = p(lane, 0) > 1;
        CHECK(both.switched(lane) == is_stiff);
        CHECK((both.result(lane) == Result::success) != explodes);
        CHECK((first.result(lane) == Result::success) != explodes);
        CHECK(same_outcome(both, is_stiff ? static_cast<const eddy::Outcomes&>(second) : first,
                           lane));
        for (std::ptrdiff_t k = 0; k < 3; ++k)  // the save points before the explosion
            CHECK(same_row(both.y(k), lane, is_stiff ? second.y(k) : first.y(k), lane));
    }
    CHECK(std::fabs(both.failure(1).t - 0.5) < 1e-3);
}

TEST_CASE("AutoSwitch: jumps and save points within steps are those of one method") {
    // A dose at t = 0.55, where options has a jump: the field is another one behind it.
    const Array y0 = support::rows({{0, 0}, {0, 0}});
    const Array p = support::rows({{2}, {3e5}});
    const auto end_by = [&](const auto& method) {
        return eddy::solve(Dosed{}, method, y0, p, options, eddy::Serial{});
    };

    const auto both = end_by(Both{});

    CHECK(!both.switched(0));
    CHECK(both.switched(1));
    CHECK(same_states(both, end_by(First{}), 0));
    CHECK(same_states(both, end_by(Second{}), 1));
    CHECK(both.y(2)(1, 0) == 0);
    CHECK(std::fabs(both.y(4)(1, 0) - (1 - std::exp(-0.45))) < 1e-3);
    CHECK(std::fabs(both.y(4)(1, 1) - std::cos(1 - both.y(4)(1, 0))) < 1e-3);
}

TEST_CASE(
    "AutoSwitch: a call that is cancelled in the second pass leaves the lanes that are done") {
    const Lanes lanes(12);
    constexpr std::int64_t never = std::int64_t{1} << 40;
    const auto whole = solve_with_alarm(lanes, never);
    const std::int64_t attempts = never - Alarm::left;

    const auto cut = solve_with_alarm(lanes, attempts - 1);
    const auto none = solve_with_alarm(lanes, 1);

    std::ptrdiff_t last = 11;
    while (!whole.switched(last)) --last;
    for (std::ptrdiff_t lane = 0; lane < 12; ++lane) {
        CHECK(cut.switched(lane) == whole.switched(lane));
        CHECK(none.result(lane) == Result::cancelled);
        if (lane == last)
            CHECK(cut.result(lane) == Result::cancelled);
        else
            CHECK((same_outcome(cut, whole, lane) && same_states(cut, whole, lane)));
    }
}

TEST_CASE("AutoSwitch: those who watch a call count each lane once") {
    struct Seen {
        const eddy::CallCounts* counts = nullptr;
        std::int64_t calls = 0, lanes = 0, done = 0;
    };
    const auto seen = std::make_shared<Seen>();
    auto asked = options;
    asked.progress = eddy::Watcher([seen](const eddy::WatchedCall& call) {
        seen->counts = call.counts;
        seen->lanes = call.num_lanes;
        ++seen->calls;
        return std::shared_ptr<void>(seen.get(),
                                     [seen](void*) { seen->done = seen->counts->lanes_done(); });
    });
    const Lanes lanes(50);

    const auto solution = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked);

    CHECK(solution.num_switched() > 0);
    CHECK(seen->calls == 1);
    CHECK(seen->lanes == 50);
    CHECK(seen->done == 50);
}

TEST_CASE("AutoSwitch: members of its methods are those that are given, and checked") {
    const auto method = [](double newton_tolerance) {
        return eddy::AutoSwitch{First{}, eddy::TRBDF2{.newton_tolerance = newton_tolerance}};
    };
    const Array y0 = support::rows({{2, 0}}), p = support::rows({{1e4}});
    const auto end_by = [&](const auto& by) {
        return eddy::solve(Field{}, by, y0, p, options, eddy::Serial{}).y(4)(0, 0);
    };

    CHECK(end_by(method(1e-4)) == end_by(eddy::TRBDF2{.newton_tolerance = 1e-4}));
    CHECK(end_by(method(1e-4)) != end_by(method(0.5)));
    CHECK(support::mentions(support::message_of([&] { end_by(method(0)); }), "newton_tolerance"));
}

TEST_CASE("AutoSwitch: a solver object takes other lanes, and writes into given arrays") {
    const Lanes many(60), few(7);
    auto solver = eddy::ensemble_solver(Field{}, Both{}, options);
    const auto of_many = eddy::solve(Field{}, Both{}, many.y0, many.p, options);
    const auto of_few = eddy::solve(Field{}, Both{}, few.y0, few.p, options);
    std::vector<Array> given(5, Array(60, 2));

    solver(many.y0, many.p);
    const auto& again = solver(few.y0, few.p);
    CHECK(again.num_switched() == of_few.num_switched());
    for (std::ptrdiff_t k = 0; k < 5; ++k) CHECK(same_array(again.y(k), of_few.y(k)));
    auto copy = solver;
    copy(many.y0, many.p, eddy::SolutionInto<double>{.y = given});
    for (std::ptrdiff_t k = 0; k < 5; ++k)
        CHECK(same_array(given[static_cast<std::size_t>(k)], of_many.y(k)));
}
