#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "support/catch.hpp"

using eddy::ButcherTableau, eddy::RK4, eddy::Tsit5;
using eddy::detail::satisfies_order;

namespace {

/// The highest order whose conditions, and those of all below, the tableau satisfies.
template <int stages>
int order_of(const ButcherTableau<stages>& tableau) {
    int order = 0;
    while (order < 5 && satisfies_order(tableau, order + 1)) ++order;
    return order;
}

}  // namespace

TEST_CASE("butcher_tableau: methods have the order that they declare") {
    CHECK(order_of(RK4::tableau) == 4);
    CHECK(order_of(Tsit5::tableau) == 5);
}

TEST_CASE("butcher_tableau: the embedded method of Tsit5 is of order 4") {
    ButcherTableau<7> embedded = Tsit5::tableau;
    for (int i = 0; i < 7; ++i) embedded.b[i] -= embedded.b_error[i];

    CHECK(order_of(embedded) == 4);
}

TEST_CASE("butcher_tableau: first same as last is computed") {
    STATIC_REQUIRE(eddy::is_fsal<Tsit5>);
    STATIC_REQUIRE_FALSE(eddy::is_fsal<RK4>);
}

TEST_CASE("butcher_tableau: an error in the ninth decimal of any coefficient is noticed") {
    constexpr double wrong = 1e-9;
    for (int i = 0; i < 6; ++i) {  // the last row is of no weight: y⁺ does not depend on it
        ButcherTableau<7> tableau = Tsit5::tableau;
        tableau.b[i] += wrong;
        CHECK_FALSE(satisfies_order(tableau, 1));

        tableau = Tsit5::tableau;
        tableau.c[i] += wrong;
        CHECK_FALSE(eddy::detail::rows_sum_to(tableau.a, tableau.c));

        for (int j = 0; j < i; ++j) {
            tableau = Tsit5::tableau;
            tableau.a[i][j] += wrong;
            tableau.c[i] += wrong;  // a mistake that the row sums do not show
            CHECK(eddy::detail::rows_sum_to(tableau.a, tableau.c));
            CHECK(order_of(tableau) < 5);
        }
    }
}
