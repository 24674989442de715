#pragma once
// Solvers are compared at equal achieved error: tolerances mean something else in each of them. The
// errors are those of the same lanes against the same reference.

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace benchmark {

/// |x − reference| / |reference|, in the 2-norm over all components of all lanes: a lane whose
/// solution happens to vanish counts no more than the others.
[[nodiscard]] inline double relative_error(const std::vector<double>& x,
                                           const std::vector<double>& reference) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        difference += (x[i] - reference[i]) * (x[i] - reference[i]);
        norm += reference[i] * reference[i];
    }
    return std::sqrt(difference / norm);
}

/// The largest tolerance, to a hundredth of a decade, whose error is at most `target`, from
/// 1e-14 to 1e-2; errors are taken to grow with the tolerance.
[[nodiscard]] inline double tolerance_for(double target,
                                          const std::function<double(double)>& error_of) {
    double low = -14, high = -2;  // log10
    while (high - low > 0.01) {
        const double middle = (low + high) / 2;
        (error_of(std::pow(10, middle)) <= target ? low : high) = middle;
    }
    return std::pow(10, low);
}

}  // namespace benchmark
