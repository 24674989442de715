// Loops and roots inside a right-hand side: Kepler's equation in f, its solution and its gradient with
// respect to the eccentricity against the closed form, on every machine. What methods make of a root is seen over rows.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/kepler.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::HalfSquares;
using OnDevice = support::DeviceArray<double>;

using ByWhile = support::KeplerByWhile<30>;
using ByRoot = support::KeplerByRoot;
/// The solution is E(t) at mean anomaly t, whatever the stiffness p[1].
template <class Relation>
struct Anomaly {
    static constexpr int state_size = 1, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto E = Relation{}(t + 0 * p[0], p[0]);
        return eddy::vec(1 / (1 - p[0] * cos(E)) - p[1] * (y[0] - E));
    }
};

constexpr std::ptrdiff_t num_lanes = 40;
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-9, .atol = 1e-11};
const Array start(num_lanes, 1, 0.0), zero(1, 1, 0.0);
Array parameters(double stiffness) {
    Array p(num_lanes, 2, stiffness);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        p(lane, 0) = 0.05 + 0.02 * double(lane);  // turns are uneven
    return p;
}
double anomaly(double e) {
    double E = 2;
    for (int turn = 0; turn < 50; ++turn) E -= (E - e * std::sin(E) - 2) / (1 - e * std::cos(E));
    return E;
}
/// The gradient of ½ E(2)² with respect to e.
template <class Gradient>
void check_closed_form(const Gradient& found, double stiffness, double tolerance) {
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const double e = 0.05 + 0.02 * double(lane), E = anomaly(e);
        CHECK(found.gradient.p(lane, 0) ==
              Approx(E * std::sin(E) / (1 - e * std::cos(E))).epsilon(tolerance));
        if (stiffness > 0) CHECK(std::abs(found.gradient.p(lane, 1)) < tolerance);
    }
}

}  // namespace

TEST_CASE("loops in f: Kepler's equation by a while, on packs, Serial and an emulated device") {
    using Field = Anomaly<ByWhile>;
    const Array p = parameters(0.5);
    const OnDevice y0_there{start}, p_there{p}, zero_there{zero};

    const auto found =
        eddy::value_and_gradient(Field{}, eddy::Tsit5{}, HalfSquares{}, zero, start, p, options);
    const auto serial = eddy::value_and_gradient(Field{}, eddy::Tsit5{}, HalfSquares{}, zero, start,
                                                 p, options, eddy::Serial{});
    const auto device = eddy::value_and_gradient(Field{}, eddy::Tsit5{}, HalfSquares{}, zero_there,
                                                 y0_there, p_there, options, EmulatedDevice{});

    check_closed_form(found, 0.5, 1e-7);
    check_closed_form(serial, 0.5, 1e-7);
    CHECK(support::same_array(device.gradient.p, serial.gradient.p));
    CHECK(support::same_array(device.gradient.y0, serial.gradient.y0));
}

TEST_CASE("roots in f: Kepler's equation by Tsit5, Rodas5P and KenCarp4") {
    using Field = Anomaly<ByRoot>;
    const Array p = parameters(0.5), stiff = parameters(50);

    const auto check = [](const auto& method, const Array& of, const auto& backend,
                          double tolerance) {
        check_closed_form(eddy::value_and_gradient(Field{}, method, HalfSquares{}, zero, start, of,
                                                   options, backend),
                          of(0, 1), tolerance);
    };
    check(eddy::Tsit5{}, p, eddy::Rows{}, 1e-7);
    check(eddy::Rodas5P{}, stiff, eddy::Cpu{}, 1e-7);
    check(eddy::KenCarp4{}, stiff, eddy::Rows{}, 1e-6);
}
