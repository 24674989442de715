#pragma once
// When to end a training: when the loss on samples that it does not see has not fallen for a while
// (Prechelt 1998, Early stopping – but when?, the criterion UP of successive checks). The best weights are
// kept.

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
        ++checks_;
        const bool gains =
            std::isfinite(loss) &&
            (best_check_ == 0 || best_loss_ - loss > options_.least_gain * std::abs(best_loss_));
        if (gains) {
            best_loss_ = loss;
            best_check_ = checks_;
            best_.assign(p.begin(), p.end());
        }
        return checks_ - best_check_ < options_.patience;
    }

    /// The lowest loss so far, infinite before the first, and at which check it was.
    [[nodiscard]] double best_loss() const { return best_loss_; }
    [[nodiscard]] std::int64_t best_check() const { return best_check_; }
    /// Puts the weights of the lowest loss into p.
    void restore(std::span<Real> p) const {
        require_argument(p.size() == best_.size(),
                         "train::EarlyStopping::restore: {} parameters, and {} of the best check; "
                         "restore after a check, into the same weights",
                         p.size(), best_.size());
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = best_[i];
    }

  private:
    EarlyStoppingOptions options_;
    std::int64_t checks_ = 0, best_check_ = 0;
    double best_loss_ = std::numeric_limits<double>::infinity();
    std::vector<Real> best_;
};

}  // namespace eddy::inline v0::train
