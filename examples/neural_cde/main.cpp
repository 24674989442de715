// A neural controlled equation tells which way spirals turn, from series that are irregular and in part missing: dz = F(z) du,
// where u is the path through the measurements of a series. Prints the share of held-out series that it gets right, and
// returns 0 where it is more than 99 %.
//
//   example_neural_cde [folder]
//
// With a folder it writes the series there: benchmarks/peers/neural_cde.py trains diffrax on them.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

#include "series.hpp"

namespace {

namespace nn = eddy::nn;
namespace train = eddy::train;

constexpr int hidden = 8, channels = 3;
constexpr auto network = nn::mlp<hidden, 32, hidden * channels>(nn::tanh);
constexpr int num_weights = network.parameter_size;

/// dz/dt = F(z) du/dt, F a matrix from a network.
struct Controlled {
    static constexpr int state_size = hidden, parameter_size = num_weights + hidden + 1,
                         input_size = channels, input_degree = 1;
    constexpr auto operator()(auto, const auto& z, const auto& p, const auto&,
                              const auto& du) const {
        const auto matrix = eddy::tanh(network(z, eddy::slice<0, num_weights>(p)));
        return eddy::dense(matrix, 0.0 * z, du);
    }
};
/// The last parameters read the direction out of z.
template <class State, class Parameters>
constexpr auto logit(const State& z, const Parameters& p) {
    return eddy::dot(eddy::slice<num_weights, hidden>(p), z) + p[num_weights + hidden];
}
struct CrossEntropy {
    static constexpr int data_size = 1;  // the direction, +1 or −1
    constexpr auto operator()(auto, const auto& z, const auto& p, const auto& turn) const {
        return eddy::softplus(-(turn[0] * logit(z, p)));
    }
};
struct Logit {
    constexpr auto operator()(auto, const auto& z, const auto& p) const { return logit(z, p); }
};

eddy::SolveOptions driven_by(const Series& series) {
    return {.t0 = eddy::each(series.begin),
            .t1 = eddy::each(series.end),
            .rtol = 1e-3,
            .atol = 1e-4,
            .inputs = eddy::piecewise_linear(eddy::each(series.knots), eddy::each(series.values))};
}

double share_right(const Series& series, const std::vector<double>& p) {
    const auto count = static_cast<std::ptrdiff_t>(series.turn.size());
    const auto solution = eddy::solve(Controlled{}, eddy::Tsit5{}, Array(count, hidden, 0.),
                                      eddy::shared(p), driven_by(series), eddy::observe(Logit{}));
    eddy::require_success(solution);
    double right = 0;
    for (std::ptrdiff_t lane = 0; lane < count; ++lane)
        right += solution.y()(lane, 0) * series.turn[static_cast<std::size_t>(lane)] > 0 ? 1 : 0;
    return right / static_cast<double>(count);
}

/// Numbers as they lie in memory, column by column.
void write(const std::string& path, std::span<const double> numbers) {
    const auto bytes = std::as_bytes(numbers);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    if (!file) throw std::runtime_error("neural_cde: cannot write " + path);
}
void write(const std::string& folder, const std::string& name, const Series& series) {
    const auto all = [](const Array& array) {
        return std::span(array.data(), static_cast<std::size_t>(array.rows() * array.cols()));
    };
    write(folder + "/" + name + "_knots", all(series.knots));
    write(folder + "/" + name + "_values", all(series.values));
    write(folder + "/" + name + "_turn", series.turn);
}

}  // namespace

int main(int argc, char** argv) {
    const Series seen = draw_series(256, 1), held_out = draw_series(1000, 2);
    if (argc > 1) {
        write(argv[1], "seen", seen);
        write(argv[1], "held_out", held_out);
    }
    std::vector<double> p = nn::glorot_uniform<double>(network, 1);
    p.resize(Controlled::parameter_size, 0.1);
    const Array start(256, hidden, 0.),
        turn = eddy::EnsembleArray<double>(eddy::column_major(seen.turn.data(), 256, 1));
    auto solver =
        eddy::gradient_solver(Controlled{}, eddy::Tsit5{}, CrossEntropy{}, driven_by(seen));
    train::Optimizer<train::Adam, double> adam({.learning_rate = 1e-2}, p.size());

    const auto begin = std::chrono::steady_clock::now();
    double loss = 0;
    constexpr int steps = 40;
    for (int step = 0; step < steps; ++step) {
        auto& result = solver(turn, start, eddy::shared(p));
        eddy::require_success(result.report);
        loss = result.loss.mean;
        const std::span<double> gradient(result.gradient.p.data(), p.size());
        for (double& g : gradient) g /= 256;
        adam.step(p, gradient, 1.0);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double right = share_right(held_out, p);
    std::printf("cross entropy %.4f after %d steps of %.1f ms; %.1f %% of held-out series right\n",
                loss, steps, 1e3 * took.count() / steps, 100 * right);
    return right > 0.99 ? 0 : 1;
}
