// Second derivatives of every operation: forward over reverse as one program, the gradient on dual
// numbers, and nested dual numbers, against differences of differences in binary128.

#include <cmath>
#include <limits>

#include "ad/operations.hpp"
#include "support/catch.hpp"

using namespace support;

namespace {

inline constexpr auto gradient_of = eddy::vjp(all_operations);
/// (x, w, v) → the derivative along v of the gradient of ⟨w, f⟩.
inline constexpr auto hessian_vector = eddy::jvp<0>(gradient_of);

/// Σ_l ∂²f_i/∂x_k∂x_l v_l for each input 3i + k.
Inputs<Quad> reference_hessian_vector(const Inputs<double>& x, const Inputs<double>& v) {
    Inputs<Quad> product{};
    for_each_operation([&]<int i>(const auto& operation) {
        for (int k = 0; k < operation.arity; ++k) {
            product[max_operands * i + k] = mixed_derivative([&](Quad a, Quad b) {
                Inputs<Quad> moved = cast<Quad>(x);
                for (int l = max_operands * i; l < max_operands * (i + 1); ++l)
                    moved[l] = moved[l] + a * v[l];
                moved[max_operands * i + k] = moved[max_operands * i + k] + b;
                return operation(moved, max_operands * i);
            });
        }
    });
    return product;
}

/// As for first derivatives, with more roundings; the reference adds its own error.
template <class Real>
bool is_near(double computed, Quad exact) {
    const double expected = static_cast<double>(exact);
    const double tolerance =
        64 * double{std::numeric_limits<Real>::epsilon()} + 100 * std::sqrt(wide_epsilon);
    return std::abs(computed - expected) <= tolerance * (1 + std::abs(expected));
}

template <class Real>
void check_inputs(const auto& computed, const Inputs<Quad>& expected) {
    for_each_operation([&]<int i>(const auto& operation) {
        for (int k = 0; k < max_operands; ++k) {
            const int input = max_operands * i + k;
            CAPTURE(operation.name, k, computed(input), static_cast<double>(expected[input]));
            CHECK(is_near<Real>(computed(input), expected[input]));
        }
    });
}

}  // namespace

TEMPLATE_TEST_CASE("operations: jvp of vjp agrees with second differences", "", float, double) {
    Random random(7);
    const Results<TestType> ones = cast<TestType>(Results<double>{} + 1.0);
    for (int sample = 0; sample < 20; ++sample) {
        const Inputs<double> x = sample_inputs(random);
        const auto v = sample_signs<Inputs<double>>(random);

        const Inputs<TestType> product = hessian_vector(cast<TestType>(x), ones, cast<TestType>(v));

        check_inputs<TestType>([&](int i) { return product[i]; }, reference_hessian_vector(x, v));
    }
}

TEST_CASE("operations: gradients on dual packs agree with second differences") {
    using Pack = eddy::Pack<double, 2>;
    Random random(8);
    const Inputs<double> x[] = {sample_inputs(random), sample_inputs(random)};
    const auto v = sample_signs<Inputs<double>>(random);
    Inputs<eddy::Dual<Pack>> moving;
    for (int i = 0; i < num_inputs; ++i) {
        const double lanes[] = {x[0][i], x[1][i]};
        moving[i] = {Pack::load(lanes), Pack(v[i])};
    }

    const auto gradient = gradient_of(moving, Results<double>{} + 1.0);

    for (int lane = 0; lane < 2; ++lane) {
        check_inputs<double>([&](int i) { return gradient[i].tangent[lane]; },
                             reference_hessian_vector(x[lane], v));
    }
}

TEST_CASE("operations: nested dual numbers agree with second differences") {
    using Inner = eddy::Dual<double>;
    Random random(9);
    for (int sample = 0; sample < 20; ++sample) {
        const Inputs<double> x = sample_inputs(random);
        const auto v = sample_signs<Inputs<double>>(random),
                   u = sample_signs<Inputs<double>>(random);
        Inputs<eddy::Dual<Inner>> moving;
        for (int i = 0; i < num_inputs; ++i) moving[i] = {Inner(x[i], v[i]), Inner(u[i])};

        const auto results = all_operations(moving);

        const Inputs<Quad> product = reference_hessian_vector(x, v);
        for_each_operation([&]<int i>(const auto& operation) {
            Quad expected = 0;
            for (int k = max_operands * i; k < max_operands * (i + 1); ++k)
                expected = expected + product[k] * u[k];
            CAPTURE(operation.name);
            CHECK(is_near<double>(results[i].tangent.tangent, expected));
        });
    }
}
