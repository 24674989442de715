#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Fehlberg 7(8): 13 stages. It steps with the eighth-order method, as is usual today. The
/// seventh-order method, with which its author steps, estimates the error. The estimate is zero if
/// f depends only on t.
/// Fehlberg 1968, NASA Technical Report R-287, table X,
/// https://ntrs.nasa.gov/citations/19680027281.
struct Fehlberg78 {
    static constexpr int order = 8;
    static constexpr int embedded_order = 7;
    static constexpr ButcherTableau<13> tableau{
        .c = {0, 2. / 27, 1. / 9, 1. / 6, 5. / 12, 1. / 2, 5. / 6, 1. / 6, 2. / 3, 1. / 3, 1, 0, 1},
        .a = {{},
              {2. / 27},
              {1. / 36, 1. / 12},
              {1. / 24, 0, 1. / 8},
              {5. / 12, 0, -25. / 16, 25. / 16},
              {1. / 20, 0, 0, 1. / 4, 1. / 5},
              {-25. / 108, 0, 0, 125. / 108, -65. / 27, 125. / 54},
              {31. / 300, 0, 0, 0, 61. / 225, -2. / 9, 13. / 900},
              {2, 0, 0, -53. / 6, 704. / 45, -107. / 9, 67. / 90, 3},
              {-91. / 108, 0, 0, 23. / 108, -976. / 135, 311. / 54, -19. / 60, 17. / 6, -1. / 12},
              {2383. / 4100, 0, 0, -341. / 164, 4496. / 1025, -301. / 82, 2133. / 4100, 45. / 82,
               45. / 164, 18. / 41},
              {3. / 205, 0, 0, 0, 0, -6. / 41, -3. / 205, -3. / 41, 3. / 41, 6. / 41},
              {-1777. / 4100, 0, 0, -341. / 164, 4496. / 1025, -289. / 82, 2193. / 4100, 51. / 82,
               33. / 164, 12. / 41, 0, 1}},
        .b = {0, 0, 0, 0, 0, 34. / 105, 9. / 35, 9. / 35, 9. / 280, 9. / 280, 0, 41. / 840,
              41. / 840},
        .b_error = {-41. / 840, 0, 0, 0, 0, 0, 0, 0, 0, 0, -41. / 840, 41. / 840, 41. / 840},
    };
};
}  // namespace eddy::inline v0
