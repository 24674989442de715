#pragma once
// The arrays that a graph is interpreted on, and views of them.
// Test: tests/trace/interpret.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <vector>

namespace eddy::inline v0 {

/// An argument or a result of `interpret`: (component, trajectory), each component contiguous over
/// the trajectories.
template <class Real>
class LaneArray {
  public:
    LaneArray(int num_components, std::int64_t num_lanes, const Real& value = Real(0))
        : num_components_(num_components),
          num_lanes_(num_lanes),
          values_(count_of(num_components, num_lanes), value) {}

    /// The number of rows.
    [[nodiscard]] int num_components() const { return num_components_; }
    /// The number of columns.
    [[nodiscard]] std::int64_t num_lanes() const { return num_lanes_; }
    [[nodiscard]] Real& operator()(int component, std::int64_t lane) {
        return values_[static_cast<std::size_t>(component * num_lanes_ + lane)];
    }
    [[nodiscard]] const Real& operator()(int component, std::int64_t lane) const {
        return values_[static_cast<std::size_t>(component * num_lanes_ + lane)];
    }
    /// All numbers, component after component.
    [[nodiscard]] const Real* data() const { return values_.data(); }

  private:
    static std::size_t count_of(int num_components, std::int64_t num_lanes) {
        require_argument(num_components >= 0 && num_lanes >= 0,
                         "LaneArray: {} x {} (component, trajectory); give sizes of at least 0",
                         num_components, num_lanes);
        return static_cast<std::size_t>(num_components) * static_cast<std::size_t>(num_lanes);
    }

    int num_components_;
    std::int64_t num_lanes_;
    std::vector<Real> values_;
};

namespace detail {

/// Component c of lane l is data[c · component_stride + l · lane_stride].
template <class T>
struct LaneView {
    const T* data = nullptr;
    std::int64_t component_stride = 0, lane_stride = 0;

    [[nodiscard]] const T& operator()(int component, std::int64_t lane) const {
        return data[component * component_stride + lane * lane_stride];
    }
};

}  // namespace detail
}  // namespace eddy::inline v0
