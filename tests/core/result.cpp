#include <eddy/core/result.hpp>
#include <sstream>
#include <type_traits>

#include "support/catch.hpp"

using eddy::Result;

TEST_CASE("result: the first failure stays, and a failure outranks an event") {
    STATIC_REQUIRE(combine(Result::success, Result::event) == Result::event);
    STATIC_REQUIRE(combine(Result::event, Result::non_finite) == Result::non_finite);
    STATIC_REQUIRE(combine(Result::dt_underflow, Result::non_finite) == Result::dt_underflow);
    STATIC_REQUIRE(combine(Result::max_steps_reached, Result::event) == Result::max_steps_reached);
    STATIC_REQUIRE(combine(Result::event, Result::success) == Result::event);
}

TEST_CASE("result: values are those that other languages know, and are only added to") {
    const Result in_order[] = {Result::success,
                               Result::event,
                               Result::max_steps_reached,
                               Result::dt_underflow,
                               Result::non_finite,
                               Result::cancelled,
                               Result::singular_matrix,
                               Result::newton_failed,
                               Result::inconsistent_start,
                               Result::loss_not_finite,
                               Result::observed_not_finite,
                               Result::loop_limit};
    STATIC_REQUIRE(std::is_same_v<std::underlying_type_t<Result>, std::uint8_t>);
    int value = 0;
    for (const Result result : in_order) {
        CHECK(static_cast<int>(result) == value++);
        CHECK(std::string(name(result)) != "unknown result");
        CHECK(std::string(message(result)) != "unknown result");
    }
    // The next one has no name yet: whoever adds it pins it here.
    CHECK(std::string(name(static_cast<Result>(value))) == "unknown result");
}

TEST_CASE("result: it prints its name") {
    std::ostringstream out;
    out << Result::dt_underflow << ' ' << Result::loss_not_finite;

    CHECK(out.str() == "dt_underflow loss_not_finite");
    CHECK(Catch::StringMaker<Result>::convert(Result::max_steps_reached) == "max_steps_reached");
}
