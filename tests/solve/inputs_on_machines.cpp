// Inputs on threads, packs and an emulated device: bits do not depend on the machine, nor on who is solved beside whom.
// Where steps end on knots, and where they pass over them.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::same_array;

/// A controlled equation with a bias. Its inputs are smooth, or linear between knots.
template <bool is_smooth>
struct Controlled {
    static constexpr int state_size = 2, parameter_size = 3, input_size = 2,
                         input_degree = is_smooth ? 3 : 1;
    static constexpr bool input_is_smooth = is_smooth;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return eddy::vec(p[0] * y[1] * du[0] - p[2] * y[0] + u[1], p[1] * y[0] * du[1] - y[1]);
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return 0.5 * (y[0] * y[0] + y[1] * y[1]) * p[1];
    }
};

constexpr std::ptrdiff_t num_lanes = 70, num_knots = 7;

/// Lane l has knots of its own, fewer where l is large.
template <class Equation>
struct Case {
    Array knots = Array(num_lanes, num_knots, std::numeric_limits<double>::quiet_NaN()),
          values = Array(num_lanes, num_knots * 2, 0.), start = Array(num_lanes, 2, 0.),
          p = Array(num_lanes, 3, 0.);

    /// `turned`: the lanes in the opposite order.
    explicit Case(bool turned = false) {
        for (std::ptrdiff_t row = 0; row < num_lanes; ++row) {
            const std::ptrdiff_t lane = turned ? num_lanes - 1 - row : row;
            const auto number = static_cast<double>(lane);
            for (std::ptrdiff_t k = 0; k < num_knots - lane % 4; ++k) {
                knots(row, k) = 0.3 * static_cast<double>(k) + 0.002 * number;
                for (std::ptrdiff_t i = 0; i < 2; ++i)
                    values(row, 2 * k + i) =
                        0.1 * static_cast<double>((5 * k + 3 * i + lane) % 11) - 0.4;
            }
            for (std::ptrdiff_t i = 0; i < 2; ++i) start(row, i) = 0.5 + 0.01 * number;
            for (std::ptrdiff_t i = 0; i < 3; ++i) p(row, i) = 0.8 + 0.005 * number;
        }
    }
    [[nodiscard]] eddy::SolveOptions options() const {
        const auto own_knots = eddy::each(knots), own_values = eddy::each(values);
        return {.t1 = 2,
                .rtol = 1e-6,
                .save_at = {0.7, 2},
                .inputs = Equation::input_is_smooth
                              ? eddy::natural_cubic_spline(own_knots, own_values)
                              : eddy::piecewise_linear(own_knots, own_values)};
    }
};
template <class Equation>
const Case<Equation> given;

template <class Equation, class Parameters, class Backend>
auto gradient_of(const Case<Equation>& of, const Parameters& p, const Backend& backend,
                 const eddy::SolveOptions& options) {
    return eddy::value_and_gradient(Equation{}, eddy::Tsit5{}, Squares{}, of.start, p, options,
                                    backend);
}
template <class A, class B>
void check_same(const A& a, const B& b) {
    REQUIRE(a.report.success());
    CHECK(a.loss.total == b.loss.total);
    CHECK(same_array(a.gradient.y0, b.gradient.y0));
    CHECK(same_array(a.gradient.p, b.gradient.p));
    CHECK(same_array(a.gradient.inputs, b.gradient.inputs));
}

TEMPLATE_TEST_CASE(
    "inputs: every machine has the bits of the reference, with parameters of its own and shared",
    "", Controlled<false>, Controlled<true>) {
    const Case<TestType>& of = given<TestType>;
    const std::vector<double> row{0.9, 0.8, 0.7};
    const auto own = gradient_of(of, of.p, eddy::Serial{}, of.options());
    const auto shared = gradient_of(of, eddy::shared(row), eddy::Serial{}, of.options());

    check_same(own, gradient_of(of, of.p, eddy::Cpu{.threads = 2}, of.options()));
    check_same(shared, gradient_of(of, eddy::shared(row), eddy::Cpu{.threads = 2}, of.options()));
    check_same(shared, gradient_of(of, eddy::shared(row), support::EmulatedDevice{}, of.options()));
}

TEMPLATE_TEST_CASE("inputs: neither checkpoints nor the order of lanes change a bit", "",
                   Controlled<false>, Controlled<true>) {
    const Case<TestType>& of = given<TestType>;
    const auto own = gradient_of(of, of.p, eddy::Cpu{}, of.options());
    auto few = of.options();
    few.checkpoints = 3;
    check_same(own, gradient_of(of, of.p, eddy::Cpu{.threads = 1}, few));

    const Case<TestType> turned(true);
    const auto other = gradient_of(turned, turned.p, eddy::Cpu{}, turned.options());
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < 2 * num_knots; ++i)
            CHECK(other.gradient.inputs(num_lanes - 1 - lane, i) == own.gradient.inputs(lane, i));
    }
}

TEST_CASE("inputs: an asynchronous call refuses them") {
    const auto& of = given<Controlled<false>>;
    const std::vector<double> row{0.9, 0.8, 0.7};
    const std::string said = support::message_of([&] {
        (void)gradient_of(of, eddy::shared(row), support::EmulatedDevice{.asynchronous = true},
                          of.options());
    });

    CHECK(
        said ==
        "value_and_gradient: inputs in an asynchronous call, whose derivatives are added up on the "
        "host; leave one of them out");
}

}  // namespace
