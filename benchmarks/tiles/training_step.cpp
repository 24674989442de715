// A training step of neural ODEs, value and gradient, by Tiles, in double by Rows too, and by Eigen with the same arithmetic: Dormand–Prince
// in 20 steps of constant size, loss at the end. Times are processor time of this process, the best of several; the
// share is that of the core's multiply-adds, measured in the same run, counted as three times the forward
// products; beside it that of the rate at which Eigen multiplies large squares.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <eddy/eddy.hpp>
#include <string>

#include "eigen_by_hand.hpp"

namespace {

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

double seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class Work>
double best_of(int repeats, const Work& work) {
    double best = 1e9;
    for (int k = 0; k < repeats; ++k) {
        const double begin = seconds();
        work();
        best = std::min(best, seconds() - begin);
    }
    return best;
}

/// Multiply-adds on registers, in flop/s.
template <class Real>
double peak() {
    using P = eddy::Pack<Real, eddy::native_lanes<Real>>;
    constexpr int chains = 12, rounds = 2'000'000;
    P sum[chains];
    for (P& s : sum) s = P(1);
    P x(Real(0.5)), y(Real(0.25));
    eddy::hide_from_optimizer(x);
    eddy::hide_from_optimizer(y);
    const double time = best_of(5, [&] {
        P local[chains];
        std::copy_n(sum, chains, local);
        for (int k = 0; k < rounds; ++k)
            eddy::static_for<0, chains>([&]<int c>() { local[c] = mul_add(local[c], x, y); });
        std::copy_n(local, chains, sum);
    });
    double used = 0;
    for (const P& s : sum) used += static_cast<double>(s[0]);
    if (used == 12345) std::puts("");
    return 2. * chains * rounds * P::size / time;
}

/// Of Eigen, multiplying two squares that no cache but the last holds, in flop/s.
template <class Real>
double rate_of_squares() {
    constexpr int size = 1024;
    using Square = by_hand::Matrix<Real>;
    const Square a = Square::Random(size, size), b = Square::Random(size, size);
    Square product(size, size);
    const double time = best_of(7, [&] { product.noalias() = a * b; });
    return 2. * size * size * size / time;
}

template <class Real, int... size>
void measure(std::ptrdiff_t lanes) {
    constexpr auto network = eddy::nn::mlp<size...>(eddy::nn::tanh);
    constexpr int steps = 20;
    const int n = network.state_size;
    const std::vector<Real> p = eddy::nn::glorot_uniform<Real>(network, 1);
    eddy::EnsembleArray<Real> y0(lanes, n), data(lanes, n);
    by_hand::Matrix<Real> columns(n, lanes), of_data(n, lanes);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < n; ++i) {
            y0(lane, i) = columns(i, lane) = static_cast<Real>(std::rand()) / Real(RAND_MAX);
            data(lane, i) = of_data(i, lane) = static_cast<Real>(std::rand()) / Real(RAND_MAX);
        }
    }
    auto solver =
        eddy::gradient_solver(network, eddy::Dopri5{}, SquaredError{}, {.t1 = 1, .dt0 = 1. / steps},
                              eddy::ConstantController{}, eddy::Tiles{.threads = 1});
    double loss = 0, of_rows = 0;
    const double tiles = best_of(7, [&] { loss = solver(data, y0, eddy::shared(p)).loss.total; });
    if constexpr (sizeof(Real) == sizeof(double)) {
        const double rows = best_of(7, [&] {
            of_rows = eddy::value_and_gradient(network, eddy::Dopri5{}, SquaredError{}, data, y0,
                                               eddy::shared(p), {.t1 = 1, .dt0 = 1. / steps},
                                               eddy::ConstantController{}, eddy::Rows{.threads = 1})
                          .loss.total;
        });
        std::printf("Rows take %.2f times as long as Tiles%s:\n", rows / tiles,
                    of_rows == loss ? "" : ", LOSSES DIFFER");
    }

    by_hand::Training<Real> hand;
    double flops = 0;
    for (const auto& layer : network.layers(std::span<const Real>(p))) {
        const auto& shape = layer.shape;
        flops += 2. * shape.num_weights() * 6 * steps * 3 * static_cast<double>(lanes);
        using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        hand.layers.push_back(
            {Eigen::Map<const RowMajor>(layer.weight.data(), shape.num_outputs, shape.num_inputs),
             Eigen::Map<const by_hand::Column<Real>>(layer.bias.data(), shape.num_outputs)});
        hand.gradient.push_back({0 * hand.layers.back().weight, 0 * hand.layers.back().bias});
    }
    double eigen = 1e9, by_eigen = 0;
    for (const std::ptrdiff_t batch : {64, 256}) {
        eigen = std::min(eigen, best_of(4, [&] {
                             by_eigen = 0;
                             for (std::ptrdiff_t first = 0; first < lanes; first += batch) {
                                 const auto count = std::min(batch, lanes - first);
                                 by_eigen += hand.add(columns.middleCols(first, count),
                                                      of_data.middleCols(first, count), steps,
                                                      Real(1) / steps);
                             }
                         }));
    }
    std::string name;
    ((name += (name.empty() ? "" : "-") + std::to_string(size)), ...);
    std::printf(
        "%-14s %-6s %6td lanes: %8.1f ms, %5.1f Gflop/s, %2.0f %% of peak, %2.0f %% of squares by "
        "Eigen; training by Eigen %8.1f ms, %.2f times as long%s\n",
        name.c_str(), sizeof(Real) == 4 ? "float" : "double", lanes, 1e3 * tiles,
        1e-9 * flops / tiles, 100 * flops / tiles / peak<Real>(),
        100 * flops / tiles / rate_of_squares<Real>(), 1e3 * eigen, eigen / tiles,
        std::abs(loss - by_eigen) < 1e-3 * by_eigen ? "" : "; LOSSES DIFFER");
}

}  // namespace

int main() {
    measure<float, 2, 64, 64, 2>(4096);
    measure<float, 2, 64, 64, 2>(256);
    measure<double, 2, 64, 64, 2>(4096);
    measure<float, 64, 256, 256, 64>(512);
    measure<double, 64, 256, 256, 64>(512);
}
