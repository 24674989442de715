// Sums of squared ratios in single precision against long double, over the whole range of their
// operands, and packs against single numbers.

#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/squared_ratios.hpp>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"

namespace {

template <class Real>
constexpr Real infinity = std::numeric_limits<Real>::infinity();
template <class Real>
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

/// (x / scale)².
template <class Real>
float squared_ratio(Real x, Real scale) {
    return eddy::sum_of_squared_ratios<1>([&](int) { return eddy::Scaled<Real>{x, scale}; });
}

/// A number of random sign and mantissa whose exponent is uniform in [low, high).
double random_number(support::Random& random, int low, int high) {
    const double sign = random.one_in(2) ? -1 : 1;
    return sign * std::ldexp(random.uniform(1, 2), low + random.below(high - low));
}

/// The largest relative error of sums of `size` squared ratios between 2^−60 and 2^50, of scales
/// over the whole range of Real.
template <int size, class Real>
double largest_error() {
    using Limits = std::numeric_limits<Real>;
    support::Random random(size);
    double largest = 0;
    for (int i = 0; i < 20000; ++i) {
        Real x[size], scale[size];
        long double exact = 0;
        for (int k = 0; k < size; ++k) {
            const int exponent = random.below(Limits::max_exponent - Limits::min_exponent + 1) +
                                 Limits::min_exponent - 1;
            scale[k] = static_cast<Real>(std::ldexp(random.uniform(1, 2), exponent));
            const int low = std::max(-60, Limits::min_exponent - exponent);
            const int high = std::min(50, Limits::max_exponent - 1 - exponent);
            x[k] = low < high
                       ? static_cast<Real>(random_number(random, low + exponent, high + exponent))
                       : Real(0);
            const long double ratio = static_cast<long double>(x[k]) / scale[k];
            exact += ratio * ratio;
        }
        const float sum = eddy::sum_of_squared_ratios<size>([&](int k) {
            return eddy::Scaled<Real>{x[k], scale[k]};
        });
        const double error = exact > 0 ? static_cast<double>(std::fabs(sum / exact - 1)) : sum;
        largest = std::fmax(largest, error);
    }
    return largest;
}

}  // namespace

TEST_CASE("squared_ratios: the relative error is below 6e-7, whatever the size of the operands") {
    CHECK(largest_error<1, double>() < 6e-7);
    CHECK(largest_error<2, double>() < 6e-7);
    CHECK(largest_error<4, double>() < 6e-7);
    CHECK(largest_error<7, double>() < 6e-7);
    CHECK(largest_error<28, double>() < 6e-7);
    CHECK(largest_error<1, float>() < 6e-7);
    CHECK(largest_error<3, float>() < 6e-7);
    CHECK(largest_error<28, float>() < 6e-7);
}

TEST_CASE("squared_ratios: ratios of random magnitudes end in zero and infinity, never elsewhere") {
    support::Random random(5);
    int num_wrong = 0;
    for (int i = 0; i < 200000; ++i) {
        const double x = random_number(random, -996, 996);
        const double scale = std::fabs(random_number(random, -996, 996));
        const double ratio = std::log2(std::fabs(x)) - std::log2(scale);
        const float squared = squared_ratio(x, scale);
        if (ratio > 65)
            num_wrong += squared != infinity<float>;
        else if (ratio < -76)
            num_wrong += squared != 0;
        else
            num_wrong += !(squared >= 0);
        // What is accepted is accepted.
        if (ratio < -1e-6) num_wrong += !(squared <= 1);
        if (ratio > 1e-6) num_wrong += squared <= 1;
    }

    CHECK(num_wrong == 0);
}

TEST_CASE("squared_ratios: zero, the ends of the range, infinity and NaN") {
    using Limits = std::numeric_limits<double>;
    CHECK(squared_ratio(0., 1.) == 0);
    CHECK(squared_ratio(0., Limits::min()) == 0);
    CHECK(squared_ratio(0., Limits::max()) == 0);
    CHECK(std::fabs(squared_ratio(Limits::max(), Limits::max()) - 1) < 6e-7f);
    CHECK(std::fabs(squared_ratio(Limits::min(), Limits::min()) - 1) < 6e-7f);
    CHECK(squared_ratio(Limits::max(), Limits::min()) == infinity<float>);
    CHECK(squared_ratio(Limits::min(), Limits::max()) == 0);
    // 2^−1074 / 2^−1022, a subnormal error.
    CHECK(std::fabs(squared_ratio(Limits::denorm_min(), Limits::min()) - 0x1p-104f) < 0x1p-124f);
    CHECK(squared_ratio(1e38f, 2e-38f) == infinity<float>);
    CHECK(std::fabs(squared_ratio(3e38f, 3e38f) - 1) < 6e-7f);
    CHECK(std::fabs(squared_ratio(0x1p-149f, 0x1p-126f) - 0x1p-46f) < 0x1p-66f);

    CHECK(squared_ratio(infinity<double>, 1.) == infinity<float>);
    CHECK(squared_ratio(-infinity<double>, Limits::max()) == infinity<float>);
    CHECK(squared_ratio(infinity<float>, 1e-30f) == infinity<float>);
    for (const double x : {0., 1., infinity<double>, not_a_number<double>}) {
        CHECK(std::isnan(squared_ratio(x, infinity<double>)));
        CHECK(std::isnan(squared_ratio(x, not_a_number<double>)));
    }
    CHECK(std::isnan(squared_ratio(not_a_number<double>, 1.)));
    CHECK(std::isnan(squared_ratio(not_a_number<float>, 1.f)));
    CHECK(std::isnan(squared_ratio(1.f, infinity<float>)));
}

TEST_CASE("squared_ratios: one component that is infinite or NaN is not lost among others") {
    for (int place = 0; place < 7; ++place) {
        const auto sum_with = [&](double x, double scale) {
            return eddy::sum_of_squared_ratios<7>([&](int i) {
                return i == place ? eddy::Scaled<double>{x, scale} : eddy::Scaled<double>{0.5, 1};
            });
        };
        CHECK(sum_with(infinity<double>, 1) == infinity<float>);
        CHECK(std::isnan(sum_with(not_a_number<double>, 1)));
        CHECK(std::isnan(sum_with(1, infinity<double>)));
        CHECK(std::fabs(sum_with(3, 1) - 10.5f) < 1e-5f);
    }
}

TEST_CASE("squared_ratios: each lane of a pack has the bits of the single numbers") {
    constexpr int lanes = 8, size = 5;
    using Pack = eddy::Pack<double, lanes>;
    support::Random random(11);
    int num_different = 0;
    for (int i = 0; i < 20000; ++i) {
        double x[size][lanes], scale[size][lanes];
        for (int k = 0; k < size; ++k) {
            for (int lane = 0; lane < lanes; ++lane) {
                scale[k][lane] = std::fabs(random_number(random, -1020, 1023));
                x[k][lane] = random_number(random, -1074, 1023);
                if (random.one_in(3)) x[k][lane] = random.uniform(-2, 2) * scale[k][lane];
                if (random.one_in(300)) x[k][lane] = infinity<double>;
                if (random.one_in(300)) scale[k][lane] = infinity<double>;
                if (random.one_in(300)) x[k][lane] = not_a_number<double>;
            }
        }
        const auto packed = eddy::sum_of_squared_ratios<size>([&](int k) {
            return eddy::Scaled<Pack>{Pack::load(x[k]), Pack::load(scale[k])};
        });
        for (int lane = 0; lane < lanes; ++lane) {
            const float alone = eddy::sum_of_squared_ratios<size>([&](int k) {
                return eddy::Scaled<double>{x[k][lane], scale[k][lane]};
            });
            num_different += !support::same_bits(packed[lane], alone);
        }
    }

    CHECK(num_different == 0);
}
