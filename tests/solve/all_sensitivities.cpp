// All sensitivities of a call: pushforwards along each direction, to rounding where steps carry all of them and else bit for
// bit; the same bits whatever the machine and the company; and outcomes that are told by trajectory.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gauss_newton.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/solvers/vern7.hpp>
#include <limits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::Forced;
using support::mentions;
using support::message_of;
using support::rows;

const Array starts = rows({{1, 0.5}, {0.3, -1}, {2, 0.1}}),
            p = rows({{1, 2}, {1.5, 0.7}, {0.2, 3}});
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-6, .save_at = {0.5, 2}};

/// The largest difference between all directions and a pushforward along each, parameters before those of y0, relative to
/// the largest derivative of the save point; infinite where something else differs.
template <class Field = Forced, class Method, class Backend, class... Extras>
double distance_from_pushforward(const Method& method, const Backend& backend,
                                 const eddy::SolveOptions& with, const Extras&... extras) {
    const auto all =
        eddy::sensitivities(Field{}, method, starts, p, with, eddy::along_both, backend, extras...);
    bool same = all.num_lanes() == 3 && all.num_directions() == 4 && all.success();
    double distance = 0;
    for (std::ptrdiff_t d = 0; d < 4; ++d) {
        Array y0_tangent(3, 2), p_tangent(3, 2);
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
            (d < 2 ? p_tangent : y0_tangent)(lane, d % 2) = 1;
        const auto one = eddy::pushforward(Field{}, method, starts, p, y0_tangent, p_tangent, with,
                                           backend, extras...);
        for (std::ptrdiff_t k = 0; k < all.num_saves(); ++k) {
            same = same && support::same_array(all.y(k), one.y(k));
            for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
                same = same && all.stats(lane).accepted == one.stats(lane).accepted &&
                       bool(all.unreliable(lane, d)) == bool(one.unreliable(lane));
                const auto of_lane = all.sensitivity(k).of(lane);
                double largest = 0;
                for (std::ptrdiff_t i = 0; i < of_lane.num_lanes; ++i) {
                    for (std::ptrdiff_t of = 0; of < 4; ++of)
                        largest = std::fmax(largest, std::abs(of_lane(i, of)));
                }
                for (std::ptrdiff_t i = 0; i < of_lane.num_lanes; ++i) {
                    const double off = std::abs(of_lane(i, d) - one.tangent(k)(lane, i));
                    if (off > 0) distance = std::fmax(distance, off / largest);
                    same = same && off == off;
                }
            }
        }
    }
    return same ? distance : std::numeric_limits<double>::infinity();
}

/// More than one save point in a step, at its end, and where a lane begins.
eddy::SolveOptions at_many_points() {
    eddy::SolveOptions many = options;
    many.save_at = {0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 1, 2};
    many.step_to = {1};
    return many;
}

struct Driven {
    static constexpr int state_size = 2, parameter_size = 2, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(p[0] * y[1] * u[0], u[0] - p[1] * y[0] * y[1]);
    }
};
struct Passing : Driven {  // steps pass over its knots
    static constexpr bool input_is_smooth = true;
};
struct Massive {  // its steps carry no tangents
    static constexpr int state_size = 2, parameter_size = 2, input_size = 1;
    static constexpr double mass[2][2] = {{1, 0}, {0.5, 2}};
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(p[0] * y[1] + 0.3 * t, u[0] - p[1] * y[0] * y[1]);
    }
};
struct Waves {  // whose elementary functions have other bits in plain numbers than in packs
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(sin(p[0] * y[1]) + t, exp(-p[1] * y[0] * y[0]));
    }
};
struct Weighted {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] * p[1] + t, y[1] / (2.0 + y[0] * y[0]), p[0] * y[1]);
    }
};

/// Do two calls agree in all bits, and in what they flag?
template <class One, class Other>
bool agree(const One& one, const Other& other, std::ptrdiff_t lane, std::ptrdiff_t lane_of_other) {
    bool same = one.num_directions() == other.num_directions();
    for (std::ptrdiff_t k = 0; k < one.num_saves(); ++k) {
        for (std::ptrdiff_t i = 0; i < 2; ++i) {
            same = same && one.y(k)(lane, i) == other.y(k)(lane_of_other, i);
            for (std::ptrdiff_t d = 0; d < one.num_directions(); ++d)
                same = same &&
                       one.sensitivity(k)(lane, i, d) == other.sensitivity(k)(lane_of_other, i, d);
        }
    }
    for (std::ptrdiff_t d = 0; d < one.num_directions(); ++d)
        same = same && bool(one.unreliable(lane, d)) == bool(other.unreliable(lane_of_other, d));
    return same;
}

eddy::SolveOptions backwards() {
    eddy::SolveOptions back = at_many_points();
    back.t0 = 2, back.t1 = 0;
    back.save_at = {2, 1.999, 1, 0.25, 0};
    return back;
}
/// Impulses of every kind, two at once, at save points and between them.
eddy::SolveOptions kicked(bool saved_before) {
    using eddy::Impulse;
    eddy::SolveOptions with = at_many_points();
    with.impulses = {
        .times = {0, 0.002, 1, 1, 2},
        .components = {0, 1, 0, 1, 0},
        .amounts = {0.5, 1.5, 0.25, -0.5, 3},
        .kinds = {Impulse::scale, Impulse::add, Impulse::replace, Impulse::scale, Impulse::scale},
        .saved_before = saved_before};
    return with;
}
eddy::SolveOptions driven() {
    eddy::SolveOptions with = at_many_points();
    with.inputs =
        eddy::piecewise_linear(std::vector<double>{0, 0.5, 2}, std::vector<double>{1, -1, 0.5});
    return with;
}

}  // namespace

TEST_CASE("all sensitivities: carried along explicit steps, each is a pushforward to rounding") {
    eddy::SolveOptions constant = options;
    constant.dt0 = 0.125;
    constant.save_at = {0.3, 0.375, 2};

    CHECK(distance_from_pushforward(eddy::Tsit5{}, eddy::Serial{}, at_many_points()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Tsit5{}, eddy::Serial{}, backwards()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Vern7{}, eddy::Serial{}, at_many_points()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Tsit5{}, eddy::Serial{}, at_many_points(),
                                    eddy::observe(Weighted{})) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Bosh3{}, eddy::Serial{}, constant,
                                    eddy::ConstantController{}) < 1e-12);
}

TEST_CASE("all sensitivities: carried along Rosenbrock steps, each is a pushforward to rounding") {
    CHECK(distance_from_pushforward(eddy::Rodas5P{}, eddy::Serial{}, at_many_points()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Rodas5P{}, eddy::Serial{}, kicked(true)) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Rodas5P{}, eddy::Serial{}, backwards()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::Rodas5P{}, eddy::Serial{}, kicked(false)) < 1e-12);
    CHECK(distance_from_pushforward<Driven>(eddy::Rodas5P{}, eddy::Serial{}, driven()) < 1e-12);
}

TEST_CASE("all sensitivities: carried along ESDIRK steps, each is a pushforward to rounding") {
    CHECK(distance_from_pushforward(eddy::TRBDF2{}, eddy::Serial{}, at_many_points()) < 1e-12);
    CHECK(distance_from_pushforward(eddy::TRBDF2{}, eddy::Serial{}, kicked(false)) < 1e-12);
    CHECK(distance_from_pushforward(eddy::TRBDF2{}, eddy::Serial{}, backwards()) < 1e-12);
    CHECK(distance_from_pushforward<Driven>(eddy::Kvaerno3{}, eddy::Serial{}, driven()) < 1e-12);
}

TEST_CASE("all sensitivities: impulses change what is carried, and inputs are read") {
    for (const bool before : {false, true})
        CHECK(distance_from_pushforward(eddy::Tsit5{}, eddy::Serial{}, kicked(before)) < 1e-12);
    CHECK(distance_from_pushforward<Driven>(eddy::Tsit5{}, eddy::Serial{}, driven()) < 1e-12);
}

TEST_CASE("all sensitivities: a call that cannot carry them has the bits of a pushforward") {
    eddy::SolveOptions both = kicked(false);
    both.inputs = driven().inputs;

    CHECK(distance_from_pushforward<Massive>(eddy::Rodas5P{}, eddy::Serial{}, driven()) == 0);
    CHECK(distance_from_pushforward<Massive>(eddy::Rodas5P{}, eddy::Serial{}, both) == 0);
}

TEMPLATE_TEST_CASE(
    "all sensitivities: the same bits by all threads, in packs, in plain numbers and alone", "",
    eddy::Tsit5, eddy::Rodas5P, eddy::TRBDF2) {
    eddy::SolveOptions with = at_many_points();
    SECTION("without impulses") {}
    SECTION("saved before impulses") { with = kicked(true); }
    SECTION("saved behind impulses") { with = kicked(false); }
    const auto on = [&](const auto& from, const auto& of, const auto& backend) {
        return eddy::sensitivities(Forced{}, TestType{}, from, of, with, eddy::along_both, backend);
    };
    const auto plain = on(starts, p, eddy::Serial{}),
               packs = on(starts, p, eddy::Cpu{.threads = 1}),
               threads = on(starts, p, eddy::Cpu{.threads = 2});
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        const Array from = rows({{starts(lane, 0), starts(lane, 1)}}),
                    of = rows({{p(lane, 0), p(lane, 1)}});
        CHECK(agree(plain, packs, lane, lane));
        CHECK(agree(plain, threads, lane, lane));
        CHECK(
            agree(plain, on(from, of, eddy::Cpu{.threads = 1}), lane, 0));  // directions in places
    }
    const Array turned = rows({{2, 0.1}, {0.3, -1}, {1, 0.5}, {1, 1}, {0, 1}}),
                of_turned = rows({{0.2, 3}, {1.5, 0.7}, {1, 2}, {1, 1}, {2, 2}});
    const auto others = on(turned, of_turned, eddy::Cpu{.threads = 1});
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) CHECK(agree(plain, others, lane, 2 - lane));
}

TEMPLATE_TEST_CASE(
    "all sensitivities: where stages lie in places, each reads the inputs of its own time", "",
    Driven, Passing) {
    std::vector<double> knots, values;
    for (int k = 0; k <= 40; ++k) {
        knots.push_back(0.05 * k);
        values.push_back(1 - 0.03 * k);
    }
    eddy::SolveOptions with = at_many_points();
    with.inputs = eddy::piecewise_linear(knots, values);
    const Array from = rows({{1, 0.5}}), of = rows({{1, 2}});
    const auto on = [&](const auto& backend) {
        return eddy::sensitivities(TestType{}, eddy::Tsit5{}, from, of, with, eddy::along_both,
                                   backend);
    };

    CHECK(agree(on(eddy::Serial{}), on(eddy::Cpu{.threads = 1}), 0, 0));
}

TEST_CASE("all sensitivities: on packs, elementary functions have the same bits in any company") {
    const auto on = [](const Array& from, const Array& of) {
        return eddy::sensitivities(Waves{}, eddy::Tsit5{}, from, of, at_many_points(),
                                   eddy::along_both, eddy::Cpu{.threads = 1});
    };
    const auto together = on(starts, p);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        const Array from = rows({{starts(lane, 0), starts(lane, 1)}}),
                    of = rows({{p(lane, 0), p(lane, 1)}});
        CHECK(agree(together, on(from, of), lane, 0));  // directions in places
    }
}

TEST_CASE("all sensitivities: a view has a Jacobian of each trajectory") {
    const auto of_p =
        eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p, options, eddy::Serial{});
    auto solver = eddy::sensitivity_solver(Forced{}, eddy::Tsit5{}, options, eddy::along_both,
                                           eddy::Serial{});
    const auto first = solver(starts, p);  // a copy
    const auto& both = solver(starts, p);

    CHECK(of_p.num_directions() == 2);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        for (std::ptrdiff_t i = 0; i < 2; ++i) {
            for (std::ptrdiff_t d = 0; d < 4; ++d) {
                const double wanted = both.sensitivity(1)(lane, i, d);
                CHECK(first.sensitivity(1).of(lane)(i, d) == wanted);
                if (d < 2) CHECK(of_p.sensitivity(1)(lane, i, d) == wanted);
            }
        }
    }
}

TEST_CASE(
    "all sensitivities: one row of parameters serves all trajectories, each with its derivatives") {
    const Array row = rows({{1, 2}}), repeated = rows({{1, 2}, {1, 2}, {1, 2}});

    const auto of_row = eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, eddy::shared(row),
                                            options, eddy::Serial{});
    const auto of_all =
        eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, repeated, options, eddy::Serial{});

    for (std::ptrdiff_t d = 0; d < 2; ++d)
        CHECK(support::same_array(of_row.sensitivity(1).along(d), of_all.sensitivity(1).along(d)));
}

TEST_CASE("all sensitivities: each trajectory has times of its own") {
    const std::vector<double> ends{1, 2, 3};
    eddy::SolveOptions own{.t1 = eddy::each(ends)};

    const auto all = eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p, own, eddy::Serial{});

    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        const eddy::SolveOptions alone{.t1 = ends[static_cast<std::size_t>(lane)]};
        const auto one =
            eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p, alone, eddy::Serial{});
        CHECK(all.t(0, lane) == one.t(0));
        CHECK(all.sensitivity()(lane, 1, 1) == one.sensitivity()(lane, 1, 1));
    }
    own.t1 = eddy::each(std::vector<double>{1, 2});
    CHECK(mentions(message_of([&] {
                       static_cast<void>(eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p,
                                                             own, eddy::Serial{}));
                   }),
                   "times of 2 trajectories, but y0 has 3"));
}

TEST_CASE("all sensitivities: outcomes are told by trajectory") {
    eddy::SolveOptions few = options;
    few.max_steps = 6;
    const Array two = rows({{0, 0}, {1e3, 1e3}}), of_both = rows({{0, 0}, {30, 30}});

    const auto all = eddy::sensitivities(Forced{}, eddy::Tsit5{}, two, of_both, few, eddy::along_y0,
                                         eddy::Serial{});

    CHECK_FALSE(all.success());
    CHECK(all.result(0) == eddy::Result::success);
    CHECK(all.result(1) == eddy::Result::max_steps_reached);
    CHECK(std::isnan(all.sensitivity(1)(1, 0, 0)));
    CHECK_THROWS_AS(eddy::require_success(all), eddy::SolveFailed);
    CHECK(mentions(message_of([&] { static_cast<void>(all.result(2)); }),
                   "sensitivities: trajectory"));
}

TEST_CASE("all sensitivities: inputs are named by trajectory") {
    const auto call = [](const Array& from, const Array& parameters,
                         const eddy::SolveOptions& with) {
        static_cast<void>(
            eddy::sensitivities(Forced{}, eddy::Tsit5{}, from, parameters, with, eddy::Serial{}));
    };
    Array broken = starts;
    broken(2, 1) = std::numeric_limits<double>::quiet_NaN();
    eddy::SolveOptions keeps = options, counts = options;
    keeps.save_steps = true;
    counts.tangents_in_error_norm = true;

    CHECK(mentions(message_of([&] { call(broken, p, options); }), "sensitivities: y0(2, 1)"));
    CHECK(mentions(message_of([&] {
                       call(starts, rows({{1, 2}}), options);
                   }),
                   "sensitivities: p is 1 x 2"));
    CHECK(mentions(message_of([&] { call(starts, p, keeps); }), "save_steps"));
    CHECK(mentions(message_of([&] { call(starts, p, counts); }), "tangents_in_error_norm"));
}

namespace {

constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

auto squares_of(const Array& parameters, const std::vector<Array>& data,
                const eddy::SolveOptions& with = options) {
    return eddy::gauss_newton(
        eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, parameters, with, eddy::Serial{}),
        eddy::missing_as_nan(data));
}

}  // namespace

TEST_CASE("least squares: the gradient is that of the loss, the matrix a sum over data") {
    auto tight = options;
    tight.rtol = 1e-11;
    const std::vector<Array> data{rows({{0.2, 0.4}}), rows({{1, -1}})};
    const auto all = squares_of(p, data, tight);

    for (std::ptrdiff_t d = 0; d < 2; ++d) {
        Array more = p, less = p;
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
            more(lane, d) += 1e-5, less(lane, d) -= 1e-5;
        const auto above = squares_of(more, data, tight), below = squares_of(less, data, tight);
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
            CHECK(all.gradient(lane, d) ==
                  Approx((above.loss(lane, 0) - below.loss(lane, 0)) / 2e-5).epsilon(1e-6));
    }
    // One value at a time: the square of its row of the Jacobian.
    const auto states =
        eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p, tight, eddy::Serial{});
    Array sum(3, 4);
    for (std::ptrdiff_t k = 0; k < 2; ++k) {
        for (std::ptrdiff_t i = 0; i < 2; ++i) {
            std::vector<Array> one(2, rows({{not_given, not_given}}));
            one[static_cast<std::size_t>(k)](0, i) = data[static_cast<std::size_t>(k)](0, i);
            const auto of_one = squares_of(p, one, tight);
            for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
                const auto row = states.sensitivity(k).of(lane);
                CHECK(of_one.num_observed[static_cast<std::size_t>(lane)] == 1);
                CHECK(of_one.matrix(lane)(0, 1) == row(i, 0) * row(i, 1));
                CHECK(of_one.matrix(lane)(1, 1) == row(i, 1) * row(i, 1));
                for (std::ptrdiff_t entry = 0; entry < 4; ++entry)
                    sum(lane, entry) += of_one.matrices(lane, entry);
            }
        }
    }
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        CHECK(all.num_observed[static_cast<std::size_t>(lane)] == 4);
        CHECK(all.matrix(lane)(1, 0) == all.matrix(lane)(0, 1));
        CHECK(all.matrix(lane)(0, 1) == Approx(sum(lane, 1)).epsilon(1e-14));
    }
    const auto total = all.sum();
    CHECK(total.num_observed[0] == 12);
    CHECK(total.matrix()(1, 1) == all.matrix(0)(1, 1) + all.matrix(1)(1, 1) + all.matrix(2)(1, 1));
    CHECK(total.gradient(0, 1) == all.gradient(0, 1) + all.gradient(1, 1) + all.gradient(2, 1));
}

TEST_CASE("least squares: data beyond a trajectory's own points are not read, others are checked") {
    Array times(3, 2, 1.);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) times(lane, 1) = lane == 1 ? not_given : 2;
    eddy::SolveOptions own = options;
    own.save_at = eddy::each(times);
    const auto solution =
        eddy::sensitivities(Forced{}, eddy::Tsit5{}, starts, p, own, eddy::Serial{});
    std::vector<Array> data(2, Array(3, 2, 0.5));
    data[1](1, 0) = data[1](1, 1) = not_given;

    const auto squares = eddy::gauss_newton(solution, data);

    CHECK(squares.num_observed == std::vector<std::int64_t>{4, 2, 4});
    CHECK(std::isfinite(squares.sum().loss(0, 0)));
    data[1](2, 1) = not_given;
    CHECK(mentions(message_of([&] { static_cast<void>(eddy::gauss_newton(solution, data)); }),
                   "gauss_newton: data[1](2, 1) = nan"));
    data.pop_back();
    CHECK(mentions(message_of([&] { static_cast<void>(eddy::gauss_newton(solution, data)); }),
                   "gauss_newton: data for 1 save points, but there are 2"));
    CHECK(mentions(message_of([&] { static_cast<void>(squares.matrix(3)); }),
                   "gauss_newton: trajectory"));
}
