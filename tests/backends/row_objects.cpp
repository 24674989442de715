// Solver objects over rows: a second call allocates nothing, writes where the caller wants it, and what an allocation
// that fails or a call that is cancelled leaves behind spoils no later one. A program of its own: it counts every
// allocation of the process.

#include <cmath>
#include <eddy/runtime.hpp>
#include <stop_token>
#include <vector>

#include "backends/small_training.hpp"
#include "support/catch.hpp"
#include "support/failing_allocations.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr auto network = eddy::nn::mlp<2, 12, 2>(eddy::nn::tanh);
constexpr int lanes = support::SmallTraining<double>::lanes;
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-4, .atol = 1e-6};

/// Many weights that lanes share, or a few of which each has its own.
struct Training : support::SmallTraining<double> {
    eddy::RuntimeField field = eddy::trace_field(2, network.parameter_size, network);

    Training() : SmallTraining(network) {}
    [[nodiscard]] auto solver(const eddy::SolveOptions& with, int threads = 1) const {
        const auto squared_error = [](auto, const auto& y, const auto&, const auto& data_of) {
            const auto r = y - data_of;
            return eddy::dot(r, r);
        };
        return eddy::gradient_solver(field, eddy::Tsit5{}, squared_error, with,
                                     eddy::Rows{.threads = threads});
    }
};

/// y′ = −p y, whose weights are few.
eddy::RuntimeField decay() {
    return eddy::trace_field(2, 1, [](auto, const auto& y, const auto& p) { return -p[0] * y; });
}

}  // namespace

TEST_CASE("rows: the second call of a solver or gradient allocates nothing and gives the same") {
    Training training;
    eddy::SolveOptions small = options;
    small.memory_budget = 1;

    for (const eddy::SolveOptions& with : {options, small}) {
        auto solver = training.solver(with);
        const auto first = training.gradient(solver);
        CHECK(support::allocations_of([&] {
                  static_cast<void>(solver(training.data, training.y0, eddy::shared(training.p)));
              }) == 0);
        CHECK(training.gradient(solver) == first);
    }
    auto forward =
        eddy::ensemble_solver(training.field, eddy::Tsit5{}, options, eddy::Rows{.threads = 1});
    const auto solve = [&] {
        return forward(training.y0, eddy::shared(training.p)).y()(lanes - 1, 1);
    };
    const double end = solve();
    CHECK(support::allocations_of([&] { static_cast<void>(solve()); }) == 0);
    CHECK(solve() == end);
    for (double& weight : training.p) weight *= 1.5;  // those of this call
    CHECK(solve() != end);
}

TEST_CASE("rows: what solves trajectories again stays for the next call, but for lists of them") {
    // The fast component is at rest, and its derivative is not.
    const auto field = eddy::trace_field(
        2, 1, [](auto, const auto& y, const auto& p) { return eddy::vec(-y[0], -(p[0] * y[1])); });
    const auto sum = [](auto, const auto& y, const auto&) { return y[0] + y[1]; };
    eddy::EnsembleArray<double> y0(20, 2, 0.);
    const eddy::EnsembleArray<double> p(20, 1, 50.);
    for (std::ptrdiff_t lane = 0; lane < 20; ++lane) y0(lane, 0) = 1 + 0.1 * double(lane);
    auto gradient =
        eddy::gradient_solver(field, eddy::Tsit5{}, sum, {.t1 = 0.2}, eddy::Rows{.threads = 1});
    const auto value = [&] { return gradient(y0, p).gradient.y0(3, 1); };

    const double first = value();
    REQUIRE(gradient(y0, p).report.redone(3));
    CHECK(support::allocations_of([&] { static_cast<void>(value()); }) < 40);
    CHECK(value() == first);
    y0(3, 1) = 1;  // this one is solved once: there are others again
    CHECK(std::abs(value() - std::exp(-10.)) < 1e-6);
    y0(3, 1) = 0;
    CHECK(value() == first);
}

TEST_CASE("rows: calls of one object may differ in their arrays") {
    const Training training;
    auto forward = eddy::ensemble_solver(decay(), eddy::Tsit5{}, options);
    auto gradient = eddy::gradient_solver(
        decay(), eddy::Tsit5{}, [](auto, const auto& y, const auto&) { return eddy::dot(y, y); },
        options);
    auto pull = eddy::pullback_solver(decay(), eddy::Tsit5{}, options);
    const eddy::EnsembleArray<double> one(1, 1, 0.5);

    for (const std::ptrdiff_t count : {3, 150, 3, 0, 20}) {
        const eddy::EnsembleArray<double> y0(count, 2, 2.), p(count, 1, 0.5), c(1, 2, 1.);
        const double kept = std::exp(-0.5);
        for (const bool shares : {false, true}) {
            const auto& solution = shares ? forward(y0, eddy::shared(one)) : forward(y0, p);
            const auto& found = shares ? gradient(y0, eddy::shared(one)) : gradient(y0, p);
            const auto pulled = shares ? pull(c, y0, eddy::shared(one)) : pull(c, y0, p);
            REQUIRE(solution.num_lanes() == count);
            REQUIRE(found.gradient.p.rows() == (shares ? 1 : count));
            for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
                CHECK(std::abs(solution.y()(lane, 1) - 2 * kept) < 1e-4);
                CHECK(std::abs(found.gradient.y0(lane, 0) - 4 * kept * kept) < 1e-3);
                CHECK(std::abs(pulled.gradient.y0(lane, 0) - kept) < 1e-4);
            }
        }
    }
}

TEST_CASE("rows: results are written where the caller wants them") {
    const eddy::EnsembleArray<double> y0(20, 2, 2.), p(20, 1, 0.5);
    auto forward = eddy::ensemble_solver(decay(), eddy::Tsit5{}, options);
    auto gradient = eddy::gradient_solver(
        decay(), eddy::Tsit5{}, [](auto, const auto& y, const auto&) { return eddy::dot(y, y); },
        options);
    eddy::EnsembleArray<double> y(20, 2), of_y0(20, 2), of_p(1, 1), losses(20, 1), wrong(19, 2);
    const double expected = forward(y0, p).y()(7, 1);
    const auto kept = gradient(y0, p);

    const auto& solution = forward(y0, p, {.y = y});
    const auto& found =
        gradient(y0, eddy::shared(eddy::EnsembleArray<double>(1, 1, 0.5)),
                 eddy::GradientInto<double>{.y0 = of_y0, .p = of_p, .loss = losses});

    CHECK(y(7, 1) == expected);
    CHECK(of_y0(7, 1) == kept.gradient.y0(7, 1));
    CHECK(losses(7, 0) == kept.loss(7));
    CHECK(std::abs(of_p(0, 0) - 20 * kept.gradient.p(0, 0)) < 1e-12);
    CHECK(found.gradient.y0.rows() == 0);
    CHECK_THROWS_AS(solution.y(), eddy::InvalidArgument);
    CHECK_THROWS_WITH(
        gradient(y0, p, {.y0 = wrong}),
        "value_and_gradient: gradient.y0 is 19 x 2 (trajectory, component); give 20 x 2");
}

TEST_CASE("rows: one object serves both kinds of numbers, and keeps its memory for each in turn") {
    const auto squared_error = [](auto, const auto& y, const auto&, const auto& seen) {
        const auto r = y - seen;
        return eddy::dot(r, r);
    };
    auto gradient = eddy::gradient_solver(decay(), eddy::Tsit5{}, squared_error, options,
                                          eddy::Rows{.threads = 1});
    const eddy::EnsembleArray<double> y0(20, 2, 2.), p(20, 1, 0.5), seen(1, 2, 1.);
    const eddy::EnsembleArray<float> single_y0(20, 2, 2.f), single_p(20, 1, 0.5f),
        single_seen(1, 2, 1.f);
    const double expected = gradient(seen, y0, p).gradient.p(7, 0);
    const auto in_single = [&] {
        return gradient(single_seen, single_y0, single_p).gradient.p(7, 0);
    };
    const float first = in_single();

    CHECK(support::allocations_of([&] { static_cast<void>(in_single()); }) == 0);
    CHECK(in_single() == first);
    CHECK(std::abs(double{first} / expected - 1) < 1e-4);
    CHECK(gradient(seen, y0, p).gradient.p(7, 0) == expected);
    auto pull = eddy::pullback_solver(decay(), eddy::Tsit5{}, options);
    const auto pulled = pull(single_seen, single_y0, single_p);
    CHECK(std::abs(pulled.gradient.y0(7, 1) - std::exp(-0.5f)) < 1e-4f);
}

TEST_CASE("rows: an allocation that fails is told, and spoils no later call") {
    const Training training;
    eddy::SolveOptions brief = options;
    if (support::sanitized) brief.t1 = 0.25;

    for (const bool all_later_too : {false, true}) {
        const auto found = support::fail_each_allocation(
            [&] { return training.solver(brief); },
            [&](auto& solver) { return training.gradient(solver); }, all_later_too);
        CHECK(found.failures >= 10);
        CHECK(found.exceptions > 0);
        CHECK(found.wrong == 0);
        CHECK(found.leaked == 0);
    }
}

TEST_CASE("rows: a token stops one call alone, and the next is whole") {
    const Training training;
    auto solver = training.solver(options);
    const auto whole = training.gradient(solver);
    std::stop_source stopped;
    stopped.request_stop();

    const auto& result =
        solver(training.data, training.y0, eddy::shared(training.p), stopped.get_token());

    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        CHECK(result.report.result(lane) == eddy::Result::cancelled);
        CHECK(result.gradient.y0(lane, 0) == 0);
    }
    CHECK(training.gradient(solver) == whole);
}

TEST_CASE(
    "rows: an object that is given new values has the bits of a new one, allocating nothing") {
    using Array = eddy::EnsembleArray<double>;
    const std::vector<double> knots{0, 0.5, 1}, amounts{0.5, -0.25};
    const Array y0(3, 2, 0.5), p(3, 1, 0.7), values_before(3, 1, 1.), values(3, 1, 0.25);
    const auto make = [&](const Array& at_knots, const std::vector<double>& given) {
        eddy::SolveOptions with = options;
        with.inputs = eddy::natural_cubic_spline(knots, at_knots);
        with.impulses = {.times = {0.25, 0.75}, .components = 0, .amounts = given};
        const auto driven =
            eddy::trace_field(2, 1, 1, [](auto, const auto& y, const auto& p_of, const auto& u) {
                return eddy::vec(u[0] - p_of[0] * y[0], u[0] * y[0] - y[1]);
            });
        const auto loss = [](auto, const auto& y, const auto&) { return eddy::dot(y, y); };
        return eddy::gradient_solver(driven, eddy::Tsit5{}, loss, with, eddy::Rows{.threads = 1});
    };
    auto solver = make(values_before, {1, 2}), fresh = make(values, amounts);
    const double before = solver(y0, p).loss.total;

    CHECK(support::allocations_of([&] {
              solver.set_inputs(values);
              solver.set_impulse_amounts(amounts);
              static_cast<void>(solver(y0, p));
          }) == 0);

    const auto& found = solver(y0, p);
    const auto& wanted = fresh(y0, p);
    REQUIRE(wanted.report.success());
    CHECK(found.loss.total != before);
    CHECK(support::same_bits(found.loss.total, wanted.loss.total));
    for (std::ptrdiff_t knot = 0; knot < 3; ++knot)
        CHECK(support::same_bits(found.gradient.inputs(knot, 0), wanted.gradient.inputs(knot, 0)));
    CHECK(support::same_bits(found.gradient.impulse_amounts(0, 1),
                             wanted.gradient.impulse_amounts(0, 1)));
    CHECK(support::message_of([&] { solver.set_inputs(Array(2, 1, 1.)); }) ==
          "set_inputs: 2 x 1 numbers, but the values of .inputs are 3 x 1; give as many, or make "
          "another solver object");
}
