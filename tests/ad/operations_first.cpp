// First derivatives of every operation: reverse mode, forward mode and dual numbers against central
// differences in binary128, and against each other.

#include <cmath>
#include <limits>

#include "ad/operations.hpp"
#include "support/catch.hpp"

using namespace support;

namespace {

inline constexpr auto pulled_back = eddy::vjp(all_operations);
inline constexpr auto pushed_forward = eddy::jvp(all_operations);

/// ∂f_i/∂x_k for each input 3i + k.
Inputs<Quad> reference_gradient(const Inputs<double>& x) {
    Inputs<Quad> gradient{};
    for_each_operation([&]<int i>(const auto& operation) {
        for (int k = 0; k < operation.arity; ++k) {
            gradient[max_operands * i + k] = derivative([&](Quad h) {
                Inputs<Quad> moved = cast<Quad>(x);
                moved[max_operands * i + k] = moved[max_operands * i + k] + h;
                return operation(moved, max_operands * i);
            });
        }
    });
    return gradient;
}

/// A rule is a handful of roundings of numbers whose size is that of the derivative or 1 (1 − tanh²
/// cancels), each 1/2 ulp, on functions within 2 ulp.
template <class Real>
bool is_near(double computed, Quad exact) {
    const double expected = static_cast<double>(exact);
    const double tolerance =
        16 * double{std::numeric_limits<Real>::epsilon()} + 100 * std::pow(wide_epsilon, 2.0 / 3);
    return std::abs(computed - expected) <= tolerance * (1 + std::abs(expected));
}

template <class Real>
Results<Real> ones() {
    return cast<Real>(Results<double>{} + 1.0);
}

template <class Real>
void check_gradient(const auto& gradient, const Inputs<Quad>& expected) {
    for_each_operation([&]<int i>(const auto& operation) {
        for (int k = 0; k < max_operands; ++k) {
            const int input = max_operands * i + k;
            CAPTURE(operation.name, k, gradient(input), static_cast<double>(expected[input]));
            CHECK(is_near<Real>(gradient(input), expected[input]));
        }
    });
}

/// ⟨Jv, w⟩ = ⟨v, Jᵀw⟩: the two sums of the same terms, in another order and with other roundings.
/// `parts(x)` lists the numbers inside a Real.
template <class Real, class Parts>
void check_transposed(const Inputs<Real>& x, const Inputs<Real>& v, const Results<Real>& w,
                      Parts parts) {
    const Results<Real> forward = pushed_forward(x, v);
    const Inputs<Real> backward = pulled_back(x, w);

    const Real difference = eddy::dot(forward, w) - eddy::dot(v, backward);
    const double epsilon = double{std::numeric_limits<eddy::ScalarOf<Real>>::epsilon()};
    for (const double part : parts(difference)) {
        // The terms, their tangents included, are below 100.
        CHECK(std::abs(part) <= 100 * num_inputs * epsilon);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("operations: gradients agree with differences in binary128", "", float, double) {
    Random random(3);
    for (int sample = 0; sample < 20; ++sample) {
        const Inputs<double> x = sample_inputs(random);

        const Inputs<TestType> gradient = pulled_back(cast<TestType>(x), ones<TestType>());

        check_gradient<TestType>([&](int i) { return gradient[i]; }, reference_gradient(x));
    }
}

TEST_CASE("operations: gradients of packs agree with differences in binary128") {
    using Pack = eddy::Pack<double, 4>;
    Random random(4);
    Inputs<double> x[4];
    Inputs<Pack> packs;
    for (int lane = 0; lane < 4; ++lane) {
        x[lane] = sample_inputs(random);
        for (int i = 0; i < num_inputs; ++i) packs[i].set(lane, x[lane][i]);
    }

    const Inputs<Pack> gradient = pulled_back(packs, ones<Pack>());

    for (int lane = 0; lane < 4; ++lane)
        check_gradient<double>([&](int i) { return gradient[i][lane]; },
                               reference_gradient(x[lane]));
}

TEST_CASE("operations: tangents of dual numbers and of jvp agree with differences in binary128") {
    Random random(5);
    for (int sample = 0; sample < 20; ++sample) {
        const Inputs<double> x = sample_inputs(random);
        const auto v = sample_signs<Inputs<double>>(random);
        Inputs<eddy::Dual<double>> moving;
        for (int i = 0; i < num_inputs; ++i) moving[i] = {x[i], v[i]};

        const auto by_dual = all_operations(moving);
        const Results<double> by_jvp = pushed_forward(x, v);

        const Inputs<Quad> gradient = reference_gradient(x);
        for_each_operation([&]<int i>(const auto& operation) {
            Quad expected = 0;
            for (int k = 0; k < max_operands; ++k)
                expected = expected + gradient[max_operands * i + k] * v[max_operands * i + k];
            CAPTURE(operation.name);
            CHECK(is_near<double>(by_jvp[i], expected));
            CHECK(is_near<double>(by_dual[i].tangent, expected));
        });
    }
}

TEST_CASE("operations: reverse mode is the transpose of forward mode in every scalar type") {
    Random random(6);
    const Inputs<double> x = sample_inputs(random);
    const auto v = sample_signs<Inputs<double>>(random);
    const auto w = sample_signs<Results<double>>(random);
    const auto alone = [](auto y) { return std::vector<double>{y}; };

    check_transposed<double>(x, v, w, alone);
    check_transposed<float>(cast<float>(x), cast<float>(v), cast<float>(w), alone);

    using Pack = eddy::Pack<float, 4>;
    Inputs<eddy::Dual<Pack>> dual_x;
    for (int i = 0; i < num_inputs; ++i) dual_x[i] = {Pack(float(x[i])), Pack(float(v[i]))};
    check_transposed<eddy::Dual<Pack>>(dual_x, cast<eddy::Dual<Pack>>(v), cast<eddy::Dual<Pack>>(w),
                                       [](const eddy::Dual<Pack>& y) {
                                           std::vector<double> parts;
                                           for (int lane = 0; lane < 4; ++lane) {
                                               parts.push_back(y.value[lane]);
                                               parts.push_back(y.tangent[lane]);
                                           }
                                           return parts;
                                       });
}
