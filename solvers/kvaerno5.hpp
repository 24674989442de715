#pragma once
#include <eddy/steppers/esdirk_stepper.hpp>
namespace eddy::inline v0 {
/// Kvaerno5, 5(4): 7 stages. Fifth order, L-stable, stiffly accurate, third-order dense output. Its
/// sixth stage is the embedded fourth-order solution, which is L-stable and stiffly accurate as
/// well. Its third stage evaluates f beyond the end of the step, by 0.23 of its size.
/// Kværnø 2004, BIT Numer. Math. 44(3), 489–502, doi:10.1023/B:BITN.0000046811.70614.38 (ESDIRK
/// 5/4).
struct Kvaerno5 {
    static constexpr int order = 5;
    static constexpr int embedded_order = 4;
    /// How large the error that Newton's iteration leaves may be, in units of the tolerances; in (0, 1].
    double newton_tolerance = 1e-2;
    static constexpr EsdirkTableau<7> coefficients{
        .gamma = 0.26,
        .c = {0, 0.52, 1.23033320996790809632, 0.89576598435007590291, 0.43639360985864758528, 1,
              1},
        .a = {{},
              {0.26},
              {0.13, 0.84033320996790809632},
              {0.22371961478320505592, 0.47675532319799699833, -0.06470895363112615134},
              {0.16648564323248321525, 0.10450018841591720412, 0.03631482272098715165,
               -0.13090704451073998571},
              {0.13855640231268224951, 0, -0.04245337201752043099, 0.02446657898003141966,
               0.61943039072480676182},
              {0.13659751177640291441, 0, -0.05496908796538376712, -0.04118626728321046868,
               0.62993304899016403192, 0.06962479448202728949}},
        .b_error = {0.13659751177640291441 - 0.13855640231268224951, 0,
                    -0.05496908796538376712 + 0.04245337201752043099,
                    -0.04118626728321046868 - 0.02446657898003141966,
                    0.62993304899016403192 - 0.61943039072480676182, 0.06962479448202728949 - 0.26,
                    0.26},
    };
    static constexpr EsdirkInterpolant<7, 3> interpolant{
        .order = 3,
        .weights = {{0.97013475317765514574, -1.3259965036291469633, 0.49245926222789473192},
                    {0.14568864231393045077, 0.3264532696502653981, -0.47214191196419584888},
                    {-0.001196399900396375408, -0.36419191842171904481, 0.31041923035673165309},
                    {-0.39886260724462567759, 1.2497219549022477679, -0.89204561494083255901},
                    {0.002189789096590911019, 0.80756696648362757484, -0.17982370659005445393},
                    {0.21683246040822007492, -0.54784227864066899893, 0.4006346127144762135},
                    {0.065213362148625470541, -0.14571149034460573386, 0.34049812819598026332}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = EsdirkStepper<Term, Kvaerno5, estimates_error>;
};
}  // namespace eddy::inline v0
