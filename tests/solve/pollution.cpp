// Air pollution, 20 species and 25 reactions whose rates span 15 decades: the published end, steps as
// few as these methods are known to take, and gradients by all rates, which forward mode confirms.

#include <algorithm>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <utility>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stiff_equations.hpp"

namespace {

using support::Array, support::Pollution;

/// At t = 60: Mazzia & Magherini 2008, Test Set for Initial Value Problem Solvers, release 2.4.
constexpr double at_60[] = {
    0.5646255480022769e-01, 0.1342484130422339,    0.4139734331099427e-8,  0.5523140207484359e-2,
    0.2018977262302196e-6,  0.1464541863493966e-6, 0.7784249118997964e-01, 0.3245075353396018,
    0.7494013383880406e-2,  0.1622293157301561e-7, 0.1135863833257075e-7,  0.2230505975721359e-2,
    0.2087162882798630e-3,  0.1396921016840158e-4, 0.8964884856898295e-2,  0.4352846369330103e-17,
    0.6899219696263405e-2,  0.1007803037365946e-3, 0.1772146513969984e-5,  0.5682943292316392e-4};

template <std::size_t size>
Array repeated(std::ptrdiff_t lanes, const double (&values)[size]) {
    Array array(lanes, static_cast<std::ptrdiff_t>(size));
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t i = 0; i < size; ++i)
            array(lane, static_cast<std::ptrdiff_t>(i)) = values[i];
    }
    return array;
}

/// Each species counts for as much as it is there.
struct Logarithms {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::log(y[0]) + eddy::log(y[5]) * eddy::log(y[9]) + y[7] * y[19];
    }
};

/// A direction in which rate i changes by a part of itself.
Array direction_of_rates() {
    Array direction = repeated(1, Pollution::p0);
    for (int i = 0; i < Pollution::parameter_size; ++i)
        direction(0, i) *= 0.3 + 0.1 * ((7 * i) % 11);
    return direction;
}
Array direction_of_starts(double size) {
    Array direction(1, Pollution::state_size);
    for (int i = 0; i < Pollution::state_size; ++i) direction(0, i) = size * (0.01 * ((5 * i) % 7));
    return direction;
}

/// Rodas5P goes over rows, for which nothing is compiled.
constexpr eddy::Rows machine_of(const eddy::Rodas5P&) { return {}; }
constexpr eddy::Serial machine_of(const eddy::Kvaerno5&) { return {}; }

template <class Method>
auto pushed(const Method& method, double rtol, double dt0 = 0, double of_starts = 1) {
    return eddy::pushforward(
        Pollution{}, method, repeated(1, Pollution::y0), repeated(1, Pollution::p0),
        direction_of_starts(of_starts), direction_of_rates(),
        {.t1 = 60, .rtol = rtol, .atol = 1e-5 * rtol, .dt0 = dt0}, machine_of(method));
}

}  // namespace

TEST_CASE("pollution: the published end, in as few steps as these methods take") {
    const auto check = [](const auto& method, double rtol, int attempts) {
        const auto end = pushed(method, rtol);

        REQUIRE(end.result(0) == eddy::Result::success);
        double error = 0;
        for (int i = 0; i < Pollution::state_size; ++i)
            error = std::max(error, std::abs(end.y()(0, i) / at_60[i] - 1));
        const eddy::LaneStats stats = end.stats(0);
        CAPTURE(rtol, error, stats.accepted, stats.rejected);
        CHECK(error <= 50 * rtol);
        CHECK(std::abs(static_cast<double>(stats.accepted + stats.rejected) / attempts - 1) <= 0.1);
    };
    check(eddy::Rodas5P{}, 1e-4, 28);
    check(eddy::Rodas5P{}, 1e-7, 98);
    check(eddy::Rodas5P{}, 1e-10, 556);
    check(eddy::Kvaerno5{}, 1e-4, 25);
    check(eddy::Kvaerno5{}, 1e-7, 97);
    check(eddy::Kvaerno5{}, 1e-10, 385);
}

namespace {

/// Reverse mode against forward mode, whose products along one direction agree to `digits`; `of_starts`: how much
/// of it is one of starts.
template <class Method>
void check_modes(const Method& method, double dt0, double digits, double of_starts = 1) {
    constexpr double rtol = 1e-5;
    const Array along_p = direction_of_rates(), along_y = direction_of_starts(of_starts);

    const auto reverse = eddy::value_and_gradient(
        Pollution{}, method, Logarithms{}, repeated(1, Pollution::y0), repeated(1, Pollution::p0),
        {.t1 = 60, .rtol = rtol, .atol = 1e-5 * rtol, .dt0 = dt0}, machine_of(method));
    const auto forward = pushed(method, rtol, dt0, of_starts);

    const auto y = [&](int i) { return forward.y()(0, i); };
    const auto dy = [&](int i) { return forward.tangent()(0, i); };
    const double slope = dy(0) / y(0) + dy(5) / y(5) * std::log(y(9)) +
                         std::log(y(5)) * dy(9) / y(9) + dy(7) * y(19) + y(7) * dy(19);
    double product = 0;
    for (int i = 0; i < Pollution::parameter_size; ++i)
        product += reverse.gradient.p(0, i) * along_p(0, i);
    for (int i = 0; i < Pollution::state_size; ++i)
        product += reverse.gradient.y0(0, i) * along_y(0, i);
    CAPTURE(dt0, product, slope);
    REQUIRE(reverse.report.success());
    CHECK(product == Approx(slope).epsilon(digits));
    CHECK(reverse.report.stats(0).accepted == forward.stats(0).accepted);
    CHECK(reverse.report.stats(0).jacobians == forward.stats(0).jacobians);
}

}  // namespace

TEST_CASE("pollution: gradients by 25 rates and 20 starts, which forward mode confirms") {
    // Fast reactions take differences of components of v, the solution of a transposed system, that are
    // nearly equal: rounding v alone costs h times the fastest rate, 4e11, at the start, where nothing
    // damps it any more (docs/design/implicit.md). Hairer's rule begins with 1.15e-4.
    check_modes(eddy::Rodas5P{}, 0, 1e-9);
    check_modes(eddy::Rodas5P{}, 1e-6, 1e-10);
    check_modes(eddy::Rodas5P{}, 1e-8, 1e-12);
    // The first stage of Kvaerno5 is explicit: its slope is h times that rate as large as a change of the start, and cancels
    // only at the end of the step. Along rates nothing does.
    check_modes(eddy::Kvaerno5{}, 0, 1e-12, 0);
    check_modes(eddy::Kvaerno5{}, 1e-8, 1e-12);
}

TEST_CASE("pollution: as a text, over rows, it has the same steps, losses and gradients") {
    constexpr int lanes = 11;
    const Array y0 = repeated(lanes, Pollution::y0);
    Array p = repeated(lanes, Pollution::p0);
    for (int lane = 0; lane < lanes; ++lane) p(lane, 1) *= 1 + 0.2 * lane;
    const eddy::RuntimeField text = eddy::parse_field(eddy::to_text(
        eddy::trace_field(Pollution::state_size, Pollution::parameter_size, Pollution{})));
    const eddy::SolveOptions options{.t1 = 60, .rtol = 1e-5, .atol = 1e-10};

    const auto rows = eddy::value_and_gradient(text, eddy::Rodas5P{}, Logarithms{}, y0, p, options);
    const auto compiled = eddy::value_and_gradient(Pollution{}, eddy::Rodas5P{}, Logarithms{}, y0,
                                                   p, options, eddy::Serial{});

    REQUIRE(rows.report.success());
    double largest = 0, difference = 0;  // of what each rate brings
    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(rows.loss(lane) == Approx(compiled.loss(lane)).epsilon(1e-12));
        CHECK(rows.report.stats(lane).evaluations == compiled.report.stats(lane).evaluations);
        for (int i = 0; i < Pollution::parameter_size; ++i) {
            const double brings = p(lane, i) * compiled.gradient.p(lane, i);
            largest = std::max(largest, std::abs(brings));
            difference =
                std::max(difference, std::abs(p(lane, i) * rows.gradient.p(lane, i) - brings));
        }
    }
    CAPTURE(largest, difference);
    CHECK(difference <= 1e-7 * largest);
}

TEST_CASE("pollution: long iterated steps have the same bits in packs") {
    constexpr int lanes = 11;
    const Array y0 = repeated(lanes, Pollution::y0);
    Array p = repeated(lanes, Pollution::p0);
    for (int lane = 0; lane < lanes; ++lane) p(lane, 1) *= 1 + 0.2 * lane;
    const auto solve = [&](const auto& backend) {
        return eddy::solve(Pollution{}, eddy::Kvaerno5{}, y0, p,
                           {.t1 = 60, .rtol = 1e-5, .atol = 1e-10}, backend);
    };
    const auto alone = solve(eddy::Serial{});
    const auto together = solve(eddy::Cpu{.threads = 1});

    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(alone.result(lane) == eddy::Result::success);
        CHECK(alone.stats(lane).evaluations == together.stats(lane).evaluations);
        CHECK(support::same_row(alone.y(), lane, together.y(), lane));
    }
}
