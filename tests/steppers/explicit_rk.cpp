#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/core/pack.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/explicit_rk.hpp>
#include <eddy/steppers/kept_if.hpp>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/kepler.hpp"

using eddy::Dual, eddy::Tsit5, eddy::Vec;

namespace {

template <class Field>
using Stepper = eddy::ExplicitRungeKutta<Field, Tsit5>;

/// A planet at (y0, y1) with velocity (y2, y3), p = (GM); one period later it is where it was.
struct Kepler {
    static constexpr int state_size = 4, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto squared = y[0] * y[0] + y[1] * y[1];
        const auto cubed = squared * eddy::sqrt(squared);
        return eddy::vec(y[2], y[3], -(p[0] * y[0] / cubed), -(p[0] * y[1] / cubed));
    }
};

struct LotkaVolterra {  // p = (a, b, c, d)
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]);
    }
};

/// Components that know nothing of each other.
template <int size>
struct Growth {
    static constexpr int state_size = size, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return p[0] * y * (1 - y) - t * y;
    }
};

/// The eccentric anomaly is found in f.
struct Anomaly {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto E = support::KeplerByRoot{}(t + y[0], p[0]);
        return eddy::vec(1 / (1 - p[0] * cos(E)));
    }
};

/// A pendulum whose friction saturates: functions and a division.
struct Pendulum {  // p = (stiffness, friction)
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], -p[0] * sin(y[0]) - p[1] * tanh(y[1]) / (1 + y[1] * y[1]));
    }
};

/// The states y_0 … y_n of n equal steps from 0 to t1.
template <class Field, int size, int num_parameters>
std::vector<Vec<double, size>> states(const Vec<double, size>& y0,
                                      const Vec<double, num_parameters>& p, double t1,
                                      int num_steps) {
    const double dt = t1 / num_steps;
    std::vector<Vec<double, size>> y{y0};
    for (int step = 0; step < num_steps; ++step)
        y.push_back(Stepper<Field>::step(step * dt, y.back(), p, dt));
    return y;
}

/// The slope of the straight line fitted through (x_i, y_i).
double fitted_slope(const std::vector<double>& x, const std::vector<double>& y) {
    double mean_x = 0, mean_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / static_cast<double>(x.size());
        mean_y += y[i] / static_cast<double>(x.size());
    }
    double covariance = 0, variance = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        covariance += (x[i] - mean_x) * (y[i] - mean_y);
        variance += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return covariance / variance;
}

constexpr double t = 0.4, dt = 0.02;
constexpr Vec<double, 3> y{{-9.4, -8.3, 29.1}}, p{{10, 28, 8. / 3}};
constexpr int num_inputs = 6;  // y, then p

/// The column of the step's Jacobian that belongs to one input, by forward mode.
Vec<double, 3> column(int input) {
    Vec<Dual<double>, 3> dual_y{{y[0], y[1], y[2]}}, dual_p{{p[0], p[1], p[2]}};
    (input < 3 ? dual_y : dual_p)[input % 3].tangent = 1;
    const auto next =
        Stepper<support::Lorenz>::step<Dual<double>>(t, dual_y, dual_p, Dual<double>(dt));
    return {{next[0].tangent, next[1].tangent, next[2].tangent}};
}

/// The cotangents of y and p.
Vec<double, num_inputs> pull_back(const Vec<double, 3>& cotangent) {
    Vec<double, 3> of_p{};
    const auto of_y = Stepper<support::Lorenz>::pullback(t, y, p, dt, cotangent, of_p);
    return concat(of_y, of_p);
}

}  // namespace

TEST_CASE("explicit_rk: Tsit5 converges with order 5") {
    constexpr double eccentricity = 0.3, period = 2 * 3.14159265358979323846;
    const Vec<double, 4> start{
        {1 - eccentricity, 0, 0, std::sqrt((1 + eccentricity) / (1 - eccentricity))}};
    std::vector<double> log_dt, log_error;
    for (int num_steps : {64, 128, 256, 512}) {
        const auto orbit = states<Kepler>(start, eddy::vec(1.0), period, num_steps);
        log_dt.push_back(std::log(period / num_steps));
        log_error.push_back(std::log(norm(orbit.back() - start)));
    }

    REQUIRE(log_error.back() > std::log(1e-12));  // the window ends well above round-off
    CHECK(std::abs(fitted_slope(log_dt, log_error) - Tsit5::order) < 0.2);
}

TEST_CASE("explicit_rk: a pullback reads the roots that the stages found") {
    constexpr auto& backward =
        eddy::detail::FieldHalves<eddy::FieldProgram<Anomaly>, double, false>::Backward::graph;
    for (int i = 0; i < backward.size(); ++i) CHECK(backward.nodes[i].op != eddy::Op::loop);
    CHECK(Stepper<Anomaly>::Stage<double, false>::num_kept == 1);
    CHECK(Stepper<support::Lorenz>::Stage<double, false>::num_kept == 0);

    const Vec<double, 1> start{{0.9}}, e{{0.6}};
    Vec<double, 1> of_p{};
    const auto of_y = Stepper<Anomaly>::pullback(t, start, e, dt, Vec<double, 1>{{1}}, of_p);
    const auto pushed = [&](double y_tangent, double p_tangent) {
        const Vec<Dual<double>, 1> dual_y{{{0.9, y_tangent}}}, dual_p{{{0.6, p_tangent}}};
        return Stepper<Anomaly>::step<Dual<double>>(t, dual_y, dual_p, Dual<double>(dt))[0].tangent;
    };
    CHECK(of_y[0] == Approx(pushed(1, 0)).epsilon(1e-13));
    CHECK(of_p[0] == Approx(pushed(0, 1)).epsilon(1e-13));
}

TEST_CASE("explicit_rk: the pullback of a step is the transpose of its forward derivative") {
    // Both evaluate the same six stages, some 300 operations: in another order, so they differ by
    // that many roundings of 1.1e-16 of the largest term.
    for (int row = 0; row < 3; ++row) {
        Vec<double, 3> unit{};
        unit[row] = 1;

        const auto pulled = pull_back(unit);

        for (int input = 0; input < num_inputs; ++input) {
            const double pushed = column(input)[row];
            CHECK(std::abs(pulled[input] - pushed) < 1e-12 * (1 + std::abs(pushed)));
        }
    }
}

TEST_CASE("explicit_rk: <J v, w> is <v, Jt w>") {
    const Vec<double, num_inputs> v{{0.3, -1.1, 0.7, 0.2, -0.4, 0.9}};
    const Vec<double, 3> w{{1.3, -0.6, 0.8}};

    Vec<double, 3> pushed{};
    for (int input = 0; input < num_inputs; ++input) pushed += v[input] * column(input);

    const double forward = dot(pushed, w), reverse = dot(v, pull_back(w));
    CHECK(std::abs(forward - reverse) < 1e-12 * std::abs(forward));
}

TEST_CASE("explicit_rk: the lanes of a pack are the scalar steps, bit for bit") {
    using Pack = eddy::Pack<double, 4>;
    Vec<Pack, 3> y_lanes{{y[0], y[1], y[2]}}, p_lanes{{p[0], p[1], p[2]}}, w_lanes{}, pulled_p{};
    for (int i = 0; i < 3; ++i) {
        pulled_p[i] = Pack(0);
        for (int lane = 0; lane < 4; ++lane) {
            y_lanes[i].set(lane, y[i] + lane);
            p_lanes[i].set(lane, p[i] - 0.1 * lane);
            w_lanes[i].set(lane, 1.0 / (1 + lane + i));
        }
    }
    const auto in_lane = [](const Vec<Pack, 3>& x, int lane) {
        return Vec<double, 3>{{x[0][lane], x[1][lane], x[2][lane]}};
    };

    using Lorenz = Stepper<support::Lorenz>;
    const auto next = Lorenz::step<Pack>(t, y_lanes, p_lanes, dt);
    const auto pulled = Lorenz::pullback<Pack>(t, y_lanes, p_lanes, dt, w_lanes, pulled_p);

    for (int lane = 0; lane < 4; ++lane) {
        const auto y_lane = in_lane(y_lanes, lane), p_lane = in_lane(p_lanes, lane);
        Vec<double, 3> of_p{};
        CHECK(in_lane(next, lane) == Lorenz::step(t, y_lane, p_lane, dt));
        CHECK(in_lane(pulled, lane) ==
              Lorenz::pullback(t, y_lane, p_lane, dt, in_lane(w_lanes, lane), of_p));
        CHECK(in_lane(pulled_p, lane) == of_p);
    }
}

TEST_CASE(
    "explicit_rk: components of a long state, summed one by one, have the bits they have alone") {
    constexpr int size = 70;
    STATIC_REQUIRE(eddy::detail::sums_by_component<size>);
    using Long = Stepper<Growth<size>>;
    using Short = Stepper<Growth<1>>;
    const Vec<double, 1> rate{{1.3}};
    Vec<double, size> start{}, cotangent{}, k[7]{};
    for (int i = 0; i < size; ++i) {
        start[i] = 0.1 + 0.01 * i;
        cotangent[i] = std::cos(i);
    }
    Vec<double, 1> of_rate{};
    const auto next = Long::step(t, start, rate, dt);
    const auto pulled = Long::pullback(t, start, rate, dt, cotangent, of_rate);
    Long::stages<0, 7>(t, start, rate, eddy::as_step_size(dt), k);
    const auto error = Long::error(eddy::as_step_size(dt), k);

    double of_rate_alone = 0;
    for (int i = 0; i < size; ++i) {
        const Vec<double, 1> y_alone{{start[i]}}, of_next{{cotangent[i]}};
        Vec<double, 1> of_own_rate{}, k_alone[7]{};
        Short::stages<0, 7>(t, y_alone, rate, eddy::as_step_size(dt), k_alone);
        CHECK(next[i] == Short::step(t, y_alone, rate, dt)[0]);
        CHECK(error[i] == Short::error(eddy::as_step_size(dt), k_alone)[0]);
        CHECK(pulled[i] == Short::pullback(t, y_alone, rate, dt, of_next, of_own_rate)[0]);
        of_rate_alone += of_own_rate[0];
    }
    CHECK(std::abs(of_rate[0] - of_rate_alone) < 1e-13 * std::abs(of_rate_alone));
}

TEST_CASE("explicit_rk: Lotka-Volterra sensitivities are those of a binary128 solver") {
    const Vec<double, 2> y1{{2.772850901841112119126, 2.587108781425639539004e-1}};
    const double sensitivities[2][6] = {
        // of u1(1) and u2(1) by u1(0), u2(0), a, b, c, d
        {2.144632671391114642444, -1.184796662646198168244, 2.548316946096208499692,
         -1.184796662646198168244, 4.774830449799455176992e-1, -6.282182304499974766812e-1},
        {3.802255584450660268283e-1, 1.244393609382551770686e-1, 2.382855060487671519435e-1,
         -1.342715172043087768318e-1, -2.207160809892951062116e-1, 3.802255584450660268283e-1}};
    const Vec<double, 4> parameters{{1.5, 1, 3, 1}};
    constexpr int num_steps = 200;
    constexpr double step_size = 1.0 / num_steps;

    const auto path = states<LotkaVolterra>(Vec<double, 2>{{1, 1}}, parameters, 1, num_steps);

    for (int component = 0; component < 2; ++component) {
        CHECK(std::abs(path.back()[component] - y1[component]) < 1e-10);
        Vec<double, 2> cotangent{};
        cotangent[component] = 1;
        Vec<double, 4> of_p{};
        const auto pull_back_step = [&](int step) {
            return Stepper<LotkaVolterra>::pullback(step * step_size,
                                                    path[static_cast<std::size_t>(step)],
                                                    parameters, step_size, cotangent, of_p);
        };
        for (int step = num_steps - 1; step >= 0; --step) cotangent = pull_back_step(step);
        const auto gradient = concat(cotangent, of_p);
        for (int input = 0; input < 6; ++input)
            CHECK(std::abs(gradient[input] - sensitivities[component][input]) < 1e-10);
    }
}

TEST_CASE("explicit_rk: packs keep what is dear from a stage to its pullback") {
    using Number = eddy::Pack<double, 4>;
    using Term = eddy::OdeTerm<Pendulum>;
    constexpr auto& backward =
        eddy::detail::FieldHalves<eddy::FieldProgram<Pendulum>, Number, false>::Backward::graph;
    for (int i = 0; i < backward.size(); ++i) {
        CHECK(backward.nodes[i].op != eddy::Op::tanh);
        CHECK(backward.nodes[i].op != eddy::Op::sin);
    }
    CHECK(Stepper<Pendulum>::Stage<Number, false>::num_kept > 0);
    CHECK(Stepper<Pendulum>::Stage<double, false>::num_kept == 0);
    CHECK(Stepper<Kepler>::Stage<Number, false>::num_kept ==
          0);  // no functions: bits of plain numbers

    // One lane differs from the next, and each has the bits of a pullback that computes all again.
    const Vec<Number, 2> p{{2, 0.3}}, k_cotangent{{0.7, -1.1}};
    Term::Linearized<Number, false> at{};
    for (int lane = 0; lane < 4; ++lane) {
        set_lane(at.y[0], lane, 0.4 + lane);
        set_lane(at.y[1], lane, 1.3 - lane);
    }
    Vec<Number, 2> k{}, kept{}, of_p_kept{}, again{}, of_p_again{};
    Term::linearize(t, at, p, k);
    (void)Term::pull_linearized(t, at, p, k_cotangent, kept, of_p_kept);
    (void)Term::pull_derivative<false>(t, at.y, p, k_cotangent, again, of_p_again);
    const auto derivative = Term::derivative(t, at.y, p);
    for (int i = 0; i < 2; ++i) {
        for (int lane = 0; lane < 4; ++lane) {
            CHECK(k[i][lane] == derivative[i][lane]);
            CHECK(kept[i][lane] == again[i][lane]);
            CHECK(of_p_kept[i][lane] == of_p_again[i][lane]);
        }
    }
}

TEST_CASE("kept_if: what is not kept takes values, and its lanes read as zero") {
    using Kept = eddy::KeptIf<true, double>;
    using Lost = eddy::KeptIf<false, double>;
    Kept kept = 0;
    Lost lost = 2.0;

    kept = 3.0;
    lost = 3.0;
    set_lane(lost, 0, 4.0);

    CHECK(kept == 3);
    CHECK(get_lane(lost, 0) == 0);
    STATIC_REQUIRE(std::is_empty_v<Lost>);
    STATIC_REQUIRE(std::is_trivially_copyable_v<Lost>);
}
