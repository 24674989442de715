// The Lorenz field and its vector–Jacobian product over a batch of lanes: through a program and
// written by hand, in the same type. check.py counts the instructions of the functions called
// by_program and by_hand. Run without arguments, it compares their results, bit for bit; with the
// index of a function, it calls that one.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>

#include "support/equations.hpp"

namespace {

using eddy::mul_add;
using Program = eddy::FieldProgram<support::Lorenz>;
using Pullback = decltype(eddy::vjp<1, 2>(Program{}));
using Pack = eddy::Pack<double, eddy::native_lanes<double>>;

constexpr int num_lanes = 1024;

template <class Real>
struct Batch {
    static constexpr int size = num_lanes / static_cast<int>(sizeof(Real) / sizeof(double));
    using Array = Real[3][size];  // (component, group of lanes)
    Array y, p, cotangent;
    Array dy, y_cotangent, p_cotangent;
};
template <class Real>
Batch<Real> batch;

/// One group of lanes of an array.
template <class Real>
struct View {
    typename Batch<Real>::Array& array;
    int i;
    [[gnu::always_inline]] Real& operator[](int component) const { return array[component][i]; }
};

template <class Real>
[[gnu::noinline]] void field_by_program() {
    for (int i = 0; i < Batch<Real>::size; ++i) {
        const View<Real> y{batch<Real>.y, i}, p{batch<Real>.p, i}, dy{batch<Real>.dy, i};
        eddy::evaluate<Program, Real>(
            [&]<int output>(int component, const Real& value)
                __attribute__((always_inline)) { dy[component] = value; },
            0.0, y, p);
    }
}

template <class Real>
[[gnu::noinline]] void field_by_hand() {
    for (int i = 0; i < Batch<Real>::size; ++i) {
        const View<Real> view{batch<Real>.y, i}, p{batch<Real>.p, i}, dy{batch<Real>.dy, i};
        const Real x = view[0], y = view[1], z = view[2];
        const Real dx_dt = p[0] * (y - x);
        const Real dy_dt = mul_add(x, p[1] - z, -y);
        const Real dz_dt = mul_add(x, y, -(p[2] * z));
        dy[0] = dx_dt;
        dy[1] = dy_dt;
        dy[2] = dz_dt;
    }
}

template <class Real>
[[gnu::noinline]] void pullback_by_program() {
    for (int i = 0; i < Batch<Real>::size; ++i) {
        const View<Real> y{batch<Real>.y, i}, p{batch<Real>.p, i},
            cotangent{batch<Real>.cotangent, i};
        const View<Real> y_cotangent{batch<Real>.y_cotangent, i},
            p_cotangent{batch<Real>.p_cotangent, i};
        eddy::evaluate<Pullback, Real>(
            [&]<int output>(int component, const Real& value) __attribute__((always_inline)) {
                (output == 0 ? y_cotangent : p_cotangent)[component] = value;
            },
            0.0, y, p, cotangent);
    }
}

/// Back from the last equation to the first, as reverse mode goes. In another order of these
/// statements g++ needs one register move more or less for AVX2 (28 or 29 instructions a group).
template <class Real>
[[gnu::noinline]] void pullback_by_hand() {
    for (int i = 0; i < Batch<Real>::size; ++i) {
        const View<Real> view{batch<Real>.y, i}, p{batch<Real>.p, i}, c{batch<Real>.cotangent, i};
        const View<Real> y_cotangent{batch<Real>.y_cotangent, i},
            p_cotangent{batch<Real>.p_cotangent, i};
        const Real x = view[0], y = view[1], z = view[2];
        const Real sigma = p[0], rho = p[1], beta = p[2];
        const Real c0 = c[0], c1 = c[1], c2 = c[2];

        const Real minus_c2 = -c2, beta_cotangent = minus_c2 * z, rho_cotangent = c1 * x;
        const Real z_cotangent = mul_add(minus_c2, beta, -rho_cotangent);
        const Real sigma_cotangent = c0 * (y - x), pull = c0 * sigma;
        const Real x_cotangent = mul_add(c1, rho - z, mul_add(c2, y, -pull));
        y_cotangent[0] = x_cotangent;
        y_cotangent[1] = mul_add(c2, x, -c1) + pull;
        y_cotangent[2] = z_cotangent;
        p_cotangent[0] = sigma_cotangent;
        p_cotangent[1] = rho_cotangent;
        p_cotangent[2] = beta_cotangent;
    }
}

template <class Real>
void fill() {
    static double numbers[3 * num_lanes];
    double x = 0.3;
    for (auto* array : {&batch<Real>.y, &batch<Real>.p, &batch<Real>.cotangent}) {
        for (double& number : numbers) number = x = 3.9 * x * (1 - x);  // chaotic in (0, 1)
        std::memcpy(*array, numbers, sizeof(numbers));
    }
}

template <class Real>
bool agree() {
    fill<Real>();
    field_by_program<Real>();
    pullback_by_program<Real>();
    static Batch<Real> expected;
    std::memcpy(&expected, &batch<Real>, sizeof(expected));
    std::memset(&batch<Real>.dy, 0, 3 * sizeof(batch<Real>.dy));
    field_by_hand<Real>();
    pullback_by_hand<Real>();
    return std::memcmp(&expected, &batch<Real>, sizeof(expected)) == 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        const bool same = agree<double>() && agree<Pack>();
        if (!same) std::puts("the program and the hand-written function give different bits");
        return same ? 0 : 1;
    }
    constexpr void (*functions[])() = {&field_by_program<double>,    &field_by_hand<double>,
                                       &field_by_program<Pack>,      &field_by_hand<Pack>,
                                       &pullback_by_program<double>, &pullback_by_hand<double>,
                                       &pullback_by_program<Pack>,   &pullback_by_hand<Pack>};
    fill<double>();
    fill<Pack>();
    functions[std::atoi(arguments[1])]();
    return 0;
}
