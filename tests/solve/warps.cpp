// The group loops on a warp: the text that packs of the CPU run, on 32 members that meet at every
// decision. Each lane has the bits of Serial, whatever the number of lanes, checkpoints and logged
// rounds, and whoever goes first.

#include "solve/warp_backend.hpp"

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::same_bits;
using support::WarpOptions;

/// Infinite at y = 1.
struct Explosive {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0]);
    }
};

struct Lanes {
    Array y0, p;
};
Lanes lanes_of(std::ptrdiff_t count, int components) {
    support::Random random(5);
    Lanes lanes{Array(count, components), Array(count, components)};
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        const double speed = random.uniform(0, 1) < 0.3 ? 9 : 1;
        for (int i = 0; i < components; ++i) {
            lanes.y0(lane, i) = random.uniform(0.1, 1);
            lanes.p(lane, i) = speed * random.uniform(0.8, 1.2);
        }
    }
    return lanes;
}

template <class Spec, class Solved>
void require_same(const eddy::Outcomes& outcomes, const Solved& serial) {
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        CAPTURE(lane);
        REQUIRE(outcomes.result(lane) == serial.result(lane));
        REQUIRE(outcomes.stats(lane).accepted == serial.stats(lane).accepted);
        REQUIRE(outcomes.stats(lane).rejected == serial.stats(lane).rejected);
        REQUIRE(outcomes.stats(lane).evaluations == serial.stats(lane).evaluations);
        REQUIRE(same_bits(outcomes.failure(lane).t, serial.failure(lane).t));
        REQUIRE(outcomes.failure(lane).component == serial.failure(lane).component);
    }
}

template <class A, class B>
void require_same_arrays(const A& a, const B& b) {
    REQUIRE(a.rows() == b.rows());
    for (std::ptrdiff_t row = 0; row < a.rows(); ++row) {
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
            CAPTURE(row, i, a(row, i), b(row, i));
            REQUIRE(same_bits(a(row, i), b(row, i)));
        }
    }
}

template <class Field, class Method, class Controller, bool shared = false>
using Spec = eddy::detail::SolveSpec<Field, Method, Controller, double, shared>;

template <class Field, class Method, class Controller = eddy::PIDController>
void check_gradient(const Lanes& lanes, const eddy::SolveOptions& options, const WarpOptions& warps,
                    const Controller& controller = {}) {
    const std::size_t saves = options.save_at.values.empty() ? 1 : options.save_at.values.size();
    const std::vector<Array> data(saves, Array(1, Field::state_size, 0.25));

    const auto serial = eddy::value_and_gradient(Field{}, Method{}, HalfSquares{}, data, lanes.y0,
                                                 lanes.p, options, controller, eddy::Serial{});
    const auto on_warps = support::gradient_on_warps<Spec<Field, Method, Controller>, HalfSquares>(
        data, lanes.y0, lanes.p, options, controller, warps);

    require_same<Field>(on_warps.outcomes, serial.report);
    for (std::ptrdiff_t lane = 0; lane < lanes.y0.rows(); ++lane) {
        if (!eddy::is_failure(serial.report.result(lane)))
            REQUIRE(same_bits(on_warps.loss[static_cast<std::size_t>(lane)], serial.loss(lane)));
    }
    require_same_arrays(on_warps.y0, serial.gradient.y0);
    require_same_arrays(on_warps.p, serial.gradient.p);
}

}  // namespace

TEST_CASE("warps: a solve has the bits of Serial, whatever the number of lanes") {
    const eddy::SolveOptions options{.t1 = 6, .save_at = {0, 1.5, 4, 6}, .jump_times = {2.5}};
    for (const std::ptrdiff_t count : {1, 31, 32, 33, 257}) {
        const Lanes lanes = lanes_of(count, 2);

        const auto serial =
            eddy::solve(Forced{}, eddy::Tsit5{}, lanes.y0, lanes.p, options, eddy::Serial{});
        const auto on_warps =
            support::solve_on_warps<Spec<Forced, eddy::Tsit5, eddy::PIDController>>(
                lanes.y0, lanes.p, options, {}, {.lanes_per_warp = 97});

        require_same<Forced>(on_warps, serial);
        for (std::ptrdiff_t k = 0; k < 4; ++k) require_same_arrays(on_warps.y(k), serial.y(k));
    }
}

TEST_CASE("warps: a gradient has the bits of Serial, whatever is kept and whoever goes first") {
    const Lanes lanes = lanes_of(101, 2);
    const eddy::SolveOptions options{.t1 = 5, .save_at = {0, 2, 3.3, 5}, .jump_times = {1.7}};
    for (const std::int64_t checkpoints : {1, 2, 3, 8, 200}) {
        for (const std::int64_t logged : {0, 13, 4096}) {
            CAPTURE(checkpoints, logged);
            check_gradient<Forced, eddy::Tsit5>(
                lanes, options,
                {.lanes_per_warp = 57,
                 .seed = static_cast<std::uint64_t>(checkpoints + logged),
                 .checkpoints = checkpoints,
                 .logged_rounds = logged});
        }
    }
}

TEST_CASE("warps: lanes that follow each other in a place keep their bits") {
    const Lanes lanes = lanes_of(150, 2);
    const eddy::SolveOptions options{.t1 = 3, .save_at = {1, 3}};
    for (const std::int64_t refill_until : {40, 90, 1000})
        check_gradient<Forced, eddy::Dopri5>(
            lanes, options,
            {.lanes_per_warp = 150, .checkpoints = 20, .refill_until = refill_until});
}

TEST_CASE("warps: steps of constant size, and a method that keeps no last stage") {
    const Lanes lanes = lanes_of(40, 2);
    check_gradient<Forced, eddy::Tsit5>(lanes, {.t1 = 2, .dt0 = 0.01}, {.checkpoints = 9},
                                        eddy::ConstantController{});
    check_gradient<Forced, eddy::Bosh3>(lanes, {.t1 = 2, .rtol = 1e-4}, {.checkpoints = 5});
}

TEST_CASE("warps: a lane that fails harms no other") {
    Lanes lanes = lanes_of(70, 1);
    for (std::ptrdiff_t lane = 0; lane < 70; ++lane) lanes.y0(lane, 0) = lane % 3 == 0 ? 2.0 : 1e-3;
    check_gradient<Explosive, eddy::Tsit5>(lanes, {.t1 = 1, .max_steps = 400},
                                           {.lanes_per_warp = 70, .refill_until = 300});
}
