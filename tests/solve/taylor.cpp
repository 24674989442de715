// Taylor's method through the same loops as every other: bits, save points, gradients, times.

#include <eddy/solvers/taylor.hpp>

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/dopri8.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Cpu, eddy::Serial, eddy::Taylor;
using support::Array;
using support::HalfSquares;

/// Of + − × ÷ alone, whose bits do not depend on the backend; with time.
struct Fraction {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] / (1 + y[0] * y[0]), t - p[1] * y[0] * y[1]);
    }
};

Array column(int lanes, double from, double by) {
    Array array(lanes, 2);
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 2; ++i) array(lane, i) = from + by * lane + 0.125 * i;
    }
    return array;
}

/// A few lanes, saved three times: within steps, and at the end.
struct Case {
    int lanes = 21;
    Array y0 = column(lanes, 0.3, 0.04), p = column(lanes, 0.8, 0.05);
    std::vector<Array> data = std::vector<Array>(3, Array(1, 2, 0.1));
    eddy::SolveOptions options{
        .t0 = 0.1, .t1 = 2, .rtol = 1e-7, .atol = 1e-9, .save_at = {0.4, 1.25, 2}, .dt0 = 1.5};

    template <class Method, class Backend>
    auto gradient(const Method& method, const Backend& backend) const {
        return eddy::value_and_gradient(Fraction{}, method, HalfSquares{}, data, y0, p, options,
                                        backend, eddy::differentiate_times);
    }
};

}  // namespace

TEST_CASE("taylor: packs, replays and few checkpoints give the bits of the plain loop") {
    Case of;
    const auto plain = of.gradient(Taylor<7>{}, Serial{});
    REQUIRE(plain.report.total_stats().rejected > 0);

    for (const int checkpoints : {0, 2}) {
        of.options.checkpoints = checkpoints;
        const auto packed = of.gradient(Taylor<7>{}, Cpu{.threads = 1});
        CAPTURE(checkpoints);
        for (int lane = 0; lane < of.lanes; ++lane) {
            CHECK(packed.loss(lane) == plain.loss(lane));
            CHECK(packed.report.stats(lane).accepted == plain.report.stats(lane).accepted);
            CHECK(support::same_row(packed.gradient.y0, lane, plain.gradient.y0, lane));
            CHECK(support::same_row(packed.gradient.p, lane, plain.gradient.p, lane));
            CHECK(packed.gradient.t0(lane) == plain.gradient.t0(lane));
            CHECK(packed.gradient.t1(lane) == plain.gradient.t1(lane));
        }
    }
}

TEST_CASE("taylor: losses within steps, their gradients and those of times agree with Dopri8's") {
    Case of;
    of.options.rtol = 1e-12, of.options.atol = 1e-12;
    const auto found = of.gradient(Taylor<7>{}, Serial{});
    of.options.rtol = 1e-13, of.options.atol = 1e-13;
    const auto wanted = of.gradient(eddy::Dopri8{}, Serial{});

    // Both are within 1e-11 of the solution; derivatives lose a digit or two.
    const auto near = [](double x) { return Approx(x).epsilon(1e-9).margin(1e-10); };
    for (int lane = 0; lane < of.lanes; lane += 5) {
        CHECK(found.loss(lane) == near(wanted.loss(lane)));
        for (int i = 0; i < 2; ++i) {
            CHECK(found.gradient.y0(lane, i) == near(wanted.gradient.y0(lane, i)));
            CHECK(found.gradient.p(lane, i) == near(wanted.gradient.p(lane, i)));
        }
        for (int k = 0; k < 2; ++k)
            CHECK(found.gradient.save_at(lane, k) == near(wanted.gradient.save_at(lane, k)));
        CHECK(found.gradient.t0(lane) == near(wanted.gradient.t0(lane)));
    }
}

TEST_CASE("taylor: steps of constant size, backward in time as well") {
    const Array y0 = column(1, 0.3, 0), p = column(1, 0.8, 0);
    const auto run = [&](const Array& from, double t0, double t1) {
        return eddy::solve(Fraction{}, Taylor<7>{}, from, p,
                           {.t0 = t0, .t1 = t1, .dt0 = (t1 - t0) / 50}, eddy::ConstantController{},
                           Serial{});
    };

    const auto there = run(y0, 0, 1);
    Array end(1, 2);
    for (int i = 0; i < 2; ++i) end(0, i) = there.y()(0, i);
    const auto back = run(end, 1, 0);

    CHECK(there.stats(0).accepted == 50);
    CHECK(there.stats(0).evaluations == 50);
    for (int i = 0; i < 2; ++i) CHECK(back.y()(0, i) == Approx(y0(0, i)).epsilon(1e-12));
}
