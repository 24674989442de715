// Methods that solve systems of equations on a device, with a Newton iteration and without: gradients have
// the bits of Serial, lanes that fail among them.
#include <eddy/backends/cuda.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/rosenbrock23.hpp>

#include "solve/device_cases.hpp"
#include "support/stiff_equations.hpp"

namespace {

using support::Array;

const auto as_it_is = oracle::as_it_is<eddy::Cuda>();
const auto two_ways = oracle::two_ways<eddy::Cuda>(std::size_t{64} << 20, 400'000);

struct VanDerPol : support::VanDerPol {
    static constexpr double y0[] = {2, 0}, p0[] = {10};
};

/// The start and the rates of an equation, the first rate over six decades.
template <class Field>
struct Spread {
    Array y0, p;

    explicit Spread(std::ptrdiff_t count)
        : y0(count, Field::state_size), p(count, Field::parameter_size) {
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            const double decades = 6. * double(lane) / double(count) - 3;
            for (int i = 0; i < Field::state_size; ++i) y0(lane, i) = Field::y0[i];
            for (int i = 0; i < Field::parameter_size; ++i)
                p(lane, i) = Field::p0[i] * (i == 0 ? std::pow(10., decades) : 1.);
        }
    }
};

template <class Field, class Method>
void check_solves(const Method& method, const eddy::SolveOptions& options, std::ptrdiff_t count) {
    const Spread<Field> lanes(count);
    const auto solve = [&](const auto& backend) {
        return eddy::solve(Field{}, method, lanes.y0, lanes.p, options, backend);
    };

    const auto expected = solve(eddy::Serial{});
    const auto found = solve(eddy::Cuda{});

    oracle::check_same(expected, found, false);
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        const auto a = expected.stats(lane), b = found.stats(lane);
        different += a.jacobians != b.jacobians || a.factorizations != b.factorizations;
    }
    CHECK(different == 0);
    CHECK(found.total_stats().factorizations > 0);
}

}  // namespace

TEST_CASE("device stiff: gradients of Rodas5P, with few states kept and with all") {
    const auto endings =
        oracle::compare_gradients<eddy::Rodas5P, double>(oracle::device_cases, two_ways, 101);
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.count(eddy::Result::max_steps_reached) == 1);
    CHECK(endings.size() > 2);
}

TEST_CASE("device stiff: gradients of Kvaerno3, whose stages are iterated") {
    const auto endings =
        oracle::compare_gradients<eddy::Kvaerno3, double>(oracle::device_cases, as_it_is, 101);
    CHECK(endings.count(eddy::Result::success) == 1);
    CHECK(endings.size() > 1);
}

TEST_CASE("device stiff: three reactions over eleven decades of time") {
    check_solves<support::Robertson>(
        eddy::Rodas5P{}, {.t1 = 1e11, .rtol = 1e-6, .atol = 1e-12, .save_at = {0.3, 11, 1e5, 1e11}},
        4099);
}

TEST_CASE("device stiff: eight species by Rodas4, very loose tolerances by Rosenbrock23") {
    check_solves<support::Hires>(
        eddy::Rodas4{}, {.t1 = 10, .rtol = 1e-4, .atol = 1e-9, .save_at = {0.1, 3, 10}}, 517);
    check_solves<VanDerPol>(eddy::Rosenbrock23{},
                            {.t1 = 2, .rtol = 1e-2, .atol = 1e-4, .save_at = {0.7, 2}}, 517);
}
