#pragma once
#include <eddy/steppers/rosenbrock_stepper.hpp>
namespace eddy::inline v0 {
/// RODASP, 4(3): 6 stages. As RODAS, and it keeps its order on linear parabolic equations and on y'
/// = λ(y − φ(t)) + φ'(t) for large λ.
/// Steinebach 1995, Order reduction of ROW methods for DAEs and method of lines applications,
/// Preprint 1741, Technische Hochschule Darmstadt.
struct Rodas4P {
    static constexpr int order = 4;
    static constexpr int embedded_order = 3;
    static constexpr RosenbrockTableau<6> coefficients{
        .gamma = 0.25,
        .c = {0, 0.75, 0.21, 0.63, 1, 1},
        .d = {0.25, -0.5, -0.023504, -0.0362, 0, 0},
        .a = {{},
              {3},
              {1.831036793486759, 0.4955183967433795},
              {2.304376582692669, -0.05249275245743001, -1.176798761832782},
              {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401},
              {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1}},
        .coupling = {{},
                     {-12},
                     {-8.791795173947035, -2.207865586973518},
                     {10.81793056857153, 6.780270611428266, 19.5348594464241},
                     {34.19095006749676, 15.49671153725963, 54.7476087596413, 14.16005392148534},
                     {34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095,
                      -5.714285714285717}},
        .m = {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1, 1},
        .m_error = {0, 0, 0, 0, 0, 1},
    };
    static constexpr RosenbrockInterpolant<6, 2> interpolant{
        .order = 3,
        .h = {{25.09876703708589, 11.62013104361867, 28.49148307714626, -5.664021568594133},
              {1.638054557396973, -0.7373619806678748, 8.47791821923899, 15.9925314877952,
               -1.882352941176471}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = RosenbrockStepper<Term, Rodas4P, estimates_error>;
};
}  // namespace eddy::inline v0
