// Values of every operation: program against plain call against binary128, numbers and packs.

#include <cmath>
#include <limits>

#include "ad/operations.hpp"
#include "support/catch.hpp"

using namespace support;

namespace {

/// |computed − exact| in ulps of the exact value.
template <class Real>
double ulps(Real computed, Quad exact) {
    const double unit = std::ldexp(double{std::numeric_limits<Real>::epsilon()},
                                   std::ilogb(static_cast<double>(exact)));
    return std::abs(static_cast<double>((computed - exact) / unit));
}

template <class Real>
void check_values(const Results<Real>& results, const Inputs<double>& x) {
    for_each_operation([&]<int i>(const auto& operation) {
        const Quad exact = operation(cast<Quad>(x), max_operands * i);
        CAPTURE(operation.name, x[max_operands * i], x[max_operands * i + 1], results[i]);
        CHECK((results[i] == static_cast<double>(exact) ||
               ulps(results[i], exact) <= operation.ulps));
    });
}

template <class Real, int lanes>
void check_pack(std::uint64_t seed) {
    using Pack = eddy::Pack<Real, lanes>;
    Random random(seed);
    Inputs<double> x[lanes];
    Inputs<Pack> packs;
    for (int lane = 0; lane < lanes; ++lane) {
        x[lane] = sample_inputs(random);
        for (int i = 0; i < num_inputs; ++i) packs[i].set(lane, static_cast<Real>(x[lane][i]));
    }

    const Results<Pack> results = all_operations(packs);

    for (int lane = 0; lane < lanes; ++lane) {
        Results<Real> of_lane;
        for (int i = 0; i < num_operations; ++i) of_lane[i] = results[i][lane];
        check_values(of_lane, x[lane]);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("operations: a program computes the plain call's numbers, near the exact ones",
                   "", float, double) {
    Random random(1);
    for (int sample = 0; sample < 200; ++sample) {
        const Inputs<double> x = sample_inputs(random);

        const Results<TestType> results = all_operations(cast<TestType>(x));

        const auto plain = cast<TestType>(AllOperations{}(cast<TestType>(x)));
        // Where products are fused, a plain call still rounds them.
        if constexpr (!eddy::fma_is_fast) CHECK(results == plain);
        check_values(results, x);
    }
}

TEST_CASE("operations: every lane of a pack is near the exact numbers") {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        check_pack<double, 1>(seed);
        check_pack<double, 8>(seed);
        check_pack<float, 2>(seed);
        check_pack<float, 8>(seed);
    }
}

TEST_CASE("operations: dual numbers have the values of their scalars") {
    Random random(2);
    for (int sample = 0; sample < 20; ++sample) {
        const Inputs<double> x = sample_inputs(random);

        const auto results = all_operations(cast<eddy::Dual<double>>(x));

        const Results<double> expected = all_operations(x);
        for (int i = 0; i < num_operations; ++i) CHECK(results[i].value == expected[i]);
    }
}
