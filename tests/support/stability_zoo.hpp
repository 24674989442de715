#pragma once
// Equations, and initial states, at which the derivative of a solve leaves its steps behind: modes at
// zero, short spans, oscillators that nothing moves; and beside them some at which it does not. Each
// is one lane, with the cotangent of its last state.

#include <cmath>
#include <eddy/core/math.hpp>
#include <eddy/core/vec.hpp>
#include <string>
#include <vector>

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
        {"second mode at zero, rate 300", {1, 0}, {-1, 0, 0, -300}, {1, 1}, 10, 300},
        {"second mode at 1e-3", {1, 1e-3}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"both modes at zero", {0, 0}, {-1, 0, 0, -50}, {1, 1}, 10, 50},
        {"turned a little, cotangent across", {1, 0.1}, turned(1, 50, 0.1), {1, 0.1}, 10, 50},
        {"a coupling of one", {1, 0}, {-1, 0, 1, -300}, {1, 1}, 5, 300},
        {"growth of 1 beside decay at zero", {1, 0}, {1, 0, 0, -50}, {1, 1}, 3, 50},
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
        {"three decays, two at zero",
         {1, 0, 0},
         {-1, 0, 0, 0, -30, 0, 0, 0, -900},
         {1, 1, 1},
         5,
         900},
        {"A and B in equilibrium, C apart",
         {1, 1, 1},
         {-100, 100, 0, 100, -100, 0, 0, 0, -1},
         {1, 2, 1},
         5,
         200},
        {"decay beside a damped oscillator at rest 50",
         {1, 0, 0},
         {-1, 0, 0, 0, -10, 50, 0, -50, -10},
         {1, 1, 1},
         5,
         51},
    };
}

}  // namespace zoo
