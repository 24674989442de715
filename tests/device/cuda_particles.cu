// Langevin's equation on a device. Its steps take exponentials, which are each machine's own: as Serial has
// it to rounding, and from run to run the same bits.
#include <algorithm>
#include <cmath>
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/align.hpp>
#include <eddy/solvers/quicsort.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;

/// Two pendulums that pull at each other, pushed in time.
struct Pendulums {
    static constexpr int state_size = 4, parameter_size = 3;
    constexpr auto force(auto t, const auto& x, const auto& p) const {
        return eddy::vec(-1. * eddy::sin(x[0]) + p[2] * (x[1] - x[0]) + 0.3 * eddy::sin(2. * t),
                         -2. * eddy::sin(x[1]) + p[2] * (x[0] - x[1]));
    }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};

constexpr std::ptrdiff_t num_lanes = 517;
constexpr int num_steps = 32;

/// The largest difference of any two elements, by the largest of the second array.
double apart(const Array& a, const Array& b) {
    double difference = 0, largest = 0;
    for (std::ptrdiff_t i = 0; i < b.cols(); ++i) {
        for (std::ptrdiff_t lane = 0; lane < b.rows(); ++lane) {
            difference = std::max(difference, std::abs(a(lane, i) - b(lane, i)));
            largest = std::max(largest, std::abs(b(lane, i)));
        }
    }
    return difference / largest;
}

template <class Method>
void check(const Method& method) {
    const Array y0(num_lanes, 4, 0.5), p(num_lanes, 3, 0.6), target(1, 4, 0.1);
    const eddy::SolveOptions options{.t1 = 2, .dt0 = 2. / num_steps, .seed = 6};
    const auto differentiate = [&](const auto& backend) {
        return eddy::value_and_gradient(Pendulums{}, method, support::HalfSquares{}, target, y0, p,
                                        options, backend);
    };

    const auto expected = differentiate(eddy::Serial{}), found = differentiate(eddy::Cuda{}),
               again = differentiate(eddy::Cuda{});

    // Some twenty roundings a step, each of at most 2 ulp; pendulums double them about once in a unit of time.
    const double bound = 4 * 20 * num_steps * 4.4e-16;
    CHECK(found.report.success());
    CHECK(support::relative_error(found.loss.total_of_successful,
                                  expected.loss.total_of_successful) < bound);
    CHECK(apart(found.gradient.y0, expected.gradient.y0) < bound);
    CHECK(apart(found.gradient.p, expected.gradient.p) < bound);
    CHECK(support::same_array(found.gradient.y0, again.gradient.y0));
    CHECK(support::same_array(found.gradient.p, again.gradient.p));
    CHECK(found.gradient.y0(0, 0) != found.gradient.y0(1, 0));
}

}  // namespace

TEST_CASE("device particles: two pendulums in heat by QUICSORT") { check(eddy::QUICSORT{}); }

TEST_CASE("device particles: and by ALIGN") { check(eddy::ALIGN{}); }
