// The table of docs/guide/methods.md against the structs: every method has a row, and what the row says of it up to the last
// column is what the struct says.

#include <eddy/solvers/all.hpp>
#include <eddy/steppers/interpolant.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

/// "| `Rodas5P` | Rosenbrock | 5 | 8 | order 4 | order 4 |": a row up to what the method is for.
struct Row {
    std::string family, order, stages, dense, error;
};
std::string text_of(const std::string& name, const Row& row) {
    return "| `" + name + "` | " + row.family + " | " + row.order + " | " + row.stages + " | " +
           row.dense + " | " + row.error + " |";
}

std::string say(double order) {
    std::ostringstream text;
    text << order;
    return text.str();
}
std::string dense_of(int order, bool steps_to_save_points) {
    return "order " + say(order) + (steps_to_save_points ? "; steps to save points" : "");
}

template <class Method>
Row explicit_row() {
    constexpr auto& dense = eddy::interpolant_tableau<Method>;
    Row row{"explicit", say(Method::order), say(Method::tableau.num_stages), "", "none"};
    if (eddy::is_fsal<Method>) row.stages += ", FSAL";
    if constexpr (requires { Method::embedded_order; }) {
        row.error = "order " + say(Method::embedded_order);
        if constexpr (eddy::has_coarse_error<Method>)
            row.error =
                "orders " + say(Method::embedded_order) + " and " + say(Method::coarse_order);
    }
    row.dense = dense_of(dense.order, eddy::steps_to_save_points<Method>);
    if constexpr (requires { Method::interpolant; }) {
        if (dense.num_extra > 0) row.dense += ", " + say(dense.num_extra) + " more stages";
    } else {
        row.dense = "Hermite, " + row.dense;
    }
    return row;
}

/// Of methods that solve linear systems.
template <class Method>
Row implicit_row(const std::string& family) {
    return {family, say(Method::order), say(Method::coefficients.num_stages),
            dense_of(Method::interpolant.order, Method::interpolant.order + 1 < Method::order),
            "order " + say(Method::embedded_order)};
}

std::string orders_of(double strong, double weak) {
    return (strong > 0 ? "strong " + say(strong) + ", " : "") + "weak " + say(weak);
}
template <std::size_t size>
int count(const bool (&needed)[size]) {
    int total = 0;
    for (const bool is_needed : needed) total += is_needed ? 1 : 0;
    return total;
}

/// Evaluations of a diffusion whose noises do not commute: columns in their own states, then in those that the other noises push.
template <class Method>
int weak_evaluations() {
    int total = 0;
    for (int i = 0; i < Method::weak.num_stages; ++i) {
        total += Method::weak.b_w[i] != 0 || Method::weak.b_w2[i] != 0 ? 1 : 0;
        bool is_pushed = false;
        for (const double weight : Method::weak.a_cross[i]) is_pushed = is_pushed || weight != 0;
        total += is_pushed ? 1 : 0;
    }
    return total;
}

template <class Method, class Table>
Row stochastic_row(bool of_both_calculi) {
    constexpr auto needs = eddy::detail::needs_of(Table::stochastic);
    std::string noise = ", any noise";
    if (Table::noise == eddy::NoiseClass::additive) noise = ", additive noise";
    if (Table::noise == eddy::NoiseClass::diagonal) noise = ", diagonal noise";
    if (Table::noise == eddy::NoiseClass::commutative) noise = ", commutative noise";
    const bool is_ito = Table::calculus == eddy::Calculus::ito;
    const bool says_calculus = !of_both_calculi && Table::noise != eddy::NoiseClass::additive;
    const std::string calculus = !says_calculus ? "" : is_ito ? ", Itô" : ", Stratonovich";
    Row row{"SDE" + calculus + noise, orders_of(Table::strong_order, Table::weak_order),
            "drift " + say(count(needs.drift)) + ", diffusion " + say(count(needs.diffusion)),
            "steps to save points", Table::stochastic.estimates_error() ? "yes" : "none"};
    if constexpr (requires { Method::weak.num_stages; })
        row.stages += " (" + say(weak_evaluations<Method>()) + " for general noise)";
    return row;
}

std::string read_page() {
    std::ifstream file(EDDY_METHODS_PAGE);
    std::stringstream page;
    page << file.rdbuf();
    return page.str();
}

template <class Method>
void check(const std::string& page, const Row& row) {
    const std::string expected = text_of(std::string(support::type_name<Method>()), row);
    INFO(expected);
    CHECK(page.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("methods page: the table says of every method what its struct says") {
    const std::string page = read_page();
    REQUIRE(!page.empty());

    eddy::AllMethods::for_each(
        [&]<class Method>() { check<Method>(page, explicit_row<Method>()); });
    eddy::RosenbrockMethods::for_each(
        [&]<class Method>() { check<Method>(page, implicit_row<Method>("Rosenbrock")); });
    eddy::EsdirkMethods::for_each([&]<class Method>() {
        check<Method>(page,
                      implicit_row<Method>(eddy::ImexMethod<Method> ? "ESDIRK, IMEX" : "ESDIRK"));
    });
    eddy::AllStochasticMethods::for_each([&]<class Method>() {
        if constexpr (std::is_same_v<Method, eddy::Milstein>)
            check<Method>(page,
                          stochastic_row<Method, eddy::Milstein::In<eddy::Calculus::ito>>(true));
        else
            check<Method>(page, stochastic_row<Method, Method>(false));
    });
    eddy::MethodList<eddy::ALIGN, eddy::QUICSORT>::for_each([&]<class Method>() {
        check<Method>(page, {"Langevin", orders_of(Method::strong_order, Method::weak_order),
                             "force " + say(Method::evaluations), "steps to save points", "none"});
    });
    static_assert(eddy::Taylor<2>::order == 2 && eddy::Taylor<30>::order == 30);
    CHECK(page.find(text_of("Taylor<n>", {"Taylor series", "n, from 2 to 30", "none", "order n",
                                          "the last two terms"})) != std::string::npos);
}
