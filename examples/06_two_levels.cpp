// Two levels of step size (Giles 2008, Oper. Res. 56(3)): the mean over very many paths with coarse
// steps, and over few the difference that fine steps make to the same path.

#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>

// A price under the risk-neutral measure: interest rate p[0], volatility p[1].
struct Price {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};
// What a European call at strike 105 pays, discounted over a year.
struct Call {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::exp(-p[0]) * eddy::max(y[0] - 105., 0.);
    }
};

int main() {
    constexpr int many = 400'000, few = 20'000;
    const std::vector<double> p{0.05, 0.2};
    eddy::SolveOptions options{.t1 = 1, .dt0 = 1. / 16, .seed = 1, .paths = many};
    const auto coarse =
        eddy::solve(Price{}, eddy::EulerMaruyama{}, eddy::EnsembleArray<double>(1, 1, 100.),
                    eddy::shared(p), options, eddy::observe(Call{}));

    // Paths that the first level did not take, once with its steps and once with finer ones.
    options.paths = 1;
    options.first_path = many;
    options.noise_cell = options.dt0;
    const eddy::EnsembleArray<double> starts(few, 1, 100.);
    const auto payoffs = [&](double dt) {
        options.dt0 = dt;
        return eddy::solve(Price{}, eddy::EulerMaruyama{}, starts, eddy::shared(p), options,
                           eddy::observe(Call{}));
    };
    const auto rough = payoffs(1. / 16), fine = payoffs(1. / 512);
    double difference = 0, squares = 0;
    for (int path = 0; path < few; ++path) {
        const double gain = fine.y()(path, 0) - rough.y()(path, 0);
        difference += gain / few;
        squares += gain * gain / few;
    }

    const double price = coarse.mean()(0, 0) + difference;
    const double variance = (squares - difference * difference) / few;
    const double error = std::sqrt(coarse.variance()(0, 0) / many + variance);
    const double cost = 16. * many + 528. * few,
                 all_fine = coarse.variance()(0, 0) / (error * error);
    std::printf("%.3f = %.3f %+.3f, within %.3f; Black & Scholes: 8.021\n", price,
                coarse.mean()(0, 0), difference, error);
    std::printf("%.3g steps; %.3g if all paths took fine ones\n", cost, 512 * all_fine);
    return std::abs(price - 8.0214) < 4 * error + 0.01 && cost < 512 * all_fine / 4 ? 0 : 1;
}
