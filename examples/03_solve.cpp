// A thousand trajectories in one call, each with steps of its own, against the exact solution.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>

struct Logistic {  // growth at rate p[0] up to p[1]
    static constexpr int state_size = 1, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * (1 - y[0] / p[1]));
    }
};

int main() {
    constexpr int lanes = 1000;
    eddy::EnsembleArray<double> y0(lanes, 1, 1.0), p(lanes, 2, 100.0);  // (lane, component)
    for (int lane = 0; lane < lanes; ++lane) p(lane, 0) = 0.1 * std::pow(100, lane / (lanes - 1.0));

    const auto solution = eddy::solve(Logistic{}, eddy::Tsit5{}, y0, p,
                                      {.t1 = 10, .rtol = 1e-8, .save_at = {1, 5, 10}});
    eddy::require_success(solution);

    double worst = 0;
    for (int k = 0; k < solution.num_saves(); ++k) {
        for (int lane = 0; lane < lanes; ++lane) {
            const double exact = 100 / (1 + 99 * std::exp(-p(lane, 0) * solution.t(k)));
            worst = std::max(worst, std::abs(solution.y(k)(lane, 0) / exact - 1));
        }
    }
    for (int lane : {0, lanes - 1}) {
        const auto stats = solution.stats(lane);
        std::printf("rate %4.1f: y(10) = %.6f after %lld steps, %lld rejected\n", p(lane, 0),
                    solution.y(2)(lane, 0), static_cast<long long>(stats.accepted),
                    static_cast<long long>(stats.rejected));
    }
    std::printf("largest relative error %.1e\n", worst);
    return worst < 1e-6 ? 0 : 1;
}
