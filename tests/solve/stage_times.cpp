// The times that f is asked at: never beyond an end of the step or a jump, exact at both ends.

#include <cmath>
#include <eddy/solve/lane/times.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

using eddy::detail::StageTimes;
using eddy::detail::TimeAt;

TEST_CASE("stage_times: the last stage of a step is the first of the next, bit for bit") {
    support::Random random(1);
    for (int i = 0; i < 1000; ++i) {
        const double t0 = std::ldexp(random.uniform(-1, 1), random.below(60) - 30);
        const double direction = random.one_in(2) ? -1 : 1;
        const double elapsed = random.uniform(0, 10),
                     size = std::ldexp(random.uniform(0, 1), -random.below(40));
        const TimeAt<double> start{t0, direction, elapsed, -1e300, 1e300};
        const TimeAt<double> next{t0, direction, elapsed + size, -1e300, 1e300};
        const StageTimes<double> stages(start, size);
        CHECK(stages.at_fraction(1) == next + 0.);
        CHECK(stages.at_fraction(0) == start + 0.);
    }
}

TEST_CASE("stage_times: no stage lies beyond the ends, forward or backward") {
    support::Random random(2);
    for (int i = 0; i < 1000; ++i) {
        const double direction = random.one_in(2) ? -1 : 1, c = random.uniform(0, 1);
        const TimeAt<double> start{1e9 * random.uniform(-1, 1), direction, random.uniform(0, 1),
                                   -1e300, 1e300};
        const StageTimes<double> stages(start, std::ldexp(random.uniform(0, 1), -random.below(50)));
        const double t = stages.at_fraction(c);
        CHECK(direction * (t - stages.first) >= 0);
        CHECK(direction * (stages.last - t) >= 0);
    }
}

TEST_CASE("stage_times: a jump on either side confines the stages") {
    const double jump = 2, after = std::nextafter(jump, 3.);
    const TimeAt<double> from_jump{0, 1, jump, after, 1e300};
    CHECK(StageTimes<double>(from_jump, 1).first == after);
    const double before = std::nextafter(jump, 1.);
    const TimeAt<double> to_jump{0, 1, 1, -1e300, before};
    CHECK(StageTimes<double>(to_jump, 1).last == before);
    const eddy::Tstop tstop{.elapsed = 2, .t = 2, .lowest = 1, .highest = before, .is_jump = true};
    CHECK(tstop.confine(2) == before);
    CHECK(tstop.confine(0.5) == 1);
    CHECK(tstop.confine(1.5) == 1.5);
}
