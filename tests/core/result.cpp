#include <eddy/core/result.hpp>

#include "support/catch.hpp"

using eddy::Result;

TEST_CASE("result: the first failure stays, and a failure outranks an event") {
    STATIC_REQUIRE(combine(Result::success, Result::event) == Result::event);
    STATIC_REQUIRE(combine(Result::event, Result::non_finite) == Result::non_finite);
    STATIC_REQUIRE(combine(Result::dt_underflow, Result::non_finite) == Result::dt_underflow);
    STATIC_REQUIRE(combine(Result::max_steps_reached, Result::event) == Result::max_steps_reached);
    STATIC_REQUIRE(combine(Result::event, Result::success) == Result::event);
}
