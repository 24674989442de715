#pragma once
#include <eddy/steppers/esdirk_stepper.hpp>
namespace eddy::inline v0 {
/// KenCarp4, 4(3): 6 stages, an implicit-explicit (IMEX) pair. Fourth order, third-order dense
/// output; its implicit part is L-stable and stiffly accurate. If the right-hand side has members
/// stiff(t, y, p) and non_stiff(t, y, p), the first is treated implicitly and the second
/// explicitly. Any other right-hand side is treated implicitly.
/// Kennedy & Carpenter 2003, Appl. Numer. Math. 44(1–2), 139–181, doi:10.1016/S0168-9274(02)00138-1
/// (ARK4(3)6L[2]SA).
struct KenCarp4 {
    static constexpr int order = 4;
    static constexpr int embedded_order = 3;
    /// How large the error that Newton's iteration leaves may be, in units of the tolerances; in (0, 1].
    double newton_tolerance = 1e-2;
    static constexpr EsdirkTableau<6> coefficients{
        .gamma = 1. / 4,
        .c = {0, 1. / 2, 83. / 250, 31. / 50, 17. / 20, 1},
        .a = {{},
              {1. / 4},
              {8611. / 62500, -1743. / 31250},
              {5012029. / 34652500, -654441. / 2922500, 174375. / 388108},
              {15267082809. / 155376265600, -71443401. / 120774400, 730878875. / 902184768,
               2285395. / 8070912},
              {82889. / 524892, 0, 15625. / 83664, 69875. / 102672, -2260. / 8211}},
        .b_error = {82889. / 524892 - 4586570599. / 29645900160, 0,
                    15625. / 83664 - 178811875. / 945068544,
                    69875. / 102672 - 814220225. / 1159782912, -2260. / 8211 + 3700637. / 11593932,
                    1. / 4 - 61727. / 225920},
    };
    static constexpr double explicit_a[6][6] = {
        {},
        {1. / 2},
        {13861. / 62500, 6889. / 62500},
        {-116923316275. / 2393684061468, -2731218467317. / 15368042101831,
         9408046702089. / 11113171139209},
        {-451086348788. / 2902428689909, -2682348792572. / 7519795681897,
         12662868775082. / 11960479115383, 3355817975965. / 11060851509271},
        {647845179188. / 3216320057751, 73281519250. / 8382639484533, 552539513391. / 3454668386233,
         3354512671639. / 8306763924573, 4040. / 17871}};
    static constexpr EsdirkInterpolant<6, 3> interpolant{
        .order = 3,
        .weights = {{0.67641087176664296821, -0.79843831035964345947, 0.27994373375467184461},
                    {0, 0, 0},
                    {1.0052307488168616797, -1.5117395828307222686, 0.69326777453786135392},
                    {-0.83275978981982000952, 3.1667132862141279501, -1.6533882010849733605},
                    {-0.20970861229849977752, 0.69952868619464875933, -0.76506060489115568015},
                    {0.36082678153481513913, -1.5560640792184109813, 1.4452372976835958422}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = EsdirkStepper<Term, KenCarp4, estimates_error>;
};
}  // namespace eddy::inline v0
