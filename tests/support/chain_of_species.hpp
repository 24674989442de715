#pragma once
// A chain of species, each made by the reaction before it: Michaelis–Menten, reversible and catalysed
// reactions in turns. Its length may be known at compile time, or when the program runs.

namespace support {

struct ChainOfSpecies {
    int length;
    [[nodiscard]] int num_parameters() const { return 2 * length; }
    constexpr auto operator()(const auto&, const auto& y, const auto& p) const {
        auto flow = y;
        auto before = p[0] * 0.25;
        for (int i = 0; i < length; ++i) {
            const auto rate = [&] {
                if (i % 3 == 0) return p[2 * i] * y[i] / (p[2 * i + 1] + y[i]);
                if (i % 3 == 1 && i + 1 < length) return p[2 * i] * y[i] - p[2 * i + 1] * y[i + 1];
                return (p[2 * i] * y[(i + 5) % length] + p[2 * i + 1]) * y[i];
            }();
            flow[i] = before - rate;
            before = rate;
        }
        return flow;
    }
};
template <int length>
struct FixedChain {
    static constexpr int state_size = length, parameter_size = 2 * length;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return ChainOfSpecies{length}(t, y, p);
    }
};

}  // namespace support
