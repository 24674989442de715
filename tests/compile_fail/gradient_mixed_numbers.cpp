// expect: data and cotangents must hold the same type of number as y0 and p
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return (y[0] - data[0]) * (y[0] - data[0]);
    }
};

#ifdef EDDY_BAD
using Real = float;
#else
using Real = double;
#endif
const eddy::EnsembleArray<Real> start(1, 1, 1), p(1, 1, 1);
const eddy::EnsembleArray<double> data(1, 1, 1);
const auto result = eddy::value_and_gradient(Decay{}, eddy::Euler{}, Square{}, data, start, p,
                                             {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
