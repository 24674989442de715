// Rosenbrock methods on rows: the steps and bits of the oracle, whatever the widths of tiles, refills and threads; the
// gradients of the same discrete solution.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/ros34pw2.hpp>
#include <utility>
#include <vector>
#include "support/catch.hpp"
#include "support/chain_of_species.hpp"
#include "support/failing_allocations.hpp"
#include "support/message_of.hpp"
#include "support/rows_beside_oracle.hpp"

namespace {

using eddy::Rodas5P, support::Robertson, support::Driven, support::Ramp, support::SquaredEnd;
using support::check_close, support::starts, support::parameters, support::traced, support::check;

}  // namespace

TEST_CASE("rows: Robertson's reactions by Rodas5P have the bits of the oracle") {
    for (const std::ptrdiff_t lanes : {1, 9, 70, 200})
        check<Robertson, Rodas5P>(
            0, lanes, {.t1 = 40, .rtol = 1e-6, .atol = 1e-8, .save_at = {0, 0.3, 4, 40}});
}
TEST_CASE("rows: equations that depend on time have the steps of the oracle, by any such method") {
    const eddy::SolveOptions options{
        .t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1, 1.5}};
    check<Driven, Rodas5P>(1e-12, 70, options);
    check<Ramp, eddy::ROS34PW2>(0, 9, options);  // without functions: bits
    check<Driven, Rodas5P>(1e-12, 9, {.t1 = 1, .save_at = {0.35, 1}, .dt0 = 0.1},
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
namespace {

/// A call by steps of constant size, and the same with its arrays moved along a direction.
struct Moved {
    eddy::EnsembleArray<double> y0 = starts<double, Driven>(9), p = parameters<double, Driven>(9);
    eddy::SolveOptions options{.t0 = 0.1, .t1 = 1.5, .save_at = {0.33, 1, 1.2}, .dt0 = 0.0625};
    Moved() {
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane) {
            y0(lane, 1) = 2;
            p(lane, 1) *= 2e-4;  // not stiff, so that differences are exact
        }
    }
    Moved along(const eddy::EnsembleArray<double>& of_y0, const eddy::EnsembleArray<double>& of_p,
                double by) const {
        Moved moved(*this);
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane)
            for (int i = 0; i < 2; ++i) {
                moved.y0(lane, i) += by * of_y0(lane, i);
                moved.p(lane, i) += by * of_p(lane, i);
            }
        return moved;
    }
    template <class... Extras>
    auto gradient(const Extras&... extras) const {
        return eddy::value_and_gradient(traced<Driven>(), Rodas5P{}, SquaredEnd{}, y0, p, options,
                                        eddy::ConstantController{}, extras...);
    }
};

}  // namespace

TEST_CASE("rows: Rosenbrock steps are pulled back to times, those that land and those within") {
    for (const double t1 : {1.5, -0.8}) {
        CAPTURE(t1);
        Moved at;
        at.options.t1 = t1;
        at.options.dt0 = t1 > 0 ? 0.0625 : -0.0625;
        at.options.save_at = {0.1 + 0.17 * (t1 - 0.1), 0.1 + 0.6 * (t1 - 0.1), t1};
        at.options.step_to = {0.1 + 0.5 * (t1 - 0.1)};

        const auto found = at.gradient(eddy::differentiate_times);

        // Sizes of steps are constant but for those that land: what moves is the derivative.
        const auto check_moved = [&](const auto& of_lane, const auto& move) {
            Moved above(at), below(at);
            move(above.options, 1e-5), move(below.options, -1e-5);
            const auto up = above.gradient(), down = below.gradient();
            for (std::ptrdiff_t lane = 0; lane < 9; ++lane) {
                const double slope = (up.loss(lane) - down.loss(lane)) / 2e-5;
                CAPTURE(lane, slope, of_lane(lane));
                CHECK(std::abs(of_lane(lane) - slope) <= 1e-7 * (1 + std::abs(slope)));
            }
        };
        check_moved([&](auto lane) { return found.gradient.t0(lane); },
                    [](auto& options, double by) { options.t0 = 0.1 + by; });
        for (const int k : {0, 1})
            check_moved([&](auto lane) { return found.gradient.save_at(lane, k); },
                        [=](auto& options, double by) {
                            options.save_at.values[static_cast<std::size_t>(k)] += by;
                        });
        check_moved(
            [&](auto lane) { return found.gradient.t1(lane) + found.gradient.save_at(lane, 2); },
            [&](auto& options, double by) {
                options.t1 = t1 + by;
                options.save_at.values[2] += by;
            });
    }
}
TEST_CASE("rows: tangents go through Rosenbrock steps, whose states and steps stay") {
    const auto y0 = starts<double, Driven>(9), p = parameters<double, Driven>(9);
    const auto of_y0 = starts<double, Driven>(9), &of_p = p;
    const eddy::SolveOptions options{
        .t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1, 1.5}};

    const auto found = eddy::pushforward(traced<Driven>(), Rodas5P{}, y0, p, of_y0, of_p, options);
    const auto solved = eddy::solve(traced<Driven>(), Rodas5P{}, y0, p, options);
    const auto all =
        eddy::sensitivities(traced<Driven>(), Rodas5P{}, y0, p, options, eddy::along_both);
    const auto back =
        eddy::value_and_gradient(traced<Driven>(), Rodas5P{}, SquaredEnd{}, y0, p, options);

    REQUIRE(found.success());
    for (std::ptrdiff_t lane = 0; lane < 9; ++lane) {
        CHECK(found.stats(lane).accepted == solved.stats(lane).accepted);
        CHECK(found.stats(lane).rejected == solved.stats(lane).rejected);
        double of_loss = 0, of_gradient = 0;
        for (std::ptrdiff_t k = 0; k < 3; ++k) {
            const auto y = found.y(k), tangent = found.tangent(k);
            const double t = options.save_at.values[static_cast<std::size_t>(k)];
            of_loss += p(lane, 0) * tangent(lane, 1) + of_p(lane, 0) * y(lane, 1);
            for (int c = 0; c < 2; ++c) {
                CHECK(y(lane, c) == solved.y(k)(lane, c));
                of_loss += 2 * t * y(lane, c) * tangent(lane, c);
                double along = 0;  // directions of p, then of y0
                for (int d = 0; d < 2; ++d)
                    along += of_p(lane, d) * all.sensitivity(k).along(d)(lane, c) +
                             of_y0(lane, d) * all.sensitivity(k).along(2 + d)(lane, c);
                // Terms of order one, of which those of the fast component cancel.
                CHECK(along == Approx(tangent(lane, c)).epsilon(1e-9).margin(1e-12));
            }
        }
        for (int i = 0; i < 2; ++i)
            of_gradient += of_y0(lane, i) * back.gradient.y0(lane, i) +
                           of_p(lane, i) * back.gradient.p(lane, i);
        CHECK(of_loss == Approx(of_gradient).epsilon(1e-9));
    }
}
TEST_CASE("rows: the Hessian's product by Rosenbrock steps is what the gradient changes by") {
    const Moved at;
    const auto of_y0 = starts<double, Driven>(9);
    auto of_p = at.p;
    for (std::ptrdiff_t lane = 0; lane < 9; ++lane) of_p(lane, 0) = -0.5;

    const auto found =
        eddy::hessian_vector_product(traced<Driven>(), Rodas5P{}, SquaredEnd{}, at.y0, at.p, of_y0,
                                     of_p, at.options, eddy::ConstantController{});

    const auto above = at.along(of_y0, of_p, 1e-5).gradient().gradient,
               below = at.along(of_y0, of_p, -1e-5).gradient().gradient;
    const auto check_change = [](const auto& product, const auto& up, const auto& down) {
        eddy::EnsembleArray<double> change(9, 2);
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane)
            for (int i = 0; i < 2; ++i) change(lane, i) = (up(lane, i) - down(lane, i)) / 2e-5;
        check_close<double>(product.view(), std::as_const(change).view(), 1e-7);
    };
    check_change(found.product.y0, above.y0, below.y0);
    check_change(found.product.p, above.p, below.p);
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
