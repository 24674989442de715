#pragma once
// What the error of a step may be in a tangent that decides no step: by the tolerances of the state, both relative to the
// tangent's largest component.
// Test: tests/solve/unreliable.cpp

#include <eddy/core/host_device.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Beyond so many tolerances a tangent is said to be unreliable; errors of the state do not pass one.
inline constexpr int tangent_limit = 100;

/// As many `times` the tolerance, where `largest` is the largest magnitude of the tangent.
template <class Number, class Tolerances>
class TangentTolerance {
    using Scalar = std::remove_cvref_t<decltype(Tolerances::rtol)>;

  public:
    EDDY_INLINE EDDY_HD TangentTolerance(const Tolerances& by, const Number& largest, Scalar times)
        : by_(by), of_tangent_(Number(times * by.rtol) * largest), times_(times) {}

    /// Of component i.
    [[nodiscard]] EDDY_INLINE EDDY_HD Number operator()(int i) const {
        return Number(times_ * by_.atol[i]) + of_tangent_;
    }

  private:
    const Tolerances& by_;
    Number of_tangent_;
    Scalar times_;
};

}  // namespace eddy::inline v0::detail
