// expect: solve: y0 must be a \(trajectory, component\) array .* an expression must be evaluated first: \(a \+ b\).eval\(\)
// What an array library makes of a + b has no numbers of its own yet.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Expression {
    static constexpr bool IsRowMajor = false, IsVectorAtCompileTime = false;
    long rows() const { return 1; }
    long cols() const { return 1; }
    double coeff(long, long) const { return 1; }
    eddy::EnsembleArray<double> eval() const { return {1, 1, 1}; }
};

const eddy::EnsembleArray<double> p(1, 1, 1);
#ifdef EDDY_BAD
const Expression start;
#else
const auto start = Expression{}.eval();
#endif

const auto solution =
    eddy::solve(Decay{}, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
