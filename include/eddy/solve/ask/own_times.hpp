#pragma once
// Times that each trajectory of a call has for its own, and the options that take them or one for all.
// Test: tests/solve/own_times.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// Times that each trajectory has for its own: what `each` makes of an array.
struct OwnTimes {
    std::vector<double> values;    ///< a row for each trajectory, one after another
    std::ptrdiff_t num_lanes = 0;  ///< trajectories
    std::ptrdiff_t num_times = 0;  ///< times of each, NaN included

    /// Time k of a trajectory.
    [[nodiscard]] double operator()(std::ptrdiff_t lane, std::ptrdiff_t k) const {
        return values[static_cast<std::size_t>(lane * num_times + k)];
    }
};

/// Times of each trajectory's own, from an array of doubles, which is copied: (trajectory) for `.t0` and `.t1`,
/// (trajectory, save point) for `.save_at`, (trajectory, impulse) for the members of `.impulses`, (trajectory, knot) and
/// (trajectory, knot · component) for knots and values of `.inputs`. A row has its times in the order of integration;
/// where a trajectory has fewer than others it is filled up at the end with NaN.
template <class Array>
[[nodiscard]] OwnTimes each(const Array& array) {
    static_assert(detail::is_ensemble_array<Array>,
                  "each: give an array of double, such as Eigen::ArrayXd for .t0 and .t1, "
                  "Eigen::ArrayXXd for .save_at");
    static_assert(std::is_same_v<detail::MemoryOf<Array>, HostMemory>,
                  "each: this array lies on a device; times are planned on the host: copy them");
    if constexpr (detail::is_ensemble_array<Array>) {
        auto view = ensemble_view(array);
        using Number = std::remove_const_t<typename decltype(view)::Scalar>;
        static_assert(std::is_same_v<Number, double> || std::is_same_v<Number, int>,
                      "each: times are double, whatever the state is; give an array of double, or "
                      "one of int for components of impulses");
        constexpr bool is_list = [] {
            if constexpr (detail::DenseArray<Array>)
                return static_cast<bool>(Array::IsVectorAtCompileTime);
            else
                return detail::NumberRange<Array>;
        }();
        if (is_list) {
            std::swap(view.num_lanes, view.num_components);
            std::swap(view.lane_stride, view.component_stride);
        }
        OwnTimes times{{}, view.num_lanes, view.num_components};
        times.values.reserve(static_cast<std::size_t>(times.num_lanes * times.num_times));
        for (std::ptrdiff_t lane = 0; lane < times.num_lanes; ++lane) {
            for (std::ptrdiff_t k = 0; k < times.num_times; ++k)
                times.values.push_back(static_cast<double>(view(lane, k)));
        }
        return times;
    }
}

/// A time of all trajectories, from a number, or of each, from `each(array)`.
class EDDY_EXPORT TimeOption {
  public:
    TimeOption(double of_all) : of_all_(of_all) {}
    TimeOption(OwnTimes times) : own_(std::move(times)), is_own_(true) {}
    TimeOption(const TimeOption&);
    TimeOption(TimeOption&&) noexcept;
    TimeOption& operator=(const TimeOption&);
    TimeOption& operator=(TimeOption&&) noexcept;
    ~TimeOption();

    /// Has each trajectory a time of its own?
    [[nodiscard]] bool is_own() const { return is_own_; }
    /// The times of each; empty where all have one.
    [[nodiscard]] const OwnTimes& own() const { return own_; }
    /// The time of all; InvalidArgument where each has its own.
    operator double() const;

  private:
    double of_all_ = 0;
    OwnTimes own_;
    bool is_own_ = false;
};

}  // namespace eddy::inline v0
