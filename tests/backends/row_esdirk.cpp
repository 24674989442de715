// ESDIRK methods on rows: steps, evaluations and states of the oracle; gradients, tangents and Hessians of the same discrete
// solution.

#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <utility>
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/rows_beside_oracle.hpp"

namespace {

using eddy::KenCarp4, eddy::Kvaerno3, eddy::Kvaerno5, eddy::TRBDF2;
using support::check, support::check_close, support::starts, support::parameters, support::traced;
using support::Driven, support::Ramp, support::Robertson, support::SquaredEnd;

const eddy::SolveOptions several_saves{
    .t1 = 1.5, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1, 1.5}};

}  // namespace

TEST_CASE("rows: Robertson's reactions by ESDIRK methods have the steps of the oracle") {
    for (const std::ptrdiff_t lanes : {1, 70})
        check<Robertson, Kvaerno5>(
            0, lanes, {.t1 = 40, .rtol = 1e-6, .atol = 1e-8, .save_at = {0, 0.3, 4, 40}});
}
TEST_CASE("rows: iterations fail, and steps are rejected, where those of the oracle do") {
    check<Driven, KenCarp4>(1e-12, 70, several_saves);
    check<Ramp, TRBDF2>(0, 9, several_saves);  // whose estimate is damped
    check<Driven, Kvaerno3>(1e-12, 9, {.t1 = 1, .save_at = {0.35, 1}, .dt0 = 0.1},
                            eddy::ConstantController{});
}
TEST_CASE("rows: ESDIRK steps of single precision have those of the oracle, too") {
    check<Robertson, Kvaerno3, float>(0, 9, {.t1 = 4, .rtol = 1e-3, .atol = 1e-4});
}
TEST_CASE("rows: gradients of ESDIRK methods are those of the discrete solution") {
    for (const std::size_t budget : {std::size_t{256} << 20, std::size_t{1}}) {
        auto options = several_saves;
        options.memory_budget = budget;
        const auto y0 = starts<double, Driven>(19), p = parameters<double, Driven>(19);

        const auto rows =
            eddy::value_and_gradient(traced<Driven>(), Kvaerno3{}, SquaredEnd{}, y0, p, options);
        const auto oracle = eddy::value_and_gradient(Driven{}, Kvaerno3{}, SquaredEnd{}, y0, p,
                                                     options, eddy::Serial{});

        REQUIRE(rows.report.success());
        check_close<double>(rows.gradient.y0.view(), oracle.gradient.y0.view(), 1e-10);
        check_close<double>(rows.gradient.p.view(), oracle.gradient.p.view(), 1e-10);
        for (std::ptrdiff_t lane = 0; lane < 19; ++lane) {
            CHECK(rows.loss(lane) == Approx(oracle.loss(lane)).epsilon(1e-12));
            CHECK(rows.report.stats(lane).evaluations == oracle.report.stats(lane).evaluations);
        }
    }
}
TEST_CASE(
    "rows: tangents of ESDIRK steps are those of the oracle, and their Hessians differences of "
    "gradients") {
    const auto y0 = starts<double, Ramp>(9), p = parameters<double, Ramp>(9);
    const auto of_y0 = starts<double, Ramp>(9), &of_p = p;
    const auto with = [&](const auto& field, const auto&... extras) {
        return eddy::pushforward(field, KenCarp4{}, y0, p, of_y0, of_p, several_saves, extras...);
    };

    const auto rows = with(traced<Ramp>()), oracle = with(Ramp{}, eddy::Serial{});

    REQUIRE(rows.success());
    for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k) {
        check_close<double>(rows.y(k), oracle.y(k), 0);
        check_close<double>(rows.tangent(k), oracle.tangent(k), 1e-10);
    }
    // Of steps of constant size, so that they are the same.
    const eddy::SolveOptions options{.t1 = 1.5, .rtol = 1e-12, .atol = 1e-12, .dt0 = 0.0625};
    const auto found =
        eddy::hessian_vector_product(traced<Ramp>(), Kvaerno3{}, SquaredEnd{}, y0, p, of_y0, of_p,
                                     options, eddy::ConstantController{});
    const auto moved = [&](double by) {
        auto moved_y0 = y0, moved_p = p;
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane)
            for (int i = 0; i < 2; ++i) {
                moved_y0(lane, i) += by * of_y0(lane, i);
                moved_p(lane, i) += by * of_p(lane, i);
            }
        return eddy::value_and_gradient(traced<Ramp>(), Kvaerno3{}, SquaredEnd{}, moved_y0, moved_p,
                                        options, eddy::ConstantController{})
            .gradient;
    };
    const auto above = moved(1e-5), below = moved(-1e-5);
    eddy::EnsembleArray<double> of_start(9, 2), of_parameters(9, 2);
    for (std::ptrdiff_t lane = 0; lane < 9; ++lane)
        for (int i = 0; i < 2; ++i) {
            of_start(lane, i) = (above.y0(lane, i) - below.y0(lane, i)) / 2e-5;
            of_parameters(lane, i) = (above.p(lane, i) - below.p(lane, i)) / 2e-5;
        }
    check_close<double>(found.product.y0.view(), std::as_const(of_start).view(), 1e-7);
    check_close<double>(found.product.p.view(), std::as_const(of_parameters).view(), 1e-7);
}
TEST_CASE("rows: ESDIRK steps are pulled back to times and to shared parameters") {
    const auto y0 = starts<double, Driven>(9);
    const auto p = parameters<double, Driven>(1);
    const auto with = [&](const auto& method, const auto& field, const auto&... extras) {
        return eddy::value_and_gradient(field, method, SquaredEnd{}, y0, eddy::shared(p),
                                        several_saves, eddy::differentiate_times, extras...);
    };
    const auto compare = [&](const auto& method) {
        const auto rows = with(method, traced<Driven>()),
                   oracle = with(method, Driven{}, eddy::Serial{});

        REQUIRE(rows.report.success());
        check_close<double>(rows.gradient.p.view(), oracle.gradient.p.view(), 1e-10);
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane) {
            CHECK(rows.gradient.t0(lane) == Approx(oracle.gradient.t0(lane)).epsilon(1e-8));
            CHECK(rows.gradient.t1(lane) == Approx(oracle.gradient.t1(lane)).epsilon(1e-8));
            for (int k = 0; k < 3; ++k)
                CHECK(rows.gradient.save_at(lane, k) ==
                      Approx(oracle.gradient.save_at(lane, k)).epsilon(1e-8));
        }
    };
    compare(Kvaerno3{});
    compare(Kvaerno5{});
}
