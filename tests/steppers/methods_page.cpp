// The table of docs/guide/methods.md against the structs.

#include <eddy/solvers/all.hpp>
#include <eddy/steppers/interpolant.hpp>
#include <fstream>
#include <sstream>

#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

/// "| `Tsit5` | 5(4) | 7 | yes | order 4 |": a row up to the paper.
template <class Method>
std::string row_of() {
    constexpr auto& dense = eddy::interpolant_tableau<Method>;
    std::ostringstream row;
    row << "| `" << support::type_name<Method>() << "` | " << Method::order;
    if constexpr (requires { Method::embedded_order; }) {
        row << "(" << Method::embedded_order;
        if constexpr (eddy::has_coarse_error<Method>) row << "," << Method::coarse_order;
        row << ")";
    }
    row << " | " << Method::tableau.num_stages << " | " << (eddy::is_fsal<Method> ? "yes" : "no")
        << " | ";
    if constexpr (requires { Method::interpolant; }) {
        row << "order " << dense.order;
        if (dense.num_extra > 0) row << ", " << dense.num_extra << " further stages";
    } else {
        row << "Hermite, order " << dense.order;
        if (eddy::steps_to_save_points<Method>) row << "; steps to save points";
    }
    row << " |";
    return row.str();
}

}  // namespace

TEST_CASE("methods page: the table says of every method what its struct says") {
    std::ifstream file(EDDY_METHODS_PAGE);
    std::stringstream page;
    page << file.rdbuf();
    REQUIRE(page.str().size() > 0);

    eddy::AllMethods::for_each([&]<class Method>() {
        INFO(row_of<Method>());
        CHECK(page.str().find(row_of<Method>()) != std::string::npos);
    });
}
