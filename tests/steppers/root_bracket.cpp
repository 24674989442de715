// Brackets of roots: every one closes on a change of sign, smooth functions within a few tries.

#include <cmath>
#include <eddy/steppers/root_bracket.hpp>
#include <limits>

#include "support/catch.hpp"

namespace {

struct Found {
    double size;
    int tries;
};
/// Of a function that is positive at zero, or was, and is beyond where it is not.
template <class Function>
Found seek(const Function& g, double size, double width) {
    auto bracket = eddy::RootBracket::begin(size, g(0.), g(size));
    for (int tries = 1;; ++tries) {
        const double at = bracket.next(width);
        REQUIRE(at > bracket.low);
        REQUIRE(at < bracket.high);
        const double here = g(at);
        bracket.narrow(at, here, !(here > 0));
        if (here == 0 || bracket.is_closed(width) || tries > 200) return {at, tries};
    }
}

}  // namespace

TEST_CASE("root bracket: roots of smooth functions are found within ten tries") {
    const auto check = [](const auto& g, double size, double root) {
        const Found found = seek(g, size, 1e-15);
        CHECK(std::fabs(found.size - root) <= 4e-15);
        CHECK(found.tries <= 10);
    };
    check([](double h) { return 0.25 - h; }, 1, 0.25);
    check([](double h) { return std::cos(3 * h); }, 1, std::acos(0.) / 3);
    check([](double h) { return std::exp(-4 * h) - 0.1; }, 1, std::log(10.) / 4);
    check([](double h) { return 1 - h * h * h; }, 1.5, 1);
}

TEST_CASE("root bracket: a root that the step begins at is not found again") {
    const auto flight = [](double h) { return h == 0 ? 1e-300 : h * (0.01 - h); };

    const Found found = seek(flight, 1, 1e-16);

    CHECK(std::fabs(found.size - 0.01) <= 1e-16);
    CHECK(found.tries <= 14);
}

TEST_CASE("root bracket: it closes on a jump, on infinities and on what is no number") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    for (const double beyond : {-1., -1e300, -1e-300, -infinity, not_a_number}) {
        for (const double before : {1., 1e300, 1e-300, infinity}) {
            const Found found = seek([&](double h) { return h < 0.3 ? before : beyond; }, 1, 1e-15);
            CHECK(std::fabs(found.size - 0.3) <= 1e-15);
            CHECK(found.tries <= 12 + 51);
        }
    }
}
