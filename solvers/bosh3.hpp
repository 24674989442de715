#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Bogacki–Shampine 3(2): 4 stages, FSAL. Third order, embedded second-order error estimate.
/// Bogacki & Shampine 1989, Appl. Math. Lett. 2(4), 321–325, doi:10.1016/0893-9659(89)90079-7.
struct Bosh3 {
    static constexpr int order = 3;
    static constexpr int embedded_order = 2;
    static constexpr ButcherTableau<4> tableau{
        .c = {0, 1. / 2, 3. / 4, 1},
        .a = {{}, {1. / 2}, {0, 3. / 4}, {2. / 9, 1. / 3, 4. / 9}},
        .b = {2. / 9, 1. / 3, 4. / 9, 0},
        .b_error = {2. / 9 - 7. / 24, 1. / 3 - 1. / 4, 4. / 9 - 1. / 3, -1. / 8},
    };
};
}  // namespace eddy::inline v0
