// Bad arguments of solve, pushforward and the gradients: each is found before any work, and told as
// "where: what we got; what to do".

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>
#include <eddy/solvers/heun.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;

struct Growth {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0], y[1]);
    }
};
struct FirstComponent {
    static constexpr int data_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return y[0] - data[0];
    }
};
/// Doubles or halves.
struct Halving {
    static constexpr bool is_adaptive = true;

    template <class Real>
    eddy::StepDecision<Real> propose(const Real& squared_norm, int,
                                     const eddy::ControllerHistory<Real>& history) const {
        return {eddy::select(squared_norm < Real(0.01f), Real(2), Real(0.5f)), history};
    }
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The message of the InvalidArgument that a call throws; other exceptions pass, as does none.
template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const eddy::InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

/// What is said to a solve of two lanes from 0 to 1 after `change(options)`.
template <class Change>
std::string refusal_of_options(Change change) {
    eddy::SolveOptions options{.t1 = 1};
    change(options);
    return refusal([&] {
        (void)eddy::solve(Growth{}, eddy::Heun{}, Array(2, 2, 1), Array(2, 1, 1), options,
                          eddy::Serial{});
    });
}
using Options = eddy::SolveOptions;

std::string refusal_of_arrays(const Array& y0, const Array& p) {
    return refusal(
        [&] { (void)eddy::solve(Growth{}, eddy::Heun{}, y0, p, {.t1 = 1}, eddy::Serial{}); });
}

/// An array of ones but for one element.
Array ones_but(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t lane,
               std::ptrdiff_t component, double value) {
    Array array(rows, columns, 1);
    array(lane, component) = value;
    return array;
}

}  // namespace

TEST_CASE("validation: good arguments are accepted") {
    CHECK(refusal_of_options([](Options&) {}) == "accepted");
    CHECK(refusal_of_options([](Options& o) {
              o.atol = {1e-3, 0};
              o.save_at = {0, 0.5, 0.5, 1};
              o.dt0 = 0.1;
              o.dt_min = 0.01;
              o.dt_max = 0.01;
          }) == "accepted");
    CHECK(refusal_of_options([](Options& o) {
              o.t1 = -1;
              o.dt0 = -0.1;
              o.save_at = {-0.5, -1};
              o.step_to = {-0.25};
              o.jump_times = {-0.125};
          }) == "accepted");
    CHECK(refusal_of_options([](Options& o) {
              o.t1 = 0;
              o.dt0 = -0.1;
          }) == "accepted");
    CHECK(refusal_of_arrays(Array(0, 2), Array(0, 1)) == "accepted");
}

TEST_CASE("validation: tolerances are positive, finite, and as many as components") {
    const std::string wanted = "; give a relative tolerance above 0, such as 1e-6";
    CHECK(refusal_of_options([](Options& o) { o.rtol = 0; }) == "solve: rtol = 0" + wanted);
    CHECK(refusal_of_options([](Options& o) { o.rtol = -1; }) == "solve: rtol = -1" + wanted);
    CHECK(refusal_of_options([](Options& o) { o.rtol = not_a_number; }) ==
          "solve: rtol = nan" + wanted);
    CHECK(refusal_of_options([](Options& o) { o.rtol = infinity; }) ==
          "solve: rtol = inf" + wanted);

    CHECK(refusal_of_options([](Options& o) { o.rtol = std::numeric_limits<double>::max(); }) ==
          "solve: rtol = 1.7976931348623157e+308; give a relative tolerance of at most 1, such as "
          "1e-6");
    CHECK(refusal_of_options([](Options& o) { o.rtol = 1; }) == "accepted");

    // Less than four units in the last place cannot be told from rounding.
    CHECK(refusal_of_options([](Options& o) { o.rtol = 0x1p-51; }) ==
          "solve: rtol = 4.440892098500626e-16 is less than states of double resolve; give "
          "at least 8.881784197001252e-16");
    CHECK(refusal_of_options([](Options& o) { o.rtol = 0x1p-50; }) == "accepted");
    using Limits = std::numeric_limits<float>;
    CHECK(eddy::detail::precision_of<float>(true).smallest_rtol == 4 * Limits::epsilon());
    CHECK(eddy::detail::precision_of<float>(true).smallest_rtol < Options{}.rtol);
    CHECK(eddy::detail::precision_of<float>(false).smallest_rtol == 0);  // nothing is compared
    CHECK(support::message_of([] {
              eddy::detail::require_tolerances({.rtol = 1e-7}, 1,
                                               eddy::detail::precision_of<float>(true), "solve");
          }) ==
          "solve: rtol = 1e-07 is less than states of float resolve; "
          "give at least 4.76837158203125e-07");
    CHECK(support::message_of([] {
              eddy::detail::require_tolerances({.atol = 1e39}, 1,
                                               eddy::detail::precision_of<float>(true), "solve");
          }) ==
          "solve: atol[0] = 1e+39 is no float; give an absolute tolerance of "
          "at most 3.4028234663852886e+38");

    CHECK(refusal_of_options([](Options& o) { o.atol = -1; }) ==
          "solve: atol[0] = -1; give a finite absolute tolerance of at least 0");
    CHECK(refusal_of_options([](Options& o) {
              o.atol = {1, not_a_number};
          }) == "solve: atol[1] = nan; give a finite absolute tolerance of at least 0");
    CHECK(refusal_of_options([](Options& o) {
              o.atol = {1, infinity};
          }) == "solve: atol[1] = inf; give a finite absolute tolerance of at least 0");
    CHECK(refusal_of_options([](Options& o) {
              o.atol = {1, 2, 3};
          }) == "solve: atol has 3 numbers; give one, or one for each of the 2 components");
    CHECK(refusal_of_options([](Options& o) { o.atol = std::vector<double>{}; }) ==
          "solve: atol has 0 numbers; give one, or one for each of the 2 components; a solver or "
          "solution that was moved from "
          "has none");
}

TEST_CASE("validation: both ends are finite times, and so is what lies between") {
    CHECK(refusal_of_options([](Options& o) { o.t1 = Options{}.t1; }) ==
          "solve: t1 is missing or NaN; give the time to end at, .t1 = ...");
    CHECK(refusal_of_options([](Options& o) { o.t1 = infinity; }) ==
          "solve: t1 = inf; give a finite time to end at");
    CHECK(refusal_of_options([](Options& o) { o.t0 = not_a_number; }) ==
          "solve: t0 = nan; give a finite time to begin at");
    CHECK(refusal_of_options([](Options& o) { o.t0 = -1e308, o.t1 = 1e308; }) ==
          "solve: a span of inf; give times whose difference is a number");
}

TEST_CASE("validation: step sizes and their number") {
    const std::string sign = " points away from t1; give it the sign of t1 - t0";
    CHECK(refusal_of_options([](Options& o) { o.dt0 = -0.5; }) == "solve: dt0 = -0.5" + sign);
    CHECK(refusal_of_options([](Options& o) { o.t1 = -1, o.dt0 = 0.5; }) ==
          "solve: dt0 = 0.5" + sign);
    CHECK(refusal_of_options([](Options& o) { o.dt0 = not_a_number; }) ==
          "solve: dt0 = nan; give the size of the first step, or 0 to have it chosen");
    CHECK(refusal_of_options([](Options& o) { o.dt_min = -1; }) ==
          "solve: dt_min = -1; give a finite size of at least 0");
    CHECK(refusal_of_options([](Options& o) { o.dt_min = infinity; }) ==
          "solve: dt_min = inf; give a finite size of at least 0");
    const std::string positive = "; give a positive size that is not below dt_min";
    CHECK(refusal_of_options([](Options& o) { o.dt_max = 0; }) ==
          "solve: dt_max = 0 with dt_min = 0" + positive);
    CHECK(refusal_of_options([](Options& o) { o.dt_max = not_a_number; }) ==
          "solve: dt_max = nan with dt_min = 0" + positive);
    CHECK(refusal_of_options([](Options& o) { o.dt_min = 0.5, o.dt_max = 0.25; }) ==
          "solve: dt_max = 0.25 with dt_min = 0.5" + positive);
    CHECK(refusal_of_options([](Options& o) { o.max_steps = 0; }) ==
          "solve: max_steps = 0; give at least 1");
    CHECK(refusal_of_options([](Options& o) { o.checkpoints = -1; }) ==
          "solve: checkpoints = -1; give 1 to 2147483646, or 0 to have them chosen");
}

TEST_CASE("validation: a constant step size must be given, unless no step is taken") {
    const auto euler = [](const Options& options) {
        return refusal([&] {
            (void)eddy::solve(Growth{}, eddy::Euler{}, Array(1, 2, 1), Array(1, 1, 1), options,
                              eddy::Serial{});
        });
    };

    CHECK(euler({.t1 = 1, .dt0 = not_a_number}) == "solve: dt0 = nan; give the size of all steps");
    CHECK(euler({.t1 = 1}) ==
          "solve: a constant step size, but dt0 = 0; give the step size, .dt0 = ..., or a method "
          "and a controller that choose it");
    CHECK(euler({.t1 = 1, .dt0 = 5e-324}) ==
          "solve: a constant step size of dt0 = 5e-324; give a larger one: steps "
          "are counted in units of it");
    CHECK(euler({.t1 = 1, .dt0 = 0.25}) == "accepted");
    CHECK(euler({.t1 = 0}) == "accepted");
}

TEST_CASE("validation: a PIDController has finite coefficients and factors that make sense") {
    using PID = eddy::PIDController;
    const auto said = [](const PID& controller) {
        return refusal([&] {
            (void)eddy::solve(Growth{}, eddy::Heun{}, Array(1, 2, 1), Array(1, 1, 1), {.t1 = 1},
                              eddy::Serial{}, controller);
        });
    };
    const std::string got = "solve: PIDController with ";

    CHECK(said(eddy::pi_controller()) == "accepted");
    CHECK(said(PID{.safety = 0.99, .min_factor = 0.1, .max_factor = 1}) == "accepted");
    CHECK(said(PID{.safety = 0.2, .min_factor = 0.2}) == "accepted");
    const std::string finite = "; give finite coefficients";
    CHECK(said(PID{.pcoeff = not_a_number, .icoeff = 1, .dcoeff = 0}) ==
          got + "pcoeff = nan, icoeff = 1, dcoeff = 0" + finite);
    CHECK(said(PID{.pcoeff = 0, .icoeff = infinity, .dcoeff = 0}) ==
          got + "pcoeff = 0, icoeff = inf, dcoeff = 0" + finite);
    CHECK(said(PID{.pcoeff = 0, .icoeff = 1, .dcoeff = not_a_number}) ==
          got + "pcoeff = 0, icoeff = 1, dcoeff = nan" + finite);
    // Finite, but beyond the single precision of controllers.
    CHECK(said(PID{.pcoeff = 0, .icoeff = 1, .dcoeff = 1e300}) ==
          got + "pcoeff = 0, icoeff = 1, dcoeff = 1e+300" + finite);
    const std::string grow =
        ", by which steps with large errors grow; give icoeff of at least 0 and a sum above 0, "
        "such "
        "as pi_controller()";
    CHECK(said(PID{.icoeff = -1}) == got + "pcoeff = 0.4, icoeff = -1, dcoeff = 0" + grow);
    CHECK(said(PID{.pcoeff = -1}) == got + "pcoeff = -1, icoeff = 0.3, dcoeff = 0" + grow);
    CHECK(said(eddy::pid_controller()) == "accepted");
    CHECK(said(PID{.safety = 0.1}) ==
          got +
              "safety = 0.1 below min_factor = 0.2, with which steps stall; give min_factor <= "
              "safety");
    const std::string safe = "; give a factor between 0 and 1, such as 0.9";
    CHECK(said(PID{.safety = 0}) == got + "safety = 0" + safe);
    CHECK(said(PID{.safety = 1}) == got + "safety = 1" + safe);
    CHECK(said(PID{.safety = not_a_number}) == got + "safety = nan" + safe);
    const std::string least = "; give a factor between 0 and 1, such as 0.2";
    CHECK(said(PID{.min_factor = -1}) == got + "min_factor = -1" + least);
    CHECK(said(PID{.min_factor = 1}) == got + "min_factor = 1" + least);
    const std::string most = "; give a factor of at least 1, such as 10";
    CHECK(said(PID{.max_factor = 0.5}) == got + "max_factor = 0.5" + most);
    CHECK(said(PID{.max_factor = not_a_number}) == got + "max_factor = nan" + most);
}

TEST_CASE("validation: a PredictiveController has factors that make sense") {
    using Predictive = eddy::PredictiveController;
    const auto said = [](const Predictive& controller) {
        return refusal([&] {
            (void)eddy::solve(Growth{}, eddy::Heun{}, Array(1, 2, 1), Array(1, 1, 1), {.t1 = 1},
                              eddy::Serial{}, controller);
        });
    };
    const std::string got = "solve: PredictiveController with ";

    CHECK(said({}) == "accepted");
    CHECK(said({.safety = 1}) == got + "safety = 1; give a factor between 0 and 1, such as 0.9");
    CHECK(said({.min_factor = 0}) ==
          got + "min_factor = 0; give a factor between 0 and 1, such as 0.2");
    CHECK(said({.max_factor = not_a_number}) ==
          got + "max_factor = nan; give a factor of at least 1, such as 10");
}

TEST_CASE("validation: a controller of the user's own needs no check") {
    CHECK(refusal([] {
              (void)eddy::solve(Growth{}, eddy::Heun{}, Array(1, 2, 1), Array(1, 1, 1), {.t1 = 1},
                                eddy::Serial{}, Halving{});
          }) == "accepted");
}

TEST_CASE("validation: a number of threads is not negative") {
    const auto said = [](int threads) {
        return refusal([&] {
            (void)eddy::solve(Growth{}, eddy::Heun{}, Array(1, 2, 1), Array(1, 1, 1), {.t1 = 1},
                              eddy::Cpu{.threads = threads});
        });
    };

    CHECK(said(0) == "accepted");
    CHECK(said(1) == "accepted");
    CHECK(said(-1) ==
          "solve: Cpu with threads = -1; give at least 1, or 0 for as many as this process may run "
          "at once");
}

TEST_CASE("validation: lists of times are in order and within the interval") {
    using List = eddy::Times& (*)(Options&);
    const List lists[] = {[](Options& o) -> eddy::Times& { return o.save_at; },
                          [](Options& o) -> eddy::Times& { return o.step_to; },
                          [](Options& o) -> eddy::Times& { return o.jump_times; }};
    const std::string names[] = {"save_at", "step_to", "jump_times"};
    for (int i = 0; i < 3; ++i) {
        const auto said = [&](double t1, std::initializer_list<double> times) {
            return refusal_of_options([&](Options& o) {
                o.t1 = t1;
                lists[i](o) = times;
            });
        };
        const std::string name = "solve: " + names[i];

        CHECK(said(1, {0.5, 1.5}) == name +
                                         "[1] = 1.5 is not between t0 = 0 and t1 = 1; give "
                                         "times within the interval");
        CHECK(said(-1, {0.5}) == name +
                                     "[0] = 0.5 is not between t0 = 0 and t1 = -1; give times "
                                     "within the interval");
        CHECK(said(1, {not_a_number}) == name +
                                             "[0] = nan is not between t0 = 0 and t1 = 1; give "
                                             "times within the interval");
        CHECK(said(1, {0.25, 0.75, 0.5}) ==
              name +
                  "[2] = 0.5 comes after 0.75; sort the times in the direction of integration, "
                  "ascending");
        CHECK(said(-1, {-0.75, -0.5}) == name +
                                             "[1] = -0.5 comes after -0.75; sort the times in "
                                             "the direction of integration, descending");
    }
}

TEST_CASE("validation: y0 and p have a row per lane and a column per component") {
    CHECK(refusal_of_arrays(Array(3, 1, 1), Array(3, 1, 1)) ==
          "solve: y0 is 3 x 1 (trajectory, component); give 3 x 2");
    CHECK(refusal_of_arrays(Array(3, 2, 1), Array(4, 1, 1)) ==
          "solve: p is 4 x 1 (trajectory, component); give 3 x 1");
    CHECK(refusal_of_arrays(Array(3, 2, 1), Array(3, 2, 1)) ==
          "solve: p is 3 x 2 (trajectory, component); give 3 x 1");

    CHECK(refusal_of_arrays(Array(3, 2, 1), Array(1, 1, 1)) ==
          "solve: p is 1 x 1 (trajectory, component); give 3 x 1, or eddy::shared(p) for one row "
          "that all trajectories use");
    CHECK(refusal_of_arrays(Array(3, 2, 1), Array(1, 2, 1)) ==
          "solve: p is 1 x 2 (trajectory, component); give 3 x 1");
    CHECK(refusal_of_arrays(Array(1, 2, 1), Array(1, 1, 1)) == "accepted");

    const std::vector<double> two{1, 2};
    CHECK(refusal([&] {
              (void)eddy::solve(Growth{}, eddy::Heun{}, Array(3, 2, 1), eddy::shared(two),
                                {.t1 = 1}, eddy::Serial{});
          }) == "solve: p is 1 x 2 (trajectory, component); give 1 x 1");
}

TEST_CASE("validation: y0 and p are finite") {
    CHECK(refusal_of_arrays(ones_but(3, 2, 2, 1, infinity), Array(3, 1, 1)) ==
          "solve: y0(2, 1) = inf; give finite numbers");
    CHECK(refusal_of_arrays(Array(3, 2, 1), ones_but(3, 1, 1, 0, not_a_number)) ==
          "solve: p(1, 0) = nan; give finite numbers");
}

TEST_CASE("validation: tangents have the shapes of what they are tangents of") {
    const auto push = [](const Array& y0_tangent, const Array& p_tangent) {
        return refusal([&] {
            (void)eddy::pushforward(Growth{}, eddy::Heun{}, Array(3, 2, 1), Array(3, 1, 1),
                                    y0_tangent, p_tangent, {.t1 = 1}, eddy::Serial{});
        });
    };

    CHECK(push(Array(3, 2, 1), Array(3, 1, 1)) == "accepted");
    CHECK(push(Array(2, 2, 1), Array(3, 1, 1)) ==
          "pushforward: the tangent of y0 is 2 x 2 (trajectory, component); give 3 x 2");
    CHECK(push(Array(3, 2, 1), Array(3, 3, 1)) ==
          "pushforward: the tangent of p is 3 x 3 (trajectory, component); give 3 x 1");
    CHECK(push(ones_but(3, 2, 0, 0, not_a_number), Array(3, 1, 1)) ==
          "pushforward: the tangent of y0(0, 0) = nan; give finite numbers");
    CHECK(push(Array(3, 2, 1), ones_but(3, 1, 2, 0, -infinity)) ==
          "pushforward: the tangent of p(2, 0) = -inf; give finite numbers");
}

TEST_CASE(
    "validation: y0 whose rows and columns were taken for each other, or a vector of many lanes") {
    const auto solve = [](const Array& y0) {
        return refusal([&] {
            (void)eddy::solve(Growth{}, eddy::Heun{}, y0, eddy::shared(Array(1, 1, 1)), {.t1 = 1},
                              eddy::Serial{});
        });
    };

    CHECK(solve(Array(2, 8, 1)) ==
          "solve: y0 is 2 x 8 (trajectory, component); give 8 x 2: a row for each trajectory, a "
          "column "
          "for each component");
    CHECK(solve(Array(1, 1000, 1)) ==
          "solve: y0 is 1 x 1000 (trajectory, component); give 500 x 2: a vector is one "
          "trajectory, and "
          "of many each has a row");
    CHECK(solve(Array(5, 3, 1)) == "solve: y0 is 5 x 3 (trajectory, component); give 5 x 2");
}

TEST_CASE("validation: data has an array per save point, a row per lane or one for all") {
    const auto differentiate = [](const auto& data, const eddy::Times& save_at) {
        return refusal([&] {
            (void)eddy::value_and_gradient(Growth{}, eddy::Heun{}, FirstComponent{}, data,
                                           Array(3, 2, 1), Array(3, 1, 1),
                                           {.t1 = 1, .save_at = save_at}, eddy::Serial{});
        });
    };

    CHECK(differentiate(Array(3, 1, 1), {}) == "accepted");
    CHECK(differentiate(Array(1, 1, 1), {}) == "accepted");
    CHECK(differentiate(std::vector{Array(3, 1, 1), Array(1, 1, 1)}, {0.5, 1}) == "accepted");
    CHECK(differentiate(Array(3, 1, 1), {0.5, 1}) ==
          "value_and_gradient: data for 1 save points, but there are 2; give a std::vector with "
          "one array for each");
    CHECK(differentiate(Array(2, 1, 1), {}) ==
          "value_and_gradient: data is 2 x 1 (trajectory, component); give 3 x 1");
    CHECK(differentiate(Array(3, 2, 1), {}) ==
          "value_and_gradient: data is 3 x 2 (trajectory, component); give 3 x 1");
    CHECK(
        differentiate(ones_but(3, 1, 1, 0, not_a_number), {}) ==
        "value_and_gradient: data(1, 0) = nan; give finite numbers, or eddy::missing_as_nan(data) "
        "where NaN stands for a value that is missing");
    const std::vector second_broken{Array(3, 1, 1), ones_but(3, 1, 2, 0, not_a_number)};
    CHECK(differentiate(second_broken, {0.5, 1}) ==
          "value_and_gradient: data[1](2, 0) = nan, of save point 1; give finite numbers, or "
          "eddy::missing_as_nan(data) where NaN stands for a value that is missing");
    // Who has forgotten save_at has data for more save points than there are.
    CHECK(differentiate(std::vector(3, Array(3, 1, 1)), {}) ==
          "value_and_gradient: data for 3 save points, but there are 1; give their times in "
          "save_at, without which the end is the only one");
}

TEST_CASE("validation: cotangents have the shape of what was saved") {
    const auto solution = eddy::solve(Growth{}, eddy::Heun{}, Array(3, 2, 1), Array(3, 1, 1),
                                      {.t1 = 1, .save_at = {0.5, 1}}, eddy::Serial{});
    const auto pull = [&](const auto& cotangents) {
        return refusal([&] { (void)eddy::pullback(solution, cotangents); });
    };

    CHECK(pull(std::vector{Array(3, 2, 1), Array(3, 2, 1)}) == "accepted");
    CHECK(pull(Array(3, 2, 1)) ==
          "pullback: cotangents for 1 save points, but there are 2; give a std::vector with one "
          "array for each");
    CHECK(pull(std::vector{Array(3, 2, 1), Array(3, 1, 1)}) ==
          "pullback: cotangents is 3 x 1 (trajectory, component); give 3 x 2");
    CHECK(pull(std::vector{Array(3, 2, 1), ones_but(3, 2, 1, 1, not_a_number)}) ==
          "pullback: cotangents[1](1, 1) = nan, of save point 1; give finite numbers");
}

TEST_CASE("validation: a direction has the shapes of y0 and p") {
    const auto multiply = [](const Array& y0_direction, const Array& p_direction) {
        return refusal([&] {
            (void)eddy::hessian_vector_product(
                Growth{}, eddy::Heun{}, FirstComponent{}, Array(3, 1, 1), Array(3, 2, 1),
                Array(3, 1, 1), y0_direction, p_direction, {.t1 = 1}, eddy::Serial{});
        });
    };

    CHECK(multiply(Array(3, 2, 1), Array(3, 1, 1)) == "accepted");
    CHECK(multiply(Array(3, 1, 1), Array(3, 1, 1)) ==
          "hessian_vector_product: the tangent of y0 is 3 x 1 (trajectory, component); give 3 x 2");
    CHECK(multiply(Array(3, 2, 1), ones_but(3, 1, 0, 0, infinity)) ==
          "hessian_vector_product: the tangent of p(0, 0) = inf; give finite numbers");
}

TEST_CASE("validation: what an option has no place in is refused with the solver object") {
    CHECK(refusal([] {
              (void)eddy::gradient_solver(Growth{}, eddy::Heun{}, FirstComponent{},
                                          {.t1 = 1, .save_steps = true}, eddy::Serial{});
          }) ==
          "value_and_gradient: save_steps = true; a loss is a sum over save points, leave it out");
    CHECK(refusal([] {
              (void)eddy::pullback_solver(Growth{}, eddy::Heun{}, {.t1 = 1, .paths = 2},
                                          eddy::Serial{});
          }) ==
          "pullback: paths = 2, whose states are not kept; use value_and_gradient, which takes the "
          "mean of their losses, or make each path a trajectory");
}

TEST_CASE("validation: a solver refuses bad input and works on with good") {
    auto solver = eddy::ensemble_solver(Growth{}, eddy::Heun{}, {.t1 = 1}, eddy::Serial{});
    const double before = solver(Array(1, 2, 1), Array(1, 1, 1)).y()(0, 1);

    CHECK(refusal([&] { (void)solver(Array(1, 3, 1), Array(1, 1, 1)); }) ==
          "solve: y0 is 1 x 3 (trajectory, component); give 1 x 2");

    CHECK(solver(Array(1, 2, 1), Array(1, 1, 1)).y()(0, 1) == before);
}
