// Every method of solvers/ against its claims.

#include <eddy/solvers/all.hpp>
#include <eddy/steppers/explicit_rk.hpp>

#include "steppers/exact_problem.hpp"
#include "steppers/rooted_trees.hpp"
#include "support/catch.hpp"

namespace {

using eddy::AllMethods;
using support::ErrorAt;
using support::ExactProblem;

/// b, or b̂ of an embedded method: b less the weights of the error that it estimates.
template <class Method>
std::vector<support::Weighed> weights(const double* error = nullptr) {
    std::vector<support::Weighed> b;
    for (int i = 0; i < Method::tableau.num_stages; ++i)
        b.push_back(support::weighed(static_cast<long double>(Method::tableau.b[i]) -
                                     (error == nullptr ? 0 : error[i])));
    return b;
}

template <class Method>
struct WithoutEmbeddedOrder {
    static constexpr int order = Method::order;
    static constexpr auto& tableau = Method::tableau;
};

/// The largest error of `num_steps` equal steps from t = 0 to 2.
template <class Method>
ErrorAt error_of(int num_steps) {
    using Step = eddy::ExplicitRungeKutta<ExactProblem, Method>;
    const long double dt = 2.0L / num_steps;
    const long double no_parameters[1] = {};
    auto y = ExactProblem::solution(0);
    double error = 0;
    for (int step = 0; step < num_steps; ++step) {
        y = Step::step(step * dt, y, no_parameters, dt);
        error = std::max(error, ExactProblem::error(y, (step + 1) * dt));
    }
    return {static_cast<double>(dt), error};
}

}  // namespace

TEST_CASE("methods: there are as many rooted trees of each order as there should be") {
    int count[10] = {};
    for (const auto& tree : support::rooted_trees(9)) ++count[tree.order];

    const int known[10] = {0, 1, 1, 2, 4, 9, 20, 48, 115, 286};  // HNW I, table II.2.1
    for (int order = 1; order <= 9; ++order) CHECK(count[order] == known[order]);
}

TEST_CASE("methods: a wrong twelfth digit breaks an order condition") {
    const auto trees = support::rooted_trees(6);
    auto tableau = eddy::Dopri5::tableau;
    tableau.a[4][2] += 1e-12;
    tableau.a[4][1] -= 1e-12;

    CHECK(support::satisfied_order(tableau.a, weights<eddy::Dopri5>(), 1, trees) < 5);
}

TEST_CASE("methods: the order of the error estimate is worked out where a method does not say") {
    AllMethods::for_each([]<class Method>() {
        if constexpr (requires { Method::embedded_order; }) {
            using Untold = WithoutEmbeddedOrder<Method>;
            INFO(support::type_name<Method>());
            STATIC_REQUIRE(eddy::ValidTableau<Untold>::value);
            // Conditions are known up to order 5: Dopri8's 5 of 8 is beyond them.
            if (Method::order <= 5 || Method::embedded_order == Method::order - 1)
                CHECK(eddy::estimate_order<Untold> == eddy::estimate_order<Method>);
        }
    });
}

TEST_CASE("methods: the rooted-tree conditions hold up to each method's order and not above") {
    const auto trees = support::rooted_trees(9);

    AllMethods::for_each([&]<class Method>() {
        static_assert(eddy::ValidTableau<Method>::value);
        INFO(support::type_name<Method>());
        CHECK(support::satisfied_order(Method::tableau.a, weights<Method>(), 1, trees) ==
              Method::order);
        if constexpr (requires { Method::embedded_order; }) {
            CHECK(support::satisfied_order(Method::tableau.a,
                                           weights<Method>(Method::tableau.b_error), 1,
                                           trees) == Method::embedded_order);
        } else {
            for (double e : Method::tableau.b_error) CHECK(e == 0);
        }
        if constexpr (eddy::has_coarse_error<Method>) {
            CHECK(support::satisfied_order(Method::tableau.a,
                                           weights<Method>(Method::b_coarse_error), 1,
                                           trees) == Method::coarse_order);
        }
    });
}

TEST_CASE("methods: a step's error falls with the power of dt that the order claims") {
    AllMethods::for_each([]<class Method>() {
        std::vector<ErrorAt> points;
        for (double steps = 4; steps < 1000; steps *= 1.25)
            points.push_back(error_of<Method>(static_cast<int>(steps)));
        // Coefficients rounded to double leave errors of a few 1e-16, however small the step.
        const auto window = support::asymptotic_window(points, 1e-14, 1e-1, 5);

        INFO(support::type_name<Method>());
        REQUIRE(window.size() == 5);
        const double slope = support::fitted_slope(window);
        CAPTURE(slope, window.front().error, window.back().error);
        CHECK(std::fabs(slope - Method::order) <= 0.2);
    });
}
