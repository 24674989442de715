#pragma once
// Arguments for graphs, and the comparison of results.

#include <cstdint>
#include <eddy/trace/interpret.hpp>
#include <limits>
#include <vector>

#include "support/random.hpp"
#include "support/same_bits.hpp"

namespace support {

template <class Real>
using Arrays = std::vector<eddy::LaneArray<Real>>;

/// Arguments from the whole number line: ordinary numbers, ±0, ±1, infinities, NaN, the very large
/// and the very small.
template <class Real>
Arrays<Real> any_arguments(const eddy::Graph& graph, std::uint64_t seed, int num_lanes) {
    using limits = std::numeric_limits<Real>;
    const std::vector<Real> special{0,
                                    -Real(0),
                                    1,
                                    -1,
                                    limits::infinity(),
                                    -limits::infinity(),
                                    limits::quiet_NaN(),
                                    limits::max(),
                                    -limits::min(),
                                    limits::denorm_min()};
    Random random(seed);
    Arrays<Real> arguments;
    for (const eddy::Argument& argument : graph.arguments) {
        auto& array = arguments.emplace_back(argument.size, num_lanes);
        for (int c = 0; c < argument.size; ++c) {
            for (int lane = 0; lane < num_lanes; ++lane)
                array(c, lane) = random.one_in(2) ? random.pick(special)
                                                  : static_cast<Real>(random.uniform(-3, 3));
        }
    }
    return arguments;
}

/// Arguments in [low, high).
template <class Real>
Arrays<Real> moderate_arguments(const eddy::List<eddy::Argument>& shapes, std::uint64_t seed,
                                int num_lanes, double low = -1, double high = 1) {
    Random random(seed);
    Arrays<Real> arguments;
    for (const eddy::Argument& argument : shapes) {
        auto& array = arguments.emplace_back(argument.size, num_lanes);
        for (int c = 0; c < argument.size; ++c) {
            for (int lane = 0; lane < num_lanes; ++lane)
                array(c, lane) = static_cast<Real>(random.uniform(low, high));
        }
    }
    return arguments;
}

template <class Real>
bool same_bits(const Arrays<Real>& a, const Arrays<Real>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].num_components() != b[k].num_components() || a[k].num_lanes() != b[k].num_lanes())
            return false;
        for (int c = 0; c < a[k].num_components(); ++c) {
            for (int lane = 0; lane < a[k].num_lanes(); ++lane) {
                if (!same_bits(a[k](c, lane), b[k](c, lane))) return false;
            }
        }
    }
    return true;
}

template <class Real>
Arrays<Real> joined(Arrays<Real> a, const Arrays<Real>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

inline std::vector<eddy::Argument> shapes_of_outputs(const eddy::Graph& graph) {
    std::vector<eddy::Argument> shapes;
    for (const eddy::Output& output : graph.outputs)
        shapes.push_back({output.size, output.is_scalar});
    return shapes;
}

}  // namespace support
