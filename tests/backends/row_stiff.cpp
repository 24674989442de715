// Rosenbrock methods on rows: the steps and bits of the oracle, whatever the widths of tiles, refills and threads; the
// gradients of the same discrete solution.

#include <algorithm>
#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/ros34pw2.hpp>
#include <vector>
#include "support/catch.hpp"
#include "support/chain_of_species.hpp"
#include "support/failing_allocations.hpp"
#include "support/message_of.hpp"
#include "support/stiff_equations.hpp"

namespace {

using eddy::Rodas5P, support::Robertson;

/// A fast component that follows a driver: f depends on time, and a root of it has infinite slopes at zero.
struct Driven {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        using eddy::cos, eddy::sin, eddy::sqrt;
        return eddy::vec(-1e4 * p[1] * (y[0] - cos(t)) - sin(t), p[0] * (y[0] - sqrt(y[1])));
    }
};

template <class Real, class Field>
eddy::EnsembleArray<Real> starts(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<Real> y0(lanes, Field::state_size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int c = 0; c < Field::state_size; ++c)
            y0(lane, c) =
                static_cast<Real>(c == 0 ? 1 + 0.01 * static_cast<double>(lane % 7) : 0.1 * c);
    return y0;
}
template <class Real, class Field>
eddy::EnsembleArray<Real> parameters(std::ptrdiff_t lanes) {
    constexpr bool is_robertson = std::is_same_v<Field, Robertson>;
    eddy::EnsembleArray<Real> p(lanes, Field::parameter_size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < Field::parameter_size; ++i)
            p(lane, i) = static_cast<Real>((is_robertson ? Robertson::p0[i] : 1) *
                                           (1 + 0.1 * static_cast<double>((lane + i) % 9)));
    return p;
}
template <class Field>
eddy::RuntimeField traced() {
    return eddy::trace_field(Field::state_size, Field::parameter_size, Field{});
}

/// In units of the largest number.
template <class Real>
void check_close(eddy::EnsembleView<const Real> a, eddy::EnsembleView<const Real> b,
                 double tolerance) {
    double difference = 0, largest = 0;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes; ++lane)
        for (std::ptrdiff_t i = 0; i < a.num_components; ++i) {
            difference =
                std::max(difference, std::abs(static_cast<double>(a(lane, i) - b(lane, i))));
            largest = std::max(largest, std::abs(static_cast<double>(b(lane, i))));
        }
    CAPTURE(difference, largest);
    CHECK(difference <= tolerance * largest);
}
/// The steps of the oracle, and states within a tolerance; 0: its bits.
template <class Field, class Method = Rodas5P, class Real = double, class... Extras>
void check(double tolerance, std::ptrdiff_t lanes, const eddy::SolveOptions& options,
           const Extras&... extras) {
    const auto y0 = starts<Real, Field>(lanes), p = parameters<Real, Field>(lanes);

    const auto rows = eddy::solve(traced<Field>(), Method{}, y0, p, options, extras...);
    const auto oracle = eddy::solve(Field{}, Method{}, y0, p, options, extras..., eddy::Serial{});

    REQUIRE(rows.success());
    REQUIRE(rows.num_saves() == oracle.num_saves());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const eddy::LaneStats a = rows.stats(lane), b = oracle.stats(lane);
        CAPTURE(lane);
        CHECK(a.accepted == b.accepted);
        CHECK(a.rejected == b.rejected);
        CHECK(a.evaluations == b.evaluations);
        CHECK(a.jacobians == b.jacobians);
        CHECK(a.factorizations == b.factorizations);
    }
    for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k)
        check_close<Real>(rows.y(k), oracle.y(k), tolerance);
}

struct SquaredEnd {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return t * eddy::dot(y, y) + p[0] * y[1];
    }
};

}  // namespace

TEST_CASE("rows: Robertson's reactions by Rodas5P have the bits of the oracle") {
    for (const std::ptrdiff_t lanes : {1, 9, 70, 200})
        check<Robertson>(0, lanes,
                         {.t1 = 40, .rtol = 1e-6, .atol = 1e-8, .save_at = {0, 0.3, 4, 40}});
}
TEST_CASE("rows: equations that depend on time have the steps of the oracle, by any such method") {
    const eddy::SolveOptions options{
        .t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1, 1.5}};
    check<Driven>(1e-12, 70, options);
    check<Driven, eddy::ROS34PW2>(1e-12, 9, options);
    check<Driven>(1e-12, 9, {.t1 = 1, .save_at = {0.35, 1}, .dt0 = 0.1},
                  eddy::ConstantController{});
}
TEST_CASE("rows: single precision has the bits of the oracle, too") {
    check<Robertson, Rodas5P, float>(0, 9, {.t1 = 4, .rtol = 1e-3, .atol = 1e-4});
}
TEST_CASE("rows: gradients of Rosenbrock methods are those of the discrete solution") {
    const auto compare = [](const eddy::SolveOptions& options, std::ptrdiff_t lanes) {
        const auto y0 = starts<double, Driven>(lanes), p = parameters<double, Driven>(lanes);
        const auto rows =
            eddy::value_and_gradient(traced<Driven>(), Rodas5P{}, SquaredEnd{}, y0, p, options);
        const auto oracle = eddy::value_and_gradient(Driven{}, Rodas5P{}, SquaredEnd{}, y0, p,
                                                     options, eddy::Serial{});
        REQUIRE(rows.report.success());
        check_close<double>(rows.gradient.y0.view(), oracle.gradient.y0.view(), 1e-10);
        check_close<double>(rows.gradient.p.view(), oracle.gradient.p.view(), 1e-10);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            CHECK(rows.loss(lane) == Approx(oracle.loss(lane)).epsilon(1e-12));
            CHECK(rows.report.stats(lane).factorizations ==
                  oracle.report.stats(lane).factorizations);
        }
    };
    compare({.t1 = 1.5, .rtol = 1e-5, .atol = 1e-7}, 1);
    compare({.t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1, 1.01, 1.5}}, 19);
    compare({.t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .memory_budget = 1}, 19);
}
TEST_CASE("rows: a stiff chain of 100 species reaches the end of an explicit method") {
    const support::ChainOfSpecies chain{100};
    const eddy::RuntimeField field = eddy::trace_field(100, chain.num_parameters(), chain);
    eddy::EnsembleArray<double> y0(3, 100), p(3, chain.num_parameters());
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        for (int c = 0; c < 100; ++c) y0(lane, c) = 1 + 0.1 * static_cast<double>((c + lane) % 5);
        for (int i = 0; i < chain.num_parameters(); ++i)
            p(lane, i) = 1 + 0.2 * static_cast<double>((3 * i + lane) % 7);
    }
    const auto with = [&](const auto& method) {
        return eddy::solve(field, method, y0, p, {.t1 = 1, .rtol = 1e-9, .atol = 1e-10});
    };
    const auto implicit = with(Rodas5P{}), reference = with(eddy::Vern7{});

    REQUIRE(implicit.success());
    check_close<double>(implicit.y(), reference.y(), 1e-7);
}
TEST_CASE("rows: the second stiff solve and gradient allocate nothing") {
    const auto y0 = starts<double, Robertson>(70), p = parameters<double, Robertson>(70);
    const eddy::SolveOptions options{.t1 = 4, .rtol = 1e-5, .atol = 1e-8};
    auto forward =
        eddy::ensemble_solver(traced<Robertson>(), Rodas5P{}, options, eddy::Rows{.threads = 1});
    auto back = eddy::gradient_solver(traced<Robertson>(), Rodas5P{}, SquaredEnd{}, options,
                                      eddy::Rows{.threads = 1});

    const double end = forward(y0, p).y()(69, 0), slope = back(y0, p).gradient.p(69, 1);

    double again = 0, slope_again = 0;
    CHECK(support::allocations_of([&] { again = forward(y0, p).y()(69, 0); }) == 0);
    CHECK(support::allocations_of([&] { slope_again = back(y0, p).gradient.p(69, 1); }) == 0);
    CHECK(again == end);
    CHECK(slope_again == slope);
}
TEST_CASE("rows: an implicit method wants an equation that is a program") {
    struct Opaque final : eddy::FieldMaker {
        Opaque() : FieldMaker({2, 1, false}) {}
        [[nodiscard]] std::unique_ptr<eddy::FieldOnTile> on_tile(int) const override {
            return nullptr;
        }
    };
    struct Field {
        [[nodiscard]] std::shared_ptr<const eddy::FieldMaker> maker() const {
            return std::make_shared<const Opaque>();
        }
    };
    const eddy::EnsembleArray<double> y0(1, 2), p(1, 1);
    CHECK(support::mentions(support::message_of([&] {
                                static_cast<void>(
                                    eddy::solve(Field{}, Rodas5P{}, y0, p, {.t1 = 1}));
                            }),
                            "the equation is no program"));
}
