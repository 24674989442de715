#pragma once
// Timing where others use the machine too: the arms of a comparison take turns, round after round,
// and the time that a processor gave to them is counted, without what it gave to others in between.
// The median over the rounds counts; for a ratio, the median of each round's own ratio, in which
// both arms met the same clock frequency and the same neighbours. Arms with several threads need
// the time on the wall.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace benchmark {

[[nodiscard]] inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Where results go, so that they are computed.
inline volatile double kept = 0;

enum class Clock { processor, wall };

/// Nanoseconds since some time in the past.
[[nodiscard]] inline double now(Clock clock) {
    if (clock == Clock::processor)
        return static_cast<double>(std::clock()) * (1e9 / CLOCKS_PER_SEC);
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now().time_since_epoch();
    return time.count();
}

class Race {
  public:
    explicit Race(Clock clock = Clock::processor) : clock_(clock) {}

    /// An arm whose every call does `work` units; returns its index.
    int add(double work, std::function<void()> call) {
        arms_.push_back({work, std::move(call), {}});
        return static_cast<int>(arms_.size()) - 1;
    }

    /// One round to warm up, then `rounds` that count.
    void run(int rounds) {
        for (int round = -1; round < rounds; ++round) {
            for (Arm& arm : arms_) {
                const double start = now(clock_);
                arm.call();
                const double elapsed = now(clock_) - start;
                if (round >= 0) arm.times.push_back(elapsed / arm.work);
            }
        }
    }

    /// Nanoseconds per unit of work.
    [[nodiscard]] double time(int arm) const { return median(times(arm)); }
    /// The time of one arm over that of another.
    [[nodiscard]] double ratio(int above, int below) const {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < times(above).size(); ++round)
            ratios.push_back(times(above)[round] / times(below)[round]);
        return median(std::move(ratios));
    }

  private:
    struct Arm {
        double work;
        std::function<void()> call;
        std::vector<double> times;  // (round)
    };
    [[nodiscard]] const std::vector<double>& times(int arm) const {
        return arms_[static_cast<std::size_t>(arm)].times;
    }

    Clock clock_;
    std::vector<Arm> arms_;
};

}  // namespace benchmark
