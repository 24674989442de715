// expect: Rows: Rosenbrock methods have solve, value_and_gradient and pullback, without differentiate_times
// A step by a Rosenbrock method is pulled back to states and parameters.
#include <eddy/runtime.hpp>
#ifdef EDDY_BAD
#include <eddy/solvers/rodas5p.hpp>
using Method = eddy::Rodas5P;
#else
using Method = eddy::Tsit5;
#endif

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

double slope_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::value_and_gradient(field, Method{}, Square{}, y0, y0, {.t1 = 1},
                                    eddy::differentiate_times)
        .gradient.p(0, 0);
}
