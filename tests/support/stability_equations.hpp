#pragma once
// Equations of the zoo (stability_zoo.hpp) that are not linear in few components.

#include "support/stability_zoo.hpp"

namespace zoo {

struct Logistic {  // y0' = p0 y0 (1 − y0), a fixed point at 1; y1 decays
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * (1 - y[0]), -y[1]);
    }
    static std::vector<Lane> lanes() {
        return {{"logistic 50 from 1", {1, 1}, {50}, {1, 1}, 5, 50},
                {"logistic 50 from 0", {0, 1}, {50}, {1, 1}, 0.5, 50},
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
        return {{"Robertson to 1", {1, 0, 0}, {0.04, 3e7, 1e4}, {1, 1, 2}, 1, 2500},
                {"Robertson to 10", {1, 0, 0}, {0.04, 3e7, 1e4}, {1, 1, 2}, 10, 3000}};
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
        Lane cold = one;
        cold.name = "heat, nothing warm";
        cold.y0.assign(30, 0);
        return {smooth, one, cold};
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

struct Rossler {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[1] - y[2], y[0] + p[0] * y[1], p[1] + y[2] * (y[0] - p[2]));
    }
    static std::vector<Lane> lanes() {
        return {{"Roessler (harmless)", {1, 1, 0}, {0.2, 0.2, 5.7}, {1, 1, 1}, 10, 10}};
    }
};

struct Pendulum {  // the angle from below; p = ω²
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        using std::sin;
        return eddy::vec(y[1], -(p[0] * sin(y[0])));
    }
    static std::vector<Lane> lanes() {
        return {{"pendulum, hanging at rest", {0, 0}, {100}, {1, 1}, 10, 10},
                {"pendulum, swinging (harmless)", {1, 0}, {9.81}, {1, 1}, 10, 3.2}};
    }
};

struct FitzHughNagumo {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[0] - y[0] * y[0] * y[0] / 3 - y[1] + p[0],
                         0.08 * (y[0] + 0.7 - 0.8 * y[1]));
    }
    static std::vector<Lane> lanes() {
        return {{"FitzHugh-Nagumo (harmless)", {-1, 1}, {0.5}, {1, 1}, 30, 4}};
    }
};

struct Hires {  // Hairer & Wanner 1996, Solving ODEs II, IV.10; p: the fast reaction's rate
    static constexpr int state_size = 8, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto fast = p[0] * y[5] * y[7];
        return eddy::vec(-1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
                         1.71 * y[0] - 8.75 * y[1], -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
                         8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
                         -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
                         0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6] - fast,
                         fast - 1.81 * y[6], 1.81 * y[6] - fast);
    }
    static std::vector<Lane> lanes() {
        return {
            {"HIRES to 5", {1, 0, 0, 0, 0, 0, 0, 0.0057}, {280}, {1, 1, 1, 1, 1, 1, 1, 1}, 5, 150}};
    }
};

}  // namespace zoo
