// A lane whose loops run out of turns says so; one that fails by something else says that.

#include <eddy/ad/root.hpp>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/loops.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using support::Array;
using support::rows;

/// y' = x + p₁ y² with x² = 1 − p₀ t, which has no solution from t = 1/p₀ on.
template <bool by_root, bool takes_last>
struct Relation {
    static constexpr int state_size = 1, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto square = 1 - p[0] * t;
        const auto residual = [&](const auto& x) { return x * x - square; };
        if constexpr (by_root) {
            const auto x = eddy::root(1 + 0 * t, residual, {.max_steps = 20});
            return eddy::vec(x + p[1] * y[0] * y[0]);
        } else {
            const auto is_far = [&](const auto& x) { return abs(residual(x)) > 1e-12; };
            const auto step = [&](const auto& x) { return x - residual(x) / (2 * x); };
            if constexpr (takes_last)
                return eddy::vec(
                    eddy::bounded_while<20>(1 + 0 * square, is_far, step, eddy::take_last) +
                    p[1] * y[0] * y[0]);
            else
                return eddy::vec(eddy::bounded_while<20>(1 + 0 * square, is_far, step) +
                                 p[1] * y[0] * y[0]);
        }
    }
};

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
    using ByWhile = Relation<false, false>;
    check_results<ByWhile>(eddy::Tsit5{});
    check_results<ByWhile>(eddy::Tsit5{}, eddy::Serial{});
    check_results<Relation<true, false>>(eddy::Tsit5{});
    check_results<ByWhile>(eddy::Rodas5P{});
}

TEST_CASE("with the last states of its loops the same lane goes on") {
    const auto found = eddy::solve(Relation<false, true>{}, eddy::Tsit5{}, starts, parameters,
                                   {.t1 = 3, .dt0 = 0.01}, eddy::ConstantController{});
    CHECK(found.result(1) == Result::success);
}

TEST_CASE("steps of constant size say so as well") {
    const auto found = eddy::solve(Relation<false, false>{}, eddy::Tsit5{}, starts, parameters,
                                   {.t1 = 3, .dt0 = 0.01}, eddy::ConstantController{});
    CHECK(found.result(0) == Result::success);
    CHECK(found.result(1) == Result::loop_limit);
}
