// Gradients of equations on rows beside those of the oracle.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/trace/interpolate.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <limits>
#include <vector>
#include "support/catch.hpp"
#include "support/chain_of_species.hpp"
#include "support/equations.hpp"
#include "support/impulses.hpp"
#include "support/own_times.hpp"
#include "support/same_bits.hpp"
#include "support/uneven_lanes.hpp"

namespace {

eddy::RuntimeField lorenz() { return eddy::trace_field(3, 3, support::Lorenz{}); }
struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

/// A slow and a fast mode.
struct TwoDecays {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]), -(p[1] * y[1]));
    }
};
struct Total {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};

template <class Real = double>
eddy::EnsembleArray<Real> filled(std::ptrdiff_t rows, double first, double step, int size = 3) {
    eddy::EnsembleArray<Real> array(rows, size);
    for (std::ptrdiff_t row = 0; row < rows; ++row)
        for (int c = 0; c < size; ++c)
            array(row, c) =
                static_cast<Real>(first + step * static_cast<double>((7 * row + 3 * c) % 11));
    return array;
}
double largest_difference(const auto& a, const auto& b) {
    REQUIRE(a.rows() == b.rows());
    double largest = 0, scale = 1;
    for (std::ptrdiff_t row = 0; row < a.rows(); ++row) {
        for (std::ptrdiff_t c = 0; c < a.cols(); ++c) {
            const double x = a(row, c), y = b(row, c);
            largest = std::max(largest, std::abs(x - y));
            scale = std::max(scale, std::abs(y));
        }
    }
    return largest / scale;
}
/// Steps are the same, so that gradients differ by rounding, which the equation enlarges.
template <class Method, class Real = double>
void check_gradient(const eddy::SolveOptions& options, std::ptrdiff_t lanes, const auto& p,
                    double tolerance = 1e-7) {
    const auto y0 = filled<Real>(lanes, 1, 0.05);
    const std::size_t common = options.save_at.values.empty() ? 1 : options.save_at.values.size();
    const std::size_t points = options.save_at.is_own ? 2 : common;
    const std::vector<eddy::EnsembleArray<Real>> data(points, filled<Real>(lanes, 0, 0.1));

    const eddy::RuntimeField field = lorenz();
    const auto rows =
        eddy::value_and_gradient(field, Method{}, SquaredError{}, data, y0, p, options);
    // Attempts of one trajectory, and their pullbacks, are one program in the second call alone.
    const auto whole =
        eddy::value_and_gradient(field, Method{}, SquaredError{}, data, y0, p, options);
    const auto oracle = eddy::value_and_gradient(support::Lorenz{}, Method{}, SquaredError{}, data,
                                                 y0, p, options, eddy::Serial{});

    CHECK(rows.report.success());
    CHECK(largest_difference(whole.gradient.y0, rows.gradient.y0) == 0);
    CHECK(largest_difference(whole.gradient.p, rows.gradient.p) == 0);
    CHECK(largest_difference(rows.gradient.y0, oracle.gradient.y0) < tolerance);
    CHECK(largest_difference(rows.gradient.p, oracle.gradient.p) < tolerance);
    CHECK(largest_difference(rows.gradient.impulse_amounts, oracle.gradient.impulse_amounts) <
          tolerance);
    CHECK(std::abs(rows.loss.total / oracle.loss.total - 1) < 0.1 * tolerance);
    CHECK(rows.loss.num_successful == lanes);
    CHECK(rows.report.stats(0).evaluations == oracle.report.stats(0).evaluations);
}

/// Layers of many weights, and time.
constexpr auto network = eddy::nn::mlp<3, 9, 20, 2>(eddy::nn::tanh);
/// A loss that reads weights as well.
struct ErrorAndPenalty {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + 0.1 * p[1] * p[200] * y[0];
    }
};
/// Weights that all lanes share, or the same ones in each.
auto gradient_of_network(const eddy::EnsembleArray<double>& y0, bool shares,
                         const eddy::SolveOptions& options, int threads = 1) {
    const std::vector<double> p = eddy::nn::glorot_uniform<double>(network, 7);
    const std::size_t points = options.save_at.values.empty() ? 1 : options.save_at.values.size();
    const std::vector<eddy::EnsembleArray<double>> data(points, filled(y0.rows(), 0, 0.1, 2));
    const auto field = eddy::trace_field(2, network.parameter_size, network);
    const eddy::Rows rows{.threads = threads};
    if (shares)
        return eddy::value_and_gradient(field, eddy::Tsit5{}, ErrorAndPenalty{}, data, y0,
                                        eddy::shared(p), options, rows);
    eddy::EnsembleArray<double> of_each(y0.rows(), network.parameter_size);
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane)
        for (std::size_t i = 0; i < p.size(); ++i)
            of_each(lane, static_cast<std::ptrdiff_t>(i)) = p[i];
    return eddy::value_and_gradient(field, eddy::Tsit5{}, ErrorAndPenalty{}, data, y0, of_each,
                                    options, rows);
}
eddy::EnsembleArray<double> sum_over_rows(const eddy::EnsembleArray<double>& array) {
    eddy::EnsembleArray<double> sum(1, array.cols());
    for (std::ptrdiff_t c = 0; c < array.cols(); ++c) {
        sum(0, c) = 0;
        for (std::ptrdiff_t row = 0; row < array.rows(); ++row) sum(0, c) += array(row, c);
    }
    return sum;
}

}  // namespace

TEST_CASE("rows: many weights that lanes share have the sums of their own gradients") {
    const auto check = [](std::ptrdiff_t lanes, const eddy::SolveOptions& options) {
        auto y0 = filled(lanes, 0.1, 0.05, 2);
        if (lanes > 5) y0(5, 1) = std::numeric_limits<double>::max();
        const auto shared = gradient_of_network(y0, true, options);
        const auto of_each = gradient_of_network(y0, false, options);

        bool same = support::same_bits(shared.loss.total, of_each.loss.total);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            same = same &&
                   support::same_bits(shared.gradient.y0(lane, 0), of_each.gradient.y0(lane, 0));
        CHECK(same);
        CHECK(shared.loss.num_successful == lanes - (lanes > 5 ? 1 : 0));
        CHECK(largest_difference(shared.gradient.p, sum_over_rows(of_each.gradient.p)) < 1e-13);
        CHECK(largest_difference(shared.gradient.p, filled(1, 0, 0, network.parameter_size)) >
              0.01);
    };

    check(1, {.t1 = 1.5, .rtol = 1e-5, .save_at = {0, 0.31, 1.5}});
    check(3, {.t1 = 1.5, .rtol = 1e-5});
    check(70, {.t1 = 1.5, .rtol = 1e-5, .save_at = {0, 0.31, 0.8, 1.5}});
    check(20, {.t1 = 1.5, .dt0 = 0.125});
}
TEST_CASE("rows: sums of many weights have the same bits for any budget and threads") {
    const auto y0 = filled(150, 0.1, 0.05, 2);
    const eddy::SolveOptions options{.t1 = 1.5, .rtol = 1e-5, .save_at = {0.31, 1.5}};
    const auto whole = gradient_of_network(y0, true, options);
    eddy::SolveOptions with_little = options;
    with_little.memory_budget = std::size_t{1} << 18;
    for (const auto& other :
         {gradient_of_network(y0, true, options, 3), gradient_of_network(y0, true, with_little)}) {
        bool same = true;
        for (std::ptrdiff_t i = 0; i < network.parameter_size; ++i)
            same = same && support::same_bits(whole.gradient.p(0, i), other.gradient.p(0, i));
        CHECK(same);
    }
}
TEST_CASE("rows: a lane whose derivative is infinite is left out of the sums of weights") {
    const auto field = eddy::trace_field(2, 100, [](auto, const auto& y, const auto& p) {
        using std::sqrt;
        return p[99] * eddy::vec(y[0], sqrt(y[1] * y[1]));
    });
    const std::vector<double> p(100, 0.5);
    const auto run = [&](double last) {
        auto y0 = filled(9, 1, 0.05, 2);
        y0(4, 1) = last;
        return eddy::value_and_gradient(field, eddy::RK4{}, SquaredError{}, filled(1, 0, 0.1, 2),
                                        y0, eddy::shared(p), {.t1 = 1, .dt0 = 0.25});
    };

    const auto infinite = run(0), failed = run(std::numeric_limits<double>::max());

    CHECK(infinite.report.result(4) == eddy::Result::non_finite);
    CHECK(eddy::is_failure(failed.report.result(4)));
    CHECK(support::same_bits(infinite.gradient.p(0, 99), failed.gradient.p(0, 99)));
    CHECK(infinite.gradient.y0(4, 1) == 0);
}
TEST_CASE("rows: gradients are those of the oracle") {
    const auto own = filled(70, 8, 0.5), one = filled(1, 8, 0.5);
    check_gradient<eddy::Tsit5>({.t1 = 0.5}, 70, own);
    check_gradient<eddy::Tsit5>({.t1 = 0.5, .save_at = {0.1, 0.35, 0.5}, .step_to = {0.2}}, 1, one);
    check_gradient<eddy::Tsit5>({.t1 = 0.5, .save_at = {0, 0.1, 0.35, 0.5}}, 70, eddy::shared(one));
    check_gradient<eddy::Tsit5>({.t1 = 0.5, .save_at = {0.2, 0.5}, .step_to = {0.2}}, 20,
                                eddy::shared(one));
    check_gradient<eddy::RK4>({.t1 = 0.5, .save_at = {0.103, 0.5}, .dt0 = 0.01}, 70, own);
    check_gradient<eddy::Tsit5>(support::with_own_times({}, 70, 0.5), 70, own);
}
TEST_CASE("rows: so are those through impulses, and of their amounts") {
    const auto own = filled(70, 8, 0.5), one = filled(1, 8, 0.5);
    for (const bool saved_before : {false, true}) {
        const eddy::SolveOptions at_all{.t1 = 0.5, .save_at = {0, 0.1, 0.125, 0.25, 0.5}};
        const auto options = support::with_impulses(at_all, 0, 0.5, saved_before);
        constexpr double tolerance = 1e-12;
        check_gradient<eddy::Tsit5>(options, 70, own, tolerance);
        check_gradient<eddy::Tsit5>(options, 1, eddy::shared(one), tolerance);
        check_gradient<eddy::Tsit5>(
            support::with_own_impulses({.t1 = 0.75, .save_at = {0.2, 0.5}}, 20, saved_before), 20,
            eddy::shared(one), tolerance);
    }
}
TEST_CASE("rows: neither a budget, checkpoints nor threads change what impulses bring") {
    const auto y0 = filled(150, 1, 0.05), p = filled(1, 8, 0.5), data = filled(1, 0, 0.1);
    const auto run = [&](std::size_t budget, int threads) {
        eddy::SolveOptions options = support::with_impulses({.t1 = 2}, 0, 2, false);
        options.memory_budget = budget;
        return eddy::value_and_gradient(lorenz(), eddy::Tsit5{}, SquaredError{}, data, y0,
                                        eddy::shared(p), options, eddy::Rows{.threads = threads});
    };
    const auto whole = run(std::size_t{1} << 30, 1);
    const auto check = [&](const auto& other) {
        bool same = support::same_bits(whole.loss.total, other.loss.total);
        for (int i = 0; i < 3; ++i)
            same = same && support::same_bits(whole.gradient.p(0, i), other.gradient.p(0, i));
        for (int k = 0; k < 5; ++k)
            same = same && support::same_bits(whole.gradient.impulse_amounts(149, k),
                                              other.gradient.impulse_amounts(149, k));
        CHECK(same);
        CHECK(other.gradient.impulse_amounts(149, 0) != 0);
    };

    check(run(std::size_t{1} << 30, 3));
    check(run(std::size_t{1} << 18, 1));
    check(run(std::size_t{1} << 12, 1));
    CHECK(run(std::size_t{1} << 12, 1).report.counters.recomputed > 0);
}
TEST_CASE("rows: so are those in single precision, by no more than it rounds") {
    const auto own = filled<float>(70, 8, 0.5), one = filled<float>(1, 8, 0.5);
    constexpr double tolerance = 1e-5;  // some twenty steps round by 6e-8, enlarged tenfold
    const eddy::SolveOptions options{.t1 = 0.5, .rtol = 1e-5, .save_at = {0.1, 0.35, 0.5}};
    check_gradient<eddy::Tsit5, float>(options, 70, own, tolerance);
    check_gradient<eddy::Tsit5, float>(options, 1, eddy::shared(one), tolerance);
    check_gradient<eddy::Tsit5, float>(support::with_own_times({}, 20, 0.5), 20, eddy::shared(one),
                                       tolerance);
}
TEST_CASE("rows: neither a budget, checkpoints nor threads change a bit of a gradient") {
    const auto y0 = filled(150, 1, 0.05), p = filled(1, 8, 0.5), data = filled(1, 0, 0.1);
    const auto run = [&](const eddy::SolveOptions& options, int threads) {
        return eddy::value_and_gradient(lorenz(), eddy::Tsit5{}, SquaredError{}, data, y0,
                                        eddy::shared(p), options, eddy::Rows{.threads = threads});
    };
    const auto whole = run({.t1 = 2}, 1);
    const auto check = [&](const auto& other) {
        bool same = support::same_bits(whole.loss.total, other.loss.total);
        for (int i = 0; i < 3; ++i)
            same = same && support::same_bits(whole.gradient.p(0, i), other.gradient.p(0, i)) &&
                   support::same_bits(whole.gradient.y0(149, i), other.gradient.y0(149, i));
        CHECK(same);
    };

    check(run({.t1 = 2}, 3));
    check(run({.t1 = 2, .memory_budget = std::size_t{1} << 18}, 1));
    check(run({.t1 = 2, .memory_budget = std::size_t{1} << 15, .checkpoints = 3}, 1));
    CHECK(run({.t1 = 2, .memory_budget = std::size_t{1} << 15}, 1).report.counters.recomputed > 0);
}
TEST_CASE("rows: where lanes end early others begin, which changes no bit of a gradient") {
    // One lane of 16 takes several times as many steps as the others.
    constexpr std::ptrdiff_t lanes = 4200;
    auto y0 = filled(lanes, 1, 0.05, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        if (support::is_long_lane(lane)) y0(lane, 0) *= 1000;
    const auto p = filled(1, 1, 0, 1), data = filled(1, 0, 0, 1);
    const auto field = eddy::trace_field(
        1, 1, [](const auto&, const auto& y, const auto& of) { return -of[0] * y * y; });
    const auto run = [&](const eddy::SolveOptions& options, int threads) {
        return eddy::value_and_gradient(field, eddy::Tsit5{}, SquaredError{}, data, y0,
                                        eddy::shared(p), options, eddy::Rows{.threads = threads});
    };

    const auto refilled = run({.t1 = 10}, 1), by_three = run({.t1 = 10}, 3),
               with_little = run({.t1 = 10, .memory_budget = 1 << 15}, 1);

    CHECK(3 * refilled.report.counters.pullbacks <
          2 * support::rounds_without_refill(refilled.report));
    for (const auto* other : {&by_three, &with_little}) {
        bool same = support::same_bits(refilled.gradient.p(0, 0), other->gradient.p(0, 0)) &&
                    support::same_bits(refilled.loss.total, other->loss.total);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            same = same &&
                   support::same_bits(refilled.gradient.y0(lane, 0), other->gradient.y0(lane, 0));
        CHECK(same);
    }
}
TEST_CASE("rows: a lane alone has the gradient that it has among others, with any budget") {
    const auto check = [](const eddy::RuntimeField& field, const eddy::SolveOptions& options) {
        const int size = field.num_states();
        const auto y0 = filled(70, 1, 0.05, size), alone = filled(1, 1, 0.05, size);
        const auto p = filled(1, 8, 0.5), data = filled(1, 0, 0.1, size);
        const auto run = [&](const auto& from, std::size_t budget) {
            eddy::SolveOptions with = options;
            with.memory_budget = budget;
            return eddy::value_and_gradient(
                field, eddy::Tsit5{}, SquaredError{},
                std::vector<eddy::EnsembleArray<double>>(options.save_at.values.size(), data), from,
                eddy::shared(p), with);
        };

        const auto among = run(y0, std::size_t{1} << 30), one = run(alone, std::size_t{1} << 30);
        const auto with_little = run(alone, std::size_t{1} << 12);

        bool same = true;
        for (int c = 0; c < size; ++c)
            same = same && support::same_bits(among.gradient.y0(0, c), one.gradient.y0(0, c)) &&
                   support::same_bits(with_little.gradient.y0(0, c), one.gradient.y0(0, c));
        CHECK(same);
        CHECK(support::same_bits(with_little.gradient.p(0, 0), one.gradient.p(0, 0)));
        CHECK(with_little.report.counters.recomputed > 0);
    };

    check(lorenz(), {.t1 = 2, .save_at = {2}});
    const auto many = eddy::trace_field(
        30, 3, [](const auto& t, const auto& y, const auto& p) { return (t - p[0] * y) * y; });
    check(many, {.t1 = 2, .save_at = {2}});
    check(many, {.t1 = 2, .save_at = {0.3, 1.1, 2}});
}
TEST_CASE("rows: short attempts are made again on the way back of many lanes, not of one") {
    const auto p = filled(1, 8, 0.5);
    const auto evaluations_back = [&](std::ptrdiff_t lanes, const eddy::SolveOptions& options) {
        return eddy::value_and_gradient(lorenz(), eddy::Tsit5{}, SquaredError{}, filled(1, 0, 0.1),
                                        filled(lanes, 1, 0.05), eddy::shared(p), options)
            .report.evaluations_back;
    };

    CHECK(evaluations_back(64, {.t1 = 1}) > 0);
    CHECK(evaluations_back(1, {.t1 = 1}) == 0);
}
TEST_CASE("rows: many parameters that lanes share get the sum of what each lane gets") {
    constexpr int size = 40;
    constexpr std::ptrdiff_t lanes = 50;
    const auto field = eddy::trace_field(size, 2 * size, support::ChainOfSpecies{size});
    const auto one = filled(1, 0.4, 0.01, 2 * size), y0 = filled(lanes, 0.4, 0.02, size);
    eddy::EnsembleArray<double> own(lanes, 2 * size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < 2 * size; ++i) own(lane, i) = one(0, i);
    const auto run = [&](const auto& parameters, int threads) {
        return eddy::value_and_gradient(
            field, eddy::Tsit5{}, SquaredError{}, filled(1, 0, 0.1, size), y0, parameters,
            eddy::SolveOptions{.t1 = 2}, eddy::Rows{.threads = threads});
    };

    const auto apart = run(own, 1), together = run(eddy::shared(one), 1);
    const auto by_three = run(eddy::shared(one), 3);

    bool same = true;
    for (int i = 0; i < 2 * size; ++i) {
        double sum = 0;
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) sum += apart.gradient.p(lane, i);
        same = same && support::same_bits(together.gradient.p(0, i), sum) &&
               support::same_bits(by_three.gradient.p(0, i), sum);
    }
    CHECK(same);
}
TEST_CASE("rows: a lane of a wide state alone has the gradient that it has in a narrow tile") {
    const auto field = eddy::trace_field(
        60, 3, [](const auto& t, const auto& y, const auto& p) { return (t - p[0] * y) * y; });
    const auto run = [&](std::ptrdiff_t lanes) {
        return eddy::value_and_gradient(field, eddy::Tsit5{}, SquaredError{},
                                        filled(lanes, 0, 0.1, 60), filled(lanes, 1, 0.05, 60),
                                        filled(lanes, 8, 0.5), {.t1 = 2});
    };

    const auto among = run(20), alone = run(1);

    bool same = support::same_bits(among.gradient.p(0, 0), alone.gradient.p(0, 0));
    for (int c = 0; c < 60; ++c)
        same = same && support::same_bits(among.gradient.y0(0, c), alone.gradient.y0(0, c));
    CHECK(same);
    CHECK(std::abs(alone.gradient.p(0, 0)) > 0);
}
TEST_CASE("rows: cotangents are pulled back through a solution") {
    const auto y0 = filled(9, 1, 0.05), p = filled(9, 8, 0.5), cotangents = filled(9, 1, 0.2);
    const eddy::SolveOptions options{.t1 = 0.5};

    const auto oracle =
        eddy::solve(support::Lorenz{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});
    const auto kept = eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, options);
    const auto pulled = eddy::pullback(kept, cotangents);
    const auto expected = eddy::pullback(oracle, cotangents);

    CHECK(largest_difference(pulled.y0, expected.y0) < 1e-7);
    CHECK(largest_difference(pulled.p, expected.p) < 1e-7);
}
TEST_CASE(
    "rows: a table in the equation, of each lane or shared by all, is pulled back to its values") {
    constexpr int num_knots = 70;
    std::vector<double> knots, values;
    for (int k = 0; k < num_knots; ++k) {
        knots.push_back(0.05 * k + 0.0004 * k * k);
        values.push_back(1 + 0.3 * std::sin(0.2 * k));
    }
    const auto field = eddy::trace_field(1, num_knots, [&](auto, const auto& y, const auto& p) {
        return eddy::vec(-eddy::interpolate(eddy::pchip, knots, p, y[0]) * y[0]);
    });
    const auto y0 = filled(20, 0.5, 0.1, 1), zero = filled(1, 0, 0, 1);
    eddy::EnsembleArray<double> of_each(20, num_knots);
    for (std::ptrdiff_t lane = 0; lane < 20; ++lane)
        for (int k = 0; k < num_knots; ++k) of_each(lane, k) = values[std::size_t(k)];
    const auto run = [&](const auto& p) {
        return eddy::value_and_gradient(field, eddy::Tsit5{}, SquaredError{}, zero, y0, p,
                                        {.t1 = 1, .dt0 = 0.01}, eddy::ConstantController{});
    };

    const auto own = run(of_each), shared = run(eddy::shared(values));

    CHECK(own.report.success());
    CHECK(support::same_bits(own.loss(7), shared.loss(7)));
    CHECK(largest_difference(shared.gradient.p, sum_over_rows(own.gradient.p)) < 1e-14);
    for (const int k : {3, 20}) {
        const double h = 1e-5, at = values[std::size_t(k)];
        values[std::size_t(k)] = at + h;
        const double above = run(eddy::shared(values)).loss.total;
        values[std::size_t(k)] = at - h;
        const double below = run(eddy::shared(values)).loss.total;
        values[std::size_t(k)] = at;
        CHECK(std::abs((above - below) / (2 * h) - shared.gradient.p(0, k)) < 1e-8);
    }
}
/// One lane in three has moved along the fast mode. Lanes end at rounds of their own, and there are more than places.
struct ManyDecays {
    static constexpr std::ptrdiff_t num_lanes = 150;
    eddy::EnsembleArray<double> y0{num_lanes, 2}, p{num_lanes, 2};
    ManyDecays() {
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            y0(lane, 0) = 1;
            y0(lane, 1) = lane % 3 == 0 ? 1 : 0;
            p(lane, 0) = 1 + 0.01 * static_cast<double>(lane);
            p(lane, 1) = 50 + static_cast<double>(lane % 7);
        }
    }
    [[nodiscard]] bool is_at_rest(std::ptrdiff_t lane) const { return y0(lane, 1) == 0; }
};

template <int num_parameters = 2>
struct TwoDecaysOf : TwoDecays {
    static constexpr int parameter_size = num_parameters;
};
/// Calls test(gradient) of both ways over rows: gradient(loss, y0, p, options).
template <int num_parameters = 2>
void by_rows_and_tiles(const auto& test) {
    const eddy::RuntimeField field = eddy::trace_field(2, num_parameters, TwoDecays{});
    test([&](const auto&... arguments) {
        return eddy::value_and_gradient(field, eddy::Tsit5{}, Total{}, arguments...);
    });
    test([&](const auto&... arguments) {
        return eddy::value_and_gradient(TwoDecaysOf<num_parameters>{}, eddy::Tsit5{}, Total{},
                                        arguments..., eddy::Tiles{});
    });
}

TEST_CASE("rows: derivatives that the steps do not carry are flagged as the oracle flags them") {
    const ManyDecays many;
    eddy::SolveOptions options{.t1 = 0.2, .stable_gradients = false};

    const auto oracle = eddy::value_and_gradient(TwoDecays{}, eddy::Tsit5{}, Total{}, many.y0,
                                                 many.p, options, eddy::Serial{});
    by_rows_and_tiles([&](const auto& gradient) {
        for (const std::int64_t checkpoints : {0, 3}) {
            options.checkpoints = checkpoints;
            const auto found = gradient(many.y0, many.p, options);

            CHECK(found.report.is_watched);
            for (std::ptrdiff_t lane = 0; lane < ManyDecays::num_lanes; ++lane) {
                const eddy::GradientMark mark = found.report.unreliable(lane),
                                         expected = oracle.report.unreliable(lane);
                CHECK(bool(mark) == many.is_at_rest(lane));
                CHECK(mark.t == expected.t);
                CHECK(std::abs(mark.ratio - expected.ratio) <= 1e-6 * expected.ratio);
                CHECK_FALSE(found.report.redone(lane));
            }
        }
    });
    options.dt0 = 0.01;
    const auto constant =
        eddy::value_and_gradient(eddy::trace_field(2, 2, TwoDecays{}), eddy::Tsit5{}, Total{},
                                 many.y0, many.p, options, eddy::ConstantController{});
    CHECK_FALSE(constant.report.is_watched);
}

TEST_CASE("rows: these lanes are solved again, by the steps of the oracle") {
    const ManyDecays many;
    const auto oracle = eddy::value_and_gradient(TwoDecays{}, eddy::Tsit5{}, Total{}, many.y0,
                                                 many.p, {.t1 = 0.2}, eddy::Serial{});
    by_rows_and_tiles([&](const auto& gradient) {
        eddy::SolveOptions options{.t1 = 0.2};
        const auto found = gradient(many.y0, many.p, options);

        for (std::ptrdiff_t lane = 0; lane < ManyDecays::num_lanes; ++lane) {
            CHECK(found.report.redone(lane) == oracle.report.redone(lane));
            CHECK(bool(found.report.unreliable(lane)) == bool(oracle.report.unreliable(lane)));
            CHECK(found.report.stats(lane).accepted == oracle.report.stats(lane).accepted);
            CHECK(found.report.stats(lane).evaluations == oracle.report.stats(lane).evaluations);
            CHECK(std::abs(found.gradient.y0(lane, 1) - std::exp(-0.2 * many.p(lane, 1))) < 1e-6);
        }
        CHECK(found.report.redone(1));
        CHECK(largest_difference(found.gradient.y0, oracle.gradient.y0) < 1e-12);
        CHECK(largest_difference(found.gradient.p, oracle.gradient.p) < 1e-12);
        CHECK(std::abs(found.loss.total / oracle.loss.total - 1) < 1e-12);

        // Where no second solve succeeds, lanes keep what they had.
        options.max_steps = found.report.stats(1).accepted - 1;
        const auto kept = gradient(many.y0, many.p, options);
        CHECK(kept.report.unreliable(1));
        CHECK_FALSE(kept.report.redone(1));
    });
}

template <int num_parameters>
void compare_shared_with_own() {
    const ManyDecays many;
    const eddy::SolveOptions options{.t1 = 0.2};
    std::vector<double> p(num_parameters, 1.);
    p[1] = 50;
    eddy::EnsembleArray<double> copies(ManyDecays::num_lanes, num_parameters, 1.);
    for (std::ptrdiff_t lane = 0; lane < ManyDecays::num_lanes; ++lane) copies(lane, 1) = 50;
    by_rows_and_tiles<num_parameters>([&](const auto& gradient) {
        const auto of_all = gradient(many.y0, eddy::shared(p), options),
                   of_each = gradient(many.y0, copies, options);

        CHECK(of_all.report.redone(1));
        CHECK(largest_difference(of_all.gradient.y0, of_each.gradient.y0) < 1e-12);
        for (int i = 0; i < 2; ++i) {
            double sum = 0;
            for (std::ptrdiff_t lane = 0; lane < ManyDecays::num_lanes; ++lane)
                sum += of_each.gradient.p(lane, i);
            CHECK(std::abs(of_all.gradient.p(0, i) - sum) < 1e-12 * std::abs(sum));
        }
    });
}
TEST_CASE("rows: lanes that are solved again bring the same to parameters that all share") {
    compare_shared_with_own<2>();
    compare_shared_with_own<66>();
}

TEST_CASE("rows: a lane that fails brings nothing, and the others are as they are alone") {
    auto y0 = filled(20, 1, 0.05);
    const auto p = filled(1, 8, 0.5), data = filled(1, 0, 0.1);
    y0(3, 0) = 1e200;
    y0(5, 1) = std::numeric_limits<double>::quiet_NaN();

    const auto with = eddy::value_and_gradient(lorenz(), eddy::Tsit5{}, SquaredError{}, data, y0,
                                               eddy::shared(p), {.t1 = 0.5});

    CHECK_FALSE(with.report.success());
    CHECK(eddy::is_failure(with.report.result(3)));
    CHECK(with.report.result(5) == eddy::Result::non_finite);
    CHECK(with.gradient.y0(3, 0) == 0);
    CHECK(with.gradient.y0(5, 1) == 0);
    CHECK(std::isfinite(with.gradient.p(0, 1)));
    CHECK(with.loss.num_successful == 18);
}
