#pragma once
// What is learned: points on two half circles, with normal noise. Its density is known.

#include <cmath>
#include <cstdint>
#include <eddy/core/random/normal.hpp>
#include <numbers>

struct Point {
    double x = 0, y = 0;
};

struct Moons {
    double noise = 0.1;

    /// A point of the curves; `part` in (0, 1) goes along one of them.
    [[nodiscard]] static Point on_curve(bool is_second, double part) {
        const double angle = std::numbers::pi * part;
        if (is_second) return {0.5 - std::cos(angle), 0.25 - std::sin(angle)};
        return {std::cos(angle) - 0.5, std::sin(angle) - 0.25};
    }
    /// Sample number `sample` of a stream.
    [[nodiscard]] Point operator()(std::uint32_t stream, std::uint32_t sample) const {
        using Words = eddy::PhiloxWords<std::uint32_t>;
        const auto words = eddy::philox(Words{{sample, stream, 0, 0}}, eddy::PhiloxKey(1));
        const auto z =
            eddy::normals(eddy::philox(Words{{sample, stream, 1, 0}}, eddy::PhiloxKey(1)));
        const Point on = on_curve((words.w[0] & 1) != 0, (words.w[1] + 0.5) * 0x1p-32);
        return {on.x + noise * double(z.z[0]), on.y + noise * double(z.z[1])};
    }
    /// The logarithm of the density, by the midpoint rule along both curves.
    [[nodiscard]] double log_density(Point at) const {
        constexpr int count = 400;
        double sum = 0;
        for (int k = 0; k < 2 * count; ++k) {
            const Point on = on_curve(k >= count, (k % count + 0.5) / count);
            const double square = std::pow(at.x - on.x, 2) + std::pow(at.y - on.y, 2);
            sum += std::exp(-square / (2 * noise * noise));
        }
        return std::log(sum / (2 * count * 2 * std::numbers::pi * noise * noise));
    }
};
