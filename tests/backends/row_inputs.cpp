// Equations over rows that are driven by inputs: steps and bits of the oracle, and its gradients.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <limits>
#include <vector>
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"
#include "support/uneven_lanes.hpp"

namespace {

/// A controlled equation with a bias; time itself matters, too.
struct Controlled {
    static constexpr int state_size = 2, parameter_size = 3, input_size = 2, input_degree = 1;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return eddy::vec(p[0] * y[1] * du[0] - p[2] * y[0] + u[1],
                         p[1] * y[0] * du[1] - (1 + 0.1 * t) * y[1]);
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return 0.5 * (y[0] * y[0] + y[1] * y[1]) * p[1];
    }
};
eddy::RuntimeField at_run_time() { return eddy::trace_field(2, 3, 2, Controlled{}); }

constexpr std::ptrdiff_t num_lanes = 150, num_knots = 7;

template <class Real>
struct Case {
    eddy::EnsembleArray<Real> start{num_lanes, 2}, p{num_lanes, 3};
    eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .save_at = {0.6, 0.75, 2}};

    /// Lane l has knots of its own, fewer where l is large.
    Case() {
        eddy::EnsembleArray<double> knots(num_lanes, num_knots), values(num_lanes, 2 * num_knots);
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            const auto number = static_cast<double>(lane);
            for (std::ptrdiff_t k = 0; k < num_knots; ++k) {
                const bool is_there = k < num_knots - lane % 4;
                knots(lane, k) = is_there ? 0.3 * static_cast<double>(k) + 0.002 * number
                                          : std::numeric_limits<double>::quiet_NaN();
                for (std::ptrdiff_t i = 0; i < 2; ++i)
                    values(lane, 2 * k + i) =
                        0.1 * static_cast<double>((5 * k + 3 * i + lane) % 11) - 0.4;
            }
            for (std::ptrdiff_t i = 0; i < 2; ++i)
                start(lane, i) = static_cast<Real>(0.5 + 0.01 * number);
            for (std::ptrdiff_t i = 0; i < 3; ++i)
                p(lane, i) = static_cast<Real>(0.8 + 0.005 * number);
        }
        options.inputs = eddy::piecewise_linear(eddy::each(knots), eddy::each(values));
    }
};
/// Layers of many weights between a state and its inputs.
constexpr auto network = eddy::nn::mlp<2, 12, 12, 2>(eddy::nn::tanh);
struct ControlledNetwork {
    static constexpr int state_size = 2, parameter_size = network.parameter_size, input_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return network(y, p) * du - 0.1 * u[0] * y;
    }
};
eddy::RuntimeField controlled_network() {
    return eddy::trace_field(2, network.parameter_size, 2, ControlledNetwork{});
}
/// Inputs that all lanes share.
eddy::SolveOptions with_cubics(eddy::SolveOptions options) {
    eddy::EnsembleArray<double> values(4, 2);
    for (std::ptrdiff_t k = 0; k < 4; ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            values(k, i) = 0.1 * static_cast<double>((5 * k + 3 * i) % 7);
    options.inputs = eddy::natural_cubic_spline({0, 0.5, 1.25, 2}, values);
    return options;
}

template <class Array>
bool same_array(const Array& a, const Array& b) {
    bool same = a.rows() == b.rows() && a.cols() == b.cols();
    for (std::ptrdiff_t row = 0; same && row < a.rows(); ++row)
        for (std::ptrdiff_t c = 0; c < a.cols(); ++c)
            same = same && support::same_bits(a(row, c), b(row, c));
    return same;
}
template <class Real>
void check_same(const eddy::Solution<Real>& a, const eddy::Solution<Real>& b) {
    REQUIRE(a.success());
    bool same = true, same_steps = true;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes(); ++lane) {
        same_steps = same_steps && a.stats(lane).accepted == b.stats(lane).accepted &&
                     a.stats(lane).rejected == b.stats(lane).rejected &&
                     a.stats(lane).evaluations == b.stats(lane).evaluations;
        for (std::ptrdiff_t k = 0; k < a.num_saves(); ++k)
            for (std::ptrdiff_t c = 0; c < 2; ++c)
                same = same && support::same_bits(a.y(k)(lane, c), b.y(k)(lane, c));
    }
    CHECK(same);
    CHECK(same_steps);
}
double largest_difference(const auto& a, const auto& b) {
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    double largest = 0, scale = 1;
    for (std::ptrdiff_t row = 0; row < a.rows(); ++row) {
        for (std::ptrdiff_t c = 0; c < a.cols(); ++c) {
            largest = std::max(largest, std::abs(a(row, c) - b(row, c)));
            scale = std::max(scale, std::abs(b(row, c)));
        }
    }
    return largest / scale;
}
auto gradient_of(const auto& field, const Case<double>& of, const auto& p,
                 const eddy::SolveOptions& options, const auto&... backend) {
    return eddy::value_and_gradient(field, eddy::Tsit5{}, Squares{}, of.start, p, options,
                                    backend...);
}
void check_near(const auto& a, const auto& b) {
    constexpr double tolerance = 1e-12;
    REQUIRE(a.report.success());
    CHECK(std::abs(a.loss.total / b.loss.total - 1) < tolerance);
    CHECK(largest_difference(a.gradient.y0, b.gradient.y0) < tolerance);
    CHECK(largest_difference(a.gradient.p, b.gradient.p) < tolerance);
    CHECK(largest_difference(a.gradient.inputs, b.gradient.inputs) < tolerance);
}
void check_same_gradient(const auto& a, const auto& b) {
    CHECK(support::same_bits(a.loss.total, b.loss.total));
    CHECK(same_array(a.gradient.y0, b.gradient.y0));
    CHECK(same_array(a.gradient.p, b.gradient.p));
    CHECK(same_array(a.gradient.inputs, b.gradient.inputs));
}

}  // namespace

TEMPLATE_TEST_CASE("rows: driven equations have the bits of the oracle", "", double, float) {
    const Case<TestType> given;
    const auto oracle = eddy::solve(Controlled{}, eddy::Tsit5{}, given.start, given.p,
                                    given.options, eddy::Serial{});

    check_same(eddy::solve(Controlled{}, eddy::Tsit5{}, given.start, given.p, given.options,
                           eddy::Rows{.threads = 1}),
               oracle);
    check_same(eddy::solve(Controlled{}, eddy::Tsit5{}, given.start, given.p, given.options,
                           eddy::Tiles{.threads = 1}),
               oracle);
    // Coefficients beyond the degree of a piece are zero.
    check_same(eddy::solve(at_run_time(), eddy::Tsit5{}, given.start, given.p, given.options),
               oracle);
}
TEST_CASE("rows: gradients of driven equations are those of the oracle") {
    const Case<double> given;
    const std::vector<double> row{0.9, 0.8, 0.7};
    const auto check = [&](const auto& p) {
        const auto oracle = gradient_of(Controlled{}, given, p, given.options, eddy::Serial{});

        check_near(gradient_of(Controlled{}, given, p, given.options, eddy::Rows{}), oracle);
        check_near(gradient_of(Controlled{}, given, p, given.options, eddy::Tiles{}), oracle);
        check_near(gradient_of(at_run_time(), given, p, given.options), oracle);
    };

    check(given.p);
    check(eddy::shared(row));
}
TEST_CASE("rows: neither a budget nor threads change a bit of what inputs get") {
    const Case<double> given;
    const std::vector<double> row{0.9, 0.8, 0.7};
    for (const eddy::SolveOptions& options : {given.options, with_cubics(given.options)}) {
        const auto whole = gradient_of(at_run_time(), given, eddy::shared(row), options);
        eddy::SolveOptions few = options;
        few.memory_budget = std::size_t{1} << 12;
        const auto again = gradient_of(at_run_time(), given, eddy::shared(row), few);

        check_same_gradient(
            gradient_of(at_run_time(), given, eddy::shared(row), options, eddy::Rows{.threads = 3}),
            whole);
        check_same_gradient(again, whole);
        CHECK(again.report.counters.recomputed > 0);
        CHECK(whole.gradient.inputs(0, 1) != 0);
    }
}
TEST_CASE("rows: driven lanes that begin where others ended have what they have alone") {
    constexpr std::ptrdiff_t lanes = 700;
    const Case<double> given;
    eddy::EnsembleArray<double> start(lanes, 2, 0.5), p(lanes, 3, 0.8);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        start(lane, 1) += 0.001 * static_cast<double>(lane);
        if (support::is_long_lane(lane)) p(lane, 2) = 300;  // stiff
    }
    const auto run = [&](std::size_t budget) {
        eddy::SolveOptions options = with_cubics(given.options);
        options.stable_gradients = false;
        options.memory_budget = budget;
        return eddy::value_and_gradient(at_run_time(), eddy::Tsit5{}, Squares{}, start, p, options,
                                        eddy::Rows{.threads = 1});
    };

    const auto refilled = run(std::size_t{1} << 30), with_little = run(std::size_t{1} << 15);

    REQUIRE(refilled.report.success());
    CHECK(3 * refilled.report.counters.pullbacks <
          2 * support::rounds_without_refill(refilled.report));
    CHECK(with_little.report.counters.recomputed > 0);
    check_same_gradient(refilled, with_little);
}
TEST_CASE("rows: what a shared value of inputs gets is its difference quotient") {
    const Case<double> given;
    eddy::SolveOptions options = with_cubics(given.options);
    options.rtol = 1e-10;
    const auto found = gradient_of(at_run_time(), given, given.p, options);
    const auto moved = [&](double by) {
        eddy::SolveOptions other = options;
        other.inputs.values.rows.values[3] += by;  // knot 1, component 1
        return gradient_of(at_run_time(), given, given.p, other).loss.total;
    };

    REQUIRE(found.gradient.inputs.rows() == 4);
    const double difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
    CHECK(std::abs(found.gradient.inputs(1, 1) / difference - 1) < 1e-6);
}
TEST_CASE("rows: beside weights that lanes share inputs get what they get beside copies of them") {
    const Case<double> given;
    const std::vector<double> weights = eddy::nn::glorot_uniform<double>(network, 7);
    eddy::EnsembleArray<double> copies(num_lanes, network.parameter_size);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        for (int i = 0; i < network.parameter_size; ++i)
            copies(lane, i) = weights[static_cast<std::size_t>(i)];
    eddy::SolveOptions few = given.options;
    few.memory_budget = std::size_t{1} << 12;

    const auto shared =
        gradient_of(controlled_network(), given, eddy::shared(weights), given.options);
    const auto of_each = gradient_of(controlled_network(), given, copies, given.options);
    const auto again = gradient_of(controlled_network(), given, eddy::shared(weights), few);
    const auto tiles = gradient_of(ControlledNetwork{}, given, eddy::shared(weights), given.options,
                                   eddy::Tiles{});

    CHECK(support::same_bits(shared.loss.total, of_each.loss.total));
    REQUIRE(shared.report.success());
    CHECK(same_array(shared.gradient.y0, of_each.gradient.y0));
    CHECK(largest_difference(shared.gradient.inputs, of_each.gradient.inputs) < 1e-14);
    CHECK(shared.gradient.inputs(7, 1) != 0);
    CHECK(same_array(again.gradient.inputs, shared.gradient.inputs));
    CHECK(same_array(again.gradient.p, shared.gradient.p));
    check_near(tiles, shared);
    double of_first = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) of_first += of_each.gradient.p(lane, 3);
    CHECK(std::abs(shared.gradient.p(0, 3) - of_first) < 1e-12 * (1 + std::abs(of_first)));
}
TEST_CASE("rows: a driven lane alone has what it has among others") {
    const Case<double> among;
    Case<double> alone;
    alone.start = eddy::EnsembleArray<double>(1, 2, 0.5);
    const auto options = with_cubics(among.options);
    const std::vector<double> weights = eddy::nn::glorot_uniform<double>(network, 7), few{1, 2, 3};
    const auto check = [&](const eddy::RuntimeField& field, const std::vector<double>& p) {
        const auto one = gradient_of(field, alone, eddy::shared(p), options);
        const auto all = gradient_of(field, among, eddy::shared(p), options);
        CHECK(support::same_bits(one.gradient.y0(0, 0), all.gradient.y0(0, 0)));
        CHECK(support::same_bits(one.gradient.y0(0, 1), all.gradient.y0(0, 1)));
        CHECK(one.gradient.inputs(1, 0) != 0);
    };

    check(controlled_network(), weights);
    check(at_run_time(), few);
}
TEST_CASE("rows: inputs in text have the bits of those in a function") {
    const Case<double> given;
    const eddy::FieldText text{.states = {"x", "z"},
                               .parameters = {"a", "b", "c"},
                               .equations = {"a * (air - x) + heater", "b * x - c * z"},
                               .inputs = {"air", "heater"}};
    const auto traced =
        eddy::trace_field(2, 3, 2, [](const auto&, const auto& y, const auto& p, const auto& u) {
            return eddy::vec(p[0] * (u[0] - y[0]) + u[1], p[1] * y[0] - p[2] * y[1]);
        });
    const auto parsed = eddy::parse_field(text);
    const auto options = with_cubics(given.options);

    CHECK(parsed.num_parameters() == 3);
    CHECK(parsed.num_inputs() == 2);
    check_same_gradient(gradient_of(parsed, given, given.p, options),
                        gradient_of(traced, given, given.p, options));
    CHECK(support::message_of([&] { static_cast<void>(eddy::to_text(parsed)); }) ==
          "to_text: a field that reads inputs; keep the text that it was made of");
}
TEST_CASE("rows: inputs that are missing, or not read, are told") {
    const Case<double> given;
    const auto said = [&](const eddy::RuntimeField& field, const eddy::SolveOptions& options) {
        return support::message_of([&] {
            static_cast<void>(eddy::solve(field, eddy::Tsit5{}, given.start, given.p, options));
        });
    };
    const auto alone =
        eddy::trace_field(2, 3, [](const auto&, const auto& y, const auto& p) { return p[0] * y; });

    CHECK(said(at_run_time(), {.t1 = 1}) ==
          "solve: the equation reads 2 inputs, but there are none; give .inputs = "
          "piecewise_linear(knots, values)");
    CHECK(support::mentions(said(alone, given.options), "inputs, but the equation reads none"));
    CHECK(support::message_of([] {
              static_cast<void>(eddy::trace_field(2, 3, 0, Controlled{}));
          }) == "trace_field: 0 inputs; give at least one, or a function of (t, y, p)");
}
