#pragma once
// One line that shows how far a training is: steps, loss, steps of the solver, the time left. It is drawn
// again ten times a second, where standard error is a terminal.
// Test: tests/interop/training_bar.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/interop/progress.hpp>
#include <eddy/solve/call/solution.hpp>
#include <string>

namespace eddy::inline v0::train {

namespace detail {

/// "[######      ]  20 % step 200/1000, loss 0.0123, 460 steps accepted, 12 rejected, 0:32 left"
[[nodiscard]] EDDY_EXPORT std::string training_line(std::int64_t step, std::int64_t total,
                                                    double loss, const LaneStats& steps,
                                                    double seconds);

}  // namespace detail

/// A progress line on standard error: steps, loss and remaining time of a training.
class EDDY_EXPORT TrainingBar {
  public:
    explicit TrainingBar(std::int64_t total, const ProgressOutput& output = {});
    /// Ends the line, where there is one.
    ~TrainingBar();
    TrainingBar(const TrainingBar&) = delete;
    TrainingBar& operator=(const TrainingBar&) = delete;

    /// So many steps are done. `steps` are those that the solver has taken, result.report.total_stats().
    void operator()(std::int64_t done, double loss, const LaneStats& steps = {});

  private:
    [[nodiscard]] double seconds() const;

    std::int64_t total_;
    ProgressOutput output_;
    bool is_shown_, has_drawn_ = false;
    double begin_, drawn_;
};

}  // namespace eddy::inline v0::train
