#pragma once
// First-order optimisers of one parameter vector, step by step. A rule is data and one formula for one
// parameter; an Optimizer holds what the rule remembers, (parameter), and can be put into a file. The
// gradient is a plain array: any other optimiser will do as well.
// Test: tests/interop/train.cpp

#include <cmath>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace eddy::inline v0::train {

/// What a rule remembers of one parameter.
template <class Real>
struct Moments {
    Real first = 0, second = 0;
};

/// What is left of a number of a rule in the type of the parameters: infinite, or zero, where that has no room.
template <class Real>
[[nodiscard]] double kept_by(double x) {
    return std::abs(x) > static_cast<double>(std::numeric_limits<Real>::max())
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : static_cast<double>(static_cast<Real>(x));
}

/// Adam (Kingma & Ba 2015, arXiv:1412.6980, algorithm 1). With a weight_decay it is AdamW, whose
/// decay is apart from the gradient (Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2).
struct Adam {
    static constexpr std::string_view name = "Adam";  // in files of checkpoints
    double learning_rate = 1e-3;  ///< the size of a step, times the factor of a schedule
    double beta1 = 0.9;           ///< decay of the first moment
    double beta2 = 0.999;         ///< decay of the second moment
    double epsilon = 1e-8;        ///< added to the root of the second moment
    double weight_decay = 0;      ///< weight decay; above 0: AdamW

    template <class Real>
    [[nodiscard]] bool is_valid() const {
        const auto is_size = [](double x) { return x > 0 && std::isfinite(x); };
        const auto is_weight = [](double x) { return x >= 0 && x < 1; };
        const double decay = kept_by<Real>(weight_decay);
        return is_size(kept_by<Real>(learning_rate)) && is_size(kept_by<Real>(epsilon)) &&
               is_weight(kept_by<Real>(beta1)) && is_weight(kept_by<Real>(beta2)) &&
               (decay == 0 || is_size(decay));
    }
    /// Step number `step` ≥ 1, update(p, gradient, moments) for each parameter; `rate` multiplies the
    /// learning rate.
    template <class Real>
    [[nodiscard]] auto at(std::int64_t step, double rate) const {
        const auto count = static_cast<double>(step);
        return [b1 = static_cast<Real>(beta1), b2 = static_cast<Real>(beta2),
                unbias1 = static_cast<Real>(1 / (1 - std::pow(beta1, count))),
                unbias2 = static_cast<Real>(1 / (1 - std::pow(beta2, count))),
                small = static_cast<Real>(epsilon), decay = static_cast<Real>(weight_decay),
                size = static_cast<Real>(rate * learning_rate)](Real p, Real gradient,
                                                                Moments<Real>& moments) {
            moments.first = b1 * moments.first + (1 - b1) * gradient;
            moments.second = b2 * moments.second + (1 - b2) * gradient * gradient;
            const Real change =
                unbias1 * moments.first / (std::sqrt(unbias2 * moments.second) + small);
            return p - size * (change + decay * p);
        };
    }
};

/// Stochastic gradient descent with momentum, as in PyTorch: v ← momentum v + g, p ← p − rate v.
struct Sgd {
    static constexpr std::string_view name = "Sgd";
    double learning_rate = 1e-2;  ///< the size of a step, times the factor of a schedule
    double momentum = 0;          ///< factor of the velocity in each step

    template <class Real>
    [[nodiscard]] bool is_valid() const {
        const double rate = kept_by<Real>(learning_rate), weight = kept_by<Real>(momentum);
        return rate > 0 && std::isfinite(rate) && weight >= 0 && weight < 1;
    }
    template <class Real>
    [[nodiscard]] auto at(std::int64_t, double rate) const {
        return
            [weight = static_cast<Real>(momentum), size = static_cast<Real>(rate * learning_rate)](
                Real p, Real gradient, Moments<Real>& moments) {
                moments.first = weight * moments.first + gradient;
                return p - size * moments.first;
            };
    }
};

/// An optimiser: a rule, such as Adam, with its state for a parameter vector of one size.
template <class Rule, class Real>
class Optimizer {
  public:
    explicit Optimizer(Rule rule, std::size_t num_parameters)
        : rule_(rule), moments_(num_parameters) {
        require_argument(
            rule.template is_valid<Real>(),
            "train::Optimizer: the rule, with learning_rate = {}, is none; learning_rate and "
            "epsilon must be positive, weight_decay at least 0, betas and momentum at least 0 and "
            "less than 1, in the type of the parameters",
            rule.learning_rate);
    }

    /// Makes one step against the gradient. `rate`, such as from a schedule, multiplies the
    /// learning rate. If the gradient or its square is not finite, the call throws InvalidArgument
    /// and changes nothing.
    void step(std::span<Real> p, std::span<const Real> gradient, double rate = 1) {
        require_argument(p.size() == moments_.size() && gradient.size() == moments_.size(),
                         "train::Optimizer::step: {} parameters and {} numbers of a gradient; the "
                         "optimizer was made for {}",
                         p.size(), gradient.size(), moments_.size());
        require_argument(std::isfinite(rate),
                         "train::Optimizer::step: rate = {}; give a finite factor of the learning "
                         "rate",
                         rate);
        for (std::size_t i = 0; i < gradient.size(); ++i)
            require_argument(
                std::isfinite(gradient[i] * gradient[i]),
                "train::Optimizer::step: gradient[{}] = {}, whose square is not finite; "
                "leave such a step out, or bound gradients by train::clip_by_norm",
                i, gradient[i]);
        ++num_steps_;
        const auto update = rule_.template at<Real>(num_steps_, rate);
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = update(p[i], gradient[i], moments_[i]);
    }

    /// The number of steps so far.
    [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
    /// The state of the rule for each parameter.
    [[nodiscard]] std::span<const Moments<Real>> moments() const { return moments_; }
    /// Continues with the state of an optimiser that has made `num_steps` steps.
    void resume(std::int64_t num_steps, std::span<const Moments<Real>> moments) {
        require_argument(num_steps >= 0 && moments.size() == moments_.size(),
                         "train::Optimizer::resume: {} moments after {} steps; the optimizer was "
                         "made for {} parameters",
                         moments.size(), num_steps, moments_.size());
        num_steps_ = num_steps;
        moments_.assign(moments.begin(), moments.end());
    }

  private:
    Rule rule_;
    std::int64_t num_steps_ = 0;
    std::vector<Moments<Real>> moments_;  // (parameter)
};

/// Scales a gradient down to a Euclidean norm of at most `most`, and returns the norm that it had.
/// A gradient with a component that is not finite stays as it is.
template <class Real>
double clip_by_norm(std::span<Real> gradient, double most) {
    require_argument(most > 0, "train::clip_by_norm: most = {}; give a positive norm", most);
    const auto norm_of = [&](double scale) {  // of the gradient times scale
        double sum = 0;
        for (const Real g : gradient) {
            const double scaled = static_cast<double>(g) * scale;
            sum += scaled * scaled;
        }
        return std::sqrt(sum);
    };
    double scale = 1, norm = norm_of(scale);
    if (std::isinf(norm)) norm = norm_of(scale = 0x1p-960);  // only squares overflow, perhaps
    if (norm > most * scale && std::isfinite(norm)) {
        for (Real& g : gradient)
            g = static_cast<Real>(static_cast<double>(g) * scale * (most / norm));
    }
    return norm / scale;
}
/// The same for a vector or array.
template <class Numbers>
requires requires(Numbers& gradient) { std::span(gradient); }
double clip_by_norm(Numbers& gradient, double most) {
    return clip_by_norm(std::span(gradient), most);
}

/// A factor of the learning rate. It rises linearly over `warmup` steps, and then falls along half
/// a cosine to `last` at step `total` (Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5, without
/// restarts).
struct CosineSchedule {
    std::int64_t total = 1;   ///< the step at which `last` is reached
    std::int64_t warmup = 0;  ///< steps of the rise
    double last = 0;          ///< the factor at the end

    /// That of a step, the first being 0.
    [[nodiscard]] double operator()(std::int64_t step) const {
        require_argument(step >= 0 && warmup >= 0 && std::isfinite(last),
                         "train::CosineSchedule: step {} of warmup = {}, last = {}; count steps "
                         "from 0, and give a warmup of at least 0 and a finite last factor",
                         step, warmup, last);
        if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
        if (step >= total) return last;
        const auto begin = static_cast<double>(warmup);
        const double way =
            (static_cast<double>(step) - begin) / (static_cast<double>(total) - begin);
        return last + (1 - last) * 0.5 * (1 + std::cos(3.14159265358979324 * way));
    }
};

}  // namespace eddy::inline v0::train
