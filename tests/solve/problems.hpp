#pragma once
// Problems that several tests solve, and how their results are compared.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <eddy/solve/call/solve.hpp>
#include <initializer_list>

#include "support/equations.hpp"
#include "support/same_bits.hpp"

namespace support {

using Array = eddy::EnsembleArray<double>;

/// Predators y1 eat prey y0; p = (a, b, c, d), the growth of prey, its loss to a predator, the
/// death of predators and what prey brings them.
struct LotkaVolterra {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]);
    }
};

/// A forced oscillator: its time, its parameters and both components all matter.
struct Forced {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] + 0.3 * t, -p[1] * y[0] - 0.1 * (t * y[1] * y[0]));
    }
};

/// A field whose lanes end where its event's function crosses zero, either way.
template <class Field>
struct ToFirstEvent {
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Field{}(t, y, p);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return Field{}.event(t, y, p);
    }
};

/// Half the squared distance between state and data.
struct HalfSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return 0.5 * eddy::dot(r, r);
    }
};

/// Lane after lane.
template <class Real = double>
eddy::EnsembleArray<Real> rows(std::initializer_list<std::initializer_list<double>> lanes) {
    const auto columns = lanes.size() == 0 ? 0 : lanes.begin()->size();
    eddy::EnsembleArray<Real> array(static_cast<std::ptrdiff_t>(lanes.size()),
                                    static_cast<std::ptrdiff_t>(columns));
    std::ptrdiff_t lane = 0;
    for (const auto& row : lanes) {
        std::ptrdiff_t i = 0;
        for (const double value : row) array(lane, i++) = static_cast<Real>(value);
        ++lane;
    }
    return array;
}

/// One row in each array, bit for bit.
template <class A, class B>
bool same_row(const A& a, std::ptrdiff_t row_of_a, const B& b, std::ptrdiff_t row_of_b) {
    if (a.cols() != b.cols()) return false;
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        if (!same_bits(a(row_of_a, i), b(row_of_b, i))) return false;
    }
    return true;
}

/// All elements, bit for bit.
template <class A, class B>
bool same_array(const A& a, const B& b) {
    if (a.rows() != b.rows()) return false;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
        if (!same_row(a, lane, b, lane)) return false;
    }
    return true;
}

/// |value − wanted| / |wanted|.
inline double relative_error(double value, double wanted) {
    return std::fabs(value - wanted) / std::fabs(wanted);
}

}  // namespace support
