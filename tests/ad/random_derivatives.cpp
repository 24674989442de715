// Derivatives of random functions, compiled, against the interpreter, bit for bit; and of thousands
// of random graphs: forward against reverse, forward against differences, simplified against not.

#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/passes/contract.hpp>

#include "support/catch.hpp"
#include "support/check_program.hpp"
#include "support/random_function.hpp"
#include "support/random_graph.hpp"

using eddy::Graph;
using support::Arrays;
using support::joined;

namespace {

template <support::Seed seed>
void check_random_derivatives() {
    using Function = support::RandomFunction<seed, 2>;
    constexpr auto program =
        eddy::trace<eddy::Scalar, eddy::Vector<Function::x_size>, eddy::Vector<Function::w_size>>(
            Function{});
    INFO("seed " << seed << ", " << program.graph.size() << " nodes");

    CHECK(support::agrees_with_interpreter<double>(eddy::vjp(program), seed));
    CHECK(support::agrees_with_interpreter<double>(eddy::jvp(program), seed));
}

template <int first, int... seed>
void check_random_derivatives(std::integer_sequence<int, seed...>) {
    (check_random_derivatives<static_cast<support::Seed>(first + seed)>(), ...);
}

constexpr int num_graphs = 4'000, num_lanes = 3;

/// Σ a·b and Σ |a·b| over the components of all arrays, in one lane.
struct Products {
    long double sum = 0, magnitude = 0;
    template <class Real>
    void add(const Arrays<Real>& a, const Arrays<Real>& b, int lane) {
        for (std::size_t k = 0; k < a.size(); ++k) {
            for (int c = 0; c < a[k].num_components(); ++c) {
                const long double product = static_cast<long double>(a[k](c, lane)) * b[k](c, lane);
                sum += product;
                magnitude += std::abs(product);
            }
        }
    }
};

/// A random smooth graph at random arguments, with a direction and cotangents.
struct Point {
    explicit Point(std::uint64_t seed)
        : graph(support::smooth_graph(seed, 5 + static_cast<int>(seed % 12))),
          arguments(support::moderate_arguments<double>(graph.arguments, seed, num_lanes)),
          direction(support::moderate_arguments<double>(graph.arguments, seed + 1, num_lanes)),
          cotangents(support::moderate_arguments<double>(support::shapes_of_outputs(graph),
                                                         seed + 2, num_lanes)) {}

    [[nodiscard]] std::vector<char> all() const {
        return std::vector<char>(graph.arguments.size(), 1);
    }
    [[nodiscard]] Graph vjp() const { return eddy::vjp_graph(graph, all()); }
    [[nodiscard]] Graph jvp() const { return eddy::jvp_graph(graph, all()); }

    /// arguments + h·direction.
    [[nodiscard]] Arrays<long double> moved(long double h) const {
        Arrays<long double> there;
        for (std::size_t a = 0; a < arguments.size(); ++a) {
            auto& array = there.emplace_back(arguments[a].num_components(), num_lanes);
            for (int c = 0; c < array.num_components(); ++c) {
                for (int lane = 0; lane < num_lanes; ++lane)
                    array(c, lane) = arguments[a](c, lane) + h * direction[a](c, lane);
            }
        }
        return there;
    }

    Graph graph;
    Arrays<double> arguments, direction, cotangents;
};

}  // namespace

TEST_CASE("derivatives: 5 random functions give the same bits compiled and interpreted") {
    check_random_derivatives<100>(std::make_integer_sequence<int, 5>{});
}

TEST_CASE("derivatives: <J v, w> is <v, Jt w> for 4,000 random graphs") {
    // Both sides sum the same products of partial derivatives in another order. A wrong derivative
    // shows in the first digits; 1e-10 of 1 + Σ|products| leaves room for 19 bits of cancellation,
    // also where terms of order 1 cancel altogether.
    int num_finite = 0;
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Point point(seed);
        const auto pushed = eddy::interpret(point.jvp(), joined(point.arguments, point.direction));
        const auto pulled = eddy::interpret(point.vjp(), joined(point.arguments, point.cotangents));
        for (int lane = 0; lane < num_lanes; ++lane) {
            Products forward, reverse;
            forward.add(pushed, point.cotangents, lane);
            reverse.add(pulled, point.direction, lane);
            if (!std::isfinite(forward.magnitude + reverse.magnitude)) continue;
            ++num_finite;
            INFO("seed " << seed << ", lane " << lane);
            const long double scale = 1 + forward.magnitude + reverse.magnitude;
            if (!(std::abs(forward.sum - reverse.sum) <= 1e-10L * scale))
                FAIL("<J v, w> = " << forward.sum << ", <v, Jt w> = " << reverse.sum);
        }
    }

    CHECK(num_finite > num_graphs * num_lanes * 9 / 10);
}

TEST_CASE("derivatives: forward mode agrees with differences for 4,000 random graphs") {
    // Central differences in long double with h = 1e-6: truncation h^2 f3 / 6, rounding 1e-19 / h.
    // Third derivatives of these graphs reach 1e5, so 1e-6 of the magnitudes leaves room; where a
    // kink lies within h of the argument the difference is no derivative: a few components are off.
    int num_compared = 0, num_off = 0;
    const long double h = 1e-6L;
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Point point(seed);
        const auto pushed = eddy::interpret(point.jvp(), joined(point.arguments, point.direction));
        const auto ahead = eddy::interpret(point.graph, point.moved(h));
        const auto behind = eddy::interpret(point.graph, point.moved(-h));
        for (std::size_t k = 0; k < pushed.size(); ++k) {
            for (int c = 0; c < pushed[k].num_components(); ++c) {
                for (int lane = 0; lane < num_lanes; ++lane) {
                    const long double difference =
                        (ahead[k](c, lane) - behind[k](c, lane)) / (2 * h);
                    if (!std::isfinite(difference)) continue;
                    ++num_compared;
                    const long double size = 1 + std::abs(difference) + std::abs(ahead[k](c, lane));
                    if (!(std::abs(pushed[k](c, lane) - difference) <= 1e-6L * size)) ++num_off;
                }
            }
        }
    }
    INFO(num_off << " of " << num_compared << " derivatives are off");

    CHECK(num_compared > 10 * num_graphs);
    CHECK(num_off * 10'000LL < num_compared);
}

TEST_CASE("derivatives: the second derivative of 4,000 random graphs is symmetric") {
    // Forward over reverse: <u, D(Jt w) v> is <v, D(Jt w) u>. Tolerance as for first derivatives,
    // with 10 bits more for the cancellation of one more derivative.
    int num_finite = 0;
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Point point(seed);
        const auto other =
            support::moderate_arguments<double>(point.graph.arguments, seed + 3, num_lanes);
        std::vector<char> flags = point.all();
        flags.resize(flags.size() + point.cotangents.size(), 0);
        const Graph second = eddy::jvp_graph(point.vjp(), flags);
        const auto at = joined(point.arguments, point.cotangents);
        const auto along = eddy::interpret(second, joined(at, point.direction));
        const auto along_other = eddy::interpret(second, joined(at, other));
        for (int lane = 0; lane < num_lanes; ++lane) {
            Products one, two;
            one.add(along, other, lane);
            two.add(along_other, point.direction, lane);
            const long double scale = 1 + one.magnitude + two.magnitude;
            if (!std::isfinite(scale)) continue;
            ++num_finite;
            INFO("seed " << seed << ", lane " << lane);
            if (!(std::abs(one.sum - two.sum) <= 1e-7L * scale))
                FAIL("<u, H v> = " << one.sum << ", <v, H u> = " << two.sum);
        }
    }

    CHECK(num_finite > num_graphs * num_lanes * 9 / 10);
}

TEST_CASE("derivatives: a mask over the rows of a square layer does not fall on its columns") {
    const Graph graph = eddy::trace_graph(
        [](const auto& w, const auto& x) { return relu(dense(w, eddy::Vec<double, 2>{}, x)); },
        eddy::DynamicVector{4}, eddy::DynamicVector{2});
    Arrays<double> arguments{{4, 1}, {2, 1, 1.0}, {2, 1, 1.0}};
    for (int k = 0; k < 4; ++k) arguments[0](k, 0) = k < 2 ? k + 1 : -k;  // rows (1, 2), (-2, -3)

    const auto cotangents = eddy::interpret(eddy::vjp_graph(graph, {0, 1}), arguments);

    CHECK(cotangents[0](0, 0) == 1);
    CHECK(cotangents[0](1, 0) == 2);
}

TEST_CASE("derivatives: simplification and the order of passes change no bit of 4,000 VJPs") {
    for (std::uint64_t seed = 0; seed < num_graphs; ++seed) {
        const Point point(seed);
        const auto arguments = joined(point.arguments, point.cotangents);
        const Graph vjp = point.vjp();
        INFO("seed " << seed);
        if (!support::same_bits(eddy::interpret(vjp, arguments),
                                eddy::interpret(eddy::passes::simplify(vjp), arguments)))
            FAIL("a simplified VJP differs");
    }
    SUCCEED();
}
