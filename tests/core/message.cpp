// Texts of messages with values in them.

#include <cstdint>
#include <eddy/core/error.hpp>
#include <limits>
#include <string>

#include "support/catch.hpp"

using eddy::detail::compose;

TEST_CASE("compose: each {} becomes its value") {
    CHECK(compose("no values") == "no values");
    CHECK(compose("slot {}, step {}", 3, std::int64_t{-7}) == "slot 3, step -7");
    CHECK(compose("{}{}", std::string("a"), "b") == "ab");
    CHECK(compose("{}", std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(compose("{}", std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("compose: numbers in as few digits as tell them apart") {
    CHECK(compose("{} {} {}", 0.1, 1e-6, 2.) == "0.1 1e-06 2");
    CHECK(compose("{}", 0.1 + 0.2) == "0.30000000000000004");
    CHECK(compose("{} {}", std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::quiet_NaN()) == "inf nan");
    CHECK(compose("{}", 5e-324) == "5e-324");
}

TEST_CASE("compose: braces within values are left alone") {
    CHECK(compose("got {}", "{}{0}{") == "got {}{0}{");
}

TEST_CASE("require_argument: the text is that of the exception") {
    CHECK_NOTHROW(eddy::require_argument(true, "f: x = {}; give 1", 2));
    try {
        eddy::require_argument(false, "f: x = {}; give 1", 2.5);
        FAIL("nothing was thrown");
    } catch (const eddy::InvalidArgument& error) {
        CHECK(error.what() == std::string("f: x = 2.5; give 1"));
    }
}
