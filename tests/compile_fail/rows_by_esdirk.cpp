// expect: Rows: the method must be an explicit Runge-Kutta method, such as Tsit5, or a Rosenbrock method, such as Rodas5P
// No Newton iteration is made over rows.
#include <eddy/runtime.hpp>
#ifdef EDDY_BAD
#include <eddy/solvers/kvaerno3.hpp>
using Method = eddy::Kvaerno3;
#else
#include <eddy/solvers/rodas5p.hpp>
using Method = eddy::Rodas5P;
#endif

double end_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::solve(field, Method{}, y0, y0, {.t1 = 1}).y()(0, 0);
}
