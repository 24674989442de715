// Which impulses lanes meet at which tstops, what is said of those that do not fit, and when rows of times are one list.

#include <eddy/solve/ask/time_plan.hpp>
#include <limits>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

eddy::TimePlan plan(const eddy::SolveOptions& options) {
    return eddy::plan_times(options, {true, false}, "solve");
}
std::string message(const eddy::SolveOptions& options) {
    return support::message_of([&] { static_cast<void>(plan(options)); });
}
eddy::SolveOptions with(const eddy::Impulses& impulses) { return {.t1 = 4, .impulses = impulses}; }

TEST_CASE("impulses: those at t0 come first, then those of each tstop, several at one of them") {
    const eddy::TimePlan of_all =
        plan({.t0 = 1,
              .t1 = -3,
              .step_to = {-2},
              .impulses = {.times = {1, 0, 0, -1, -3}, .amounts = {1, 2, 3, 4, 5}}});

    const auto times = of_all.view().of_all();
    REQUIRE(of_all.num_tstops == 4);
    CHECK(times.impulses_at_start().end == 1);
    const int ends[] = {3, 4, 4, 5};
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(of_all.tstops[k].impulses.end == ends[k]);
        CHECK(of_all.tstops[k].impulses.first == (k == 0 ? 1 : ends[k - 1]));
    }
    for (int k = 0; k < 5; ++k) CHECK(times.impulses[k].amount == k + 1);
}

TEST_CASE("impulses: each trajectory may have its own") {
    Array at(2, 2, none);
    at(0, 0) = 1;
    at(0, 1) = 2;
    at(1, 0) = 3;
    Array amounts = at;
    amounts(1, 0) = 7;

    const eddy::TimePlan own =
        plan(with({.times = eddy::each(at), .components = 1, .amounts = eddy::each(amounts)}));

    REQUIRE(own.is_own);
    CHECK(own.num_tstops == 3);
    const auto second = own.view().of(eddy::detail::Row{1});
    CHECK(second.tstops[0].impulses.end == 1);
    CHECK(second.tstops[1].impulses.is_empty());
    CHECK(second.impulses[0].amount == 7);
    CHECK(second.impulses[0].component == 1);
}

TEST_CASE("own times: rows that are all equal are read as one list") {
    Array saves(3, 2, none);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) saves(lane, 0) = 1;
    eddy::SolveOptions options{.t0 = eddy::each(Array(3, 1, 0.5)), .t1 = 4};
    options.save_at = eddy::each(saves);
    const auto reads_rows = [&] { return plan(options).view().own != nullptr; };

    CHECK(plan(options).is_own);
    CHECK_FALSE(reads_rows());
    CHECK(plan(options).view().of(eddy::detail::Row{2}).t0 == 0.5);

    options.impulses = {.times = {2}, .amounts = eddy::each(Array(3, 1, 7.))};
    CHECK(reads_rows());  // amounts may be given anew
    options.impulses = {};
    saves(2, 1) = 3;
    options.save_at = eddy::each(saves);
    CHECK(reads_rows());
    options.save_at = {1};
    options.t1 = eddy::each(Array(3, 1, 4.));
    CHECK_FALSE(reads_rows());
    Array ends(3, 1, 4.);
    ends(1, 0) = 5;
    options.t1 = eddy::each(ends);
    CHECK(reads_rows());
}

TEST_CASE("impulses: what does not fit is said before any work") {
    Array two(2, 2, none), three(3, 2, 1.);
    two(0, 1) = 1;
    CHECK(message(with({.times = {1, 5}, .amounts = 1})) ==
          "solve: impulses.times[1] = 5 is not between t0 = 0 and t1 = 4; give times within the "
          "interval");
    CHECK(message(with({.times = {2, 1}, .amounts = 1})) ==
          "solve: impulses.times[1] = 1 comes after 2; sort the times in the direction of "
          "integration, ascending");
    CHECK(message(with({.times = eddy::each(two), .amounts = 1})) ==
          "solve: impulses.times(0, 0) is NaN, and a time follows; fill rows up with NaN at the "
          "end only");
    CHECK(message(with({.times = {1, 2}})) ==
          "solve: impulses.amounts has 0 numbers of each trajectory for 2 impulses; give one for "
          "all, or one for each time in impulses.times");
    CHECK(message(with({.times = {1, 2, 3}, .components = {0, 1}, .amounts = 1})) ==
          "solve: impulses.components has 2 numbers of each trajectory for 3 impulses; give one "
          "for all, or one for each time in impulses.times");
    CHECK(message(with({.times = {1, 2}, .amounts = {1, none}})) ==
          "solve: the amount of impulse 1 is nan; give a finite number");
    CHECK(message(with({.times = {1}, .components = -1, .amounts = 1})) ==
          "solve: the component of impulse 0 is -1; give the number of a component of y, from 0 "
          "on");
    CHECK(message(with({.times = {1, 2, 3},
                        .amounts = 1,
                        .kinds = {eddy::Impulse::add, eddy::Impulse::scale}})) ==
          "solve: impulses.kinds has 2 entries for 3 impulses; give one for all, or one for each");
    two(0, 0) = 0.5;
    CHECK(message(with({.times = eddy::each(two), .amounts = eddy::each(three)})) ==
          "solve: impulses.amounts has a row for each of 3 trajectories, other times have 2; give "
          "each(...) a row for each trajectory");
    CHECK(message(with({.times = eddy::each(two), .amounts = eddy::each(Array(2, 2, 1.))})) ==
          "solve: impulses.amounts(1, 0) = 1, but trajectory 1 has only 0 impulses; fill its row "
          "up with NaN");
}

}  // namespace
