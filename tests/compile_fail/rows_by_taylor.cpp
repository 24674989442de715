// expect: Rows: the method must be an explicit Runge-Kutta method, such as Tsit5, a Rosenbrock method, such as Rodas5P, or an ESDIRK method, such as Kvaerno5, of an equation that is not split
// Taylor's method is recurrences that are made for each equation.
#include <eddy/runtime.hpp>
#ifdef EDDY_BAD
#include <eddy/solvers/taylor.hpp>
using Method = eddy::Taylor<8>;
#else
#include <eddy/solvers/kvaerno3.hpp>
using Method = eddy::Kvaerno3;
#endif

double end_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::solve(field, Method{}, y0, y0, {.t1 = 1}).y()(0, 0);
}
