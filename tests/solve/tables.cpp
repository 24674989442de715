// Tables inside a right-hand side: a property of which the values are fitted, with its gradient by values,
// on every machine and by explicit and stiff methods.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;
using support::EmulatedDevice;
using support::HalfSquares;
using OnDevice = support::DeviceArray<double>;

constexpr int num_knots = 80;
constexpr auto temperatures = [] {
    eddy::Vec<double, num_knots> x{};
    for (int i = 0; i < num_knots; ++i) x[i] = 0.03 * i + 0.0002 * i * i;
    return x;
}();
/// A body that cools at a rate which a table tells.
struct Cooling {
    static constexpr int state_size = 1, parameter_size = num_knots;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-eddy::interpolate(eddy::pchip, temperatures, p, y[0]) * y[0]);
    }
};

constexpr std::ptrdiff_t num_lanes = 21;
// Steps are shorter than the way from knot to knot, where third derivatives jump.
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-8, .atol = 1e-10, .dt_max = 0.001};
const Array zero(1, 1, 0.0);
Array starts() {
    Array y0(num_lanes, 1, 0.0);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 0) = 0.5 + 0.11 * double(lane);
    return y0;
}
Array conductivities(std::ptrdiff_t lanes) {
    Array p(lanes, num_knots, 0.0);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < num_knots; ++i)
            p(lane, i) = 1 + 0.3 * std::sin(0.2 * i + 0.01 * double(lane));
    }
    return p;
}
template <class Found, class Expected>
bool are_close(const Found& a, const Expected& b, double tolerance) {
    for (std::ptrdiff_t lane = 0; lane < b.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < b.cols(); ++i)
            if (!(std::abs(a(lane, i) - b(lane, i)) <= tolerance)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("tables in f: values, each lane's own, on packs, Serial, tiles and an emulated device") {
    const Array y0 = starts(), p = conductivities(num_lanes);
    const OnDevice y0_there{y0}, p_there{p}, zero_there{zero};
    const auto call = [&](const auto& machine) {
        return eddy::value_and_gradient(Cooling{}, eddy::Tsit5{}, HalfSquares{}, zero, y0, p,
                                        options, machine);
    };

    const auto serial = call(eddy::Serial{}), packs = call(eddy::Cpu{}),
               tiles = call(eddy::Tiles{});
    const auto device =
        eddy::value_and_gradient(Cooling{}, eddy::Tsit5{}, HalfSquares{}, zero_there, y0_there,
                                 p_there, options, EmulatedDevice{});

    CHECK(support::same_array(packs.gradient.p, serial.gradient.p));
    CHECK(support::same_array(packs.gradient.y0, serial.gradient.y0));
    CHECK(support::same_array(device.gradient.p, serial.gradient.p));
    CHECK(are_close(tiles.gradient.p, serial.gradient.p, 1e-12));
    for (const int i : {10, 30}) {
        const double h = 1e-5;
        const auto loss = [&](double by) {
            Array moved = p;
            for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) moved(lane, i) += by;
            return eddy::value_and_gradient(Cooling{}, eddy::Tsit5{}, HalfSquares{}, zero, y0,
                                            moved, options);
        };
        const auto up = loss(h), down = loss(-h);
        for (std::ptrdiff_t lane = 0; lane < num_lanes; lane += 5)
            CHECK(packs.gradient.p(lane, i) ==
                  Approx((up.loss(lane) - down.loss(lane)) / (2 * h)).margin(1e-6));
    }
}

TEST_CASE(
    "tables in f: values that all lanes share, summed on packs and tiles, and a stiff method") {
    const Array y0 = starts(), p = conductivities(1);
    const auto call = [&](const auto& method, const auto& machine) {
        return eddy::value_and_gradient(Cooling{}, method, HalfSquares{}, zero, y0, eddy::shared(p),
                                        options, machine);
    };

    const auto packs = call(eddy::Tsit5{}, eddy::Cpu{}),
               serial = call(eddy::Tsit5{}, eddy::Serial{}),
               tiles = call(eddy::Tsit5{}, eddy::Tiles{}),
               stiff = call(eddy::Rodas5P{}, eddy::Rows{});

    CHECK(are_close(packs.gradient.p, serial.gradient.p, 1e-12));
    CHECK(are_close(tiles.gradient.p, serial.gradient.p, 1e-12));
    CHECK(are_close(stiff.gradient.p, serial.gradient.p, 2e-6));
}
