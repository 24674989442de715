// Stochastic methods on paths that are the same at every step size: strong orders on problems with
// exact solutions. Seeds are fixed: a failure is a change, never chance.

#include <cmath>
#include <complex>
#include <eddy/solvers/euler_heun.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/general_shark.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/midpoint.hpp>
#include <eddy/solvers/milstein.hpp>
#include <eddy/solvers/ralston.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/sea.hpp>
#include <eddy/solvers/shark.hpp>
#include <eddy/solvers/slow_rk.hpp>
#include <eddy/solvers/sosra.hpp>
#include <eddy/solvers/sosri.hpp>
#include <eddy/solvers/spark.hpp>
#include <eddy/solvers/sra1.hpp>
#include <eddy/solvers/sriw1.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "support/catch.hpp"

namespace {

using eddy::Calculus;
using eddy::NoiseClass;
using eddy::NoisePlan;

/// Geometric Brownian motion beside tan⁻¹ of Brownian motion: diagonal noise, both exact.
template <Calculus in>
struct Diagonal {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr Calculus calculus = in;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        using std::sin, std::cos;
        const auto c = cos(y[1]);
        if constexpr (in == eddy::ito)
            return eddy::vec(p[0] * y[0], -1. * sin(y[1]) * c * c * c);
        else
            return eddy::vec((p[0] - 0.5 * p[1] * p[1]) * y[0], 0. * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        using std::cos;
        return eddy::vec(p[1] * y[0], cos(y[1]) * cos(y[1]));
    }
    static eddy::Vec<double, 2> exact(const double* p, const double* w) {
        return {{std::exp((p[0] - p[1] * p[1] / 2) + p[1] * w[0]), std::atan(w[1] + std::tan(1.))}};
    }
};
/// Two components that one noise drives: y1 y2 = e^{…}.
struct OneNoise {
    static constexpr int state_size = 2, parameter_size = 2, noise_size = 1;
    static constexpr Calculus calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0], (p[0] + p[1] * p[1]) * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0], -p[1] * y[1]);
    }
    static eddy::Vec<double, 2> exact(const double* p, const double* w) {
        return {{std::exp((p[0] - p[1] * p[1] / 2) + p[1] * w[0]),
                 std::exp((p[0] + p[1] * p[1] / 2) - p[1] * w[0])}};
    }
};
/// The complex equation dz = z (p0 dt + Σ γ_k dW_k): two noises, each of which moves both components, and
/// which commute.
template <Calculus in>
struct Commuting {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr Calculus calculus = in;
    static constexpr bool commutative = true;
    static constexpr double real[2] = {0.5, -0.3}, imaginary[2] = {0.4, 0.6};
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0], p[0] * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        const auto times = [&](int k) {
            return eddy::vec(real[k] * y[0] - p[1] * imaginary[k] * y[1],
                             real[k] * y[1] + p[1] * imaginary[k] * y[0]);
        };
        return eddy::columns(times(0), times(1));
    }
    static eddy::Vec<double, 2> exact(const double* p, const double* w) {
        std::complex<double> exponent = p[0];
        for (int k = 0; k < 2; ++k) {
            const std::complex<double> gamma(real[k], p[1] * imaginary[k]);
            exponent += gamma * w[k];
            if (in == eddy::ito) exponent -= 0.5 * gamma * gamma;
        }
        const std::complex<double> z = std::complex<double>(1, 1) * std::exp(exponent);
        return {{z.real(), z.imag()}};
    }
};
/// A damped pendulum pushed by noise that depends on time.
struct Additive {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr Calculus calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        using std::sin;
        return eddy::vec(y[1] - 0.2 * y[0], -1. * sin(y[0]) - p[0] * y[1]);
    }
    constexpr auto diffusion(auto t, const auto&, const auto& p) const {
        using std::cos;
        return eddy::vec(0.3 + 0.5 * t, p[1] * cos(3. * t));
    }
};
/// Two noises that do not commute.
struct General {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr Calculus calculus = eddy::stratonovich;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], -p[0] * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        using std::sin, std::cos;
        return eddy::columns(eddy::vec(0.6, 0.5 * cos(y[0])), eddy::vec(0.5 * sin(y[1]), 0.4));
    }
};
struct Literal {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr Calculus calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const {
        return eddy::vec(y[1], -1. * y[0]);
    }
    constexpr auto diffusion(auto, const auto&, const auto&) const { return eddy::vec(0., 0.3); }
};

using State = eddy::Vec<double, 2>;
constexpr double p[2] = {0.4, 0.7};
constexpr double cell = 0.125;

/// The state at time 1, with steps of cell·2^-level.
template <class Field, class Method>
State solve(NoisePlan plan, int level, int path) {
    using Stepper = eddy::StepperFor<eddy::TermOf<Field>, Method, false>;
    plan.level = level;
    const double h = std::ldexp(cell, -level);
    const eddy::StepSize<double, double> dt{h, h};
    State y{{1, 1}};
    const int steps = static_cast<int>(std::lround(1 / h));
    for (int step = 0; step < steps; ++step) {
        const double t = step * h;
        const eddy::BrownianPath<double> along({static_cast<double>(path), t, h}, plan,
                                               {0, static_cast<double>(step)});
        const double* const parameters = p;
        y = Stepper::step(eddy::StepInput{t, y, parameters, dt, along}, eddy::NoMemory{});
    }
    return y;
}
/// W at time 1.
template <class Field>
void end_of_path(NoisePlan plan, int path, double* w) {
    constexpr int noises = eddy::TermOf<Field>::num_noises;
    for (int k = 0; k < noises; ++k) w[k] = 0;
    for (int step = 0; step < 8; ++step) {
        const eddy::BrownianPath<double> along({static_cast<double>(path), 0, cell}, plan,
                                               {0, static_cast<double>(step)});
        const auto dw = along.increments<double, noises, false>();
        for (int k = 0; k < noises; ++k) w[k] += dw.w[k];
    }
}

/// The slope of log2 of the root mean square error over the finest four of five step sizes.
template <class Field, class Method, class Reference>
double strong_order(const Reference& reference) {
    constexpr int paths = 400, levels = 5;
    NoisePlan plan;
    plan.key = eddy::PhiloxKey(20);
    double errors[levels] = {};
    for (int path = 0; path < paths; ++path) {
        const State exact = reference(plan, path);
        for (int level = 0; level < levels; ++level) {
            const State y = solve<Field, Method>(plan, level, path);
            for (int i = 0; i < 2; ++i) errors[level] += std::pow(y[i] - exact[i], 2) / paths;
        }
    }
    double slope = 0;
    for (int k = 1; k < levels; ++k)
        slope -= (k - 2.5) * std::log2(errors[k]) / 2 / 5;  // Σ (k − 2.5)² = 5
    return slope;
}
template <class Field, class Method>
double order_to_exact() {
    return strong_order<Field, Method>([](const NoisePlan& plan, int path) {
        double w[2];
        end_of_path<Field>(plan, path, w);
        return Field::exact(p, w);
    });
}
/// Against much finer steps of a method.
template <class Field, class Method, class Finer>
double order_to_finer() {
    return strong_order<Field, Method>(
        [](const NoisePlan& plan, int path) { return solve<Field, Finer>(plan, 8, path); });
}

void require_order(double found, double order) {
    CAPTURE(found, order);
    CHECK(found > order - 0.1);
}

}  // namespace

TEST_CASE("stochastic fields: what class of noise it is, the trace tells") {
    using eddy::TermOf;
    CHECK(TermOf<Diagonal<eddy::ito>>::noise == NoiseClass::diagonal);
    CHECK(TermOf<OneNoise>::noise == NoiseClass::diagonal);
    CHECK(TermOf<Additive>::noise == NoiseClass::additive);
    CHECK(TermOf<General>::noise == NoiseClass::general);
    CHECK(TermOf<General>::num_noises == 2);
    CHECK(TermOf<OneNoise>::num_noises == 1);
    CHECK(TermOf<OneNoise>::num_entries == 2);
    // A component without noise draws none.
    CHECK(TermOf<Literal>::num_noises == 1);
    CHECK(TermOf<Literal>::entries.at[0].row == 1);
    CHECK(TermOf<Literal>::noise == NoiseClass::additive);
}

TEST_CASE("stochastic fields: the drift in the other calculus") {
    using In = eddy::TermOf<Diagonal<eddy::ito>>;
    using Out = eddy::TermOf<Diagonal<eddy::stratonovich>>;
    const double y[2] = {1.3, 0.4};
    const auto there = In::Program<eddy::stratonovich, eddy::detail::SdeParts::drift>{}(0., y, p);
    const auto wanted = Out::Program<eddy::stratonovich, eddy::detail::SdeParts::drift>{}(0., y, p);
    const auto back = Out::Program<eddy::ito, eddy::detail::SdeParts::drift>{}(0., y, p);
    const auto given = In::Program<eddy::ito, eddy::detail::SdeParts::drift>{}(0., y, p);
    for (int i = 0; i < 2; ++i) {
        CHECK(there[i] == Approx(wanted[i]).margin(1e-15));
        CHECK(back[i] == Approx(given[i]).margin(1e-15));
    }
}

TEST_CASE("stochastic methods: strong order for diagonal noise") {
    using Ito = Diagonal<eddy::ito>;
    const double half = order_to_exact<Ito, eddy::EulerMaruyama>();
    require_order(half, 0.5);
    CHECK(half < 0.7);  // it is no better than it should be: there is noise
    require_order(order_to_exact<Ito, eddy::Milstein>(), 1);
    require_order(order_to_exact<Ito, eddy::EulerHeun>(), 1);
    require_order(order_to_exact<Ito, eddy::Heun>(), 1);
    require_order(order_to_exact<Ito, eddy::Midpoint>(), 1);
    require_order(order_to_exact<Ito, eddy::Ralston>(), 1);
    require_order(order_to_exact<Ito, eddy::SPaRK>(), 1);
    require_order(order_to_exact<Ito, eddy::GeneralShARK>(), 1);
    require_order(order_to_exact<Ito, eddy::SRIW1>(), 1.5);
    require_order(order_to_exact<Ito, eddy::SOSRI>(), 1.5);
    require_order(order_to_exact<Ito, eddy::SlowRK>(), 1.5);
}

TEST_CASE("stochastic methods: a Runge-Kutta method of high order follows the chords of a path") {
    const double order = order_to_finer<Additive, eddy::RK4, eddy::SRA1>();
    require_order(order, 1);
    CHECK(order < 1.2);
    // Where noise and drift commute, the chords tell all.
    require_order(order_to_exact<Diagonal<eddy::ito>, eddy::RK4>(), 2);
}

TEST_CASE("stochastic methods: the solution is the same in either calculus") {
    using Stratonovich = Diagonal<eddy::stratonovich>;
    require_order(order_to_exact<Stratonovich, eddy::EulerMaruyama>(), 0.5);
    require_order(order_to_exact<Stratonovich, eddy::Milstein>(), 1);
    require_order(order_to_exact<Stratonovich, eddy::Heun>(), 1);
    require_order(order_to_exact<Stratonovich, eddy::SRIW1>(), 1.5);
}

TEST_CASE("stochastic methods: strong order for one noise of several components") {
    require_order(order_to_exact<OneNoise, eddy::EulerMaruyama>(), 0.5);
    require_order(order_to_exact<OneNoise, eddy::Milstein>(), 1);
    require_order(order_to_exact<OneNoise, eddy::EulerHeun>(), 1);
    require_order(order_to_exact<OneNoise, eddy::SPaRK>(), 1);
    require_order(order_to_exact<OneNoise, eddy::SOSRI>(), 1.5);
    require_order(order_to_exact<OneNoise, eddy::SlowRK>(), 1.5);
}

TEST_CASE("stochastic methods: strong order for noises that commute, as their field says") {
    using Ito = Commuting<eddy::ito>;
    CHECK(eddy::TermOf<Ito>::noise == NoiseClass::commutative);
    require_order(order_to_exact<Ito, eddy::EulerMaruyama>(), 0.5);
    require_order(order_to_exact<Ito, eddy::Milstein>(), 1);
    require_order(order_to_exact<Commuting<eddy::stratonovich>, eddy::Milstein>(), 1);
}

TEST_CASE("stochastic methods: the way back of Milstein's step for noises that commute") {
    using Stepper = eddy::StepperFor<eddy::TermOf<Commuting<eddy::ito>>, eddy::Milstein, false>;
    NoisePlan plan;
    plan.key = eddy::PhiloxKey(20);
    const eddy::StepSize<double, double> dt{cell, cell};
    const eddy::BrownianPath<double> along({3., 0., cell}, plan, {0, 0.});
    const double t = 0;
    const State y{{1.2, -0.7}}, cotangent{{0.8, 1.7}};
    const double* const parameters = p;
    State of_p{};
    int unused = 0;

    const eddy::StepInput in{t, y, parameters, dt, along};
    Stepper::Linearization<double> of_step;
    Stepper::linearize(in, eddy::NoMemory{}, of_step);
    const State of_y = Stepper::pull(in, of_step, cotangent, unused, of_p, unused);

    const auto product = [&](const State& from, const double* changed) {
        const State next =
            Stepper::step(eddy::StepInput{t, from, changed, dt, along}, eddy::NoMemory{});
        return cotangent[0] * next[0] + cotangent[1] * next[1];
    };
    for (int i = 0; i < 2; ++i) {
        const double by = 1e-5;  // a step is a polynomial: errors of 1e-10
        State above = y, below = y;
        above[i] += by, below[i] -= by;
        CHECK(of_y[i] == Approx((product(above, p) - product(below, p)) / (2 * by)).epsilon(1e-8));
        double more[2] = {p[0], p[1]}, less[2] = {p[0], p[1]};
        more[i] += by, less[i] -= by;
        CHECK(of_p[i] ==
              Approx((product(y, more) - product(y, less)) / (2 * by)).epsilon(1e-8).margin(1e-10));
    }
}

TEST_CASE("stochastic methods: strong order for additive noise that depends on time") {
    require_order(order_to_finer<Additive, eddy::EulerMaruyama, eddy::SRA1>(), 1);
    require_order(order_to_finer<Additive, eddy::SEA, eddy::SRA1>(), 1);
    require_order(order_to_finer<Additive, eddy::SRA1, eddy::ShARK>(), 1.5);
    require_order(order_to_finer<Additive, eddy::ShARK, eddy::SRA1>(), 1.5);
    require_order(order_to_finer<Additive, eddy::SOSRA, eddy::SRA1>(), 1.5);
    require_order(order_to_finer<Additive, eddy::GeneralShARK, eddy::SRA1>(), 1.5);
}

TEST_CASE("stochastic methods: strong order one half for noises that do not commute") {
    require_order(order_to_finer<General, eddy::EulerMaruyama, eddy::SPaRK>(), 0.5);
    require_order(order_to_finer<General, eddy::Heun, eddy::SPaRK>(), 0.5);
    require_order(order_to_finer<General, eddy::SPaRK, eddy::SPaRK>(), 0.5);
}

namespace {

/// Sums over the stages of a method's table.
template <class Method>
struct Sums {
    static constexpr auto& table = Method::stochastic;
    static constexpr int stages = Method::stochastic.num_stages;
    using Numbers = double[stages];
    struct Values {
        double of[stages]{};
    };

    /// Σ_j a_ij x_j; of each row of `a` alone, its sum.
    static Values product(const double (&a)[stages][stages], const Values& x) {
        Values result;
        for (int i = 0; i < stages; ++i)
            for (int j = 0; j < stages; ++j) result.of[i] += a[i][j] * x.of[j];
        return result;
    }
    static Values rows(const double (&a)[stages][stages]) {
        Values ones;
        for (double& one : ones.of) one = 1;
        return product(a, ones);
    }
    /// Σ_i weights_i x_i …
    static double sum(const Numbers& weights, const auto&... x) {
        double total = 0;
        for (int i = 0; i < stages; ++i) total += (weights[i] * ... * x.of[i]);
        return total;
    }

    Values c = rows(table.a), w = rows(table.a_w), h = rows(table.a_h), root = rows(table.a_root);
};
/// Digits of papers are given to some 1e-16, and are at most 20.
void require_sum(double found, double wanted) { CHECK(std::abs(found - wanted) <= 1e-13); }

/// What drift and noise make of each other up to h^(3/2), and the means of h²: f′g ∫W, f″g² ∫W²/2.
template <class Method>
void require_drift_along_noise() {
    const Sums<Method> of;
    const auto& table = Method::stochastic;
    require_sum(of.sum(table.b), 1);
    require_sum(of.sum(table.b, of.c), 1. / 2);
    require_sum(of.sum(table.b, of.w), 1. / 2);  // ∫W = h (W/2 + H)
    require_sum(of.sum(table.b, of.h), 1);
    require_sum(of.sum(table.b, of.w, of.w) + of.sum(table.b, of.h, of.h) / 12, 1. / 2);
}

}  // namespace

// Conditions as polynomials in the digits of a table see each of them, which slopes of errors do not.
TEST_CASE("stochastic tables: conditions of strong order 3/2 for additive noise") {
    const auto check = []<class Method>(Method) {
        require_drift_along_noise<Method>();
        const Sums<Method> of;
        const auto& table = Method::stochastic;
        typename Sums<Method>::Values at;
        for (int i = 0; i < of.stages; ++i) at.of[i] = table.c[i];
        require_sum(of.sum(table.b, at), 1. / 2);
        require_sum(of.sum(table.b_w), 1);
        require_sum(of.sum(table.b_h), 0);
        require_sum(of.sum(table.b_w, at), 1. / 2);  // ∫s dW = h (W/2 − H)
        require_sum(of.sum(table.b_h, at), -1);
    };
    check(eddy::SRA1{});
    check(eddy::SOSRA{});
    check(eddy::ShARK{});
}

// Rößler 2010, theorem 6.1: of his weights β3 are b_h, β1 are b_w − b_h/2, β2 b_w2 and β4 b_w3; B0 is a_h.
TEST_CASE("stochastic tables: conditions of strong order 3/2 for diagonal noise, after Itô") {
    const auto check = []<class Method>(Method) {
        require_drift_along_noise<Method>();
        const Sums<Method> of;
        const auto& table = Method::stochastic;
        const auto twice = of.product(table.a_root, of.root);
        for (int i = 0; i < of.stages; ++i) require_sum(of.w.of[i], of.h.of[i] / 2);
        double beta1[of.stages];
        for (int i = 0; i < of.stages; ++i) beta1[i] = table.b_w[i] - table.b_h[i] / 2;
        const auto check_weights = [&](const auto& beta, double sum, double root, double c,
                                       double squares, double chain) {
            require_sum(of.sum(beta), sum);
            require_sum(of.sum(beta, of.root), root);
            require_sum(of.sum(beta, of.c), c);
            require_sum(of.sum(beta, of.root, of.root), squares);
            require_sum(of.sum(beta, twice), chain);
        };
        check_weights(beta1, 1, 0, 1, 1, 0);
        check_weights(table.b_w2, 0, 1, 0, 0, 0);
        check_weights(table.b_h, 0, 0, -1, -1, 0);
        check_weights(table.b_w3, 0, 0, 0, 2, 1);
        const auto mixed = of.product(table.a, of.h);
        require_sum(of.sum(beta1, mixed) / 2 + of.sum(table.b_h, mixed) / 3, 0);
    };
    check(eddy::SRIW1{});
    check(eddy::SOSRI{});
}

// The noise by itself asks for the classical order 4, whose terms of W⁴ have a mean of order h²; so have three
// of f and g together: f′g′g and g″(f, g) and g′g′f, each h²/4.
TEST_CASE("stochastic tables: conditions of strong order 3/2 for diagonal noise by Stratonovich") {
    require_drift_along_noise<eddy::SlowRK>();
    const Sums<eddy::SlowRK> of;
    const auto& [c, w, h, root] = of;
    const auto& table = eddy::SlowRK::stochastic;
    const auto chain = of.product(table.a_w, w);
    typename Sums<eddy::SlowRK>::Values squares;
    for (int i = 0; i < of.stages; ++i) squares.of[i] = w.of[i] * w.of[i];
    require_sum(of.sum(table.b_w), 1);
    require_sum(of.sum(table.b_w, w), 1. / 2);
    require_sum(of.sum(table.b_w, w, w), 1. / 3);
    require_sum(of.sum(table.b_w, chain), 1. / 6);
    require_sum(of.sum(table.b_w, w, w, w), 1. / 4);
    require_sum(of.sum(table.b_w, w, chain), 1. / 8);
    require_sum(of.sum(table.b_w, of.product(table.a_w, squares)), 1. / 12);
    require_sum(of.sum(table.b_w, of.product(table.a_w, chain)), 1. / 24);
    require_sum(of.sum(table.b_w, c), 1. / 2);
    require_sum(of.sum(table.b_h), 0);
    require_sum(of.sum(table.b_h, c), -1);
    require_sum(of.sum(table.b, chain), 1. / 4);
    require_sum(of.sum(table.b_w, c, w), 1. / 4);
    require_sum(of.sum(table.b_w, of.product(table.a_w, c)), 1. / 4);
    require_sum(of.sum(table.b_w, of.product(table.a, w)), 0);
}

// g′g W²/2, and nothing of W H and H².
TEST_CASE("stochastic tables: conditions of strong order 1 for noises that commute") {
    const auto check = []<class Method>(Method) {
        const Sums<Method> of;
        const auto& table = Method::stochastic;
        require_sum(of.sum(table.b_w, of.w), 1. / 2);
        require_sum(of.sum(table.b_w, of.h) + of.sum(table.b_h, of.w), 0);
        require_sum(of.sum(table.b_h, of.h), 0);
    };
    check(eddy::EulerHeun{});
    check(eddy::SPaRK{});
    check(eddy::GeneralShARK{});
}
