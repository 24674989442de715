// Equations on rows: the steps and bits of the oracle, whatever the widths of tiles, refills and threads.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/solve.hpp>
#include <memory>
#include <vector>
#include "../../src/steppers/rows/explicit_step.hpp"
#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/impulses.hpp"
#include "support/own_times.hpp"
#include "support/same_bits.hpp"

namespace {

template <class Real = double>
eddy::EnsembleArray<Real> starts(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<Real> y0(lanes, 3);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = static_cast<Real>(1 + 0.01 * static_cast<double>(lane));
        y0(lane, 1) = static_cast<Real>(0.5 - 0.02 * static_cast<double>(lane % 7));
        y0(lane, 2) = static_cast<Real>(20 + lane % 5);
    }
    return y0;
}
template <class Real = double>
eddy::EnsembleArray<Real> parameters(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<Real> p(lanes, 3);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        p(lane, 0) = 10;
        p(lane, 1) = static_cast<Real>(20 + lane % 9);
        p(lane, 2) = static_cast<Real>(8. / 3);
    }
    return p;
}

/// The steps and bits of the oracle.
template <class Real>
void check_same(const eddy::Solution<Real>& rows, const eddy::Solution<Real>& oracle) {
    REQUIRE(rows.num_lanes() == oracle.num_lanes());
    REQUIRE(rows.num_saves() == oracle.num_saves());
    bool same = true, same_steps = true;
    for (std::ptrdiff_t lane = 0; lane < rows.num_lanes(); ++lane) {
        const eddy::LaneStats a = rows.stats(lane), b = oracle.stats(lane);
        same_steps = same_steps && a.accepted == b.accepted && a.rejected == b.rejected &&
                     a.evaluations == b.evaluations && rows.result(lane) == oracle.result(lane);
        for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k) {
            for (std::ptrdiff_t c = 0; c < rows.y(k).num_components; ++c) {
                const Real x = rows.y(k)(lane, c), y = oracle.y(k)(lane, c);
                same = same && (support::same_bits(x, y) || (std::isnan(x) && std::isnan(y)));
            }
        }
    }
    CHECK(same);
    CHECK(same_steps);
}
/// Components of their own, of more than a pack, and a rest.
struct Decays {
    static constexpr int state_size = 54, parameter_size = 1;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return (t - p[0] * y) * y;
    }
};

/// A component that is zero as a literal, and one that is a product with it.
struct WithContext {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(const auto&, const auto& y, const auto& p) const {
        return eddy::vec(y[0] * 0., -p[0] * y[1] * y[2], 0. * p[1]);
    }
};
struct AtRest {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(const auto&, const auto& y, const auto&) const { return y * 0.; }
};

eddy::RuntimeField lorenz() { return eddy::trace_field(3, 3, support::Lorenz{}); }

template <class Method, class Real = double, class... Extras>
void check_method(const eddy::SolveOptions& options, std::ptrdiff_t lanes,
                  const Extras&... extras) {
    const auto y0 = starts<Real>(lanes), p = parameters<Real>(lanes);

    const eddy::RuntimeField field = lorenz();
    const auto oracle =
        eddy::solve(support::Lorenz{}, Method{}, y0, p, options, extras..., eddy::Serial{});

    // Attempts of one trajectory are one program from the second call on, those of more at once.
    for (int call = 0; call < 2; ++call)
        check_same<Real>(eddy::solve(field, Method{}, y0, p, options, extras...), oracle);
}

template <class Method, class Real = double>
void check_many(std::ptrdiff_t lanes, const eddy::SolveOptions& options, bool shares = false) {
    const std::ptrdiff_t num_rows = shares ? 1 : lanes;
    eddy::EnsembleArray<Real> y0(lanes, 54), p(num_rows, 1);
    for (std::ptrdiff_t lane = 0; lane < num_rows; ++lane)
        p(lane, 0) = static_cast<Real>(0.7 + 0.3 * static_cast<double>(lane % 9));
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int c = 0; c < 54; ++c)
            y0(lane, c) = static_cast<Real>(1 + 0.1 * static_cast<double>((5 * lane + c) % 7));
    }
    const eddy::RuntimeField field = eddy::trace_field(54, 1, Decays{});
    const auto check = [&](const auto& of_p) {
        check_same<Real>(eddy::solve(field, Method{}, y0, of_p, options),
                         eddy::solve(Decays{}, Method{}, y0, of_p, options, eddy::Serial{}));
    };
    shares ? check(eddy::shared(p)) : check(p);
}

}  // namespace

TEST_CASE("rows: adaptive steps have the bits of the oracle, with and without refill") {
    check_method<eddy::Tsit5>({.t1 = 2}, 1);
    check_method<eddy::Tsit5>({.t1 = 2}, 13);
    check_method<eddy::Tsit5>({.t1 = 2, .save_at = {0, 0.3, 0.7, 2}}, 200);
    check_method<eddy::Tsit5>({.t0 = 1, .t1 = 0.6, .save_at = {0.9, 0.8, 0.7}}, 70);
}
TEST_CASE(
    "rows: attempts of short equations are one program, of one trajectory from the second on") {
    const auto step = [](const eddy::RuntimeField& field, const auto& method, int width) {
        const auto tile = field.maker()->on_tile(width);
        return eddy::detail::step_on(*tile, method, width > 1) != nullptr;
    };
    const bool can = eddy::detail::has_machine_code();
    constexpr auto &tsit5 = eddy::detail::method_on_rows<eddy::Tsit5, true>,
                   &vern7 = eddy::detail::method_on_rows<eddy::Vern7, true>;
    // Nobody has solved the first one before: what was made of it would be found again.
    const eddy::RuntimeField field = eddy::trace_field(
                                 2, 1,
                                 [](auto, const auto&y, const auto&p) { return -0.37 * p[0] * y; }),
                             second = lorenz();

    CHECK(!step(field, tsit5, 1));
    CHECK(step(field, tsit5, 1) == can);
    CHECK(step(second, tsit5, 64) == can);
    CHECK(step(second, vern7, 64) == can);
    CHECK(!step(eddy::trace_field(54, 1, Decays{}), tsit5, 64));
}
TEST_CASE("rows: times of each trajectory's own have them, too") {
    check_method<eddy::Tsit5>(support::with_own_times({}, 200, 2), 200);
    check_method<eddy::Tsit5>(support::with_own_times({.jump_times = {-0.4}}, 70, -1), 70);
    check_method<eddy::RK4>(support::with_own_times({.dt0 = 0.01}, 70, 1), 70);
}
TEST_CASE("rows: behind impulses they have them, wherever these are, and in refilled places") {
    for (const bool saved_before : {false, true}) {
        const auto with = [&](const eddy::SolveOptions& options) {
            return support::with_impulses(options, 0, 1, saved_before);
        };
        check_method<eddy::Tsit5>(with({.t1 = 1, .save_at = {0, 0.25, 0.3, 0.5, 1}}), 1);
        check_method<eddy::Tsit5>(with({.t1 = 1, .save_at = {0, 0.25, 0.3, 0.5, 1}}), 200);
        check_method<eddy::Tsit5, float>(with({.t1 = 1}), 70);
        check_method<eddy::RK4>(with({.t1 = 1, .jump_times = {0.5}, .dt0 = 0.01}), 70);
        check_method<eddy::Tsit5>(support::with_impulses({.t0 = 1, .t1 = 0}, 1, 0, saved_before),
                                  13);
        check_method<eddy::Tsit5>(
            support::with_own_impulses({.t1 = 1, .save_at = {0.5, 0.75}}, 200, saved_before), 200);
    }
}
TEST_CASE("rows: many components have the bits of the oracle, in few lanes and in wide tiles") {
    check_many<eddy::Tsit5>(2, {.t1 = 3, .save_at = {0.4, 3}});
    std::vector<double> each;
    for (int c = 0; c < 54; ++c) each.push_back(1e-9 * (1 + c % 11));
    check_many<eddy::Tsit5>(2, {.t1 = 3, .atol = each});
    check_many<eddy::Euler>(2, {.t1 = 1, .dt0 = 0.1});
    check_many<eddy::Tsit5>(70, {.t1 = 3, .save_at = {0.4, 3}});
    check_many<eddy::Vern7>(70, {.t1 = 3, .save_at = {0.4, 3}});
    check_many<eddy::Tsit5>(70, support::with_own_times({}, 70, 3));
}
TEST_CASE("rows: long attempts of solves are one program once many were made, with the same bits") {
    constexpr auto &tsit5 = eddy::detail::method_on_rows<eddy::Tsit5, true>,
                   &vern7 = eddy::detail::method_on_rows<eddy::Vern7, true>;
    const eddy::RuntimeField field = eddy::trace_field(54, 1, Decays{});
    const bool can = eddy::detail::has_machine_code();
    const auto pass = [&](auto tile, const auto& method) {
        auto* const attempts = eddy::detail::attempts_before_step(*tile, method);
        const auto* const graph = field.maker()->graph();
        REQUIRE((attempts != nullptr) == eddy::detail::gains_by_long_step(graph, method));
        if (!attempts) return;
        *attempts = 0;
        CHECK(eddy::detail::long_step_on(*tile, method, *attempts) == nullptr);
        *attempts = 1 << 20;
        CHECK(eddy::detail::long_step_on(*tile, method, *attempts) != nullptr);
    };
    CHECK(eddy::detail::attempts_before_step(*field.maker()->on_tile(1), tsit5) == nullptr);
    CHECK(eddy::detail::attempts_before_step(*lorenz().maker()->on_tile(8), tsit5) == nullptr);
    CHECK(eddy::detail::gains_by_long_step(field.maker()->graph(), tsit5) == can);
    CHECK(!eddy::detail::gains_by_long_step(nullptr, tsit5));

    pass(field.maker()->on_shared_tile(8), tsit5);
    pass(field.maker()->on_float_tile(16), tsit5);
    pass(field.maker()->on_tile(8), vern7);
    pass(field.maker()->on_tile(8), tsit5);

    check_many<eddy::Tsit5>(70, {.t1 = 3});
    check_many<eddy::Tsit5>(70, {.t1 = 3, .save_at = {1.3}});  // within a step
    check_many<eddy::Tsit5>(70, {.t1 = 3, .save_at = {0.4, 3}});
    check_many<eddy::Vern7>(70, {.t1 = 3, .save_at = {1.3}});
    check_many<eddy::Tsit5>(70, {.t1 = 3, .dt_min = 0.3});
    check_many<eddy::Tsit5>(70, support::with_own_times({}, 70, 3));
    check_many<eddy::RK4>(70, {.t1 = 1, .dt0 = 0.1});
    check_many<eddy::Tsit5, float>(70, {.t1 = 3, .rtol = 1e-5});
    check_many<eddy::Tsit5>(70, {.t1 = 3, .save_at = {1.3}}, true);
    check_many<eddy::Tsit5, float>(70, {.t1 = 3, .rtol = 1e-5}, true);
    // Others begin while these are asked for one by one.
    if (can)
        *eddy::detail::attempts_before_step(*field.maker()->on_tile(8), tsit5) = (1 << 15) - 300;
    check_many<eddy::Tsit5>(70, {.t1 = 3});
}
TEST_CASE(
    "rows: components that do not change count in no norm, as they do in none of the oracle's") {
    const auto y0 = starts(9), p = parameters(9);
    const eddy::SolveOptions options{.t1 = 2};
    const auto check = [&](const auto& equation) {
        check_same<double>(eddy::solve(equation, eddy::Tsit5{}, y0, p, options, eddy::Rows{}),
                           eddy::solve(equation, eddy::Tsit5{}, y0, p, options, eddy::Serial{}));
    };

    check(WithContext{});
    check(AtRest{});
}
TEST_CASE("rows: other methods, controllers and tstops have them, too") {
    const eddy::SolveOptions options{.t1 = 1, .save_at = {0.1, 0.55, 1}, .step_to = {0.4}};
    check_method<eddy::Vern7>(options, 70);
    check_method<eddy::Bosh3>(options, 70, eddy::PredictiveController{});
    check_method<eddy::RK4>({.t1 = 1, .save_at = {0.105, 1}, .jump_times = {0.333}, .dt0 = 0.01},
                            70);
}
TEST_CASE("rows: lanes end at their limits as the oracle's do") {
    check_method<eddy::Tsit5>({.t1 = 2, .max_steps = 20}, 70);
    check_method<eddy::Tsit5>({.t1 = 2, .dt_min = 0.03}, 70);
    check_method<eddy::Tsit5>({.t1 = 0}, 3);
    check_method<eddy::Euler>({.t1 = 50, .dt0 = 0.5}, 3);
}
TEST_CASE("rows: in single precision they have the bits of the oracle, too") {
    check_method<eddy::Tsit5, float>({.t1 = 2}, 1);
    check_method<eddy::Tsit5, float>({.t1 = 2, .save_at = {0, 0.3, 0.7, 2}}, 200);
    check_method<eddy::Tsit5, float>({.t0 = 1, .t1 = 0.6, .save_at = {0.9, 0.7}}, 13);
    check_method<eddy::Tsit5, float>(support::with_own_times({.jump_times = {-0.4}}, 70, -1), 70);
    check_method<eddy::Tsit5, float>({.t1 = 2, .max_steps = 5}, 70);
    check_method<eddy::Tsit5, float>({.t1 = 2, .rtol = 1e-5, .dt_min = 0.03}, 70);
    check_method<eddy::RK4, float>({.t1 = 1, .save_at = {0.105, 1}, .dt0 = 0.01}, 70);
    check_many<eddy::Vern7, float>(2, {.t1 = 3, .rtol = 1e-5, .save_at = {0.4, 3}});
    check_many<eddy::Vern7, float>(70, {.t1 = 3, .rtol = 1e-5, .save_at = {0.4, 3}});
}
TEST_CASE("rows: accepted steps are saved as the oracle's are") {
    const auto y0 = starts(70), p = parameters(70);
    const eddy::SolveOptions options{.t1 = 1, .save_steps = true};

    const auto rows = eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, options);
    const auto oracle =
        eddy::solve(support::Lorenz{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});

    REQUIRE(rows.num_steps(69) == oracle.num_steps(69));
    for (std::ptrdiff_t k = 0; k < rows.num_steps(69); ++k) {
        CHECK(rows.step_t(69, k) == oracle.step_t(69, k));
        CHECK(rows.step_y(69, k, 1) == oracle.step_y(69, k, 1));
    }
}
TEST_CASE("rows: shared parameters and threads change no bit") {
    const auto y0 = starts(500);
    eddy::EnsembleArray<double> p(1, 3);
    p(0, 0) = 10, p(0, 1) = 28, p(0, 2) = 8. / 3;
    const eddy::SolveOptions options{.t1 = 1};

    const auto one = eddy::solve(lorenz(), eddy::Tsit5{}, y0, eddy::shared(p), options,
                                 eddy::Rows{.threads = 1});
    const auto several = eddy::solve(lorenz(), eddy::Tsit5{}, y0, eddy::shared(p), options,
                                     eddy::Rows{.threads = 3});

    bool same = true;
    for (std::ptrdiff_t lane = 0; lane < 500; ++lane)
        same = same && support::same_bits(one.y()(lane, 0), several.y()(lane, 0));
    CHECK(same);
    CHECK(one.success());
}
namespace {

/// A product of states and parameters, time, and what is infinite where a state is zero.
struct Shown {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] * p[1], t, 1 / y[1]);
    }
};
/// An equation by hand, in double alone.
class DoublesAlone : public eddy::FieldMaker {
  public:
    DoublesAlone() : FieldMaker(eddy::FieldSizes{.states = 3, .parameters = 3}) {}
    std::unique_ptr<eddy::FieldOnTile> on_tile(int width) const override {
        return lorenz().maker()->on_tile(width);
    }
};
struct ByHand {
    [[nodiscard]] std::shared_ptr<const eddy::FieldMaker> maker() const {
        return std::make_shared<const DoublesAlone>();
    }
};

}  // namespace

TEST_CASE("rows: what a function says of states is saved in their place") {
    auto y0 = starts(70);
    y0(3, 1) = 0;  // not a number that could be shown
    const auto p = parameters(70);
    const eddy::SolveOptions options{.t1 = 1, .save_at = {0, 0.3, 1}};

    const auto states = eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, options);
    const auto shown = eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, options, eddy::observe(Shown{}));

    const auto in_single =
        eddy::solve(lorenz(), eddy::Tsit5{}, starts<float>(70), parameters<float>(70), options,
                    eddy::observe(Shown{}), eddy::Rows{.threads = 2});

    CHECK(in_single.success());
    CHECK(in_single.y(1)(9, 1) == 0.3f);
    REQUIRE(shown.y(0).num_components == 3);
    bool same = true;
    for (std::ptrdiff_t lane = 0; lane < 70; ++lane) {
        for (std::ptrdiff_t k = 0; k < 3 && lane != 3; ++k) {
            const double product = states.y(k)(lane, 0) * p(lane, 1);
            same = same && support::same_bits(shown.y(k)(lane, 0), product) &&
                   shown.y(k)(lane, 1) == options.save_at.values[static_cast<std::size_t>(k)];
        }
        same = same && (lane == 3 || shown.stats(lane).accepted == states.stats(lane).accepted);
    }
    CHECK(same);
    CHECK(shown.result(3) == eddy::Result::observed_not_finite);
    CHECK(shown.failure(3).save_point == 0);
    CHECK(std::isnan(shown.y(0)(3, 0)));
    CHECK_THROWS_AS(eddy::pullback(shown, std::vector(3, y0)), eddy::InvalidArgument);
}
TEST_CASE("rows: wrong arguments are told in one sentence") {
    const auto y0 = starts(4);
    const auto p = parameters(3);

    CHECK_THROWS_WITH(eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, {.t1 = 1}),
                      "solve: p is 3 x 3 (trajectory, component); give 4 x 3");
    CHECK_THROWS_WITH(
        eddy::solve(lorenz(), eddy::Tsit5{}, y0, parameters(4),
                    {.t1 = 1, .impulses = {.times = {0.5}, .components = 3, .amounts = 1}}),
        "solve: an impulse changes component 3 of y, which has 3; give a number below that");
    CHECK(eddy::solve(ByHand{}, eddy::Tsit5{}, y0, y0, {.t1 = 0.1}).success());
    CHECK_THROWS_WITH(
        eddy::solve(ByHand{}, eddy::Tsit5{}, starts<float>(4), parameters<float>(4), {.t1 = 1}),
        "solve: the equation is given in double alone; give arrays of double, or its FieldMaker an "
        "on_float_tile");
    CHECK_THROWS_WITH(eddy::solve(lorenz(), eddy::Tsit5{}, starts<float>(4), starts<float>(4),
                                  {.t1 = 1, .rtol = 1e-8}),
                      support::contains("less than states of float resolve"));
}
TEST_CASE("rows: a functor is traced when the program runs") {
    const auto y0 = starts(5), p = parameters(5);
    const eddy::SolveOptions options{.t1 = 1};

    const auto field = eddy::solve(lorenz(), eddy::Tsit5{}, y0, p, options);
    const auto functor =
        eddy::solve(support::Lorenz{}, eddy::Tsit5{}, y0, p, options, eddy::Rows{});

    CHECK(support::same_bits(field.y()(4, 2), functor.y()(4, 2)));
}
