#pragma once
// When to end a training: when the loss on samples that it does not see has not fallen for a while
// (Prechelt 1998, Early stopping – but when?, the criterion UP of successive checks). The best weights are
// kept.
// Test: tests/interop/train.cpp, tests/interop/lbfgs.cpp

#include <cmath>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <limits>
#include <span>
#include <vector>

namespace eddy::inline v0::train {

struct EarlyStoppingOptions {
    std::int64_t patience = 10;  ///< so many checks in a row without a gain end the training
    double least_gain = 0;       ///< a gain is more than this share of the best loss so far

    [[nodiscard]] bool is_valid() const {
        return patience >= 1 && least_gain >= 0 && std::isfinite(least_gain);
    }
};

/// Where it is: how many checks there were, and which had the lowest loss; 0: none yet.
struct StoppingState {
    std::int64_t checks = 0, best_check = 0;
    double best_loss = std::numeric_limits<double>::infinity();
};

/// Ends a training whose validation loss has stopped falling, and keeps the best weights.
template <class Real>
class EarlyStopping {
  public:
    explicit EarlyStopping(const EarlyStoppingOptions& options = {}) : options_(options) {
        require_argument(
            options.is_valid(),
            "train::EarlyStopping: patience = {}, least_gain = {}; patience must be at "
            "least 1, the gain a share of the loss",
            options.patience, options.least_gain);
    }

    /// A check with weights p: true where the training should go on. A loss that is not finite is no gain.
    [[nodiscard]] bool operator()(double loss, std::span<const Real> p) {
        ++state_.checks;
        const double best = state_.best_loss;
        const bool gains =
            std::isfinite(loss) &&
            (state_.best_check == 0 || best - loss > options_.least_gain * std::abs(best));
        if (gains) {
            best_.assign(p.begin(), p.end());
            state_.best_loss = loss;
            state_.best_check = state_.checks;
        }
        return state_.checks - state_.best_check < options_.patience;
    }

    /// The lowest loss so far; infinite before the first check.
    [[nodiscard]] double best_loss() const { return state_.best_loss; }
    /// The number of the check with the lowest loss; 0 before the first.
    [[nodiscard]] std::int64_t best_check() const { return state_.best_check; }
    /// The state for `resume` of another object.
    [[nodiscard]] const StoppingState& state() const { return state_; }
    /// The weights with the lowest loss; empty before the first check.
    [[nodiscard]] std::span<const Real> best() const { return best_; }
    /// Continues with the state of another object.
    void resume(const StoppingState& state, std::span<const Real> best) {
        require_argument(state.best_check >= 0 && state.best_check <= state.checks,
                         "train::EarlyStopping::resume: check {} of {} was the best; give the "
                         "state of another",
                         state.best_check, state.checks);
        best_.assign(best.begin(), best.end());
        state_ = state;
    }
    /// Copies the weights with the lowest loss to p.
    void restore(std::span<Real> p) const {
        require_argument(p.size() == best_.size(),
                         "train::EarlyStopping::restore: {} parameters, and {} of the best check; "
                         "restore after a check, into the same weights",
                         p.size(), best_.size());
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = best_[i];
    }

  private:
    EarlyStoppingOptions options_;
    StoppingState state_;
    std::vector<Real> best_;
};

}  // namespace eddy::inline v0::train
