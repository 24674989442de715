#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Fehlberg 4(5): 6 stages. It steps with the fourth-order method, as its author does. The
/// fifth-order method estimates the error.
/// Fehlberg 1970, Computing 6, 61–71, doi:10.1007/BF02241732.
struct Fehlberg45 {
    static constexpr int order = 4;
    static constexpr int embedded_order = 5;
    static constexpr ButcherTableau<6> tableau{
        .c = {0, 1. / 4, 3. / 8, 12. / 13, 1, 1. / 2},
        .a = {{},
              {1. / 4},
              {3. / 32, 9. / 32},
              {1932. / 2197, -7200. / 2197, 7296. / 2197},
              {439. / 216, -8, 3680. / 513, -845. / 4104},
              {-8. / 27, 2, -3544. / 2565, 1859. / 4104, -11. / 40}},
        .b = {25. / 216, 0, 1408. / 2565, 2197. / 4104, -1. / 5, 0},
        .b_error = {-1. / 360, 0, 128. / 4275, 2197. / 75240, -1. / 50, -2. / 55},
    };
};
}  // namespace eddy::inline v0
