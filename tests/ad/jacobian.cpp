#include <algorithm>
#include <cmath>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/field.hpp>

#include "support/catch.hpp"
#include "support/equations.hpp"

namespace {

/// A chain of springs: component i depends on i − 1, i and i + 1 only.
struct Springs {
    static constexpr int length = 9;
    constexpr auto operator()(const auto& y) const {
        eddy::Vec<std::remove_cvref_t<decltype(y[0])>, length> force{};
        for (int i = 0; i < length; ++i) {
            force[i] = -2.0 * y[i] * y[i];
            if (i > 0) force[i] = force[i] + y[i - 1];
            if (i + 1 < length) force[i] = force[i] + eddy::sin(y[i + 1]);
        }
        return force;
    }
};

/// Vector operations throughout: (slice, concat, elementwise, dot, norm).
struct Mixed {
    constexpr auto operator()(const auto& y) const {
        const auto head = eddy::slice<0, 2>(y), tail = eddy::slice<2, 2>(y);
        return eddy::concat(eddy::concat(head * tail, eddy::vec(eddy::dot(head, head))),
                            eddy::vec(eddy::norm(tail) * y[4]));
    }
};

constexpr auto lorenz = eddy::trace_field(support::Lorenz{});
constexpr auto springs = eddy::trace<eddy::Vector<Springs::length>>(Springs{});
constexpr auto mixed = eddy::trace<eddy::Vector<5>>(Mixed{});
constexpr auto mlp = eddy::trace_field(support::Mlp{});

template <class P>
bool is_structural(const P&, int row, int column) {
    for (const eddy::JacobianEntry& entry : P::pattern) {
        if (entry == eddy::JacobianEntry{row, column}) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("jacobian: of Lorenz, value by value, without the entry that is always zero") {
    constexpr auto jacobian = eddy::jacobian<1>(lorenz);
    const eddy::Vec<double, 3> y{{2, 3, 5}}, p{{10, 28, 2.5}};

    const auto matrix = jacobian.dense(0.0, y, p);

    STATIC_REQUIRE(jacobian.num_nonzeros == 8);
    CHECK_FALSE(is_structural(jacobian, 0, 2));
    CHECK(matrix == eddy::Vec<double, 9>{{-10, 10, 0, 28 - 5, -1, -2, 3, 2, -2.5}});
}

TEST_CASE("jacobian: with respect to parameters has their shape and pattern") {
    constexpr auto jacobian = eddy::jacobian<2>(lorenz);
    const eddy::Vec<double, 3> y{{2, 3, 5}}, p{{10, 28, 2.5}};

    STATIC_REQUIRE(jacobian.num_nonzeros == 3);
    CHECK(jacobian(0.0, y, p) == eddy::Vec<double, 3>{{1, 2, -5}});  // ∂x'/∂σ, ∂y'/∂ρ, ∂z'/∂β
}

TEST_CASE("jacobian: a tridiagonal one takes three groups of columns, whatever its size") {
    constexpr auto jacobian = eddy::jacobian<0>(springs);
    const auto groups =
        eddy::group_columns(eddy::jacobian_rows(springs.graph.thaw(), 0), Springs::length);
    eddy::Vec<double, Springs::length> y{};
    for (int i = 0; i < Springs::length; ++i) y[i] = 0.1 * (i + 1);

    const auto matrix = jacobian.dense(y);

    STATIC_REQUIRE(jacobian.num_nonzeros == 3 * Springs::length - 2);
    CHECK(*std::max_element(groups.begin(), groups.end()) == 2);
    for (int row = 0; row < Springs::length; ++row) {
        for (int column = 0; column < Springs::length; ++column) {
            const double expected = column == row       ? -4.0 * y[row]
                                    : column == row - 1 ? 1.0
                                    : column == row + 1 ? std::cos(y[column])
                                                        : 0.0;
            CHECK(std::abs(matrix[row * Springs::length + column] - expected) <= 1e-15);
        }
    }
}

TEST_CASE("jacobian: the pattern sees through slices, concatenations and reductions") {
    constexpr auto jacobian = eddy::jacobian<0>(mixed);
    const eddy::Vec<double, 5> y{{2, 3, 3, 4, 7}};

    const auto matrix = jacobian.dense(y);

    STATIC_REQUIRE(jacobian.num_rows == 4);
    STATIC_REQUIRE(jacobian.num_nonzeros == 2 + 2 + 2 + 3);
    const eddy::Vec<double, 20> expected{
        {3, 0, 2, 0, 0, 0, 4, 0, 3, 0, 4, 6, 0, 0, 0, 0, 0, 7 * 0.6, 7 * 0.8, 5}};
    for (int e = 0; e < 20; ++e) CHECK(std::abs(matrix[e] - expected[e]) <= 1e-14);
}

TEST_CASE("jacobian: of a neural network agrees with its vector-Jacobian products") {
    constexpr auto jacobian = eddy::jacobian<1>(mlp);
    constexpr auto pullback = eddy::vjp<1>(mlp);
    double p[support::Mlp::parameter_size];
    for (int i = 0; i < support::Mlp::parameter_size; ++i) p[i] = 0.05 * ((i * 37) % 19 - 9);
    const eddy::Vec<double, 2> y{{0.3, -0.4}};

    const auto matrix = jacobian.dense(0.0, y, p);

    for (int row = 0; row < 2; ++row) {
        eddy::Vec<double, 2> unit{};
        unit[row] = 1;
        const auto expected = pullback(0.0, y, p, unit);
        // Both are sums over 64·64 paths: agreement to rounding of sums of that length.
        for (int column = 0; column < 2; ++column) {
            CHECK(std::abs(matrix[row * 2 + column] - expected[column]) <=
                  1e-13 * (1 + std::abs(expected[column])));
        }
    }
}
