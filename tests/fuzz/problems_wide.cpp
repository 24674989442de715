// Problems of many numbers: a neural network by steps of constant size, whose parameters are shared
// and more than are summed lane by lane.

#include <eddy/solvers/heun.hpp>

#include "fuzz/problem_of.hpp"

namespace fuzz {

namespace {

/// A small network: a hidden layer of eight, and 76 parameters.
struct Network {
    static constexpr int state_size = 4, hidden = 8;
    static constexpr int parameter_size = (state_size + 1) * hidden + (hidden + 1) * state_size;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto inner = eddy::dense(eddy::slice<0, 32>(p), eddy::slice<32, hidden>(p), y);
        return eddy::dense(eddy::slice<40, 32>(p), eddy::slice<72, state_size>(p),
                           eddy::tanh(inner)) -
               0.1 * y;
    }
};
void make_network(Random& random, double* y0, double* p) {
    for (int i = 0; i < Network::state_size; ++i) y0[i] = random.uniform(-1, 1);
    for (int i = 0; i < Network::parameter_size; ++i) p[i] = random.uniform(-0.3, 0.3);
}

}  // namespace

void add_wide_problems(ProblemList& list) {
    constexpr What network{.shared = true,
                           .constant_steps = true,
                           .autonomous = true,
                           .well_posed = true,
                           .pushes = true,
                           .pulls = true};
    list.push_back(std::make_unique<ProblemOf<Network, eddy::Heun, double, network>>(
        "network, Heun, double, constant steps, 76 shared parameters", 4, make_network));
}

}  // namespace fuzz
