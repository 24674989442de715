#pragma once
// Stiff problems with known ends: HIRES, Robertson, Oregonator, Van der Pol and E5 from Radau collocation in
// binary128; the Brusselators from 8,000 steps of order 8 in 64-bit significands; Pollution, the ring
// modulator and Akzo Nobel's reaction from Mazzia & Magherini 2008, Test Set for Initial Value Problem
// Solvers, release 2.4. A zero among ends stands for what is not compared. Over rows, for which nothing is compiled, unless there
// is a mass matrix.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stiff_equations.hpp"

namespace support {

/// One row, from a built-in array.
template <std::size_t size>
Array row(const double (&values)[size]) {
    Array array(1, static_cast<std::ptrdiff_t>(size));
    std::ptrdiff_t i = 0;
    for (const double value : values) array(0, i++) = value;
    return array;
}

/// `atol` is in units of rtol.
struct RobertsonEnd : Robertson {
    static constexpr double t1 = 1e11, atol = 1e-8;
    static constexpr double end[] = {2.08334014970129423e-8, 8.33336077033478340e-14,
                                     9.99999979166515169e-1};
};
struct HiresEnd : Hires {
    static constexpr double t1 = 321.8122, atol = 1e-4;
    static constexpr double end[] = {7.37131257332566781e-4, 1.44248572631618466e-4,
                                     5.88872974096757501e-5, 1.17565134328314915e-3,
                                     2.38635619883133047e-3, 6.23896825274279579e-3,
                                     2.84999839518576866e-3, 2.85000160481423134e-3};
};
struct OregonatorEnd : Oregonator {
    static constexpr double t1 = 360, atol = 1e-6;
    static constexpr double end[] = {1.00081487031852272, 1.22817852154988799e3,
                                     1.32055494284650829e2};
};
/// ε = 1e-6, the problem of the test set: μ² = 1/ε in time scaled by μ.
struct VanDerPolEnd : VanDerPol {
    static constexpr double t1 = 2, atol = 1, y0[] = {2, 0}, p0[] = {1e6};
    static constexpr double end[] = {1.70616773217046500848, -8.92809701024816547779e-1};
};
struct E5End : E5 {
    static constexpr double t1 = 1e13, atol = 1e-24;
    static constexpr double end[] = {0, 8.86123352129108424e-23, 8.86123352129108424e-23, 0};
};
struct ReducedE5End : ReducedE5 {
    static constexpr double t1 = 1e13, atol = 1e-24;
    static constexpr double end[] = {0, 8.86123352129108424e-23, 0};
};
struct RingModulatorEnd : RingModulator {
    static constexpr double t1 = 1e-3, atol = 1e-2;
    static constexpr double end[] = {
        -0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169,
        -0.4064465721283450,    -0.4039455665149794,    0.2607966765422943,
        0.1106761861269975,     0.2939904342435596e-6,  -0.2840029933642329e-7,
        0.7267198267264553e-3,  0.7929487196960840e-3,  -0.7255283495698965e-3,
        -0.7941401968526521e-3, 0.7088495416976114e-4,  0.2390059075236570e-4};
};
struct ChemicalAkzoEnd : ChemicalAkzo {
    static constexpr double t1 = 180, atol = 1e-4;
    static constexpr double end[] = {0.1150794920661702,    0.1203831471567715e-2,
                                     0.1611562887407974,    0.3656156421249283e-3,
                                     0.1708010885264404e-1, 0.4873531310307455e-2};
};
/// u(x, 0) = 1 + sin(2πx)/2, v = 3.
template <int points>
struct BrusselatorStart : BrusselatorLine<points> {
    static constexpr double t1 = 10, atol = 1, p0[] = {0.02};
    static Array start() {
        Array y0(1, 2 * points);
        for (int i = 0; i < points; ++i) {
            y0(0, i) = 1 + 0.5 * std::sin(2 * 3.14159265358979324 * (i + 1) / (points + 1));
            y0(0, points + i) = 3;
        }
        return y0;
    }
};
struct BrusselatorEnd : BrusselatorStart<8> {
    static constexpr double end[] = {
        0.73278118406498266, 0.56343076654255849, 0.478914522942395,   0.44568982420082967,
        0.44580231336266254, 0.47934493183681707, 0.56439547546927326, 0.73409199058964997,
        3.2879291564527031,  3.4553288108218928,  3.5244008686869535,  3.5478068019882734,
        3.5541108321199159,  3.5403536947190678,  3.4732007002233349,  3.298976309107917};
};
struct LongBrusselatorEnd : BrusselatorStart<20> {
    static constexpr double end[] = {
        0.87997574576889922, 0.77086420970248738, 0.67884449514906309, 0.60563019924251891,
        0.5499436228927692,  0.50911719342271312, 0.48024321995099749, 0.46079395001358959,
        0.44886415475585791, 0.44321461953154998, 0.44324392386413417, 0.4489594827578312,
        0.46097729864452129, 0.48054944865346983, 0.5095879408250602,  0.55061248168727429,
        0.60649521863736472, 0.67982979545438337, 0.77178771119621831, 0.88056348868516104,
        3.1269299983904413,  3.2406926567641956,  3.3336785084627125,  3.4038782457056267,
        3.453283593676077,   3.485928530145414,   3.5063388493651658,  3.5185805782380651,
        3.5257926594747706,  3.5300164480154921,  3.5321670437582968,  3.5320486638970264,
        3.5283690457892111,  3.5187537519124191,  3.499806719579821,   3.4673146916542649,
        3.4167468945554708,  3.3442270873349429,  3.2480723646435639,  3.1306820547673629};
};

struct Reached {
    double error;  // relative, of the worst component
    std::int64_t attempts;
};

template <class Problem, class Method>
Reached reach(const Method& method, double rtol, double atol = Problem::atol) {
    const Array y0 = [] {
        if constexpr (requires { Problem::start(); })
            return Problem::start();
        else
            return row(Problem::y0);
    }();
    const auto solution = [&] {
        const eddy::SolveOptions options{
            .t1 = Problem::t1, .rtol = rtol, .atol = atol * rtol, .max_steps = 1 << 21};
        if constexpr (requires { Problem::mass; })
            return eddy::solve(Problem{}, method, y0, row(Problem::p0), options, eddy::Serial{});
        else
            return eddy::solve(Problem{}, method, y0, row(Problem::p0), options, eddy::Rows{});
    }();
    REQUIRE(solution.result(0) == eddy::Result::success);
    Reached reached{0, solution.stats(0).accepted + solution.stats(0).rejected};
    std::ptrdiff_t i = 0;
    for (const double end : Problem::end) {
        if (end != 0)
            reached.error = std::max(reached.error, std::abs(solution.y()(0, i) / end - 1));
        ++i;
    }
    return reached;
}

/// At rtol = 1e-4, 1e-7 and 1e-10: errors of at most 50 rtol, and attempts within a tenth of those recorded. A method of order 2 takes
/// a number of steps like rtol^(-1/3), whose errors add up; `magnified`: how much those of a step are by the time of the end.
template <class Problem, class Method>
void check_end(const Method& method, const std::int64_t (&recorded)[3], double magnified = 1) {
    double rtol = 1e-4;
    for (const std::int64_t attempts : recorded) {
        const Reached reached = reach<Problem>(method, rtol);
        const double sum = Method::order == 2 ? 10 * std::cbrt(1e-4 / rtol) : 1;
        CAPTURE(rtol, reached.error / rtol, reached.attempts, attempts);
        CHECK(reached.error <= 50 * sum * magnified * rtol);
        CHECK(std::abs(static_cast<double>(reached.attempts) / static_cast<double>(attempts) - 1) <=
              0.1);
        rtol *= 1e-3;
    }
}

}  // namespace support
