#pragma once
// Puts what a lane's save points show into the arrays of a solution.
// Test: tests/solve/save_points.cpp, tests/solve/device_calls.cpp

#include <cstdint>
#include <eddy/solve/lane/objective.hpp>
#include <list>
#include <vector>

namespace eddy::inline v0::detail {

/// The recorder of accepted steps that nobody wants: it keeps none.
struct NoSteps {
    [[nodiscard]] EDDY_HD static constexpr bool is_wanted() { return false; }
    template <class State>
    EDDY_HD void append(std::ptrdiff_t, const TakenStep&, const State&) const {}
};

/// The steps that lanes from `first_lane` on have taken: a row for each step, of one of each lane.
template <class Real>
struct StepRows {
    std::ptrdiff_t first_lane, num_lanes;
    std::vector<double> t{};  // (step, lane)
    std::vector<Real> y{};    // (step, lane, component)
};

/// Room for the accepted steps of all lanes where kernels cannot allocate: rows for so many steps of each lane,
/// which suffice or do not; or, once somebody has counted them, one lane after another. Of a step its end is kept, or when it
/// began and its size.
template <class RealType, bool keeps_sizes = false>
struct StepArrays {
    using Real = RealType;
    std::int64_t* count = nullptr;  // (lane), of steps without room as well; null: nobody wants any
    std::int64_t num_rows = 0;
    std::list<StepRows<Real>>* rows = nullptr;  // where they come to on the host
    const std::int64_t* first = nullptr;  // (lane), and the end of the last one; null: in rows
    double* t = nullptr;                  // (step), the first of which is first[0]
    Real* y = nullptr;                    // (step, column)
    std::ptrdiff_t num_lanes = 0;         // of a row

    [[nodiscard]] EDDY_HD bool is_wanted() const { return count != nullptr; }
    template <class State>
    EDDY_HD void append(std::ptrdiff_t lane, const TakenStep& taken, const State& state) const {
        if (keeps_sizes && taken.size == 0) return;
        const std::int64_t k = count[lane]++;
        if (k >= (first ? first[lane + 1] - first[lane] : num_rows)) return;
        const std::int64_t step = first ? first[lane] - first[0] + k : k * num_lanes + lane;
        if constexpr (keeps_sizes) {
            t[step] = taken.elapsed;
            y[step] = taken.size;
        } else {
            t[step] = taken.t;
            for (int i = 0; i < State::size(); ++i) y[step * State::size() + i] = primal(state[i]);
        }
    }
    /// Numbers of a step, of a state of so many.
    [[nodiscard]] static constexpr int num_columns(int state_size) {
        return keeps_sizes ? 1 : state_size;
    }
};

/// The arrays of a solution: a (lane, component) array for each save point.
template <class Real>
struct SavedArrays {
    const EnsembleView<Real>* y = nullptr;
    const EnsembleView<Real>* tangent = nullptr;  // of a dual number
};

/// `Steps` takes every accepted step, where it is wanted.
template <class Spec, class Observable, class StepsType = NoSteps>
class SolutionRecorder {
    using Real = typename Spec::Scalar;

  public:
    using Steps = StepsType;
    static constexpr bool saves_nothing = Observable::num_outputs == 0;
    static constexpr bool watches_tangents = !saves_nothing;
    static constexpr Result not_finite = Result::observed_not_finite;  // what is to be saved
    EDDY_HD SolutionRecorder(const Problem<Spec>& problem, std::ptrdiff_t first_lane,
                             const SavedArrays<Real>& saved, const Steps& steps)
        : problem_(&problem), first_lane_(first_lane), steps_(steps), saved_(saved) {}

    EDDY_HD_AS_ARGUMENT [[nodiscard]] EDDY_HD bool wants_steps() const {
        return steps_.is_wanted();
    }
    [[nodiscard]] EDDY_HD Steps& steps() { return steps_; }

    /// False where what is to be saved is not finite; then nothing is.
    [[nodiscard]] EDDY_HD bool save(std::int32_t lane, std::int32_t k,
                                    const typename Spec::LaneState& y) {
        const LaunchLane row{first_lane_ + lane};
        return save(lane, k, y, problem_->times_of(row).save_time[k]);
    }
    /// Saves the state of a lane at another time, which may have a tangent.
    [[nodiscard]] EDDY_HD bool save(std::int32_t lane, std::int32_t k,
                                    const typename Spec::LaneState& y, const auto& t) {
        if constexpr (!saves_nothing) {
            const std::ptrdiff_t row = first_lane_ + lane;
            const auto values =
                Observable::value(t, y, LaneParameters<Spec>{problem_, LaunchLane{row}}, NoData{});
            if (!is_finite(values)) return false;
            for (int i = 0; i < Observable::num_outputs; ++i) {
                saved_.y[k](row, i) = primal(values[i]);
                if (Spec::is_dual) saved_.tangent[k](row, i) = tangent_or_zero(values[i]);
            }
        }
        return true;
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void save_step(std::int32_t lane, const TakenStep& step,
                                               const typename Spec::LaneState& y) {
        steps_.append(first_lane_ + lane, step, y);
    }

  private:
    const Problem<Spec>* problem_;
    std::ptrdiff_t first_lane_;
    [[no_unique_address]] Steps steps_;
    SavedArrays<Real> saved_;
};

}  // namespace eddy::inline v0::detail
