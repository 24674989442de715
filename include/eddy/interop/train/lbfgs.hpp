#pragma once
// L-BFGS for full batches: a direction from the last few steps, and a line search along it (Nocedal & Wright
// 2006, Numerical Optimization, algorithm 7.5). For losses without noise: values are compared.
// Test: tests/interop/lbfgs.cpp

#include <cmath>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/interop/train/inverse_hessian.hpp>
#include <eddy/interop/train/line_search.hpp>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0::train {

/// Options of `minimize`, which uses limited-memory BFGS.
struct Lbfgs {
    int history = 10;                  ///< number of steps that are remembered
    std::int64_t max_steps = 1000;     ///< largest number of steps
    double gradient_tolerance = 1e-8;  ///< converged if no component of the gradient is larger
    double loss_tolerance = 0;         ///< converged if a step lowers the loss by less

    [[nodiscard]] bool is_valid() const {
        return history >= 1 && history <= 1000 && max_steps >= 0 && gradient_tolerance >= 0 &&
               loss_tolerance >= 0;
    }
};

/// Why a minimisation ended.
enum class Ending : std::uint8_t {
    converged,    ///< a tolerance is met
    cannot_fall,  ///< no step lowers the loss any more: its rounding is reached, or it is not smooth
    max_steps_reached,
    stopped  ///< by the caller
};

/// Where a minimisation is, or has ended.
struct Minimum {
    double loss = 0;
    double largest_gradient = 0;  ///< |component|
    std::int64_t steps = 0, evaluations = 0;
    Ending ending = Ending::stopped;
};

namespace detail {

/// A minimisation under way. Parameters are double, whatever the loss takes.
template <class Real, class Loss>
class Descent {
  public:
    Descent(const Lbfgs& options, std::span<Real> p, Loss& loss)
        : loss_(loss),
          options_(options),
          p_(p),
          real_gradient_(p.size()),
          here_(p.begin(), p.end()),
          direction_(p.size(), 0.),
          hessian_(options.history) {
        evaluate(0);
        take(last_);
        require_argument(std::isfinite(now_.loss) && std::isfinite(now_.largest_gradient),
                         "train::minimize: the first loss is {} and the largest component of its "
                         "gradient {}; begin where both are finite",
                         now_.loss, now_.largest_gradient);
    }
    [[nodiscard]] const Minimum& now() const { return now_; }
    [[nodiscard]] bool has_converged() const {
        return now_.largest_gradient <= options_.gradient_tolerance || gains_little_;
    }

    /// One step down; false where none lowers the loss.
    [[nodiscard]] bool step() {
        if (!search()) {
            // What is remembered of other places may mislead.
            const bool may_mislead = !hessian_.is_empty();
            hessian_.forget();
            if (!may_mislead || !search()) return false;
        }
        std::vector<double> step(here_), change(gradient_);
        const double before = now_.loss;
        take(last_);
        ++now_.steps;
        for (std::size_t i = 0; i < here_.size(); ++i) {
            step[i] = here_[i] - step[i];
            change[i] = gradient_[i] - change[i];
        }
        hessian_.add(std::move(step), std::move(change));
        gains_little_ = before - now_.loss < options_.loss_tolerance * std::abs(now_.loss);
        return true;
    }

  private:
    /// The loss so far along the direction, and p there.
    LinePoint evaluate(double at) {
        for (std::size_t i = 0; i < here_.size(); ++i)
            p_[i] = static_cast<Real>(here_[i] + at * direction_[i]);
        ++now_.evaluations;
        last_ = {at, loss_(std::span<const Real>(p_), std::span<Real>(real_gradient_)), 0};
        for (std::size_t i = 0; i < here_.size(); ++i)
            last_.slope += static_cast<double>(real_gradient_[i]) * direction_[i];
        return last_;
    }
    /// Finds a lower point along a new direction, and goes there; false, and p as it was, where there is none.
    [[nodiscard]] bool search() {
        direction_ = hessian_.direction(gradient_);
        const LinePoint start{0, now_.loss, dot_of(gradient_, direction_)};
        if (!(start.slope < 0)) return false;
        const auto line = [this](double at) { return evaluate(at); };
        const double first = hessian_.is_empty() ? std::min(1., 1 / now_.largest_gradient) : 1.;
        const LinePoint to = LineSearch(start, line).from(first);
        if (to.at != last_.at) evaluate(to.at);  // the search has looked further
        return to.at != 0;
    }
    /// The last point evaluated is where the descent is now.
    void take(const LinePoint& point) {
        here_.assign(p_.begin(), p_.end());
        gradient_.assign(real_gradient_.begin(), real_gradient_.end());
        now_.loss = point.value;
        now_.largest_gradient = 0;
        for (const double g : gradient_) {
            if (!(std::abs(g) <= now_.largest_gradient)) now_.largest_gradient = std::abs(g);
        }
    }

    Loss& loss_;
    Lbfgs options_;
    std::span<Real> p_;
    std::vector<Real> real_gradient_;  // at p
    std::vector<double> here_, gradient_, direction_;
    LinePoint last_;  // evaluated: where p is
    InverseHessian hessian_;
    Minimum now_;
    bool gains_little_ = false;
};

}  // namespace detail

/// Minimises loss(p, gradient), which returns a value and writes its gradient. It starts at p and
/// leaves the best parameters in p. `go_on(const Minimum&)` is called after each step; if it
/// returns false, the search ends.
/// A loss that is not finite counts as too high. Throws InvalidArgument if an option is not valid,
/// or the first loss is not finite.
template <class Real, class Loss, class GoOn>
Minimum minimize(const Lbfgs& options, std::span<Real> p, Loss&& loss, GoOn&& go_on) {
    require_argument(
        options.is_valid(),
        "train::minimize: Lbfgs has history = {}, max_steps = {} and tolerances {} and "
        "{}; history must be 1 to 1000, the others not negative",
        options.history, options.max_steps, options.gradient_tolerance, options.loss_tolerance);
    detail::Descent<Real, std::remove_reference_t<Loss>> descent(options, p, loss);
    const auto ended = [&](Ending why) {
        Minimum minimum = descent.now();
        minimum.ending = why;
        return minimum;
    };
    while (!descent.has_converged()) {
        if (descent.now().steps == options.max_steps) return ended(Ending::max_steps_reached);
        if (!descent.step()) return ended(Ending::cannot_fall);
        if (!go_on(descent.now())) return ended(Ending::stopped);
    }
    return ended(Ending::converged);
}
template <class Real, class Loss>
Minimum minimize(const Lbfgs& options, std::span<Real> p, Loss&& loss) {
    return minimize(options, p, loss, [](const Minimum&) { return true; });
}

}  // namespace eddy::inline v0::train
