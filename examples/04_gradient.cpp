// A rate from data: the gradient of a loss over eight trajectories that share it, brought to zero
// by the secant method.
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <vector>

struct Decay {  // dy/dt = -p y
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct SquaredError {  // one term of the loss: a save point against its data
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

int main() {
    constexpr int lanes = 8;
    constexpr double true_rate = 0.7;
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-10, .atol = 1e-12, .save_at = {0.5, 1, 2}};
    eddy::EnsembleArray<double> y0(lanes, 1);
    std::vector data(3, eddy::EnsembleArray<double>(lanes, 1));  // one array per save point
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 1 + 0.1 * lane;
        for (std::size_t k = 0; k < 3; ++k)
            data[k](lane, 0) = y0(lane, 0) * std::exp(-true_rate * options.save_at.values[k]);
    }

    // Keeps its memory from call to call.
    auto solver = eddy::gradient_solver(Decay{}, eddy::Tsit5{}, SquaredError{}, options);
    std::vector<double> rate{0.5};
    double previous_rate = 0.4;
    double previous = solver(data, y0, eddy::shared(std::vector{previous_rate})).gradient.p(0, 0);
    for (int iteration = 0; iteration < 8 && rate[0] != previous_rate; ++iteration) {
        const auto& [loss, gradient, report] = solver(data, y0, eddy::shared(rate));
        eddy::require_success(report);
        std::printf("rate %.12f  loss %.3e  gradient %+.3e\n", rate[0], loss.total,
                    gradient.p(0, 0));
        const double slope = (gradient.p(0, 0) - previous) / (rate[0] - previous_rate);
        previous_rate = rate[0];
        previous = gradient.p(0, 0);
        rate[0] -= previous / slope;
    }
    return std::abs(rate[0] - true_rate) < 1e-8 ? 0 : 1;
}
