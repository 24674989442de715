#include <cmath>
#include <eddy/core/pack.hpp>
#include <eddy/solvers/all.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>

#include "support/catch.hpp"

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
template <class Number>
using State = Vec<Number, 3>;

/// r of a step of size h with a cotangent; 0 where nothing is suspect.
template <class Method, class Number = double>
Number ratio(const Vec<Number, 9>& a, const State<Number>& cotangent, double h) {
    using Stepper = eddy::ExplicitRungeKuttaStepper<eddy::OdeTerm<Linear>, Method, true>;
    const State<Number> y{};
    const eddy::StepSize<double, Number> size{h, Number(h)};
    const eddy::StepInput in{0., y, a, size, eddy::NoPath{}};
    return Stepper::Watch::ratio(in, y, cotangent);
}
/// Decay at the rates 1, 2 and `fast`.
constexpr Vec<double, 9> decay(double fast) { return {{-1, 0, 0, 0, -2, 0, 0, 0, -fast}}; }

}  // namespace

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

TEST_CASE("adjoint_watch: sees a fast mode of which the cotangent holds 1e-6, by every method") {
    eddy::AllMethods::for_each([]<class Method>() {
        constexpr double length = eddy::stability_length<Method>, h = 0.01;
        CHECK(ratio<Method>(decay(2 * length / h), {{1, 1, 1e-6}}, h) ==
              Approx(2 * length).epsilon(1e-6));
        CHECK(ratio<Method>(decay(0.1 * length / h), {{1, 1, 1}}, h) == 0);
        CHECK(ratio<Method>(decay(0.45 * length / h), {{1, 1, 1}}, h) < 0.5 * length);
    });
}

TEST_CASE("adjoint_watch: a mode that the cotangent holds nothing of is none") {
    CHECK(ratio<eddy::Tsit5>(decay(1000), {{1, 1, 0}}, 0.01) == 0);
    CHECK(ratio<eddy::Tsit5>({{-1, 100, 0, 0, -2, 0, 0, 0, -1}}, {{1, 1, 1}}, 0.2) == 0);
}

TEST_CASE("adjoint_watch: sees an oscillator whose products are long and short by turns") {
    const double omega = 100, h = 0.04;
    const Vec<double, 9> oscillator{{0, 1, 0, -omega * omega, 0, 0, 0, 0, -1}};

    CHECK(ratio<eddy::Tsit5>(oscillator, {{1, 0, 1}}, h) == Approx(h * omega));
}

TEST_CASE("adjoint_watch: sizes of cotangents do not matter, and NaN is nothing") {
    const double found = ratio<eddy::Tsit5>(decay(1000), {{1, 1, 1}}, 0.01);
    for (const double size : {1e-250, 1e250})
        CHECK(ratio<eddy::Tsit5>(decay(1000), {{size, size, size}}, 0.01) == Approx(found));
    CHECK_FALSE(ratio<eddy::Tsit5>(decay(1000), {{0, 0, 0}}, 0.01) > 1);
    CHECK_FALSE(ratio<eddy::Tsit5>(decay(1000), {{NAN, 1, 1}}, 0.01) > 1);
}

TEST_CASE("adjoint_watch: each place of a pack has its own") {
    using Pack = eddy::Pack<double, 4>;
    Vec<Pack, 9> a{};
    for (int i = 0; i < 9; ++i) a[i] = Pack(decay(1000)[i]);
    for (int place = 0; place < 4; ++place) a[8].set(place, place % 2 == 0 ? -1000. : -3.);
    const Pack found = ratio<eddy::Tsit5, Pack>(a, {{Pack(1), Pack(1), Pack(1)}}, 0.01);

    for (int place = 0; place < 4; ++place)
        CHECK(found[place] == ratio<eddy::Tsit5>(decay(-a[8][place]), {{1, 1, 1}}, 0.01));
}
