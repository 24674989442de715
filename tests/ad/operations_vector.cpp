// The vector operations: index, slice, concat, elementwise functions with broadcasting, sum, dot,
// norm and dense; in registers (5 components) and in loops over scratch memory (20). Values against
// the plain call, derivatives against binary128.

#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <limits>

#include "ad/random.hpp"
#include "support/catch.hpp"
#include "support/quad.hpp"

using eddy::Dual;
using eddy::Vec;
using support::Quad;

namespace {

template <int size, int rows>
struct VectorOperations {
    static constexpr int num_weights = rows * size + rows;
    static constexpr int num_results = 5 + 2 * rows + 1;

    constexpr auto operator()(const auto& x, const auto& w) const {
        const auto bias = eddy::slice<rows * size, rows>(w);
        const auto layer = eddy::tanh(eddy::dense(eddy::slice<0, rows * size>(w), bias, x));
        const auto head = eddy::slice<0, rows>(x);
        const auto scaled = x[0] * head + layer / x[1] - bias * 2;
        const auto chosen = eddy::select(head < 0.5, eddy::sin(head), head * layer);
        const auto joined = eddy::concat(eddy::concat(scaled, x[2]), chosen);
        const auto pair = eddy::vec(x[size - 1], 3, layer[rows - 1]);
        return eddy::concat(eddy::vec(eddy::sum(x), eddy::dot(head, layer), eddy::norm(x),
                                      x[size - 1] * 2, eddy::dot(pair, pair)),
                            eddy::max(joined, 0.25));
    }
};

template <class Operations_, int size>
struct Subject {
    using Operations = Operations_;
    template <class T>
    using X = Vec<T, size>;
    template <class T>
    using W = Vec<T, Operations::num_weights>;
    template <class T>
    using Results = Vec<T, Operations::num_results>;

    static constexpr auto program =
        eddy::trace<eddy::Vector<size>, eddy::Vector<Operations::num_weights>>(Operations{});
    static constexpr auto pulled_back = eddy::vjp(program);
};
using Short = Subject<VectorOperations<5, 3>, 5>;
using Long = Subject<VectorOperations<20, 18>, 20>;

template <class V>
V sample(support::Random& random, support::Interval in) {
    V v{};
    for (auto& component : v) component = random(in);
    return v;
}
template <class To, class From, int size>
Vec<To, size> cast(const Vec<From, size>& x) {
    Vec<To, size> result{};
    for (int i = 0; i < size; ++i) result[i] = To(static_cast<eddy::ScalarOf<To>>(x[i]));
    return result;
}
template <class T, int size>
Vec<Dual<T>, size> moving(const Vec<T, size>& x, const Vec<double, size>& direction) {
    Vec<Dual<T>, size> result{};
    for (int i = 0; i < size; ++i) result[i] = {x[i], T(direction[i])};
    return result;
}

/// One point, directions in both arguments, and weights of the results.
template <class S>
struct Sample {
    typename S::template X<double> x, x_direction;
    typename S::template W<double> w, w_direction;
    typename S::template Results<double> cotangent;

    explicit Sample(std::uint64_t seed) {
        support::Random random(seed);
        x = sample<decltype(x)>(random, {0.1, 1});
        w = sample<decltype(w)>(random, {-0.5, 0.5});
        x_direction = sample<decltype(x)>(random, {-1, 1});
        w_direction = sample<decltype(w)>(random, {-1, 1});
        cotangent = sample<decltype(cotangent)>(random, {-1, 1});
    }
    /// ⟨cotangent, f(x + a·direction + b·e_k)⟩, where e_k counts through x and then w.
    Quad objective(Quad a, Quad b, int k) const {
        auto moved_x = cast<Quad>(x) + a * cast<Quad>(x_direction);
        auto moved_w = cast<Quad>(w) + a * cast<Quad>(w_direction);
        if (k < x.size())
            moved_x[k] = moved_x[k] + b;
        else
            moved_w[k - x.size()] = moved_w[k - x.size()] + b;
        return eddy::dot(typename S::Operations{}(moved_x, moved_w), cast<Quad>(cotangent));
    }
};

/// Sums of `terms` numbers around 1, each with a few roundings.
template <class Real>
bool is_near(double computed, Quad exact, int terms) {
    const double expected = static_cast<double>(exact);
    const double tolerance = 8 * terms * double{std::numeric_limits<Real>::epsilon()} +
                             100 * std::sqrt(support::wide_epsilon);
    return std::abs(computed - expected) <= tolerance * (1 + std::abs(expected));
}

template <class S, class Real>
void check_values(const Sample<S>& at) {
    const auto x = cast<Real>(at.x);
    const auto w = cast<Real>(at.w);

    const auto results = S::program(x, w);

    // Where products are fused, a plain call fuses dot and dense alone.
    if constexpr (!eddy::fma_is_fast) CHECK(results == cast<Real>(typename S::Operations{}(x, w)));
    const auto exact = typename S::Operations{}(cast<Quad>(at.x), cast<Quad>(at.w));
    for (int i = 0; i < results.size(); ++i) CHECK(is_near<Real>(results[i], exact[i], x.size()));
}

template <class S, class Real>
void check_gradient(const Sample<S>& at) {
    const auto [x, w] =
        S::pulled_back(cast<Real>(at.x), cast<Real>(at.w), cast<Real>(at.cotangent));

    for (int k = 0; k < x.size() + w.size(); ++k) {
        const Quad exact = support::derivative([&](Quad h) { return at.objective(0, h, k); });
        CHECK(is_near<Real>(k < x.size() ? x[k] : w[k - x.size()], exact, x.size()));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("vector operations: a program computes the plain call's numbers", "", Short,
                   Long) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Sample<TestType> at(seed);
        check_values<TestType, double>(at);
        check_values<TestType, float>(at);
    }
}

TEMPLATE_TEST_CASE("vector operations: gradients agree with differences in binary128", "", Short,
                   Long) {
    const Sample<TestType> at(1);
    check_gradient<TestType, double>(at);
    check_gradient<TestType, float>(at);
}

TEMPLATE_TEST_CASE("vector operations: jvp and dual numbers agree with differences in binary128",
                   "", Short, Long) {
    static constexpr auto pushed_forward = eddy::jvp(TestType::program);
    const Sample<TestType> at(2);
    const Quad exact = support::derivative([&](Quad h) { return at.objective(h, 0, 0); });

    const auto by_jvp = pushed_forward(at.x, at.w, at.x_direction, at.w_direction);
    const auto by_dual =
        TestType::program(moving(at.x, at.x_direction), moving(at.w, at.w_direction));

    CHECK(is_near<double>(eddy::dot(by_jvp, at.cotangent), exact, 100));
    CHECK(is_near<double>(eddy::dot(by_dual, at.cotangent).tangent, exact, 100));
    // ⟨Jv, w⟩ = ⟨v, Jᵀw⟩
    const auto [x, w] = TestType::pulled_back(at.x, at.w, at.cotangent);
    const double backward = eddy::dot(x, at.x_direction) + eddy::dot(w, at.w_direction);
    CHECK(is_near<double>(backward, eddy::dot(by_jvp, at.cotangent), 100));
}

TEMPLATE_TEST_CASE("vector operations: second derivatives agree with second differences", "", Short,
                   Long) {
    using Pack = eddy::Pack<double, 2>;
    static constexpr auto hessian_vector = eddy::jvp<0, 1>(TestType::pulled_back);
    const Sample<TestType> at(3);

    const auto [x, w] = hessian_vector(at.x, at.w, at.cotangent, at.x_direction, at.w_direction);
    const auto [dual_x, dual_w] =
        TestType::pulled_back(moving(cast<Pack>(at.x), at.x_direction),
                              moving(cast<Pack>(at.w), at.w_direction), at.cotangent);

    for (int k = 0; k < x.size() + w.size(); ++k) {
        const Quad exact =
            support::mixed_derivative([&](Quad a, Quad b) { return at.objective(a, b, k); });
        const int in_w = k - x.size();
        CHECK(is_near<double>(in_w < 0 ? x[k] : w[in_w], exact, 100));
        CHECK(is_near<double>((in_w < 0 ? dual_x[k] : dual_w[in_w]).tangent[1], exact, 100));
    }
}
