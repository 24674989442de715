#pragma once
// A small nonlinear problem with an exact solution, and the order that a sequence of errors shows.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <eddy/core/vec_math.hpp>
#include <eddy/trace/functions.hpp>
#include <string_view>
#include <vector>

namespace support {

/// Once around the unit circle and on, ever faster: y0' = (1 + t) |y|² y1, y1' = −(1 + t) |y|² y0,
/// from (0, 1). In long double: methods of high order are still far from their order where the
/// round-off of double begins, and what remains then is the rounding of the coefficients.
struct ExactProblem {
    static constexpr int state_size = 2, parameter_size = 0;
    using State = eddy::Vec<long double, 2>;

    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        const auto speed = (1 + t) * eddy::dot(y, y);
        return eddy::vec(speed * y[1], -speed * y[0]);
    }
    static State solution(long double t) {
        const long double angle = t + t * t / 2;
        return {{std::sin(angle), std::cos(angle)}};
    }
    static double error(const State& y, long double t) {
        const State exact = solution(t);
        return static_cast<double>(
            std::max(std::fabs(y[0] - exact[0]), std::fabs(y[1] - exact[1])));
    }
};

struct ErrorAt {
    double dt, error;
};

/// The slope of log(error) over log(dt) by least squares.
inline double fitted_slope(const std::vector<ErrorAt>& points) {
    double x_mean = 0, y_mean = 0, xy = 0, xx = 0;
    const double count = static_cast<double>(points.size());
    for (const auto& [dt, error] : points) {
        x_mean += std::log(dt) / count;
        y_mean += std::log(error) / count;
    }
    for (const auto& [dt, error] : points) {
        xy += (std::log(dt) - x_mean) * (std::log(error) - y_mean);
        xx += (std::log(dt) - x_mean) * (std::log(dt) - x_mean);
    }
    return xy / xx;
}

/// The last `count` errors before the first one below `floor`, where round-off takes over: as far
/// from the pre-asymptotic steps as the floor allows. All of them must be below `ceiling`.
inline std::vector<ErrorAt> asymptotic_window(const std::vector<ErrorAt>& points, double floor,
                                              double ceiling, std::ptrdiff_t count) {
    const auto end = std::find_if(points.begin(), points.end(),
                                  [&](const ErrorAt& point) { return !(point.error >= floor); });
    if (end - points.begin() < count) return {};
    std::vector<ErrorAt> window(end - count, end);
    const bool is_small = std::all_of(window.begin(), window.end(),
                                      [&](const ErrorAt& point) { return point.error <= ceiling; });
    return is_small ? window : std::vector<ErrorAt>{};
}

/// "Tsit5" for eddy::Tsit5, as the compilers write it in the name of a function.
template <class Type>
constexpr std::string_view type_name() {
    std::string_view name = __PRETTY_FUNCTION__;
    name.remove_prefix(name.find("Type = ") + 7);
    name = name.substr(0, name.find_first_of(";]"));
    return name.substr(name.rfind(':') + 1);
}

}  // namespace support
