#pragma once
// Stiff vector fields dy/dt = f(t, y, p) that tests and benchmarks share, most of them from the Test Set
// for Initial Value Problem Solvers (Bari, release 2.4, 2008), with their starts.

#include <eddy/core/vec_math.hpp>
#include <eddy/trace/functions.hpp>
#include <type_traits>

namespace support {

/// Three reactions of Robertson 1966; p are the rate constants.
struct Robertson {
    static constexpr int state_size = 3, parameter_size = 3;
    static constexpr double y0[] = {1, 0, 0}, p0[] = {0.04, 1e4, 3e7};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto first = p[0] * y[0], second = p[1] * y[1] * y[2], third = p[2] * y[1] * y[1];
        return eddy::vec(second - first, first - second - third, third);
    }
};

/// High irradiance responses of plants, Schäfer 1975; p = (k₊, k₋, the source).
struct Hires {
    static constexpr int state_size = 8, parameter_size = 3;
    static constexpr double y0[] = {1, 0, 0, 0, 0, 0, 0, 0.0057}, p0[] = {280, 1.81, 0.0007};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto on = p[0] * y[5] * y[7], off = p[1] * y[6];
        return eddy::vec(
            -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + p[2], 1.71 * y[0] - 8.75 * y[1],
            -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4], 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
            -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
            -on + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6], on - off, off - on);
    }
};

/// The Belousov–Zhabotinskii reaction, Field & Noyes 1974; p = (s, q, w).
struct Oregonator {
    static constexpr int state_size = 3, parameter_size = 3;
    static constexpr double y0[] = {1, 2, 3}, p0[] = {77.27, 8.375e-6, 0.161};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] + y[0] * (1.0 - p[1] * y[0] - y[1])),
                         (y[2] - (1.0 + y[0]) * y[1]) / p[0], p[2] * (y[0] - y[2]));
    }
};

/// Van der Pol's oscillator, whose second component changes fast; p = μ.
struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * ((1.0 - y[0] * y[0]) * y[1] - y[0]));
    }
};

/// Air pollution in the Netherlands, Verwer 1994: 25 reactions of 20 species; p are their rates.
struct Pollution {
    static constexpr int state_size = 20, parameter_size = 25;
    static constexpr double y0[] = {0, 0.2, 0, 0.04, 0, 0, 0.1,   0.3, 0.01, 0,
                                    0, 0,   0, 0,    0, 0, 0.007, 0,   0,    0};
    static constexpr double p0[] = {0.35,  26.6,   1.23e4, 8.6e-4, 8.2e-4,  1.5e4,  1.3e-4,
                                    2.4e4, 1.65e4, 9e3,    0.022,  1.2e4,   1.88,   1.63e4,
                                    4.8e6, 3.5e-4, 0.0175, 1e8,    4.44e11, 1.24e3, 2.1,
                                    5.78,  0.0474, 1.78e3, 3.12};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto r1 = p[0] * y[0], r2 = p[1] * y[1] * y[3], r3 = p[2] * y[4] * y[1],
                   r4 = p[3] * y[6], r5 = p[4] * y[6], r6 = p[5] * y[6] * y[5], r7 = p[6] * y[8],
                   r8 = p[7] * y[8] * y[5], r9 = p[8] * y[10] * y[1], r10 = p[9] * y[10] * y[0],
                   r11 = p[10] * y[12], r12 = p[11] * y[9] * y[1], r13 = p[12] * y[13],
                   r14 = p[13] * y[0] * y[5], r15 = p[14] * y[2], r16 = p[15] * y[3],
                   r17 = p[16] * y[3], r18 = p[17] * y[15], r19 = p[18] * y[15],
                   r20 = p[19] * y[16] * y[5], r21 = p[20] * y[18], r22 = p[21] * y[18],
                   r23 = p[22] * y[0] * y[3], r24 = p[23] * y[18] * y[0], r25 = p[24] * y[19];
        return eddy::vec(-r1 - r10 - r14 - r23 - r24 + r2 + r3 + r9 + r11 + r12 + r22 + r25,
                         -r2 - r3 - r9 - r12 + r1 + r21, -r15 + r1 + r17 + r19 + r22,
                         -r2 - r16 - r17 - r23 + r15, -r3 + r4 + r4 + r6 + r7 + r13 + r20,
                         -r6 - r8 - r14 - r20 + r3 + r18 + r18, -r4 - r5 - r6 + r13,
                         r4 + r5 + r6 + r7, -r7 - r8, -r12 + r7 + r9, -r9 - r10 + r8 + r11, r9,
                         -r11 + r10, -r13 + r12, r14, -r18 - r19 + r16, -r20, r20,
                         -r21 - r22 - r24 + r23 + r25, -r25 + r24);
    }
};

/// Four reactions, Enright, Hull & Lindberg 1975, over sixteen decades; p = (A, B, C, M C). What is left of the first species
/// makes as much of the second as of the third and fourth together, to rates of which 24 digits cancel: the third is given by
/// that sum.
struct E5 {
    static constexpr int state_size = 4, parameter_size = 4;
    static constexpr double mass[4][4] = {{1}, {0, 1}, {}, {0, 0, 0, 1}};
    static constexpr double y0[] = {1.76e-3, 0, 0, 0}, p0[] = {7.89e-10, 1.1e7, 1.13e3, 1.13e9};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto first = p[0] * y[0], second = p[1] * y[0] * y[2], third = p[2] * y[3],
                   fourth = p[3] * y[1] * y[2];
        return eddy::vec(-first - second, first - fourth, y[1] - y[2] - y[3], second - third);
    }
};
/// The same without the third.
struct ReducedE5 {
    static constexpr int state_size = 3, parameter_size = 4;
    static constexpr double y0[] = {1.76e-3, 0, 0}, p0[] = {7.89e-10, 1.1e7, 1.13e3, 1.13e9};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto other = y[1] - y[2];
        const auto first = p[0] * y[0], second = p[1] * y[0] * other, third = p[2] * y[2],
                   fourth = p[3] * y[1] * other;
        return eddy::vec(-first - second, first - fourth, second - third);
    }
};

/// The Brusselator with diffusion in one dimension, Hairer & Wanner 1996, Solving ODEs II, p. 6, on `points` points within
/// (0, 1): first those of u, then those of v; p is the coefficient of diffusion.
template <int points>
struct BrusselatorLine {
    static constexpr int state_size = 2 * points, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        using eddy::concat, eddy::slice;
        const auto rate = p[0] * ((points + 1.0) * (points + 1.0));
        const auto bend = [](const auto& x, double end) {
            return concat(end, slice<0, points - 1>(x)) - 2.0 * x +
                   concat(slice<1, points - 1>(x), end);
        };
        const auto u = slice<0, points>(y), v = slice<points, points>(y), product = u * u * v;
        return concat(1.0 + product - 4.0 * u + rate * bend(u, 1),
                      3.0 * u - product + rate * bend(v, 3));
    }
};

/// A ring modulator, Horneber 1976: four diodes, 15 voltages and currents, driven by two frequencies; p is the
/// parasitic capacity, without which it would be a differential-algebraic equation.
struct RingModulator {
    static constexpr int state_size = 15, parameter_size = 1;
    static constexpr double y0[15] = {}, p0[] = {2e-12};
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        constexpr double c = 1.6e-8, cp = 1e-8, lh = 4.45, ls1 = 0.002, ls2 = 5e-4, ls3 = 5e-4,
                         r = 25e3, rp = 50, rg1 = 36.3, rg2 = 17.3, rg3 = 17.3, ri = 50, rc = 600,
                         pi = 3.14159265358979323846;
        const auto slow = 0.5 * eddy::sin(2e3 * pi * t), fast = 2.0 * eddy::sin(2e4 * pi * t);
        const auto current = [](const auto& u) {
            return 40.67286402e-9 * (eddy::exp(17.7493332 * u) - 1.0);
        };
        const auto d1 = current(y[2] - y[4] - y[6] - fast), d2 = current(y[5] - y[3] - y[6] - fast),
                   d3 = current(y[3] + y[4] + y[6] + fast), d4 = current(y[6] - y[2] - y[5] + fast);
        return eddy::vec(
            (y[7] - 0.5 * y[9] + 0.5 * y[10] + y[13] - y[0] / r) / c,
            (y[8] - 0.5 * y[11] + 0.5 * y[12] + y[14] - y[1] / r) / c, (y[9] - d1 + d4) / p[0],
            (d2 - d3 - y[10]) / p[0], (y[11] + d1 - d3) / p[0], (d4 - d2 - y[12]) / p[0],
            (d1 + d2 - d3 - d4 - y[6] / rp) / cp, -y[0] / lh, -y[1] / lh,
            (0.5 * y[0] - y[2] - rg2 * y[9]) / ls2, (y[3] - 0.5 * y[0] - rg3 * y[10]) / ls3,
            (0.5 * y[1] - y[4] - rg2 * y[11]) / ls2, (y[5] - 0.5 * y[1] - rg3 * y[12]) / ls3,
            (slow - y[0] - (ri + rg1) * y[13]) / ls1, (-y[1] - (rc + rg1) * y[14]) / ls1);
    }
};

/// A reaction of Akzo Nobel, Stortelder 1998: five species and an equilibrium, p its constant. The sixth is not given at
/// the start.
struct ChemicalAkzo {
    static constexpr int state_size = 6, parameter_size = 1;
    static constexpr double mass[6][6] = {{1},          {0, 1},          {0, 0, 1},
                                          {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {}};
    static constexpr double y0[] = {0.444, 0.00123, 0, 0.007, 0, 0}, p0[] = {115.83};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto root = eddy::sqrt(y[1]), square = y[0] * y[0];
        const auto r1 = 18.7 * square * square * root, r2 = 0.58 * y[2] * y[3],
                   r3 = 0.58 / 34.4 * y[0] * y[4], r4 = 0.09 * y[0] * y[3] * y[3],
                   r5 = 0.42 * y[5] * y[5] * root, inflow = 3.3 * (0.9 / 737 - y[1]);
        return eddy::vec(r2 - 2.0 * r1 - r3 - r4, inflow - 0.5 * r1 - r4 - 0.5 * r5, r1 - r2 + r3,
                         r3 - r2 - 2.0 * r4, r2 - r3 + r5, p[0] * y[0] * y[3] - y[5]);
    }
};

}  // namespace support
