// expect: observe: the function must be an empty functor or a captureless lambda
// What is saved is traced, and so holds no values.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

const double factor = 2;
const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1);
const auto solution = [](double scale) {
    (void)scale;
#ifdef EDDY_BAD
    const auto scaled = [scale](auto, const auto& y, const auto&) { return scale * y; };
#else
    const auto scaled = [](auto, const auto& y, const auto& rate) { return rate[0] * y; };
#endif
    return eddy::solve(Decay{}, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{},
                       eddy::observe(scaled));
}(factor);
