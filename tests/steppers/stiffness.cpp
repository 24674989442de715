// Do the stages of a step tell whether stability bounds its size, for every explicit method?

#include <eddy/steppers/stiffness.hpp>

#include <cmath>
#include <eddy/core/pack.hpp>
#include <eddy/solvers/all.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>

#include "support/catch.hpp"

using eddy::Vec;

namespace {

/// y1 follows sin t at the rate p, y2 turns with y3 once in 2π.
struct Followed {
    static constexpr int state_size = 3, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (sin(t) - y[0]) + cos(t), y[2], -y[1]);
    }
};

template <class Method>
using StepperOf = eddy::ExplicitRungeKuttaStepper<eddy::OdeTerm<Followed>, Method, true>;

/// Of a step of `length` stability lengths from t = 1, where y1 is off by `excited`.
template <class Method, class Number = double>
auto is_stiff(double rate, double length, double excited) {
    using Stepper = StepperOf<Method>;
    const double h = length * eddy::stability_length<Method> / rate;
    const Vec<Number, 3> y{{Number(std::sin(1.) + excited), Number(1), Number(0.5)}};
    const Vec<Number, 1> p{{Number(rate)}};
    const eddy::StepSize<double, Number> size{h, Number(h)};
    const eddy::StepInput in{1., y, p, size, eddy::NoPath{}};
    typename Stepper::template Trial<Number> trial;
    Stepper::attempt(in, Stepper::first(in), trial);
    return Stepper::is_stiff(in, trial);
}

template <class Method>
inline constexpr bool tells = Method::tableau.b_error[0] != 0 && StepperOf<Method>::tells_stiffness;

/// Modes that are excited by as much as tolerances let them be.
template <class Method>
void check_bound() {
    for (const double rate : {1e3, 1e6}) {
        for (const double excited : {1e-3, 1e-5}) {
            INFO("order " << Method::order << ", rate " << rate << ", excited by " << excited);
            CHECK(is_stiff<Method>(rate, 0.97, excited));
            CHECK(!is_stiff<Method>(rate, 0.85, excited));
        }
    }
    CHECK(!is_stiff<Method>(1e-3, 1e-4, 1e-3));
}

}  // namespace

TEST_CASE("stiffness: explicit methods of three stages or more tell the bound of their stability") {
    int count = 0;
    eddy::AllMethods::for_each([&]<class Method>() {
        if constexpr (tells<Method>) {
            check_bound<Method>();
            ++count;
        }
    });
    CHECK(count == 8);
}

TEST_CASE("stiffness: the stages that tell are those of one time, where a method has two") {
    constexpr auto of_tsit5 = eddy::detail::stage_difference<eddy::Tsit5>;
    constexpr auto of_fehlberg = eddy::detail::stage_difference<eddy::Fehlberg78>;
    constexpr auto of_bosh3 = eddy::detail::stage_difference<eddy::Bosh3>;

    CHECK((of_tsit5.weight[6] == 1 && of_tsit5.weight[5] == -1 && of_tsit5.weight[4] == 0));
    CHECK((of_fehlberg.weight[12] == 1 && of_fehlberg.weight[11] == 0));
    CHECK(of_fehlberg.weight[10] == -1);
    // A second difference takes straight lines out.
    CHECK((of_bosh3.weight[0] == 0 && of_bosh3.weight[1] == 8 && of_bosh3.weight[2] == -16 &&
           of_bosh3.weight[3] == 8));
}
