// What compile_time.py compiles for whole calls: the header alone (CALL 0), a solve (1) or a
// gradient (2) of EQUATION by METHOD, with the defaults otherwise.

#include <eddy/eddy.hpp>

#include "support/equations.hpp"
#include "support/stiff_equations.hpp"

using Field = support::EQUATION;
using Array = eddy::EnsembleArray<double>;

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

double first_of([[maybe_unused]] const Array& y0, [[maybe_unused]] const Array& p,
                [[maybe_unused]] const Array& data) {
#if CALL == 0
    return 0;
#elif CALL == 1
    return eddy::solve(Field{}, eddy::METHOD{}, y0, p, {.t1 = 1}).y()(0, 0);
#else
    return eddy::value_and_gradient(Field{}, eddy::METHOD{}, SquaredError{}, data, y0, p, {.t1 = 1})
        .loss(0);
#endif
}
