#pragma once
// What the loop over rows tells of save points, and what it asks for on the way back. A lane is one of the launch.
// Test: tests/solve/tiles_oracle.cpp, tests/backends/joint_steps.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/prescribed_steps.hpp>

namespace eddy::inline v0::detail {

/// What is told of save points, and of accepted steps where it wants to; by itself it keeps nothing.
template <class Real>
class RowRecorder {
  public:
    virtual ~RowRecorder() = default;
    [[nodiscard]] virtual bool wants_steps() const { return false; }
    virtual void save_step(std::ptrdiff_t /*lane*/, const TakenStep& /*step*/,
                           const Real* /*state*/) {}
    /// The state of a lane, in a place, at save point k: all numbers. False where what is made of it is not finite.
    [[nodiscard]] virtual bool save(std::ptrdiff_t /*lane*/, int /*place*/, std::int32_t /*k*/,
                                    const Real* /*state*/) {
        return true;
    }
    /// The state of a lane that ends at an event, at the time t, where it is the only one to be saved.
    [[nodiscard]] virtual bool save_event(std::ptrdiff_t lane, int place, double /*t*/,
                                          const Real* state) {
        return save(lane, place, 0, state);
    }
    /// How a lane ends for which `save` has said so.
    [[nodiscard]] virtual Result not_finite() const { return Result::observed_not_finite; }
};

/// Where the cotangents of a lane's parameters are added to: component i at i · stride.
template <class Real>
struct RowSums {
    Real* first;
    std::ptrdiff_t stride;
    void add(int i, const Real& value) const { first[i * stride] += value; }
};

/// Losses, or cotangents of the caller's, that are computed a lane at a time by text of the caller's.
template <class Real>
class RowLosses : public RowRecorder<Real> {
  public:
    /// A worker takes a group of lanes.
    virtual void begin(std::ptrdiff_t first, std::int32_t count) = 0;
    /// The cotangent of a lane's state at save point k; what it asks of the parameters is added.
    virtual void pull_save(std::ptrdiff_t lane, std::int32_t k, Real* cotangent,
                           const RowSums<Real>& of_p) = 0;
    /// The state that was saved there.
    virtual void state_at(std::ptrdiff_t lane, std::int32_t k, Real* state) const = 0;
    /// All lanes of the group are done.
    virtual void finish(const LaneOutcome* outcomes) = 0;
    /// Bytes that it keeps of a group.
    [[nodiscard]] virtual std::int64_t num_bytes() const = 0;
};

}  // namespace eddy::inline v0::detail
