// What save points are good for: their errors against those of the steps, for every method. The
// table of docs/design/methods.md is what `test_dense_output "[figures]"` prints.

#include <cstdio>
#include <eddy/backends/rows.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/all.hpp>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

using eddy::AllMethods;
using support::ExactProblem;

template <class Method>
inline constexpr bool is_adaptive = eddy::detail::has_error_estimate<Method>;

struct Errors {
    double at_steps = 0, at_saves = 0;  // the largest
    /// The most that an error at a save point exceeds the largest one at steps so far, the end of
    /// its own included.
    double added = 0;
};

double error_of(double y0, double y1, double t) { return ExactProblem::error({{y0, y1}}, t); }

/// The largest errors from t = 0 to 3, once around the circle. The save points are where the
/// solution is, whatever the steps: at irrational parts of the interval.
template <class Method>
Errors errors_of(double tolerance) {
    std::vector<double> times;
    for (int k = 1; k < 60; ++k) times.push_back((k + 0.5 * std::sqrt(0.5)) / 20);
    eddy::SolveOptions options{.t1 = 3,
                               .rtol = tolerance,
                               .atol = tolerance,
                               .save_at = times,
                               .save_steps = true,
                               .max_steps = 10'000'000};
    // Steps of methods without an error estimate: 0.01, 0.001 and 0.0001.
    if (!is_adaptive<Method>) options.dt0 = std::cbrt(tolerance);
    const auto solution = eddy::solve(ExactProblem{}, Method{}, support::rows({{0, 1}}),
                                      support::Array(1, 0), options, eddy::Rows{});
    eddy::require_success(solution);
    Errors errors;
    std::int64_t step = 0;
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
        do {
            errors.at_steps = std::max(
                errors.at_steps, error_of(solution.step_y(0, step, 0), solution.step_y(0, step, 1),
                                          solution.step_t(0, step)));
        } while (solution.step_t(0, step++) < solution.t(k));
        --step;
        const double error = error_of(solution.y(k)(0, 0), solution.y(k)(0, 1), solution.t(k));
        errors.at_saves = std::max(errors.at_saves, error);
        errors.added = std::max(errors.added, error - errors.at_steps);
    }
    return errors;
}

/// Methods of low order take too long at the tightest tolerance.
template <class Method>
bool is_fit_for(double tolerance) {
    return Method::order > 2 || !is_adaptive<Method> || tolerance > 1e-10;
}

}  // namespace

TEST_CASE("dense output: save points are as good as steps, whatever the method and tolerance") {
    AllMethods::for_each([]<class Method>() {
        for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
            if (!is_fit_for<Method>(tolerance)) continue;
            const Errors errors = errors_of<Method>(tolerance);
            INFO(support::type_name<Method>() << " at " << tolerance);
            CHECK(errors.at_saves < 4 * errors.at_steps);
            CHECK(errors.added < std::max(10 * tolerance, 0.2 * errors.at_steps));
        }
    });
}

TEST_CASE("dense output: a method whose interpolant is too poor steps to its save points") {
    eddy::SolveOptions options{.t1 = 3, .save_at = {0.7, 0.7, 1.9, 3}, .step_to = {0.2, 1.9}};
    const eddy::TimePlan landing = eddy::plan_times(options, {true, true}, "test");
    const eddy::TimePlan passing = eddy::plan_times(options, {true, false}, "test");

    const auto ends = [](const eddy::TimePlan& plan) {
        std::vector<double> times;
        for (const auto& stop : plan.tstops) times.push_back(stop.t);
        return times;
    };
    CHECK(ends(landing) == std::vector<double>{0.2, 0.7, 1.9, 3});
    CHECK(ends(passing) == std::vector<double>{0.2, 1.9, 3});
    int num_landing = 0;
    AllMethods::for_each(
        [&]<class Method>() { num_landing += eddy::steps_to_save_points<Method>; });
    CHECK(num_landing == 2);
    CHECK(eddy::steps_to_save_points<eddy::CashKarp>);
    CHECK(eddy::steps_to_save_points<eddy::Fehlberg78>);
}

TEST_CASE("dense output: print the table", "[.][figures]") {
    AllMethods::for_each([]<class Method>() {
        std::printf("| `%s` |", std::string(support::type_name<Method>()).c_str());
        for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
            if (!is_fit_for<Method>(tolerance)) {
                std::printf(" |");
                continue;
            }
            const Errors errors = errors_of<Method>(tolerance);
            std::printf(" %.2f, %.2g |", errors.at_saves / errors.at_steps,
                        errors.added / tolerance);
        }
        std::printf("\n");
    });
}
