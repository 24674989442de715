#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Cash–Karp 5(4): 6 stages. Fifth order, embedded fourth-order error estimate. The paper's further
/// embedded methods, of orders 1 to 3, are not used.
/// Cash & Karp 1990, ACM Trans. Math. Softw. 16(3), 201–222, doi:10.1145/79505.79507.
struct CashKarp {
    static constexpr int order = 5;
    static constexpr int embedded_order = 4;
    static constexpr ButcherTableau<6> tableau{
        .c = {0, 1. / 5, 3. / 10, 3. / 5, 1, 7. / 8},
        .a = {{},
              {1. / 5},
              {3. / 40, 9. / 40},
              {3. / 10, -9. / 10, 6. / 5},
              {-11. / 54, 5. / 2, -70. / 27, 35. / 27},
              {1631. / 55296, 175. / 512, 575. / 13824, 44275. / 110592, 253. / 4096}},
        .b = {37. / 378, 0, 250. / 621, 125. / 594, 0, 512. / 1771},
        .b_error = {37. / 378 - 2825. / 27648, 0, 250. / 621 - 18575. / 48384,
                    125. / 594 - 13525. / 55296, -277. / 14336, 512. / 1771 - 1. / 4},
    };
};
}  // namespace eddy::inline v0
