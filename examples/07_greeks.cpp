// The Greeks of a European call: how its price changes with what it depends on, by the gradient of a
// mean over simulated paths, against the formulas of Black and Scholes.

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
// What the call pays at strike 105, discounted over a year.
struct Call {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::exp(-p[0]) * eddy::max(y[0] - 105., 0.);
    }
};

int main() {
    const double spot = 100, strike = 105, rate = 0.05, volatility = 0.2;
    const std::vector<double> p{rate, volatility};
    const eddy::EnsembleArray<double> y0(1, 1, spot);  // one lane, which is all the paths
    const auto found = eddy::value_and_gradient(
        Price{}, eddy::Milstein{}, Call{}, y0, eddy::shared(p),
        {.t1 = 1, .dt0 = 1. / 64, .seed = 2, .paths = 500'000, .antithetic = true});

    const double d1 = (std::log(spot / strike) + rate + volatility * volatility / 2) / volatility;
    const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.)) / 2; };
    const double discounted = strike * std::exp(-rate) * normal(d1 - volatility);
    const double density = std::exp(-d1 * d1 / 2) / std::sqrt(2 * std::acos(-1.));
    const struct {
        const char* name;
        double simulated, exact, tolerance;  // some four standard errors, and what the steps leave
    } greeks[] = {{"price", found.loss(0), spot * normal(d1) - discounted, 0.1},
                  {"delta", found.gradient.y0(0, 0), normal(d1), 0.004},
                  {"rho", found.gradient.p(0, 0), discounted, 0.4},
                  {"vega", found.gradient.p(0, 1), spot * density, 0.6}};
    bool right = true;
    for (const auto& greek : greeks) {
        std::printf("%-6s %8.4f   Black & Scholes %8.4f\n", greek.name, greek.simulated,
                    greek.exact);
        right = right && std::abs(greek.simulated - greek.exact) < greek.tolerance;
    }
    return right ? 0 : 1;
}
