// A solve with steps of constant size shows the order of every method, at the end and at save
// points within steps. Over rows, which have the bits of compiled steps: those are held to golden_bits.txt.

#include <eddy/backends/rows.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/all.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

using eddy::AllMethods;
using support::ErrorAt;
using support::ExactProblem;

struct Errors {
    ErrorAt at_steps, within;
};

/// The largest errors after and within some of the steps from 0 to 2. (In a single point the
/// leading term of an error may vanish.)
template <class Method>
Errors errors_of(int num_steps) {
    const double dt = 2. / num_steps;
    std::vector<double> times;
    for (int part = 1; part <= 8; ++part) {
        const double first = std::floor(part / 8. * (num_steps - 1));
        for (const double theta : {0.15, 0.35, 0.6, 0.85, 1.})
            // Save points at steps alone where others would cut steps in two.
            times.push_back((first + (eddy::steps_to_save_points<Method> ? 1. : theta)) * dt);
    }
    times.back() = 2;
    const auto solution = eddy::solve(ExactProblem{}, Method{}, support::rows({{0, 1}}),
                                      support::Array(1, 0), {.t1 = 2, .save_at = times, .dt0 = dt},
                                      eddy::Rows{}, eddy::ConstantController{});
    Errors errors{{dt, 0}, {dt, 0}};
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
        const double error =
            ExactProblem::error({{solution.y(k)(0, 0), solution.y(k)(0, 1)}}, solution.t(k));
        double& largest = k % 5 == 4 ? errors.at_steps.error : errors.within.error;
        largest = std::max(largest, error);
    }
    return errors;
}

/// The slope of errors between round-off and the first asymptotic ones, which must be five.
double slope_of(const std::vector<ErrorAt>& points) {
    // Round-off leaves some 1e-14 after as many steps as it takes to get that far.
    const auto window = support::asymptotic_window(points, 2e-13, 1e-1, 5);
    REQUIRE(window.size() == 5);
    return support::fitted_slope(window);
}

}  // namespace

TEST_CASE("order: the error of a solve falls with the power of dt that the method claims") {
    AllMethods::for_each([]<class Method>() {
        std::vector<ErrorAt> at_steps, within;
        for (double steps = 8; steps < 1200; steps *= 1.2) {
            const Errors errors = errors_of<Method>(static_cast<int>(steps));
            at_steps.push_back(errors.at_steps);
            within.push_back(errors.within);
        }
        INFO(support::type_name<Method>());
        CHECK(std::fabs(slope_of(at_steps) - Method::order) <= 0.2);
        // Inside a step there is the error of its start, and that of an interpolant, which is one
        // order higher in a single step. The leading errors of the long ones are so small that the
        // next order shows.
        constexpr int dense = eddy::Interpolant<Method>::order;
        constexpr int order =
            eddy::steps_to_save_points<Method> ? Method::order : std::min(Method::order, dense + 1);
        CHECK(slope_of(within) >= order - 0.2);
        if constexpr (dense <= 4) CHECK(slope_of(within) <= order + 0.2);
    });
}
