#include <cmath>
#include <eddy/core/pack.hpp>
#include <eddy/solvers/all.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>

#include "support/catch.hpp"

using Catch::Detail::Approx;
using eddy::Vec;

namespace {

/// y' = A y, p = A row by row.
struct Linear {
    static constexpr int state_size = 3, parameter_size = 9;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] + p[1] * y[1] + p[2] * y[2],
                         p[3] * y[0] + p[4] * y[1] + p[5] * y[2],
                         p[6] * y[0] + p[7] * y[1] + p[8] * y[2]);
    }
};
template <class Method>
using StepperOf = eddy::ExplicitRungeKuttaStepper<eddy::OdeTerm<Linear>, Method, true>;
using State = Vec<double, 3>;

/// A step of size h from a state that plays no part, with cotangent λ.
template <class Method>
struct Adjoint {
    using Stepper = StepperOf<Method>;
    static constexpr int num_stages = Stepper::Steps::num_stages;
    Vec<double, 9> a;
    State y{}, lambda;
    eddy::StepSize<double, double> h;
    State products[num_stages];

    Adjoint(const Vec<double, 9>& matrix, const State& cotangent, double size)
        : a(matrix), lambda(cotangent), h{size, size} {
        typename Stepper::template Linearization<double, false, false> linearization;
        Stepper::linearize(input(), typename Stepper::template Memory<double>{}, linearization);
        double of_p[9] = {};
        eddy::NoTimeCotangents times;
        pulled = Stepper::pull_watched(input(), linearization, lambda, of_p, times, products);
    }
    auto input() const { return eddy::StepInput{0., y, a, h, eddy::NoPath{}}; }
    State pulled;
    /// hAᵀ w.
    State product(const State& w) const {
        State sum{};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) sum[j] += h.h * a[3 * i + j] * w[i];
        }
        return sum;
    }
    bool is_suspect() const {
        State direction;
        return Stepper::Watch::suspects(lambda, products, direction);
    }
    double ratio() const {
        State direction;
        static_cast<void>(Stepper::Watch::suspects(lambda, products, direction));
        return Stepper::Watch::ratio(input(), y, direction);
    }
};

constexpr Vec<double, 9> some_matrix{{-1, 2, 0.5, 0.3, -4, 1, 0.2, -0.7, -2}};
constexpr State some_cotangent{{1, -0.5, 2}};
/// Decay at the rates 1, 2 and `fast`.
constexpr Vec<double, 9> decay(double fast) { return {{-1, 0, 0, 0, -2, 0, 0, 0, -fast}}; }

}  // namespace

TEST_CASE("adjoint_powers: the weights are those of the published derivation") {
    constexpr auto& bosh3 = eddy::adjoint_powers<eddy::Bosh3, 3>;
    CHECK(bosh3.weight[3][0] == Approx(6));
    CHECK(bosh3.weight[3][1] == Approx(-3));
    CHECK(bosh3.weight[3][2] == Approx(-0.75));
    constexpr auto& dopri5 = eddy::adjoint_powers<eddy::Dopri5, 6>;
    CHECK(dopri5.weight[6][5] == Approx(272.72727).epsilon(1e-7));
    CHECK(dopri5.weight[6][4] == Approx(1074.0741).epsilon(1e-7));
    constexpr auto& tsit5 = eddy::adjoint_powers<eddy::Tsit5, 6>;
    CHECK(tsit5.weight[6][5] == Approx(4389.8526).epsilon(1e-7));
    CHECK(tsit5.weight[6][4] == Approx(4115.1966).epsilon(1e-7));
}

TEST_CASE("adjoint_powers: where the Jacobian is constant they give the powers of every method") {
    eddy::AllMethods::for_each([]<class Method>() {
        const Adjoint<Method> adjoint(some_matrix, some_cotangent, 0.7);
        constexpr int stages = Adjoint<Method>::num_stages;
        constexpr auto& powers = eddy::adjoint_powers<Method, stages>;
        constexpr int highest = powers.highest < 6 ? powers.highest : 6;

        CHECK(powers.highest >= std::min(stages, 6));
        State v = some_cotangent;
        for (int q = 1; q <= highest; ++q) {
            v = adjoint.product(v);
            for (int i = 0; i < 3; ++i) {
                double sum = 0, largest = 0;
                for (int stage = 0; stage < stages; ++stage) {
                    const double term = powers.weight[q][stage] * adjoint.products[stage][i];
                    sum += term;
                    largest = std::max(largest, std::abs(term));
                }
                CHECK(std::abs(sum - v[i]) <= 1e-13 * largest + 1e-12 * std::abs(v[i]));
            }
        }
    });
}

TEST_CASE("stability_length: the bounds of the classical methods") {
    CHECK(eddy::stability_length<eddy::Euler> == Approx(2));
    CHECK(eddy::stability_length<eddy::RK4> == Approx(2.785293563));  // Hairer & Wanner, IV.2
    CHECK(eddy::stability_length<eddy::Dopri5> == Approx(3.306568));
    eddy::AllMethods::for_each([]<class Method>() {
        constexpr double length = eddy::stability_length<Method>;
        CHECK(std::abs(eddy::stability_polynomial<Method>.at(-length)) <= 1);
        CHECK(std::abs(eddy::stability_polynomial<Method>.at(-length - 1e-6)) > 1);
    });
}

TEST_CASE("stability_polynomial: agrees with exp up to the order of the method") {
    eddy::AllMethods::for_each([]<class Method>() {
        double factorial = 1;
        for (int k = 0; k <= Method::order; ++k) {
            CHECK(eddy::stability_polynomial<Method>.gamma[k] == Approx(1 / factorial));
            factorial *= k + 1;
        }
    });
}

TEST_CASE("adjoint_watch: sees a fast mode of which the cotangent holds little") {
    eddy::AllMethods::for_each([]<class Method>() {
        constexpr double length = eddy::stability_length<Method>, h = 0.01;
        if constexpr (Adjoint<Method>::Stepper::Watch::high > 2) {
            const double little = Adjoint<Method>::Stepper::Watch::high > 4 ? 1e-6 : 1e-2;
            const Adjoint<Method> beyond(decay(2 * length / h), {{1, 1, little}}, h);
            CHECK(beyond.is_suspect());
            CHECK(beyond.ratio() == Approx(2 * length).epsilon(1e-3));
        }
        const Adjoint<Method> within(decay(0.1 * length / h), {{1, 1, 1}}, h);
        CHECK_FALSE(within.is_suspect());
        CHECK(within.ratio() == Approx(0.1 * length).epsilon(1e-3));
    });
}

TEST_CASE("adjoint_watch: sees an oscillator whose products are long and short by turns") {
    const double omega = 100, h = 0.04;
    const Vec<double, 9> oscillator{{0, 1, 0, -omega * omega, 0, 0, 0, 0, -1}};
    const Adjoint<eddy::Tsit5> adjoint(oscillator, {{1, 0, 1}}, h);

    CHECK(adjoint.is_suspect());
    CHECK(adjoint.ratio() == Approx(h * omega));
}

TEST_CASE("adjoint_watch: leaving the products behind does not change a step's adjoint") {
    const Adjoint<eddy::Tsit5> adjoint(some_matrix, some_cotangent, 0.7);
    double of_p[9] = {};
    const State pulled = eddy::ExplicitRungeKutta<Linear, eddy::Tsit5>::pullback(
        0., adjoint.y, adjoint.a, adjoint.h, some_cotangent, of_p);

    for (int i = 0; i < 3; ++i) CHECK(pulled[i] == adjoint.pulled[i]);
}
