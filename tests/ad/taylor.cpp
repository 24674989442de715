// Taylor mode: along the polynomial that the coefficients make, dy/dt is f, up to the order asked for.

#include <eddy/ad/taylor.hpp>

#include <cmath>
#include <eddy/trace/field.hpp>

#include "ad/operations.hpp"
#include "support/catch.hpp"
#include "support/interpret.hpp"

namespace {

using eddy::detail::TaylorSeries;
using support::Operation;

std::vector<double> evaluate(const eddy::Graph& graph, const std::vector<std::vector<double>>& x) {
    std::vector<eddy::LaneArray<double>> arguments;
    for (const auto& values : x) {
        arguments.emplace_back(static_cast<int>(values.size()), 1);
        for (int k = 0; k < arguments.back().num_components(); ++k)
            arguments.back()(k, 0) = values[static_cast<std::size_t>(k)];
    }
    const auto result = eddy::interpret<double>(graph, arguments)[0];
    std::vector<double> values;
    for (int k = 0; k < result.num_components(); ++k) values.push_back(result(k, 0));
    return values;
}

/// Of f(t, y, p) with h as a further argument.
struct Expanded {
    eddy::Graph f, series;
    int order;

    template <class F>
    Expanded(const F& function, int states, int parameters, int wanted_order)
        : f(eddy::trace_graph(function, eddy::Scalar{}, eddy::DynamicVector{states},
                              eddy::DynamicVector{parameters})),
          series(eddy::passes::simplify(TaylorSeries(f).run(wanted_order))),
          order(wanted_order) {}

    /// The largest component of dy/dt − f along the polynomial, at its end.
    [[nodiscard]] double residual(double t, const std::vector<double>& y,
                                  const std::vector<double>& p, double h) const {
        const std::vector<double> terms = evaluate(series, {{t}, y, p, {h}});
        std::vector<double> end = y, slope(y.size());
        for (std::size_t k = 0; k < terms.size(); ++k) {
            end[k % y.size()] += terms[k];
            slope[k % y.size()] += static_cast<double>(k / y.size() + 1) * terms[k] / h;
        }
        const std::vector<double> wanted = evaluate(f, {{t + h}, end, p});
        double largest = 0;
        for (std::size_t i = 0; i < y.size(); ++i)
            largest = std::max(largest, std::abs(slope[i] - wanted[i]));
        return largest;
    }
};

struct Polynomial {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * t * t, 2 * y[0]);
    }
};

void check_order(const char* name, const Expanded& expanded, const std::vector<double>& y) {
    const std::vector<double> p{0.75};
    const double coarse = expanded.residual(0.3, y, p, 0.04);
    const double fine = expanded.residual(0.3, y, p, 0.02);
    INFO(name << ": " << coarse << " with h, " << fine << " with h/2");
    // A coefficient that is wrong from the k-th on leaves h^(k−1); rounding is divided by h.
    CHECK((fine < 3e-13 || std::log2(coarse / fine) > expanded.order - 0.5));
    CHECK(coarse < 0.1);
}

}  // namespace

TEST_CASE("taylor: the series of every operation solves its equation to its order") {
    support::for_each_operation([]<int index, int arity, class F>(const Operation<arity, F>& op) {
        // The operands move along quadratics, the last component is driven by the operation.
        const auto field = [&](const auto& t, const auto& y, const auto& p) {
            std::vector<eddy::DynamicTraced> rates;
            for (int k = 0; k < arity; ++k)
                rates.push_back(p[0] * (0.5 + 0.25 * k) + (k == 1 ? -0.5 : 0.5) * t);
            rates.push_back(eddy::DynamicTraced(op(y, 0) + 0 * t));
            return eddy::concat(rates);
        };
        std::vector<double> y;
        for (int k = 0; k < arity; ++k) {
            const auto& domain = op.domain[k];
            y.push_back(domain.low + (0.31 + 0.1 * k) * (domain.high - domain.low));
        }
        y.push_back(0);

        check_order(op.name, Expanded(field, arity + 1, 1, 7), y);
    });
}

TEST_CASE("taylor: vector operations have series too") {
    const auto field = [](const auto& t, const auto& y, const auto& p) {
        const auto a = eddy::slice(y, 0, 2), b = eddy::slice(y, 2, 2);
        const auto weights = eddy::concat(std::vector<eddy::DynamicTraced>{a, b});
        const auto mixed = eddy::dense(weights, b, a) + t;
        const eddy::DynamicTraced scalar = dot(a, b) + norm(y) * p[0] + sum(b * b);
        return eddy::concat(std::vector<eddy::DynamicTraced>{tanh(mixed), scalar * a});
    };

    check_order("vectors", Expanded(field, 4, 1, 7), {0.4, -0.3, 0.5, 0.8});
}

TEST_CASE("taylor: a series is exact where the solution is a polynomial") {
    constexpr auto series = eddy::taylor<5>(eddy::FieldProgram<Polynomial>{});
    const double y[] = {1, -2}, p[] = {3};

    const auto terms = series(2., y, p, 0.5);  // y0 = t³ − 7, y1 = (t⁴ − 16)/2 − 14 (t − 2) − 2

    double end[] = {1, -2};
    for (int k = 0; k < 10; ++k) end[k % 2] += terms[k];
    CHECK(end[0] == 2.5 * 2.5 * 2.5 - 7);
    CHECK(end[1] == (39.0625 - 16) / 2 - 7 - 2);
    CHECK(terms[8] == 0);  // fourth and fifth terms that are not there
    CHECK(terms[9] == 0);
}

TEST_CASE("taylor: what a product needs grows with the square of the order, not faster") {
    const auto field = [](const auto&, const auto& y, const auto& p) {
        return eddy::concat(
            std::vector<eddy::DynamicTraced>{y[0] * y[1] - p[0] * sin(y[1]), -y[0]});
    };
    const auto size = [&](int order) { return Expanded(field, 2, 1, order).series.size(); };

    CHECK(size(20) < 4.2 * size(10));
}

TEST_CASE("taylor: partners and squares are computed once") {
    // sin and cos need each other: two convolutions an order, as if only one were asked for.
    const auto sine = [](const auto&, const auto& y, const auto&) {
        return eddy::concat(std::vector<eddy::DynamicTraced>{sin(y[0])});
    };
    const auto both = [](const auto&, const auto& y, const auto&) {
        return eddy::concat(std::vector<eddy::DynamicTraced>{sin(y[0]) + cos(y[0])});
    };

    CHECK(Expanded(both, 1, 0, 9).series.size() < 1.2 * Expanded(sine, 1, 0, 9).series.size());
}

TEST_CASE("taylor: repeat and scan have the series of their turns, written out") {
    const auto loops = [](const auto& t, const auto& y, const auto& p) {
        const auto x = eddy::repeat<3>(y[0], [&](const auto& s) { return sin(s) * p[0] + t; },
                                       {.nested_lengths = {3}});
        const auto [carry, outs] = eddy::scan<2>(
            x, eddy::vec(y[1], p[0]),
            [&](const auto& s, const auto& u) { return eddy::carry_and_out(s * u, exp(u) + s); });
        return eddy::vec(carry + outs[0], outs[1]);
    };
    const auto written = [](const auto& t, const auto& y, const auto& p) {
        auto x = sin(y[0]) * p[0] + t;
        for (int turn = 1; turn < 3; ++turn) x = sin(x) * p[0] + t;
        const auto first = exp(y[1]) + x;
        x = x * y[1];
        const auto second = exp(p[0]) + x;
        return eddy::vec(x * p[0] + first, second);
    };
    const auto graph = [](const auto& f) {
        return eddy::trace_graph(f, eddy::Scalar{}, eddy::Vector<2>{}, eddy::Vector<1>{});
    };
    const auto series = [&](const eddy::Graph& f) {
        return evaluate(TaylorSeries(f).run(6), {{0.3}, {0.4, -0.7}, {1.2}, {0.1}});
    };
    const std::vector<double> found = series(eddy::passes::write_out_loops(graph(loops))),
                              expected = series(graph(written));
    REQUIRE(found.size() == 12);
    for (std::size_t k = 0; k < found.size(); ++k)
        CHECK(found[k] == Approx(expected[k]).epsilon(1e-13).margin(1e-15));
}
