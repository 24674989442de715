// A program of its own: it counts every allocation. A solver object that is called again with other values of inputs and
// other amounts of impulses.

#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <limits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/counting_new.hpp"
#include "support/message_of.hpp"

namespace {

using support::allocations_of, support::Array, support::message_of, support::same_array;

struct Driven {
    static constexpr int state_size = 2, parameter_size = 1, input_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0], u[1] * y[0] - y[1]);
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return y[0] * y[0] + y[1] * y[1];
    }
};

constexpr std::ptrdiff_t num_lanes = 3;
const Array y0(num_lanes, 2, 0.5), p(num_lanes, 1, 0.7);
const eddy::Cpu one_thread{.threads = 1};

Array values_at_knots(double first) {
    Array values(3, 2, first);
    values(1, 0) = 2 * first, values(2, 1) = -1;
    return values;
}
eddy::SolveOptions options_with(const eddy::Inputs& inputs, const eddy::ImpulseNumbers& amounts) {
    return {.t1 = 3,
            .rtol = 1e-5,
            .impulses = {.times = {0.5, 1.5}, .components = 0, .amounts = amounts},
            .inputs = inputs};
}
auto solver_of(const eddy::SolveOptions& options) {
    return eddy::gradient_solver(Driven{}, eddy::Bosh3{}, Squares{}, options, one_thread);
}
/// `solver` gives what one gives that was made for these options.
template <class Solver>
void check_like_new(Solver& solver, const eddy::SolveOptions& options) {
    auto fresh = solver_of(options);
    const auto& wanted = fresh(y0, p);
    const auto& found = solver(y0, p);

    REQUIRE(wanted.report.success());
    CHECK(found.loss.total == wanted.loss.total);
    CHECK(same_array(found.gradient.p, wanted.gradient.p));
    CHECK(same_array(found.gradient.inputs, wanted.gradient.inputs));
    CHECK(same_array(found.gradient.impulse_amounts, wanted.gradient.impulse_amounts));
}

TEST_CASE("new values: a kept solver has the bits of a new one, and allocates nothing") {
    const std::vector<double> knots{0, 1, 3}, amounts{0.5, -0.25};
    const Array values = values_at_knots(0.4);
    auto solver = solver_of(options_with(eddy::natural_cubic_spline(knots, values_at_knots(1)),
                                         {std::vector<double>{1, 2}}));
    const double before = solver(y0, p).loss.total;

    CHECK(allocations_of([&] {
              solver.set_inputs(values);
              solver.set_impulse_amounts(amounts);
              static_cast<void>(solver(y0, p));
          }) == 0);

    CHECK(solver(y0, p).loss.total != before);
    check_like_new(solver, options_with(eddy::natural_cubic_spline(knots, values), {amounts}));
}

TEST_CASE("new values: of each trajectory's own, where some have fewer") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Array knots(num_lanes, 3, nan), values(num_lanes, 6, 0.5), amounts(num_lanes, 2, 1.);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (std::ptrdiff_t k = 0; k < 3 - lane % 2; ++k)
            knots(lane, k) = static_cast<double>(k + lane);
    }
    const auto make = [&] {
        return options_with(eddy::cubic_hermite(eddy::each(knots), eddy::each(values)),
                            {eddy::each(amounts)});
    };
    auto solver = solver_of(make());
    static_cast<void>(solver(y0, p));

    values(0, 1) = -2, values(1, 3) = 4;
    amounts(2, 1) = 0.125;
    solver.set_inputs(values);
    solver.set_impulse_amounts(amounts);

    check_like_new(solver, make());
}

TEST_CASE("new values: what does not fit is said, and the ones before stay") {
    const std::vector<double> knots{0, 1, 3}, amounts{1, 2};
    const Array values = values_at_knots(1);
    const auto options = options_with(eddy::piecewise_linear(knots, values), {amounts});
    auto solver = solver_of(options);
    Array bad = values;
    bad(1, 1) = std::numeric_limits<double>::infinity();

    CHECK(message_of([&] { solver.set_inputs(Array(2, 2, 1.)); }) ==
          "set_inputs: 2 x 2 numbers, but the values of .inputs are 3 x 2; give as many, or make "
          "another solver object");
    CHECK(message_of([&] {
              solver.set_impulse_amounts(std::vector<double>{1, 2, 3});
          }) ==
          "set_impulse_amounts: 1 x 3 numbers, but the amounts of .impulses are 1 x 2; give as "
          "many, or make another solver object");
    check_like_new(solver, options);
    solver.set_inputs(bad);
    CHECK(support::mentions(message_of([&] { static_cast<void>(solver(y0, p)); }),
                            "values of the inputs are inf at knot 1, component 1"));
    solver.set_inputs(values);
    solver.set_impulse_amounts(std::vector<double>{1, bad(1, 1)});
    CHECK(support::mentions(message_of([&] { static_cast<void>(solver(y0, p)); }),
                            "the amount of impulse 1 is inf"));
    solver.set_impulse_amounts(amounts);
    check_like_new(solver, options);
}

}  // namespace
