// expect: loss: the loss must be an empty functor or a captureless lambda; pass values as data or parameters
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1), data(1, 1, 1);

auto fit([[maybe_unused]] double weight) {
#ifdef EDDY_BAD
    const auto loss = [weight](auto, const auto& y, const auto&) { return weight * y[0]; };
#else
    const auto loss = [](auto, const auto& y, const auto& q) { return q[0] * y[0]; };
#endif
    return eddy::value_and_gradient(Decay{}, eddy::Euler{}, loss, start, p, {.t1 = 1, .dt0 = 0.5},
                                    eddy::Serial{});
}
