#pragma once
// What the golden solves are of: + − · / alone, so that every compiler computes the same bits.

#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <vector>

#include "support/golden_bits.hpp"
#include "support/random.hpp"

namespace golden {

/// A forced oscillator; its first component runs away to infinity where it comes beyond about 2.
struct Swing {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] + t / (4 + t * t) - y[0] + 0.5 * y[0] * y[0],
                         p[2] - p[1] * y[0] / (1 + y[1] * y[1]));
    }
};

struct Distance {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + p[0] * y[0] / (1 + t * t);
    }
};

template <class Real>
struct Lanes {
    eddy::EnsembleArray<Real> y0, p;
    std::vector<Real> shared_p{Real(1.25), Real(0.75), Real(0.5)};

    /// Initial states within `width` of zero.
    explicit Lanes(std::ptrdiff_t count, double width = 0.5) : y0(count, 2), p(count, 3) {
        support::Random random(41);
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            for (int i = 0; i < 2; ++i)
                y0(lane, i) = static_cast<Real>(random.uniform(-width, width));
            for (int i = 0; i < 3; ++i) p(lane, i) = static_cast<Real>(random.uniform(0.5, 1.5));
        }
    }
    /// Data for each save point, the same for all lanes.
    [[nodiscard]] static std::vector<eddy::EnsembleArray<Real>> data(std::size_t num_saves) {
        return std::vector<eddy::EnsembleArray<Real>>(num_saves,
                                                      eddy::EnsembleArray<Real>(1, 2, Real(0.25)));
    }
};

inline const eddy::Cpu two_threads{.threads = 2};

inline support::GoldenBits bits_of(const char* group) { return {EDDY_GOLDEN_BITS, group}; }

}  // namespace golden
