// Equations and losses with loops, walked over rows, beside the oracle.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/trace/loops.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/kepler.hpp"
#include "support/same_bits.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;

/// Lanes take their own numbers of turns; a root is found, and its derivative by a linear system.
struct Forced {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        const auto E = support::KeplerByWhile<20>{}(p[0] + t, p[1]);
        const auto x = support::KeplerByRoot{}(0.5 + 0 * t + 0.1 * y[0], p[1]);
        const auto z = eddy::repeat<4>(eddy::vec(y[0], y[1]), [&](const auto& s) {
            return eddy::vec(0.9 * s[0] + 0.1 * p[2] * s[1], s[0] - s[1]);
        });
        return eddy::vec(sin(E) - y[0] + 0.1 * z[1], x - p[2] * y[1] + 0.1 * z[0]);
    }
};
struct SumOfPowers {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto sum = eddy::repeat<3>(y[0] * 0, [&](const auto& s) { return p[2] + s * y[0]; });
        return (sum - data[0]) * (sum - data[0]) + y[1] * y[1];
    }
};

Array filled(std::ptrdiff_t rows, int size, double first, double step) {
    Array array(rows, size);
    for (std::ptrdiff_t row = 0; row < rows; ++row)
        for (int c = 0; c < size; ++c)
            array(row, c) = first + step * static_cast<double>((7 * row + 3 * c) % 11);
    return array;
}
double largest_difference(const Array& a, const Array& b) {
    REQUIRE(a.rows() == b.rows());
    double largest = 0;
    for (std::ptrdiff_t row = 0; row < a.rows(); ++row)
        for (std::ptrdiff_t c = 0; c < a.cols(); ++c)
            largest =
                std::max(largest, std::abs(a(row, c) - b(row, c)) / (1 + std::abs(b(row, c))));
    return largest;
}
auto gradient_of(const auto& field, const Array& y0, const auto& p, const Array& data,
                 const auto& backend) {
    return eddy::value_and_gradient(field, eddy::Tsit5{}, SumOfPowers{},
                                    std::vector<Array>{data, data}, y0, p,
                                    {.t1 = 2, .rtol = 1e-6, .save_at = {0.7, 2}}, backend);
}

}  // namespace

TEST_CASE("rows: equations and losses with loops have the oracle's gradient") {
    const std::ptrdiff_t lanes = 21;
    const Array y0 = filled(lanes, 2, 0.1, 0.05), p = filled(lanes, 3, 0.2, 0.06),
                data = filled(lanes, 2, 0, 0.1);
    const auto field = eddy::trace_field(2, 3, Forced{});

    const auto oracle = gradient_of(Forced{}, y0, p, data, eddy::Serial{});
    const auto check = [&](const auto& found) {
        CHECK(found.loss.num_successful == lanes);
        CHECK(std::abs(found.loss.total / oracle.loss.total - 1) < 1e-13);
        CHECK(largest_difference(found.gradient.y0, oracle.gradient.y0) < 1e-12);
        CHECK(largest_difference(found.gradient.p, oracle.gradient.p) < 1e-12);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            CHECK(found.report.stats(lane).evaluations == oracle.report.stats(lane).evaluations);
    };

    check(gradient_of(field, y0, p, data, eddy::Rows{}));
    check(gradient_of(Forced{}, y0, p, data, eddy::Tiles{}));
}
TEST_CASE("rows: in loops each lane has the bits that it has alone") {
    const std::ptrdiff_t lanes = 21;
    const Array y0 = filled(lanes, 2, 0.1, 0.05), p = filled(lanes, 3, 0.2, 0.06);
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-6};
    const auto field = eddy::trace_field(2, 3, Forced{});

    const auto together = eddy::solve(field, eddy::Tsit5{}, y0, p, options);

    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        Array y0_of_one(1, 2), p_of_one(1, 3);
        for (int c = 0; c < 2; ++c) y0_of_one(0, c) = y0(lane, c);
        for (int c = 0; c < 3; ++c) p_of_one(0, c) = p(lane, c);
        const auto alone = eddy::solve(field, eddy::Tsit5{}, y0_of_one, p_of_one, options);
        CHECK(support::same_bits(alone.y()(0, 0), together.y()(lane, 0)));
        CHECK(support::same_bits(alone.y()(0, 1), together.y()(lane, 1)));
    }
}
TEST_CASE("rows: layers by `scan` read weights that all lanes share where they lie") {
    constexpr int num_weights = 20 * 6;  // 2 × 2 and a bias each
    const auto field = eddy::trace_field(2, num_weights, [](auto, const auto& y, const auto& w) {
        return eddy::scan<20>(y, w,
                              [](const auto& h, const auto& of_layer) {
                                  const auto turned = eddy::dense(eddy::slice<0, 4>(of_layer),
                                                                  eddy::slice<4, 2>(of_layer), h);
                                  return eddy::carry_and_out(h + 0.1 * tanh(turned), h[0]);
                              })
                   .carry -
               y;
    });
    const std::ptrdiff_t lanes = 21;
    const Array y0 = filled(lanes, 2, 0.1, 0.05), data = filled(lanes, 2, 0, 0.1);
    std::vector<double> w;
    for (int k = 0; k < num_weights; ++k) w.push_back(std::sin(k));
    Array of_each(lanes, num_weights);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int k = 0; k < num_weights; ++k) of_each(lane, k) = w[static_cast<std::size_t>(k)];

    const auto shared = gradient_of(field, y0, eddy::shared(w), data, eddy::Rows{});
    const auto apart = gradient_of(field, y0, of_each, data, eddy::Rows{});

    CHECK(support::same_bits(shared.loss.total, apart.loss.total));
    CHECK(largest_difference(shared.gradient.y0, apart.gradient.y0) == 0);
    Array sum(1, num_weights);
    for (int k = 0; k < num_weights; ++k) {
        sum(0, k) = 0;
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) sum(0, k) += apart.gradient.p(lane, k);
    }
    CHECK(largest_difference(shared.gradient.p, sum) < 1e-13);
    CHECK(std::abs(sum(0, 0)) > 1e-6);
}
