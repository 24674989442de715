#pragma once
// What every backend is compared with Serial on, bit for bit, where lanes have events: an equation of + − · /
// and square roots alone. Lanes bounce seldom and often, end, run away, or meet what is no number.

#include "solve/oracle_cases.hpp"

namespace oracle {

/// p = (weight, loss of speed, slope of the ground). The event's function is no number where y1 < −6.
struct Bouncing {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1] + 0.01 * t,
                         -p[0] * (1 + 0.1 * eddy::sqrt(1 + y[1] * y[1])) + 0.2 * y[0] * y[0]);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return y[0] - 0.1 * p[2] * t + 0 * eddy::sqrt(6 + y[1]);
    }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0], 0.3 * p[2] - p[1] * y[1] + 0.001 * t);
    }
};
/// The same, ended by the first crossing either way.
using Landing = support::ToFirstEvent<Bouncing>;
/// Three functions: lanes bounce, are slowed down, and end where they are too high.
struct Several {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Bouncing{}(t, y, p);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(Bouncing{}.event(t, y, p), y[1] + 1.5 + 0.5 * p[1], y[0] - 1.75 - 0.1 * t);
    }
    static constexpr eddy::Crossing event_direction[] = {
        eddy::Crossing::falling, eddy::Crossing::falling, eddy::Crossing::rising};
    static constexpr bool event_terminal[] = {false, false, true};
    constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return Bouncing{}.at_event(t, y, p);
        else
            return eddy::vec(y[0] + 0.01 * p[0], 0.5 * y[1]);
    }
};
struct Height {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return (1 + t) * y[0] * y[0] + 0.5 * p[1] * y[1];
    }
};

template <class Real>
struct BouncingLanes {
    eddy::EnsembleArray<Real> y0, p;
    std::vector<Real> shared_p{Real(2), Real(0.5), Real(0.2)};

    explicit BouncingLanes(std::ptrdiff_t count) : y0(count, 2), p(count, 3) {
        support::Random random(7);
        const auto between = [&](double low, double high) {
            return static_cast<Real>(random.uniform(low, high));
        };
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = lane % 11 == 3 ? Real(0) : between(0.1, 1.5);
            y0(lane, 1) = lane % 7 == 2 ? between(-5.9, -4) : between(-1, 3);
            if (lane % 13 == 5) y0(lane, 0) = between(12, 25);
            p(lane, 0) = between(1, 4);
            p(lane, 1) = between(0.3, 0.9);
            p(lane, 2) = between(0, 0.6);
        }
    }
};

inline const std::vector<Case> event_cases{
    {"save points", {.t1 = 2, .rtol = 1e-4, .save_at = {0, 0.5, 0.5, 1.1, 2}, .max_steps = 250}},
    {"the end alone", {.t1 = 2, .rtol = 1e-6, .max_steps = 250}},
    {"jumps and stops, backward",
     {.t0 = 1,
      .t1 = -1,
      .rtol = 1e-3,
      .save_at = {0.9, 0.3, -1},
      .step_to = {0.5, 0.3},
      .jump_times = {0.2},
      .max_steps = 250}},
    {"own times", {.t1 = 2, .rtol = 1e-4, .save_at = {0.5, 1.1, 2}, .max_steps = 250}, true},
    {"impulses",
     {.t1 = 2,
      .rtol = 1e-4,
      .save_at = {0, 0.5, 1.1, 2},
      .impulses = all_impulses({0, 0.2, 0.2, 0.5, 0.9, 1.1, 2}),
      .max_steps = 250}},
    {"own impulses, backward, after save points",
     {.t0 = 1,
      .t1 = -1,
      .rtol = 1e-3,
      .save_at = {0.9, 0.3, -1},
      .impulses = all_impulses({1, 0.9, 0.6, 0.3, 0.3, -0.4, -1}, true),
      .max_steps = 250},
     true},
};
inline const std::vector<Case> constant_event_cases{
    {"save points",
     {.t1 = 1.5, .save_at = {0, 0.5, 0.6, 1.5}, .step_to = {0.7}, .dt0 = 0.0625, .max_steps = 250}},
    {"the end alone", {.t1 = 1.5, .dt0 = 0.1, .max_steps = 250}},
};

// What is compared. What programs ask of Serial more than once is compiled once: event_references.hpp.
template <class Field, class Backend>
auto solution_of(Field, const BouncingLanes<double>& lanes, const SolveOptions& options,
                 const Backend& backend) {
    return eddy::solve(Field{}, eddy::Tsit5{}, lanes.y0, lanes.p, options, backend);
}
template <class Field, class Method, class Real, class Backend, class... Extras>
auto gradient_of(Field, Method, const BouncingLanes<Real>& lanes, const SolveOptions& options,
                 const Backend& backend, const Extras&... extras) {
    return eddy::value_and_gradient(Field{}, Method{}, Height{}, lanes.y0, lanes.p, options,
                                    extras..., backend);
}
template <class Field, class Backend>
auto shared_gradient_of(Field, const BouncingLanes<double>& lanes, const SolveOptions& options,
                        const Backend& backend) {
    return eddy::value_and_gradient(Field{}, eddy::Tsit5{}, Height{}, lanes.y0,
                                    eddy::shared(lanes.shared_p), options,
                                    eddy::differentiate_times, backend);
}
/// Along the starts and parameters themselves.
template <class Field, class Backend>
auto tangent_of(Field, const BouncingLanes<double>& lanes, const SolveOptions& options,
                const Backend& backend) {
    return eddy::pushforward(Field{}, eddy::Tsit5{}, lanes.y0, lanes.p, lanes.y0, lanes.p, options,
                             backend);
}
template <class Field, class Backend>
auto product_of(Field, const BouncingLanes<double>& lanes, const SolveOptions& options,
                const Backend& backend) {
    return eddy::hessian_vector_product(Field{}, eddy::Tsit5{}, Height{}, lanes.y0, lanes.p,
                                        lanes.y0, lanes.p, options, backend);
}

template <class Field, class Backend>
Endings compare_event_solves(const std::vector<Way<Backend>>& ways, std::ptrdiff_t count) {
    const BouncingLanes<double> lanes(count);
    Endings all;
    for (const bool saves_steps : {false, true}) {
        all.merge(compare(
            of_lanes(event_cases, count), ways,
            [&](SolveOptions options, const auto& backend) {
                options.save_steps = saves_steps;
                return solution_of(Field{}, lanes, options, backend);
            },
            [](const auto& expected, const auto& got) { check_same(expected, got, false); }));
    }
    return all;
}
template <class Field, class Method, class Real, class Backend, class... Extras>
Endings compare_event_gradients(const std::vector<Case>& cases,
                                const std::vector<Way<Backend>>& ways, std::ptrdiff_t count,
                                const Extras&... extras) {
    const BouncingLanes<Real> lanes(count);
    return compare(
        of_lanes(cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return gradient_of(Field{}, Method{}, lanes, options, backend, extras...);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); });
}
template <class Field, class Backend>
Endings compare_event_tangents(const std::vector<Way<Backend>>& ways, std::ptrdiff_t count) {
    const BouncingLanes<double> lanes(count);
    Endings endings = compare(
        of_lanes(event_cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return tangent_of(Field{}, lanes, options, backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got, true); });
    endings.merge(compare(
        of_lanes(event_cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return product_of(Field{}, lanes, options, backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); }));
    return endings;
}
template <class Field, class Backend>
Endings compare_shared_event_gradients(const std::vector<Way<Backend>>& ways,
                                       std::ptrdiff_t count) {
    const BouncingLanes<double> lanes(count);
    return compare(
        of_lanes(event_cases, count), ways,
        [&](const SolveOptions& options, const auto& backend) {
            return shared_gradient_of(Field{}, lanes, options, backend);
        },
        [](const auto& expected, const auto& got) { check_same(expected, got); });
}

inline const Endings bouncing_endings{eddy::Result::success, eddy::Result::max_steps_reached,
                                      eddy::Result::non_finite};
inline const Endings landing_endings{eddy::Result::success, eddy::Result::event,
                                     eddy::Result::max_steps_reached, eddy::Result::non_finite};

}  // namespace oracle
