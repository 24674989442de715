#include <cmath>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/interpret.hpp>
#include <eddy/trace/passes/leave_out_missing.hpp>
#include <limits>
#include <numeric>
#include <vector>

#include "support/catch.hpp"
#include "support/raw_trace.hpp"

using eddy::DynamicVector;
using eddy::Graph;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

/// The loss f(y, p, data), three numbers each, without terms of missing data.
template <class Function>
Graph observed(const Function& f) {
    const DynamicVector three{3};
    return eddy::passes::leave_out_missing(eddy::trace_graph(f, three, three, three), 2);
}
eddy::LaneArray<double> lane(const Numbers& numbers) {
    eddy::LaneArray<double> array(static_cast<int>(numbers.size()), 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) array(static_cast<int>(i), 0) = numbers[i];
    return array;
}
double run(const Graph& graph, const Numbers& y, const Numbers& p, const Numbers& data) {
    return eddy::interpret<double>(graph, {lane(y), lane(p), lane(data)})[0](0, 0);
}
const Numbers y{1.5, -0.5, 2.5}, p{0.5, 2, 3};

/// What a loss of these terms should be: those of the values that are there.
template <class Term>
double sum_of_terms(const Term& term, const Numbers& data) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        if (!std::isnan(data[i])) sum += term(y[i], p[i], data[i]);
    }
    return sum;
}
const std::vector<Numbers> samples{
    {1, 2, 3},       {missing, 2, 3},       {1, missing, 3},
    {1, 2, missing}, {missing, missing, 3}, {missing, missing, missing}};

template <class Function, class Term>
void check_terms(const Function& loss, const Term& term) {
    const Graph graph = observed(loss);
    REQUIRE(graph.error == eddy::TraceError::none);
    for (const Numbers& data : samples)
        CHECK(run(graph, y, p, data) == Approx(sum_of_terms(term, data)).margin(1e-15));
}
template <class Function>
bool is_refused(const Function& loss) {
    return observed(loss).error == eddy::TraceError::term_of_no_value;
}

}  // namespace

TEST_CASE("missing data: sums of squares in every way of writing them") {
    const auto square = [](double of_y, double, double d) { return (of_y - d) * (of_y - d); };
    check_terms(
        [](auto x, auto, auto d) {
            const auto r = x - d;
            return dot(r, r);
        },
        square);
    check_terms([](auto x, auto, auto d) { return sum((x - d) * (x - d)); }, square);
    check_terms([](auto x, auto, auto d) { return 3 * (sum((x - d) * (x - d)) / 3); }, square);
    check_terms(
        [](auto x, auto, auto d) {
            auto sum = 0 * x[0];
            for (int i = 0; i < 3; ++i) sum = sum + (x[i] - d[i]) * (x[i] - d[i]);
            return sum;
        },
        square);
    check_terms(
        [](auto x, auto, auto d) {
            const auto a = x[0] - d[0], b = x[1] - d[1], c = x[2] - d[2];
            return -(-a * a - b * b) + c * c;
        },
        square);
    check_terms(
        [](auto x, auto, auto d) {
            const auto r = eddy::vec(x[0] - d[0], x[1] - d[1], x[2] - d[2]);
            return dot(r, r);
        },
        square);
}

TEST_CASE("missing data: what reads no data goes with the term that it is added to") {
    const auto gaussian = [](double of_y, double sigma, double d) {
        const double r = (of_y - d) / sigma;
        return std::log(sigma) + 0.5 * r * r;
    };
    check_terms(
        [](auto x, auto s, auto d) {
            const auto r = (x - d) / s;
            return sum(log(s) + 0.5 * r * r);
        },
        gaussian);
    check_terms(
        [](auto x, auto s, auto d) {
            auto sum = 0 * x[0];
            for (int i = 0; i < 3; ++i) {
                const auto r = (x[i] - d[i]) / s[i];
                sum = sum + (log(s[i]) + 0.5 * r * r);
            }
            return sum;
        },
        gaussian);
    const auto poisson = [](double, double rate, double d) { return rate - d * std::log(rate); };
    check_terms([](auto, auto rate, auto d) { return sum(rate - d * log(rate)); }, poisson);
    check_terms(
        [](auto, auto rate, auto d) {
            return (rate[0] - d[0] * log(rate[0])) + (rate[1] - d[1] * log(rate[1])) +
                   (rate[2] - d[2] * log(rate[2]));
        },
        poisson);
}

TEST_CASE("missing data: a loss that is no sum is left out as a whole") {
    const Graph graph = observed([](auto x, auto, auto d) { return norm(x - d); });
    CHECK(run(graph, y, p, {1.5, -0.5, 0.5}) == 2);
    CHECK(run(graph, y, p, {1.5, missing, 0.5}) == 0);
    // A matrix between residuals makes them one term.
    const Graph square = observed([](auto x, auto, auto d) {
        const auto r = x - d;
        return dot(r, norm(r) * r);
    });
    CHECK(run(square, y, p, {1.5, -0.5, 0.5}) == 8);
    CHECK(run(square, y, p, {1.5, missing, 0.5}) == 0);
    // Alone beside its value, what reads no data goes with it.
    const Graph one =
        observed([](auto x, auto s, auto d) { return log(s[0]) + d[1] * x[1] + s[2]; });
    CHECK(run(one, y, p, {missing, 2, missing}) == std::log(0.5) + 2);
    CHECK(run(one, y, p, {1, missing, 1}) == 0);
}

TEST_CASE("missing data: a term that might go with several values is refused") {
    CHECK(is_refused([](auto x, auto s, auto d) {
        const auto r = (x - d) / s;
        return sum(log(s)) + 0.5 * dot(r, r);
    }));
    CHECK(is_refused([](auto, auto rate, auto d) {
        return rate[0] - d[0] * log(rate[0]) + rate[1] - d[1] * log(rate[1]);
    }));
    CHECK(is_refused([](auto x, auto s, auto d) {
        const auto r = x - d;
        return dot(r, r) + s[0];
    }));
    CHECK_FALSE(is_refused(
        [](auto x, auto s, auto d) { return (s[0] + (x[0] - d[0])) + (s[1] + (x[1] - d[1])); }));
}

TEST_CASE("missing data: no derivative has a NaN of them") {
    const Graph loss = observed([](auto x, auto s, auto d) {
        const auto r = exp(d) * (log(x * x) - d) / s;
        return sum(log(s) + r * r);
    });
    const Graph first = eddy::passes::simplify(eddy::vjp_graph(loss, std::vector<char>{1, 1, 0}));
    const auto gradients = [&](const Numbers& data) {
        return eddy::interpret<double>(first, {lane(y), lane(p), lane(data), lane({1})});
    };
    const auto all = gradients({1, 2, 3}), some = gradients({1, missing, 3});

    for (std::size_t of : {0u, 1u}) {
        for (int i = 0; i < 3; ++i) CHECK(some[of](i, 0) == (i == 1 ? 0 : all[of](i, 0)));
    }
}
