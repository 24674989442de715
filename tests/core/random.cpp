// Philox against its published vectors, and its normals against their law: the seeds are fixed, so
// that a failure is a change and never chance.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eddy/core/random/normal.hpp>
#include <numbers>
#include <vector>

#include "support/catch.hpp"

namespace {

using Word = std::uint32_t;
using Words = eddy::PhiloxWords<Word>;

struct Vector {
    Words counter;
    std::uint64_t key;
    Words ten, seven;
};
// Random123's kat_vectors.
const Vector known[] = {
    {{{0, 0, 0, 0}},
     0,
     {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
     {{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}}},
    {{{~0u, ~0u, ~0u, ~0u}},
     ~std::uint64_t{0},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
     {{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     0x299f31d0a4093822,
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
     {{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}}},
};

Words block(std::uint32_t number, std::uint32_t path = 0) { return {{0, number, path, 0}}; }

/// Lane i of the pack has counter first + i.
template <int lanes>
void require_same_in_packs(std::uint32_t first, eddy::PhiloxKey key) {
    using Pack = eddy::Pack<std::uint64_t, lanes>;
    Pack number(0);
    // Whatever is in the high halves plays no part.
    for (int lane = 0; lane < lanes; ++lane)
        number.set(lane,
                   first + static_cast<std::uint64_t>(lane) + (std::uint64_t{0xabcdef01} << 32));
    const auto packed =
        eddy::philox(eddy::PhiloxWords<Pack>{{Pack(0), number, Pack(5), Pack(0)}}, key);
    const auto z = eddy::normals(packed);
    for (int lane = 0; lane < lanes; ++lane) {
        const Words words = eddy::philox(block(first + static_cast<Word>(lane), 5), key);
        const auto alone = eddy::normals(words);
        for (int i = 0; i < 4; ++i) {
            REQUIRE(static_cast<Word>(packed.w[i][lane]) == words.w[i]);
            REQUIRE(std::bit_cast<Word>(z.z[i][lane]) == std::bit_cast<Word>(alone.z[i]));
        }
    }
}

std::vector<double> sample(std::size_t count, std::uint64_t seed) {
    std::vector<double> z;
    const eddy::PhiloxKey key(seed);
    for (Word number = 0; z.size() < count; ++number) {
        for (const float value : eddy::normals(eddy::philox(block(number), key)).z)
            z.push_back(value);
    }
    return z;
}

double mean_power(const std::vector<double>& z, int power) {
    double total = 0;
    for (const double value : z) total += std::pow(value, power);
    return total / static_cast<double>(z.size());
}

}  // namespace

TEST_CASE("philox: the published vectors") {
    for (const Vector& vector : known) {
        const Words ten = eddy::philox(vector.counter, eddy::PhiloxKey(vector.key));
        const Words seven = eddy::philox<7>(vector.counter, eddy::PhiloxKey(vector.key));
        for (int i = 0; i < 4; ++i) {
            CHECK(ten.w[i] == vector.ten.w[i]);
            CHECK(seven.w[i] == vector.seven.w[i]);
        }
    }
    constexpr Words at_compile_time = eddy::philox(Words{{0, 0, 0, 0}}, eddy::PhiloxKey(0));
    static_assert(at_compile_time.w[0] == 0x6627e8d5);
}

TEST_CASE("philox: a pack has the words and normals of its lanes, whatever its width") {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef0}}) {
        for (std::uint32_t first = 0; first < 4096; first += 512) {
            const eddy::PhiloxKey key(seed);
            require_same_in_packs<2>(first, key);
            require_same_in_packs<4>(first, key);
            require_same_in_packs<8>(first, key);
            require_same_in_packs<16>(first, key);
            require_same_in_packs<32>(first, key);
        }
    }
}

TEST_CASE("normals: exact to the last places of the radius, at all ends") {
    // Every combination of words near the ends of radius and quadrants, and many in between.
    std::vector<Word> ends;
    for (int bit = 0; bit < 32; ++bit) {
        for (int near = -2; near <= 2; ++near)
            ends.push_back((Word{1} << bit) + static_cast<Word>(near));
    }
    for (Word word = 1; word != 0 && ends.size() < 700; word += 0x00812345) ends.push_back(word);
    double worst = 0;
    for (const Word radius : ends) {
        for (const Word turn : ends) {
            const auto z = eddy::normals(Words{{radius, turn, radius, turn}});
            const double u = std::ldexp(radius, -32) + std::ldexp(1, -33);
            const double r = std::sqrt(-2 * std::log(u));
            const double angle = std::numbers::pi * std::ldexp(turn, -31);
            REQUIRE(z.z[0] == z.z[2]);
            REQUIRE(z.z[1] == z.z[3]);
            // u itself is a float: half an ulp of it is 3e-8 of u, at u near 1 much of log u.
            const double from_u = u > 0.5 ? 0x1p-24 / std::max(r, 1e-4) : 0x1p-24 / r;
            worst = std::max(worst, (std::abs(z.z[0] - r * std::cos(angle)) - from_u) / (1e-4 + r));
            worst = std::max(worst, (std::abs(z.z[1] - r * std::sin(angle)) - from_u) / (1e-4 + r));
        }
    }
    CHECK(worst < 2.5e-7);

    const auto largest = eddy::normals(Words{{0, 0, ~0u, 0}});
    CHECK(largest.z[0] == Approx(std::sqrt(66 * std::numbers::ln2)).epsilon(2e-7));
    CHECK(largest.z[1] == 0);
    CHECK(largest.z[2] == 0);  // u rounds to 1: the radius is zero, not NaN
}

TEST_CASE("normals: moments, bins and tails of the normal law") {
    const std::vector<double> z = sample(1 << 20, 2024);
    const double n = static_cast<double>(z.size());

    // Within five standard errors: the variance of the mean of z^k is (m_2k − m_k²)/n.
    const double moment[] = {1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};
    for (int k = 1; k <= 6; ++k) {
        CAPTURE(k);
        const double error = std::sqrt((moment[2 * k] - moment[k] * moment[k]) / n);
        CHECK(std::abs(mean_power(z, k) - moment[k]) < 5 * error);
    }

    // χ² over 256 bins of equal probability: mean 255, standard deviation √510.
    std::vector<double> bins(256, 0);
    for (const double value : z) {
        const double below = 0.5 * std::erfc(-value / std::numbers::sqrt2);
        bins[std::min<std::size_t>(static_cast<std::size_t>(below * 256), 255)] += 1;
    }
    double chi_squared = 0;
    for (const double count : bins)
        chi_squared += (count - n / 256) * (count - n / 256) / (n / 256);
    CHECK(std::abs(chi_squared - 255) < 5 * std::sqrt(510.));

    for (const double beyond : {2., 3., 4., 4.5}) {
        const double expected = n * std::erfc(beyond / std::numbers::sqrt2);
        const auto seen = static_cast<double>(std::count_if(
            z.begin(), z.end(), [&](double value) { return std::abs(value) > beyond; }));
        CAPTURE(beyond);
        CHECK(std::abs(seen - expected) < 5 * std::sqrt(expected));
    }
}

TEST_CASE("normals: independent over the four of a block, over counters and over seeds") {
    const std::vector<double> z = sample(1 << 18, 1), other = sample(1 << 18, 2);
    const auto correlation = [&](const std::vector<double>& with, std::size_t lag) {
        double total = 0;
        for (std::size_t i = 0; i + lag < z.size(); ++i) total += z[i] * with[i + lag];
        return total / std::sqrt(static_cast<double>(z.size() - lag));
    };
    // Of squares as well: a sine and a cosine of one radius are independent, not only uncorrelated.
    const auto of_squares = [&](std::size_t lag) {
        double total = 0;
        for (std::size_t i = 0; i + lag < z.size(); ++i)
            total += (z[i] * z[i] - 1) * (z[i + lag] * z[i + lag] - 1) / 2;
        return total / std::sqrt(static_cast<double>(z.size() - lag));
    };
    for (std::size_t lag = 1; lag <= 64; ++lag) {
        CAPTURE(lag);
        CHECK(std::abs(correlation(z, lag)) < 5);
        CHECK(std::abs(of_squares(lag)) < 5);
        CHECK(std::abs(correlation(other, lag - 1)) < 5);
    }
}

TEST_CASE("uniform: in (0, 1], never zero") {
    CHECK(eddy::uniform(Word{0}) == 0x1p-33f);
    CHECK(eddy::uniform(~Word{0}) == 1.f);
    CHECK(eddy::uniform(Word{1} << 31) == 0.5f);
}
