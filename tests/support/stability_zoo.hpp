#pragma once
// Equations, and initial states, at which the derivative of a solve leaves its steps behind: modes at
// zero, short spans, oscillators that nothing moves; and beside them some at which it does not. Each
// is one lane, with the cotangent of its last state.

#include <cmath>
#include <eddy/core/math.hpp>
#include <eddy/core/vec.hpp>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace zoo {

/// A lane: y0, p and the cotangent are as long as the equation says.
struct Lane {
    std::string name;
    std::vector<double> y0, p, cotangent;
    double t1 = 1;
    double rate = 1;  // the largest of the Jacobian, roughly: for the truth
};

/// The loss: the dot product of the last state with the data.
struct Along {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return eddy::dot(y, data);
    }
};

/// y' = A y, p = A row by row.
template <int n>
struct Linear {
    static constexpr int state_size = n, parameter_size = n * n;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return rows(y, p, std::make_integer_sequence<int, n>{});
    }

  private:
    template <int i>
    static constexpr auto row(const auto& y, const auto& p) {
        auto sum = p[n * i] * y[0];
        for (int j = 1; j < n; ++j) sum = sum + p[n * i + j] * y[j];
        return sum;
    }
    template <int... i>
    static constexpr auto rows(const auto& y, const auto& p, std::integer_sequence<int, i...>) {
        return eddy::vec(row<i>(y, p)...);
    }
};

/// A matrix whose eigenvectors are turned by an angle.
inline std::vector<double> turned(double rate1, double rate2, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {-(c * c * rate1 + s * s * rate2), c * s * (rate2 - rate1), c * s * (rate2 - rate1),
            -(s * s * rate1 + c * c * rate2)};
}

inline std::vector<Lane> planes() {
    const auto oscillator = [](double omega, double zeta) {
        return std::vector<double>{0, 1, -omega * omega, -2 * zeta * omega};
    };
    const double angle = 0.7, c = std::cos(angle), s = std::sin(angle);
    std::vector<Lane> lanes{
        {"second mode at zero, rate 50", {1, 0}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"second mode at zero, rate 5", {1, 0}, {-1, 0, 0, -5}, {1, 1}, 10, 5},
        {"second mode at zero, rate 1000", {1, 0}, {-1, 0, 0, -1000}, {1, 1}, 10, 1000},
        {"second mode at 1e-12", {1, 1e-12}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"second mode at 1e-6", {1, 1e-6}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"second mode at 1 (harmless)", {1, 1}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"loss of the first mode alone (harmless)", {1, 0}, {-1, 0, 0, -50}, {1, 0}, 10, 50},
        {"span 0.07", {1, 0}, {-1, 0, 0, -50}, {1, 1}, 0.07, 50},
        {"span 0.2", {1, 0}, {-1, 0, 0, -50}, {1, 1}, 0.2, 50},
        {"span 1", {1, 0}, {-1, 0, 0, -50}, {1, 1}, 1, 50},
        {"turned, cotangent across", {c, s}, turned(1, 50, angle), {c, s}, 10, 50},
        {"turned, cotangent along", {c, s}, turned(1, 50, angle), {1, 1}, 10, 50},
        {"a coupling at zero", {1, 0}, {-1, 0, 0, -300}, {1, 1}, 5, 300},
        {"+30 at zero", {1, 0}, {-1, 0, 0, 30}, {1, 1}, 1, 30},
        {"+3 at zero", {1, 0}, {-1, 0, 0, 3}, {1, 1}, 3, 3},
        {"non-normal (harmless)", {1, 1}, {-1, 100, 0, -2}, {1, 1}, 10, 3},
    };
    for (const double omega : {2., 4., 8., 16., 100.}) {
        for (const double zeta : {0., 0.01, 0.3}) {
            const std::string of =
                std::to_string(int(omega)) + ", " + std::to_string(zeta).substr(0, 4);
            lanes.push_back(
                {"oscillator at rest " + of, {0, 0}, oscillator(omega, zeta), {1, 1}, 10, omega});
        }
    }
    lanes.push_back({"oscillator that moves 8", {1, 0}, oscillator(8, 0), {1, 1}, 10, 8});
    lanes.push_back({"upright pendulum", {0, 0}, {0, 1, 9, 0}, {1, 1}, 4, 3});
    return lanes;
}

/// Three species or modes.
inline std::vector<Lane> triples() {
    return {
        {"chain, rate 300, nothing moves",
         {1, 0, 0},
         {0, 0, 0, 0, -300, 0, 0, 300, -1},
         {1, 1, 1},
         5,
         300},
        {"A to B to C, loss of B (harmless)",
         {1, 0, 0},
         {-1, 0, 0, 1, -300, 0, 0, 300, 0},
         {0, 1, 0},
         10,
         300},
        {"A to B to C, loss of all",
         {1, 0, 0},
         {-1, 0, 0, 1, -300, 0, 0, 300, 0},
         {1, 2, 3},
         10,
         300},
        {"decay beside an oscillator at rest 20",
         {1, 0, 0},
         {-1, 0, 0, 0, -0.2, 20, 0, -20, -0.2},
         {1, 1, 1},
         5,
         20},
        {"decay beside an oscillator at rest 5",
         {1, 0, 0},
         {-1, 0, 0, 0, 0, 5, 0, -5, 0},
         {1, 1, 1},
         5,
         5},
        {"decay beside an oscillator at rest 2",
         {1, 0, 0},
         {-1, 0, 0, 0, 0, 2, 0, -2, 0},
         {1, 1, 1},
         10,
         2},
    };
}

struct Logistic {  // y0' = p0 y0 (1 − y0), a fixed point at 1; y1 decays
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * (1 - y[0]), -y[1]);
    }
    static std::vector<Lane> lanes() {
        return {{"logistic 50 from 1", {1, 1}, {50}, {1, 1}, 5, 50},
                {"logistic 5 from 0.1 (harmless)", {0.1, 1}, {5}, {1, 1}, 5, 5}};
    }
};

struct Enzyme {  // S + E ⇌ C → E + P
    static constexpr int state_size = 4, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto bind = p[0] * y[0] * y[1], part = p[1] * y[2], make = p[2] * y[2];
        return eddy::vec(part - bind, part + make - bind, bind - part - make, make);
    }
    static std::vector<Lane> lanes() {
        return {{"enzyme, C = 0", {1, 0.1, 0, 0}, {1000, 1, 10}, {1, 2, 3, 4}, 3, 1100},
                {"enzyme, S = 0", {0, 0.1, 0, 0}, {1000, 1, 10}, {1, 2, 3, 4}, 3, 120}};
    }
};

struct Robertson {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto a = p[0] * y[0], b = p[1] * y[1] * y[1], c = p[2] * y[1] * y[2];
        return eddy::vec(c - a, a - c - b, b);
    }
    static std::vector<Lane> lanes() {
        return {{"Robertson to 1", {1, 0, 0}, {0.04, 3e7, 1e4}, {1, 1, 2}, 1, 2500}};
    }
};

struct Heat {  // 30 cells between walls at 0
    static constexpr int state_size = 30, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto left = eddy::concat(0 * eddy::slice<0, 1>(y), eddy::slice<0, 29>(y));
        const auto right = eddy::concat(eddy::slice<1, 29>(y), 0 * eddy::slice<0, 1>(y));
        return p[0] * (left - 2 * y + right);
    }
    static std::vector<Lane> lanes() {
        Lane smooth{"heat, smooth loss", {}, {100}, {}, 1, 400}, one = smooth;
        one.name = "heat, loss of one cell";
        for (int i = 0; i < 30; ++i) {
            smooth.y0.push_back(std::sin(3.14159265358979 * (i + 1) / 31));
            smooth.cotangent.push_back(smooth.y0.back());
            one.cotangent.push_back(i == 10 ? 1 : 0);
        }
        one.y0 = smooth.y0;
        return {smooth, one};
    }
};

struct Lorenz {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1],
                         y[0] * y[1] - p[2] * y[2]);
    }
    static std::vector<Lane> lanes() {
        return {{"Lorenz to 12 (harmless)", {1, 1, 1}, {10, 28, 8. / 3}, {1, 1, 1}, 12, 25}};
    }
};

struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * (1 - y[0] * y[0]) * y[1] - y[0]);
    }
    static std::vector<Lane> lanes() {
        return {{"Van der Pol 1 (harmless)", {2, 0}, {1}, {1, 1}, 10, 5},
                {"Van der Pol 10 (harmless)", {2, 0}, {10}, {1, 1}, 10, 40},
                {"Van der Pol 100 (harmless)", {2, 0}, {100}, {1, 1}, 10, 350}};
    }
};

struct LotkaVolterra {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]);
    }
    static std::vector<Lane> lanes() {
        return {{"Lotka-Volterra (harmless)", {1, 1}, {1.5, 1, 3, 1}, {1, 1}, 10, 10}};
    }
};

struct Brusselator {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto made = y[0] * y[0] * y[1];
        return eddy::vec(p[0] + made - (p[1] + 1) * y[0], p[1] * y[0] - made);
    }
    static std::vector<Lane> lanes() {
        return {{"Brusselator (harmless)", {1.5, 3}, {1, 3}, {1, 1}, 20, 20}};
    }
};

/// A linear system drawn from a seed: decaying modes, in three of ten a complex pair; half of the
/// modes lie at zero.
template <int n>
Lane random_system(support::Random& random) {
    const auto uniform = [&](double from, double to) { return random.uniform(from, to); };
    const auto spread = [&](double from, double to) {
        return std::exp(uniform(std::log(from), std::log(to)));
    };
    Lane lane;
    lane.t1 = spread(0.5, 10);
    double modes[n][n] = {}, basis[n][n], inverse[n][n] = {};
    for (int i = 0; i < n; ++i) modes[i][i] = -spread(0.1, i == 0 ? 2 : 300);
    if (random.uniform(0, 1) < 0.3) {
        const double omega = spread(1, 100),
                     damping = random.uniform(0, 1) < 0.5 ? 0 : spread(1e-3, 1);
        modes[n - 2][n - 2] = modes[n - 1][n - 1] = -damping * omega;
        modes[n - 2][n - 1] = omega;
        modes[n - 1][n - 2] = -omega;
        lane.name = "complex";
    } else {
        lane.name = "real";
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) basis[i][j] = (i == j ? 1 : 0) + uniform(-0.4, 0.4) / n;
    }
    // The inverse by Gauss and Jordan: the basis is dominated by its diagonal.
    double work[n][n];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) work[i][j] = basis[i][j];
        inverse[i][i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        const double pivot = work[k][k];
        for (int j = 0; j < n; ++j) work[k][j] /= pivot, inverse[k][j] /= pivot;
        for (int i = 0; i < n; ++i) {
            const double factor = work[i][k];
            if (i == k) continue;
            for (int j = 0; j < n; ++j) {
                work[i][j] -= factor * work[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k) {
                for (int l = 0; l < n; ++l) sum += basis[i][k] * modes[k][l] * inverse[l][j];
            }
            lane.p.push_back(sum);
        }
        lane.rate = std::max(lane.rate,
                             std::abs(modes[i][i]) + (n > 1 ? std::abs(modes[n - 2][n - 1]) : 0));
    }
    double content[n];
    for (int k = 0; k < n; ++k)
        content[k] = k == 0 || random.uniform(0, 1) < 0.5 ? uniform(0.5, 2) : 0;
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += basis[i][k] * content[k];
        lane.y0.push_back(sum);
        lane.cotangent.push_back(uniform(-1, 1));
    }
    return lane;
}

}  // namespace zoo
