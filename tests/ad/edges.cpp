// Values and derivatives where they are delicate: in branches not taken, at kinks, at zero, far out
// and at NaN. Reverse mode, forward mode and dual numbers must agree on each, to the bit.

#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using eddy::Dual;
using eddy::Vec;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class F>
struct Expected {
    F f;
    double x, value, derivative;
};
template <class F>
Expected(F, double, double, double) -> Expected<F>;

template <class... F>
struct EachOf {
    constexpr auto operator()(const auto& x) const {
        return call(x, std::make_integer_sequence<int, static_cast<int>(sizeof...(F))>{});
    }
    template <int... i>
    static constexpr auto call(const auto& x, std::integer_sequence<int, i...>) {
        return eddy::vec(F{}(x[i])...);
    }
};

/// Checks functions of one number, all in one program.
template <class... F>
void check(const Expected<F>&... expected) {
    constexpr int count = static_cast<int>(sizeof...(F));
    using Numbers = Vec<double, count>;
    static constexpr auto program = eddy::trace<eddy::Vector<count>>(EachOf<F...>{});
    const Numbers x{{expected.x...}}, ones = Numbers{} + 1;
    Vec<Dual<double>, count> moving;
    for (int i = 0; i < count; ++i) moving[i] = {x[i], 1};

    const Numbers value = program(x), plain = EachOf<F...>{}(x);
    const Numbers backward = eddy::vjp(program)(x, ones), forward = eddy::jvp(program)(x, ones);
    const auto dual = program(moving);

    const double values[] = {expected.value...}, derivatives[] = {expected.derivative...};
    for (int i = 0; i < count; ++i) {
        CAPTURE(i, x[i], value[i], plain[i], backward[i], forward[i], dual[i].tangent);
        CHECK(same(value[i], values[i]));
        CHECK((value[i] != 0 || std::signbit(value[i]) == std::signbit(values[i])));
        CHECK(same(plain[i], values[i]));
        CHECK(same(dual[i].value, values[i]));
        CHECK(same(backward[i], derivatives[i]));
        CHECK(same(forward[i], derivatives[i]));
        CHECK(same(dual[i].tangent, derivatives[i]));
    }
}

/// The gradient of a function of three numbers whose result is a number.
template <class F>
Vec<double, 3> gradient(F f, const Vec<double, 3>& x) {
    static constexpr auto program = eddy::trace<eddy::Vector<3>>(F{});
    const Vec<double, 3> backward = eddy::vjp(program)(x, 1.0);
    for (int k = 0; k < 3; ++k) {
        Vec<Dual<double>, 3> moving{{x[0], x[1], x[2]}};
        moving[k].tangent = 1;
        Vec<double, 3> direction{};
        direction[k] = 1;
        CHECK(same(program(moving).tangent, backward[k]));
        CHECK(same(eddy::jvp(program)(x, direction), backward[k]));
    }
    CHECK(same(program(x), f(x)));
    return backward;
}

}  // namespace

TEST_CASE("edges: the branch of a select that is not taken contributes exactly zero") {
    using eddy::exp, eddy::log, eddy::pow, eddy::select, eddy::sqrt;
    check(Expected{[](auto x) { return select(x > 0, sqrt(x), 0); }, -1, 0, 0},
          Expected{[](auto x) { return select(x > 0, log(x), x); }, -1, -1, 1},
          Expected{[](auto x) { return select(x != 0, 1 / x, 0); }, 0, 0, 0},
          Expected{[](auto x) { return select(x > 0, exp(sqrt(x)) * log(x), 2 * x); }, -1, -2, 2},
          Expected{[](auto x) { return select(x > 0, pow(x, 0.5), x * 3); }, 0, 0, 3},
          Expected{[](auto x) { return select(x < 0, 0, sqrt(x)); }, 0, 0, infinity});
}

TEST_CASE("edges: branches not taken contribute nothing where selects nest or share values") {
    using eddy::log, eddy::select, eddy::sqrt;
    constexpr auto nested = [](auto x) {
        return select(x > 0, select(x > 1, sqrt(x - 1), x), log(x + 1));
    };
    constexpr auto shared_in_branch = [](auto x) {
        const auto root = sqrt(x);
        return select(x > 0, root * root + root, x);
    };
    constexpr auto shared_by_selects = [](auto x) {
        const auto root = sqrt(x);
        return select(x > 0, root, 0) + select(x > 1, root * 2, 3);
    };
    constexpr auto shared_with_the_rest = [](auto x) {
        const auto root = sqrt(x);
        return select(x > 0, 1, 2) + root;
    };
    check(Expected{nested, 0.5, 0.5, 1}, Expected{nested, 2, 1, 0.5}, Expected{nested, 0, 0, 1},
          Expected{shared_in_branch, -1, -1, 1}, Expected{shared_in_branch, 1, 2, 1.5},
          Expected{shared_by_selects, -1, 3, 0}, Expected{shared_by_selects, 0.25, 3.5, 1},
          Expected{shared_by_selects, 4, 6, 0.75},
          Expected{shared_with_the_rest, -1, not_a_number, not_a_number});
}

TEST_CASE("edges: min, max, relu and clamp are selects") {
    using eddy::clamp, eddy::log, eddy::max, eddy::min, eddy::relu, eddy::sqrt;
    check(Expected{[](auto x) { return max(x, sqrt(x)); }, -1, -1, 1},
          Expected{[](auto x) { return min(2, 1 / x); }, 0, 2, 0},
          Expected{[](auto x) { return relu(log(x)); }, 0, 0, 0},
          Expected{[](auto x) { return clamp(1 / x, -1, 1); }, 0, 1, 0},
          Expected{[](auto x) { return clamp(x, -1, 1); }, 0.5, 0.5, 1});
}

TEST_CASE("edges: masks of vectors guard each component by itself") {
    using eddy::log, eddy::select, eddy::sqrt;
    const Vec<double, 3> x{{4, -1, 0}};

    CHECK(gradient([](auto v) { return eddy::sum(select(v > 0, sqrt(v), 0)); }, x) ==
          Vec<double, 3>{{0.25, 0, 0}});
    CHECK(gradient([](auto v) { return eddy::sum(select(v > 0, sqrt(v), log(v + 2))); }, x) ==
          Vec<double, 3>{{0.25, 1, 0.5}});
    CHECK(gradient([](auto v) { return eddy::sum(eddy::relu(eddy::log(v))); }, x) ==
          Vec<double, 3>{{0.25, 0, 0}});
}

TEST_CASE("edges: guards of components pass through concat, slices and broadcasts") {
    using eddy::log, eddy::select, eddy::slice, eddy::sqrt, eddy::sum, eddy::vec;
    const Vec<double, 3> x{{4, -1, 0}};
    constexpr auto of_parts = [](auto v) {
        return sum(select(v > 0, vec(sqrt(v[0]), sqrt(v[1]), log(v[2])), 0));
    };
    constexpr auto of_slices = [](auto v) {
        const auto root = sqrt(v);
        return sum(select(slice<0, 2>(v) > 0, slice<0, 2>(root), 0)) + select(v[2] > 0, root[2], 0);
    };
    constexpr auto of_scalar = [](auto v) { return sum(select(v > 5, sqrt(v[1]) * v, 2 * v)); };

    CHECK(gradient(of_parts, x) == Vec<double, 3>{{0.25, 0, 0}});
    CHECK(gradient(of_slices, x) == Vec<double, 3>{{0.25, 0, 0}});
    CHECK(gradient(of_scalar, x) == Vec<double, 3>{{2, 2, 2}});
}

TEST_CASE("edges: a guard covers dot, norm and dense") {
    using eddy::dot, eddy::norm, eddy::select, eddy::sum, eddy::vec;
    const Vec<double, 3> x{{1, 2, 0}};

    CHECK(gradient([](auto v) { return select(v[2] > 0, norm(v / v[2]), v[0]); }, x) ==
          Vec<double, 3>{{1, 0, 0}});
    CHECK(gradient([](auto v) { return select(v[2] > 0, dot(v / v[2], 1 / v), v[1]); }, x) ==
          Vec<double, 3>{{0, 1, 0}});
    CHECK(gradient(
              [](auto v) {
                  const auto inverse = 1 / v;
                  const auto layer = eddy::dense(eddy::concat(inverse, v), vec(v[0], 1), inverse);
                  return sum(select(vec(v[2], v[2]) > 0, layer, vec(v[0], v[1])));
              },
              x) == Vec<double, 3>{{1, 1, 0}});
}

TEST_CASE("edges: branches not taken contribute nothing to second derivatives, in any lane") {
    using Pack = eddy::Pack<double, 2>;
    static constexpr auto f = eddy::trace<eddy::Scalar>(
        [](auto x) { return eddy::select(x > 0, eddy::sqrt(x) * eddy::log(x), x * x); });
    static constexpr auto slope = eddy::vjp<0>(f);
    static constexpr auto by_jvp = eddy::jvp<0>(slope);
    static constexpr auto by_vjp = eddy::vjp<0>(slope);
    const Dual<Dual<double>> nested({-3, 1}, {1, 0});
    const double lanes[] = {-3, 1};

    CHECK(slope(-3.0, 1.0) == -6);
    CHECK(by_jvp(-3.0, 1.0, 1.0) == 2);
    CHECK(by_vjp(-3.0, 1.0, 1.0) == 2);
    CHECK(slope(Dual<double>(-3, 1), 1.0).tangent == 2);
    CHECK(f(nested).tangent.tangent == 2);
    const auto packed = slope(Dual<Pack>(Pack::load(lanes), Pack(1)), 1.0);
    CHECK(packed.value[0] == -6);
    CHECK(packed.tangent[0] == 2);
    CHECK(packed.value[1] == 1);    // (log(x)/2 + 1) / sqrt(x) at 1
    CHECK(packed.tangent[1] == 0);  // −log(x)/4 at 1
}

TEST_CASE("edges: derivatives at kinks and jumps") {
    using eddy::abs, eddy::clamp, eddy::floor, eddy::max, eddy::min, eddy::relu, eddy::sign;
    check(Expected{[](auto x) { return abs(x); }, 0, 0, 0},
          Expected{[](auto x) { return abs(x); }, -0.0, 0, 0},
          Expected{[](auto x) { return relu(x); }, 0, 0, 0},
          // max and min of equals are their first argument.
          Expected{[](auto x) { return max(x, 0); }, 0, 0, 1},
          Expected{[](auto x) { return max(0, x); }, 0, 0, 0},
          Expected{[](auto x) { return min(x, 0); }, 0, 0, 1},
          Expected{[](auto x) { return max(x, -0.0); }, 0, 0, 1},
          Expected{[](auto x) { return max(-0.0, x); }, 0, -0.0, 0},
          Expected{[](auto x) { return clamp(x, 0, 1); }, 0, 0, 1},
          Expected{[](auto x) { return clamp(x, 0, 1); }, 1, 1, 1},
          Expected{[](auto x) { return sign(x); }, 0, 0, 0},
          Expected{[](auto x) { return sign(x); }, -0.0, -0.0, 0},
          Expected{[](auto x) { return floor(x); }, 1, 1, 0});
}

TEST_CASE("edges: roots and powers at zero") {
    using eddy::atan2, eddy::cbrt, eddy::pow, eddy::sqrt;
    check(Expected{[](auto x) { return sqrt(x); }, 0, 0, infinity},
          Expected{[](auto x) { return cbrt(x); }, 0, 0, infinity},
          Expected{[](auto x) { return pow(x, 0); }, 0, 1, 0},
          Expected{[](auto x) { return pow(x, 0); }, not_a_number, 1, 0},
          Expected{[](auto x) { return pow(x, 1); }, 0, 0, 1},
          Expected{[](auto x) { return pow(x, 3); }, 0, 0, 0},
          Expected{[](auto x) { return pow(x, -1); }, 0, infinity, -infinity},
          Expected{[](auto x) { return pow(x, 0.0); }, 0, 1, 0},
          Expected{[](auto x) { return pow(x, 0.5); }, 0, 0, infinity},
          Expected{[](auto x) { return pow(x, 1.0); }, 0, 0, 1},
          Expected{[](auto x) { return pow(x, 2.0); }, 0, 0, 0},
          Expected{[](auto x) { return pow(x, 2.0); }, -3, 9, -6},
          Expected{[](auto x) { return pow(0, x); }, 2, 0, 0},
          Expected{[](auto x) { return pow(0, x); }, 0, 1, 0},
          Expected{[](auto x) { return pow(-1, x); }, 2, 1, not_a_number},
          Expected{[](auto x) { return pow(x, x); }, 0, 1, 0},
          Expected{[](auto x) { return atan2(x, 0); }, 0, 0, not_a_number},
          Expected{[](auto x) { return eddy::norm(eddy::vec(x, 2 * x)); }, 0, 0, 0});
}

TEST_CASE("edges: logistic functions neither overflow nor cancel") {
    using eddy::expm1, eddy::log1p, eddy::sigmoid, eddy::softplus, eddy::tanh;
    constexpr auto soft = [](auto x) { return softplus(x); };
    constexpr auto logistic = [](auto x) { return sigmoid(x); };
    check(Expected{soft, 1e3, 1e3, 1}, Expected{soft, -1e3, 0, 0},
          Expected{soft, infinity, infinity, 1}, Expected{soft, -infinity, 0, 0},
          Expected{soft, -700, std::exp(-700.0), std::exp(-700.0)}, Expected{logistic, 1e3, 1, 0},
          Expected{logistic, -1e3, 0, 0}, Expected{logistic, infinity, 1, 0},
          Expected{logistic, -infinity, 0, 0},
          Expected{logistic, -700, std::exp(-700.0), std::exp(-700.0)},
          Expected{[](auto x) { return tanh(x); }, 1e3, 1, 0},
          Expected{[](auto x) { return expm1(x); }, -1e3, -1, 0},
          Expected{[](auto x) { return log1p(x); }, 1e-300, 1e-300, 1},
          Expected{[](auto x) { return log1p(x); }, -1, -infinity, infinity},
          Expected{[](auto x) { return log1p(x); }, infinity, infinity, 0},
          Expected{[](auto x) { return eddy::silu(x); }, -1e3, -0.0, 0},
          Expected{[](auto x) { return eddy::silu(x); }, 1e3, 1e3, 1},
          Expected{[](auto x) { return eddy::gelu(x); }, -1e3, -0.0, 0},
          Expected{[](auto x) { return eddy::gelu(x); }, 1e3, 1e3, 1});
}

TEST_CASE("edges: NaN stays NaN, but a comparison with it is false") {
    using eddy::clamp, eddy::max, eddy::min, eddy::relu, eddy::select, eddy::sign;
    check(
        Expected{[](auto x) { return x + 1; }, not_a_number, not_a_number, 1},
        Expected{[](auto x) { return max(x, 1); }, not_a_number, not_a_number, 1},
        Expected{[](auto x) { return max(1, x); }, not_a_number, 1, 0},
        Expected{[](auto x) { return min(1, x); }, not_a_number, 1, 0},
        Expected{[](auto x) { return clamp(x, 0, 1); }, not_a_number, not_a_number, 1},
        Expected{[](auto x) { return relu(x); }, not_a_number, not_a_number, 0},
        Expected{[](auto x) { return sign(x); }, not_a_number, not_a_number, 0},
        Expected{[](auto x) { return eddy::abs(x); }, not_a_number, not_a_number, not_a_number},
        Expected{[](auto x) { return eddy::softplus(x); }, not_a_number, not_a_number,
                 not_a_number},
        Expected{[](auto x) { return eddy::sigmoid(x); }, not_a_number, not_a_number, not_a_number},
        Expected{[](auto x) { return select(x > 0, 2 * x, 3); }, not_a_number, 3, 0},
        Expected{[](auto x) { return select(!(x > 0), 3, 2 * x); }, not_a_number, 3, 0},
        Expected{[](auto x) { return 0 * x; }, infinity, not_a_number, 0},
        Expected{[](auto x) { return x - x; }, infinity, not_a_number, 0});
}

TEST_CASE("edges: zeros keep their signs") {
    check(Expected{[](auto x) { return -x; }, 0, -0.0, -1},
          Expected{[](auto x) { return x + 0; }, -0.0, 0, 1},
          Expected{[](auto x) { return x - 0; }, -0.0, -0.0, 1},
          Expected{[](auto x) { return 0 - x; }, 0, 0, -1},
          Expected{[](auto x) { return x * 0; }, -1, -0.0, 0},
          Expected{[](auto x) { return x * -1; }, 0, -0.0, -1},
          Expected{[](auto x) { return eddy::floor(x); }, -0.0, -0.0, 0},
          Expected{[](auto x) { return eddy::sqrt(x); }, -0.0, -0.0, -infinity});
}

TEST_CASE("edges: no derivative flows through stop_gradient") {
    using eddy::stop_gradient;
    check(Expected{[](auto x) { return stop_gradient(x); }, 3, 3, 0},
          Expected{[](auto x) { return stop_gradient(x) * x; }, 3, 9, 3},
          Expected{[](auto x) { return eddy::sqrt(stop_gradient(x)) + x; }, 0, 0, 1},
          Expected{[](auto x) { return eddy::log(stop_gradient(x)) * x; }, 0, not_a_number,
                   -infinity});
}
