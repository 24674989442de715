// Derivatives with respect to times over rows, beside those of the oracle.

#include <algorithm>
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <limits>
#include <vector>
#include "support/catch.hpp"
#include "support/impulses.hpp"
#include "support/own_times.hpp"
#include "support/same_bits.hpp"
#include "support/uneven_lanes.hpp"

namespace {

using eddy::differentiate_times;
using eddy::EnsembleArray;
using eddy::SolveOptions;

/// Driven by the time, and so is the loss.
struct Driven {
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        const auto wave = sin(p[1] * t);
        return eddy::vec(y[1] * wave, -p[0] * y[0] + y[2] * t, wave * wave - 0.3 * y[2] * y[0]);
    }
};
struct Error {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y[0] - data[0] * cos(t);
        return r * r + y[1] * y[2] * t + p[0] * y[2];
    }
};

template <class Real = double>
EnsembleArray<Real> filled(std::ptrdiff_t rows, int size, double first) {
    EnsembleArray<Real> array(rows, size);
    for (std::ptrdiff_t row = 0; row < rows; ++row)
        for (int c = 0; c < size; ++c)
            array(row, c) =
                static_cast<Real>(first + 0.05 * static_cast<double>((7 * row + 3 * c) % 11));
    return array;
}
template <class A, class B>
double difference(const EnsembleArray<A>& a, const EnsembleArray<B>& b) {
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    double largest = 0, scale = 1;
    for (std::ptrdiff_t row = 0; row < a.rows(); ++row) {
        for (std::ptrdiff_t c = 0; c < a.cols(); ++c) {
            largest = std::max(largest, std::abs(double(a(row, c)) - double(b(row, c))));
            scale = std::max(scale, std::abs(double(b(row, c))));
        }
    }
    return largest / scale;
}
/// Of all that a gradient has.
double difference_of_gradients(const auto& a, const auto& b) {
    const auto& x = a.gradient;
    const auto& y = b.gradient;
    return std::max({difference(x.y0, y.y0), difference(x.p, y.p), difference(x.t0, y.t0),
                     difference(x.t1, y.t1), difference(x.save_at, y.save_at),
                     difference(x.impulse_times, y.impulse_times),
                     difference(x.impulse_amounts, y.impulse_amounts)});
}
template <class Real = double>
auto gradient_on(const auto& backend, const SolveOptions& options, std::ptrdiff_t lanes) {
    const std::size_t given = options.save_at.values.size();
    const std::size_t points = options.save_at.is_own ? 2 : std::max<std::size_t>(given, 1);
    const std::vector<EnsembleArray<Real>> data(points, filled<Real>(lanes, 3, 0.2));
    return eddy::value_and_gradient(Driven{}, eddy::Tsit5{}, Error{}, data,
                                    filled<Real>(lanes, 3, 0.6), filled<Real>(lanes, 2, 1.1),
                                    options, backend, differentiate_times);
}
/// Steps are the same, so that gradients differ by rounding.
void check(const SolveOptions& options, std::ptrdiff_t lanes) {
    const auto oracle = gradient_on(eddy::Serial{}, options, lanes);
    const auto rows = gradient_on(eddy::Rows{}, options, lanes);
    const auto tiles = gradient_on(eddy::Tiles{}, options, lanes);

    REQUIRE(oracle.report.success());
    CHECK(difference_of_gradients(rows, oracle) < 1e-12);
    CHECK(difference_of_gradients(tiles, oracle) < 1e-12);
    CHECK(std::abs(oracle.gradient.t0(0)) + std::abs(oracle.gradient.t1(0)) > 1e-3);
}

}  // namespace

TEST_CASE("row times: derivatives with respect to both ends and to save points are the oracle's") {
    for (const double t1 : {1.9, -1.3}) {
        const double half = 0.3 + 0.5 * (t1 - 0.3), third = 0.3 + (t1 - 0.3) / 3;
        const SolveOptions options{.t0 = 0.3, .t1 = t1, .rtol = 1e-5, .atol = 1e-7};
        CAPTURE(t1);
        check(options, 11);

        SolveOptions saved = options;
        saved.save_at = {0.3, third, half, 0.9 * t1, t1};
        saved.step_to = {half};
        check(saved, 11);
        saved.jump_times = {half};
        check(saved, 1);
        saved.dt0 = (t1 - 0.3) / 32;
        check(saved, 3);
    }
}

TEST_CASE("row times: those of impulses are the oracle's") {
    const SolveOptions options{.t1 = 1, .rtol = 1e-5, .save_at = {0, 0.25, 0.4, 0.5, 1}};
    for (const bool before : {false, true}) {
        CAPTURE(before);
        check(support::with_impulses(options, 0, 1, before), 11);
        check(support::with_own_impulses({.t1 = 1, .rtol = 1e-5}, 13, before), 13);
    }
}

TEST_CASE("row times: so are those of times of each trajectory's own") {
    EnsembleArray<double> t0(10, 1), t1(10, 1), saves(10, 2);
    for (std::ptrdiff_t lane = 0; lane < 10; ++lane) {
        t0(lane, 0) = 0.1 * static_cast<double>(lane);
        t1(lane, 0) = 1.5 + 0.05 * static_cast<double>(lane % 4);
        saves(lane, 0) = t0(lane, 0) + 0.2;
        saves(lane, 1) = lane % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : t1(lane, 0);
    }
    check({.t0 = eddy::each(t0), .t1 = eddy::each(t1), .save_at = eddy::each(saves)}, 10);
}

TEST_CASE("row times: neither a budget, checkpoints nor threads change a bit of them") {
    const SolveOptions options = support::with_impulses(
        {.t1 = 3, .rtol = 1e-9, .atol = 1e-9, .save_at = {0.4, 1.7, 3}}, 0, 3, false);
    SolveOptions small = options;
    small.memory_budget = 1 << 14;
    SolveOptions few = options;
    few.checkpoints = 2;

    const auto whole = gradient_on(eddy::Rows{.threads = 1}, options, 20);
    const auto tight = gradient_on(eddy::Rows{.threads = 2}, small, 20);
    const auto sparse = gradient_on(eddy::Rows{}, few, 20);

    CHECK(tight.report.counters.recomputed > 0);
    CHECK(difference_of_gradients(tight, whole) == 0);
    CHECK(difference_of_gradients(sparse, whole) == 0);
}

TEST_CASE("row times: lanes that begin where others ended have what they have alone") {
    constexpr std::ptrdiff_t lanes = 700;
    SolveOptions options = support::with_impulses(
        {.t1 = 1, .rtol = 1e-5, .save_at = {0, 0.25, 0.4, 0.5, 1}}, 0, 1, false);
    options.stable_gradients = false;
    auto p = filled(lanes, 2, 1.1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        if (support::is_long_lane(lane)) p(lane, 1) *= 100;
    const auto y0 = filled(lanes, 3, 0.6);
    const std::vector<EnsembleArray<double>> data(5, filled(1, 3, 0.2));
    const auto run = [&](const auto& backend, std::size_t budget) {
        SolveOptions with = options;
        with.memory_budget = budget;
        return eddy::value_and_gradient(Driven{}, eddy::Tsit5{}, Error{}, data, y0, p, with,
                                        backend, differentiate_times);
    };
    const auto check_on = [&](const auto& backend) {
        const auto refilled = run(backend, std::size_t{1} << 30);
        const auto with_little = run(backend, std::size_t{1} << 14);

        REQUIRE(refilled.report.success());
        CHECK(3 * refilled.report.counters.pullbacks <
              2 * support::rounds_without_refill(refilled.report));
        CHECK(with_little.report.counters.recomputed > 0);
        CHECK(difference_of_gradients(refilled, with_little) == 0);
    };

    check_on(eddy::Rows{.threads = 1});
    check_on(eddy::Tiles{.threads = 1});
}

TEST_CASE("row times: in single precision they differ by no more than it rounds") {
    const SolveOptions options{.t1 = 1.5, .save_at = {0.7, 1.5}, .dt0 = 0.0625};
    const auto in_double = gradient_on(eddy::Rows{}, options, 9);
    const auto in_float = gradient_on<float>(eddy::Rows{}, options, 9);

    CHECK(difference_of_gradients(in_float, in_double) < 1e-5);
}

TEST_CASE("row times: they are differences of the losses of an equation that inputs drive") {
    const auto field = eddy::trace_field(
        1, 1, 1,
        [](const auto&, const auto& y, const auto& p, const auto& u) { return p[0] * u - y; });
    const auto square = [](const auto& t, const auto& y, const auto&) { return t * y[0] * y[0]; };
    const EnsembleArray<double> one(1, 1, 1.0), knots(3, 1, 0.7);
    const auto at = [&](double t0, double t1) {
        SolveOptions options{.t0 = 0.1 + t0, .t1 = 1.7 + t1, .rtol = 1e-12, .atol = 1e-12};
        options.inputs = eddy::piecewise_linear({0, 1, 2}, knots);
        return eddy::value_and_gradient(field, eddy::Vern7{}, square, one, one, options,
                                        differentiate_times);
    };
    const auto slope = [&](double by_t0, double by_t1) {
        return (at(by_t0, by_t1).loss.total - at(-by_t0, -by_t1).loss.total) / 2e-4;
    };
    const auto found = at(0, 0);

    CHECK(std::abs(found.gradient.t0(0) - slope(1e-4, 0)) < 1e-7);
    CHECK(std::abs(found.gradient.t1(0) - slope(0, 1e-4)) < 1e-7);
}

TEST_CASE("row times: starts from parameters bring theirs to t0, and cotangents to t1") {
    const auto field = eddy::trace_field(3, 2, Driven{});
    const auto start = [](auto t0, const auto& p) { return eddy::vec(p[0], t0 * p[1], 0.2); };
    const auto sum = [](const auto&, const auto& y, const auto&) { return y[0] + y[1] + y[2]; };
    const auto p = filled(3, 2, 1.1);
    const auto at = [&](double t0) {
        return eddy::value_and_gradient(field, eddy::Vern7{}, sum, eddy::start_from(start), p,
                                        {.t0 = 0.3 + t0, .t1 = 1, .rtol = 1e-12, .atol = 1e-12},
                                        differentiate_times);
    };
    const auto found = at(0);
    const double slope = (at(1e-4).loss(1) - at(-1e-4).loss(1)) / 2e-4;
    CHECK(std::abs(found.gradient.t0(1) - slope) < 1e-7);

    const auto y0 = filled(3, 3, 0.6);
    const SolveOptions options{.t0 = 0.3, .t1 = 1};
    const auto solution = eddy::solve(field, eddy::Tsit5{}, y0, p, options, differentiate_times);
    const auto pulled = eddy::pullback(solution, EnsembleArray<double>(3, 3, 1.0));
    const auto of_loss =
        eddy::value_and_gradient(field, eddy::Tsit5{}, sum, y0, p, options, differentiate_times);
    CHECK(support::same_bits(pulled.t1(2), of_loss.gradient.t1(2)));
}

namespace {

/// dy/dt = t y, by hand, which says nothing of the derivative with respect to t.
class Growth : public eddy::FieldOnTile {
  public:
    Growth(const eddy::FieldSizes& sizes, int width) : FieldOnTileOf(sizes, width) {}
    int num_residuals() const override { return 0; }
    void f(const double* t, const double* y, const double*, double* dy) override {
        for (int lane = 0; lane < width(); ++lane) dy[lane] = t[lane] * y[lane];
    }
    void forward(const double* t, const double* y, const double* p, double* dy, double*) override {
        f(t, y, p, dy);
    }
    void pull(const double* t, const double*, const double*, const double*, const double* c,
              double* ybar, double*) override {
        for (int lane = 0; lane < width(); ++lane) ybar[lane] = t[lane] * c[lane];
    }
};
class GrowthMaker : public eddy::FieldMaker {
  public:
    GrowthMaker()
        : FieldMaker(eddy::FieldSizes{.states = 1, .parameters = 1, .reads_time = true}) {}
    std::unique_ptr<eddy::FieldOnTile> on_tile(int width) const override {
        return std::make_unique<Growth>(sizes(), width);
    }
};
struct ByHand {
    [[nodiscard]] static std::shared_ptr<const eddy::FieldMaker> maker() {
        return std::make_shared<const GrowthMaker>();
    }
};

}  // namespace

TEST_CASE("row times: an equation by hand without pull_time is refused before any work") {
    const EnsembleArray<double> one(1, 1, 1.0);
    const auto square = [](const auto&, const auto& y, const auto&) { return y[0] * y[0]; };
    CHECK_THROWS_WITH(
        eddy::value_and_gradient(ByHand{}, eddy::Tsit5{}, square, one, one, {.t1 = 1},
                                 differentiate_times),
        "value_and_gradient: differentiate_times, and the equation, which reads t, is a "
        "FieldOnTile without pull_time; add that, or leave differentiate_times out");
}
