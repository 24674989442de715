// A lane whose loops run out of turns says so; one that fails by something else says that.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/square_root.hpp"

namespace {

using eddy::Result;
using support::Array;
using support::rows;
using support::SquareRoot;

// Well; out of turns at t = 2; no number in finite time.
const Array parameters = rows({{0.1, 0}, {0.5, 0}, {0.1, 5}});
const Array starts(3, 1, 1.0);
const eddy::SolveOptions options{.t1 = 3, .rtol = 1e-6, .atol = 1e-6};

template <class Field, class Method, class... Extras>
void check_results(Method method, const Extras&... extras) {
    const auto found = eddy::solve(Field{}, method, starts, parameters, options, extras...);
    CHECK(found.result(0) == Result::success);
    CHECK(found.result(1) == Result::loop_limit);
    CHECK(found.failure(1).component == 0);
    CHECK(std::abs(found.failure(1).t - 2) < 1e-2);
    CHECK(found.result(2) != Result::success);
    CHECK(found.result(2) != Result::loop_limit);
}

}  // namespace

TEST_CASE("a lane whose loops run out of turns says so, on the oracle as in packs") {
    using ByWhile = SquareRoot<false, false>;
    check_results<ByWhile>(eddy::Tsit5{});
    check_results<ByWhile>(eddy::Tsit5{}, eddy::Serial{});
    check_results<SquareRoot<true, false>>(eddy::Tsit5{});
    check_results<ByWhile>(eddy::Rodas5P{});
}

TEST_CASE("with the last states of its loops the same lane goes on") {
    const auto found = eddy::solve(SquareRoot<false, true>{}, eddy::Tsit5{}, starts, parameters,
                                   {.t1 = 3, .dt0 = 0.01}, eddy::ConstantController{});
    CHECK(found.result(1) == Result::success);
}

TEST_CASE("steps of constant size say so as well") {
    const auto found = eddy::solve(SquareRoot<false, false>{}, eddy::Tsit5{}, starts, parameters,
                                   {.t1 = 3, .dt0 = 0.01}, eddy::ConstantController{});
    CHECK(found.result(0) == Result::success);
    CHECK(found.result(1) == Result::loop_limit);
}
