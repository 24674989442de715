// Forward mode over rows: states and steps of the solve, tangents of Serial's.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <string>
#include <vector>
#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/impulses.hpp"
#include "support/message_of.hpp"
#include "support/own_times.hpp"
#include "support/same_bits.hpp"

namespace {

template <class Real>
eddy::EnsembleArray<Real> numbers(std::ptrdiff_t lanes, std::ptrdiff_t size, double first,
                                  double step) {
    eddy::EnsembleArray<Real> values(lanes, size);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (std::ptrdiff_t i = 0; i < size; ++i)
            values(lane, i) =
                static_cast<Real>(first + step * static_cast<double>((7 * lane + 3 * i) % 11));
    return values;
}
/// The largest difference, relative to the numbers.
template <class A, class B>
double difference(const A& a, const B& b) {
    double most = 0;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes; ++lane)
        for (std::ptrdiff_t c = 0; c < a.num_components; ++c)
            most = std::fmax(most, std::abs(static_cast<double>(a(lane, c) - b(lane, c))) /
                                       (1 + std::abs(static_cast<double>(b(lane, c)))));
    return most;
}
template <class Real>
void check_tangents(const eddy::Solution<Real>& rows, const eddy::Solution<Real>& oracle,
                    double tolerance = 1e-12) {
    for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k)
        CHECK(difference(rows.tangent(k), oracle.tangent(k)) <= tolerance);
}
/// States and steps of a solve.
template <class Real>
void check_states(const eddy::Solution<Real>& rows, const eddy::Solution<Real>& oracle) {
    REQUIRE(rows.num_lanes() == oracle.num_lanes());
    bool same = true;
    for (std::ptrdiff_t lane = 0; lane < rows.num_lanes(); ++lane) {
        same = same && rows.stats(lane).accepted == oracle.stats(lane).accepted &&
               rows.stats(lane).evaluations == oracle.stats(lane).evaluations &&
               rows.result(lane) == oracle.result(lane);
        for (std::ptrdiff_t k = 0; k < rows.num_saves(); ++k)
            for (std::ptrdiff_t c = 0; c < rows.y(k).num_components; ++c)
                same = same && support::same_bits(rows.y(k)(lane, c), oracle.y(k)(lane, c));
    }
    CHECK(same);
}

template <class Method, class Real = double, class... Extras>
void check_pushforward(const eddy::SolveOptions& options, std::ptrdiff_t lanes,
                       double tolerance = 1e-12, const Extras&... extras) {
    const auto y0 = numbers<Real>(lanes, 3, 1, 0.1), p = numbers<Real>(lanes, 3, 2, 0.7),
               along_y0 = numbers<Real>(lanes, 3, -1, 0.3),
               along_p = numbers<Real>(lanes, 3, 0.5, 0.2);

    const auto rows = eddy::pushforward(eddy::trace_field(3, 3, support::Lorenz{}), Method{}, y0, p,
                                        along_y0, along_p, options, extras...);
    const auto oracle = eddy::pushforward(support::Lorenz{}, Method{}, y0, p, along_y0, along_p,
                                          options, extras..., eddy::Serial{});

    check_states<Real>(rows, oracle);
    check_tangents<Real>(rows, oracle, tolerance);
}

}  // namespace

TEST_CASE("rows: a pushforward has the states and steps of a solve, and the tangents of Serial") {
    check_pushforward<eddy::Tsit5>({.t1 = 1}, 1);
    check_pushforward<eddy::Tsit5>({.t1 = 1, .save_at = {0, 0.3, 0.7, 1}}, 70);
    check_pushforward<eddy::Dopri8>({.t0 = 1, .t1 = 0.8}, 13);
    check_pushforward<eddy::RK4>({.t1 = 1, .dt0 = 0.02}, 9);
    check_pushforward<eddy::Tsit5, float>({.t1 = 0.5}, 9, 1e-5);
    check_pushforward<eddy::Tsit5>(support::with_own_times({}, 70, 2), 70);
}
TEST_CASE("rows: tangents go through impulses, which scale those that they scale") {
    for (const bool saved_before : {false, true})
        check_pushforward<eddy::Tsit5>(
            support::with_impulses({.t1 = 1, .save_at = {0, 0.25, 0.3, 0.5, 1}}, 0, 1,
                                   saved_before),
            70);
}

namespace {

using Array = eddy::EnsembleArray<double>;

struct SumAndProduct {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(t * y[0] + p[1] * y[2], eddy::exp(-y[1] * y[1]));
    }
};
/// A layer, of more weights than are summed lane by lane.
struct Layer {
    static constexpr int state_size = 3, parameter_size = 87;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto hidden =
            eddy::tanh(eddy::dense(eddy::slice<0, 36>(p), eddy::slice<36, 12>(p), y));
        return eddy::dense(eddy::slice<48, 36>(p), eddy::slice<84, 3>(p), hidden);
    }
};
struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) * p[0] + y[0] * y[1];
    }
};
struct Start {
    constexpr auto operator()(const auto& t0, const auto& p) const {
        return eddy::vec(p[0] * p[1] + t0, eddy::exp(-p[2]), p[1]);
    }
};

/// The same columns twice as far: what a derivative along both is twice of.
Array doubled(const Array& values) {
    Array twice(values);
    for (std::ptrdiff_t lane = 0; lane < values.rows(); ++lane)
        for (std::ptrdiff_t i = 0; i < values.cols(); ++i) twice(lane, i) *= 2;
    return twice;
}

const eddy::RuntimeField lorenz = eddy::trace_field(3, 3, support::Lorenz{});
const eddy::SolveOptions options{.t0 = 0.1, .t1 = 0.6, .save_at = {0.1, 0.3, 0.6}};

}  // namespace

TEST_CASE("rows: what is observed has tangents, and a solver object keeps all memory") {
    const auto y0 = numbers<double>(9, 3, 1, 0.1), p = numbers<double>(9, 3, 2, 0.7),
               along_y0 = numbers<double>(9, 3, -1, 0.3), along_p = numbers<double>(9, 3, 0.5, 0.2);
    auto solver =
        eddy::ensemble_solver(lorenz, eddy::Tsit5{}, options, eddy::observe(SumAndProduct{}));
    const eddy::Solution<double> plain = solver(y0, p);
    const eddy::Solution<double> once = solver(y0, p, along_y0, along_p);
    std::vector<Array> y(3, Array(9, 2)), tangent(3, Array(9, 2));

    const auto& again =
        solver(y0, p, doubled(along_y0), doubled(along_p), {.y = y, .tangent = tangent});

    const auto oracle =
        eddy::pushforward(support::Lorenz{}, eddy::Tsit5{}, y0, p, along_y0, along_p, options,
                          eddy::observe(SumAndProduct{}), eddy::Serial{});
    check_states<double>(once, plain);
    check_tangents<double>(once, oracle);
    CHECK(again.success());
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
        const auto at = static_cast<std::size_t>(k);
        CHECK(difference(y[at].view(), plain.y(k)) == 0);
        const Array twice = doubled(Array(once.tangent(k)));
        CHECK(difference(twice.view(), tangent[at].view()) <= 1e-14);
    }
}
TEST_CASE("rows: steps of all trajectories together are those of the state, with tangents too") {
    const auto y0 = numbers<double>(13, 3, 1, 0.1), p = numbers<double>(13, 3, 2, 0.7);
    const eddy::SolveOptions exact{.t1 = 0.5, .rtol = 1e-10, .atol = 1e-10};
    const eddy::JointController jointly{};

    const auto found = eddy::pushforward(lorenz, eddy::Tsit5{}, y0, p, p, y0, exact, jointly);

    const auto plain = eddy::solve(lorenz, eddy::Tsit5{}, y0, p, exact, jointly);
    const auto apart = eddy::pushforward(lorenz, eddy::Tsit5{}, y0, p, p, y0, exact);
    CHECK(difference(found.y(), plain.y()) == 0);
    CHECK(found.stats(3).accepted == plain.stats(3).accepted);
    CHECK(difference(found.tangent(), apart.tangent()) <= 1e-6);
}
TEST_CASE("rows: weights that all share have tangents, as numbers") {
    const auto y0 = numbers<double>(20, 3, -1, 0.2), along_y0 = numbers<double>(20, 3, 0.3, -0.1);
    const auto weights = numbers<double>(1, 87, -0.5, 0.1),
               along_weights = numbers<double>(1, 87, 0.4, -0.1);

    const auto layer = eddy::trace_field(3, 87, Layer{});

    const auto rows = eddy::pushforward(layer, eddy::Tsit5{}, y0, eddy::shared(weights), along_y0,
                                        eddy::shared(along_weights), {.t1 = 1});
    const auto oracle =
        eddy::pushforward(Layer{}, eddy::Tsit5{}, y0, eddy::shared(weights), along_y0,
                          eddy::shared(along_weights), {.t1 = 1}, eddy::Serial{});

    check_states<double>(rows,
                         eddy::solve(layer, eddy::Tsit5{}, y0, eddy::shared(weights), {.t1 = 1}));
    check_tangents<double>(rows, oracle);
}
TEST_CASE("rows: tables and starts that are functions have the tangents of copies") {
    const auto theta = numbers<double>(4, 5, 2, 0.3), along_theta = numbers<double>(4, 5, -1, 0.2);
    std::vector<int> rows, columns;
    Array p(9, 3), along_p(9, 3), y0(9, 3), along_y0(9, 3);
    for (int lane = 0; lane < 9; ++lane) {
        rows.push_back(lane % 4);
        for (int i = 0; i < 3; ++i) {
            columns.push_back((lane + i) % 5);
            p(lane, i) = theta(lane % 4, (lane + i) % 5);
            along_p(lane, i) = along_theta(lane % 4, (lane + i) % 5);
        }
        y0(lane, 0) = p(lane, 0) * p(lane, 1) + 0.1;
        y0(lane, 1) = std::exp(-p(lane, 2));
        y0(lane, 2) = p(lane, 1);
        along_y0(lane, 0) = along_p(lane, 0) * p(lane, 1) + p(lane, 0) * along_p(lane, 1);
        along_y0(lane, 1) = -std::exp(-p(lane, 2)) * along_p(lane, 2);
        along_y0(lane, 2) = along_p(lane, 1);
    }
    const auto start = eddy::start_from(Start{});
    const auto places = eddy::row_major(columns.data(), 9, 3);

    const auto found =
        eddy::pushforward(lorenz, eddy::Tsit5{}, start, eddy::selected(theta, rows, places), start,
                          eddy::selected(along_theta, rows, places), options);
    const auto wanted = eddy::pushforward(lorenz, eddy::Tsit5{}, y0, p, along_y0, along_p, options);

    CHECK(found.success());
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
        CHECK(difference(found.y(k), wanted.y(k)) <= 1e-12);
        CHECK(difference(found.tangent(k), wanted.tangent(k)) <= 1e-12);
    }
}
TEST_CASE("rows: a Hessian's product is that of Serial, with impulses too") {
    const auto y0 = numbers<double>(9, 3, 1, 0.1), p = numbers<double>(9, 3, 2, 0.7),
               along_y0 = numbers<double>(9, 3, -1, 0.3), along_p = numbers<double>(9, 3, 0.5, 0.2);
    const auto with = support::with_impulses({.t1 = 1, .save_at = {0.1, 0.5}}, 0, 1, false);
    const std::vector<Array> data(2, Array(1, 3, 0.4));

    const auto rows = eddy::hessian_vector_product(lorenz, eddy::Tsit5{}, SquaredError{}, data, y0,
                                                   p, along_y0, along_p, with);
    const auto oracle =
        eddy::hessian_vector_product(support::Lorenz{}, eddy::Tsit5{}, SquaredError{}, data, y0, p,
                                     along_y0, along_p, with, eddy::Serial{});

    CHECK(std::abs(rows.loss.total - oracle.loss.total) <= 1e-13 * oracle.loss.total);
    for (const auto which : {&eddy::Gradient<double>::y0, &eddy::Gradient<double>::p}) {
        CHECK(difference((rows.gradient.*which).view(), (oracle.gradient.*which).view()) <= 1e-12);
        CHECK(difference((rows.product.*which).view(), (oracle.product.*which).view()) <= 1e-12);
    }
    CHECK(difference(rows.gradient.impulse_amounts.view(),
                     oracle.gradient.impulse_amounts.view()) <= 1e-12);
    auto constant = with;
    constant.dt0 = 0.01;
    const Array product = eddy::hessian_vector_product(lorenz, eddy::RK4{}, SquaredError{}, data,
                                                       y0, p, along_y0, along_p, constant)
                              .product.impulse_amounts;
    // The Hessian is symmetric: the product is the change of that gradient in the direction.
    const auto amounts_at = [&](double along) {
        Array y(y0), q(p);
        for (int lane = 0; lane < 9; ++lane)
            for (int i = 0; i < 3; ++i) {
                y(lane, i) += along * along_y0(lane, i);
                q(lane, i) += along * along_p(lane, i);
            }
        return eddy::value_and_gradient(lorenz, eddy::RK4{}, SquaredError{}, data, y, q, constant)
            .gradient.impulse_amounts;
    };
    const Array above = amounts_at(1e-6), below = amounts_at(-1e-6);
    Array change(product.rows(), product.cols());
    for (std::ptrdiff_t lane = 0; lane < change.rows(); ++lane)
        for (std::ptrdiff_t k = 0; k < change.cols(); ++k)
            change(lane, k) = (above(lane, k) - below(lane, k)) / 2e-6;
    CHECK(difference(change.view(), product.view()) <= 1e-4);
}
TEST_CASE("rows: Hessians of shared weights, and of a start, are differences of gradients") {
    const auto p = numbers<double>(1, 3, 1, 0.3), along_p = numbers<double>(1, 3, 0.5, 0.2);
    const auto start = eddy::start_from(Start{}, 20);
    const Array data(1, 3, 0.4);
    auto solver =
        eddy::gradient_solver(lorenz, eddy::RK4{}, SquaredError{}, {.t1 = 0.3, .dt0 = 0.02});
    const auto gradient_at = [&](double along) {
        Array moved(p);
        for (int i = 0; i < 3; ++i) moved(0, i) += along * along_p(0, i);
        return solver(data, start, eddy::shared(moved)).gradient.p;
    };

    const auto found =
        solver.hessian_vector_product(data, start, eddy::shared(p), start, eddy::shared(along_p));

    const Array middle = gradient_at(0), above = gradient_at(1e-5), below = gradient_at(-1e-5);
    for (int i = 0; i < 3; ++i) {
        CHECK(std::abs(found.gradient.p(0, i) / middle(0, i) - 1) <= 1e-12);
        // An error of (1e-5)², and rounding over 2e-5.
        CHECK(std::abs((above(0, i) - below(0, i)) / 2e-5 / found.product.p(0, i) - 1) <= 1e-7);
    }
}
TEST_CASE("rows: sensitivities are pushforwards along each direction, a block after the other") {
    const auto y0 = numbers<double>(9, 3, 1, 0.1), p = numbers<double>(9, 3, 2, 0.7);
    auto solver = eddy::sensitivity_solver(lorenz, eddy::Tsit5{}, options, eddy::along_both);
    const eddy::Sensitivities<double> once = solver(y0, p);

    const auto& found = solver(y0, p);

    REQUIRE(found.num_directions() == 6);
    REQUIRE(found.num_saves() == 3);
    for (int direction = 0; direction < 6; ++direction) {
        Array along_y0(9, 3, 0.), along_p(9, 3, 0.);
        for (int lane = 0; lane < 9; ++lane)
            (direction < 3 ? along_p : along_y0)(lane, direction % 3) = 1;
        const auto wanted =
            eddy::pushforward(lorenz, eddy::Tsit5{}, y0, p, along_y0, along_p, options);
        for (std::ptrdiff_t k = 0; k < 3; ++k) {
            CHECK(difference(found.y(k), wanted.y(k)) == 0);
            CHECK(difference(found.sensitivity(k).along(direction), wanted.tangent(k)) <= 1e-12);
            CHECK(difference(once.sensitivity(k).along(direction),
                             found.sensitivity(k).along(direction)) == 0);
        }
    }
}
TEST_CASE("rows: what has no tangents is said before any work") {
    const Array y0(2, 3, 1.), p(2, 3, 1.), other(2, 2, 1.);
    const auto said = [&](const Array& along, const eddy::SolveOptions& with) {
        return support::message_of([&] {
            static_cast<void>(eddy::pushforward(lorenz, eddy::Tsit5{}, y0, p, along, p, with));
        });
    };

    const auto driven = eddy::trace_field(
        3, 3, 1, [](auto, const auto& y, const auto& p, const auto& u) { return u[0] * y - p; });
    const auto said_of_hessian = [&](const auto& field, const auto&... extras) {
        return support::message_of([&] {
            auto solver =
                eddy::gradient_solver(field, eddy::Tsit5{}, SquaredError{}, {.t1 = 1}, extras...);
            static_cast<void>(solver.hessian_vector_product(y0, y0, p, y0, p));
        });
    };
    CHECK(support::mentions(said_of_hessian(driven),
                            "an equation that inputs drive has no Hessian over rows"));
    CHECK(support::mentions(said_of_hessian(lorenz, eddy::differentiate_times),
                            "differentiate_times with a Hessian over rows"));
    CHECK(said(other, {.t1 = 1}).find("the tangent of y0") != std::string::npos);
}
