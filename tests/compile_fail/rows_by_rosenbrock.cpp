// expect: Rows: the method must be an explicit Runge-Kutta method, such as Tsit5
// Equations over rows are solved by tableaus.
#include <eddy/runtime.hpp>
#ifdef EDDY_BAD
#include <eddy/solvers/rodas5p.hpp>
using Method = eddy::Rodas5P;
#else
using Method = eddy::Tsit5;
#endif

double end_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::solve(field, Method{}, y0, y0, {.t1 = 1}).y()(0, 0);
}
