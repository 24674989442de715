// Inputs with a stiff method and with events: derivatives are those of differences, and pullback has their bits.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array, support::same_array;

struct Driven {
    static constexpr int state_size = 2, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& u,
                              const auto& du) const {
        return eddy::vec(u[0] - p[0] * y[0] * y[0] + 0.1 * t, 0.3 * du[0] * y[0] - y[1]);
    }
};
/// It ends where the first component reaches 1.1.
struct UntilReached : Driven {
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0] - 1.1; }
};
struct SumOfBoth {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};

template <class Field, class Method>
void check(const Field& field, const Method& method) {
    const std::vector<double> values{1, 1.5, 2, 0.5};
    const Array y0(2, 2, 0.3), p(2, 1, 0.7);
    const auto options = [](const std::vector<double>& x) {
        return eddy::SolveOptions{.t1 = 2,
                                  .rtol = 1e-9,
                                  .atol = 1e-11,
                                  .inputs = eddy::natural_cubic_spline({0, 0.5, 1.25, 2}, x)};
    };
    const auto at = [&](const std::vector<double>& x) {
        return eddy::value_and_gradient(field, method, SumOfBoth{}, y0, p, options(x),
                                        eddy::Serial{});
    };

    const auto found = at(values);
    const auto solution = eddy::solve(field, method, y0, p, options(values), eddy::Serial{});
    const auto pulled = eddy::pullback(solution, Array(2, 2, 1.));

    REQUIRE(found.report.success());
    CHECK(same_array(pulled.gradient.inputs, found.gradient.inputs));
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<double> more = values, less = values;
        more[i] += 1e-4, less[i] -= 1e-4;
        // Errors of solves of 1e-9 and of differences, h² / 6 times the third derivative.
        const double difference = (at(more).loss.total - at(less).loss.total) / 2e-4;
        CHECK(std::abs(found.gradient.inputs(static_cast<std::ptrdiff_t>(i), 0) - difference) <
              1e-6);
    }
}

TEST_CASE("inputs: a stiff method reads them, and its derivative with respect to time") {
    check(Driven{}, eddy::Rodas5P{});
}

TEST_CASE("inputs: an event moves with them") { check(UntilReached{}, eddy::Tsit5{}); }

}  // namespace
