// L-BFGS on functions whose minima are known, and early stopping.

#include <algorithm>
#include <cmath>
#include <eddy/interop/train/early_stopping.hpp>
#include <eddy/interop/train/inverse_hessian.hpp>
#include <eddy/interop/train/lbfgs.hpp>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

namespace train = eddy::train;
using support::mentions;
using support::message_of;
using train::Ending;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²: a bent valley, with its minimum 0 where all are 1.
template <class Real>
double rosenbrock(std::span<const Real> x, std::span<Real> gradient) {
    double sum = 0;
    std::vector<double> g(x.size(), 0.);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        const double a = x[i], fall = double(x[i + 1]) - a * a, rest = 1 - a;
        sum += 100 * fall * fall + rest * rest;
        g[i] += -400 * a * fall - 2 * rest;
        g[i + 1] += 200 * fall;
    }
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = static_cast<Real>(g[i]);
    return sum;
}

}  // namespace

TEST_CASE("lbfgs: Rosenbrock's valley in twenty dimensions, down to rounding") {
    std::vector<double> x(20, -1.2);

    const auto minimum = train::minimize({}, std::span(x), rosenbrock<double>);

    CHECK(minimum.ending == Ending::converged);
    CHECK(minimum.largest_gradient <= 1e-8);
    CHECK(minimum.steps < 200);
    CHECK(minimum.evaluations < 300);
    for (const double component : x) CHECK(std::abs(component - 1) < 1e-8);
}

TEST_CASE("lbfgs: parameters in single precision end where no step lowers the loss") {
    std::vector<float> x(6, -1.2f);

    const auto minimum =
        train::minimize({.gradient_tolerance = 0}, std::span(x), rosenbrock<float>);

    CHECK(minimum.ending != Ending::max_steps_reached);
    for (const float component : x) CHECK(std::abs(component - 1) < 1e-3f);
}

TEST_CASE("lbfgs: a quadratic of as many dimensions as it remembers takes few steps") {
    constexpr int size = 8;
    const auto loss = [](std::span<const double> x, std::span<double> gradient) {
        double sum = 0;
        for (int i = 0; i < size; ++i) {
            const auto k = static_cast<std::size_t>(i);
            gradient[k] = std::pow(10., i / 2) * (x[k] - i);
            sum += 0.5 * gradient[k] * (x[k] - i);
        }
        return sum;
    };
    std::vector<double> x(size, 0.);

    const auto minimum = train::minimize({.history = size}, std::span(x), loss);

    CHECK(minimum.ending == Ending::converged);
    CHECK(minimum.steps < 40);
    for (int i = 0; i < size; ++i) CHECK(std::abs(x[static_cast<std::size_t>(i)] - i) < 1e-7);
}

TEST_CASE("inverse_hessian: it knows the last pairs, as many as its history, and no others") {
    const std::vector<double> steps[] = {{1, 0, 2}, {0.5, 1, 0}, {0, -1, 1}, {2, 1, 1}};
    const std::vector<double> changes[] = {{2, 1, 5}, {1, 4, 0.5}, {-1, -3, 2}, {7, 4, 3}};
    const std::vector<double> gradient{1, -2, 0.5};
    const auto direction = [&](int history, std::size_t first) {
        train::detail::InverseHessian h(history);
        for (std::size_t k = first; k < 4; ++k) h.add(steps[k], changes[k]);
        return h.direction(gradient);
    };

    for (int history = 1; history < 4; ++history) {
        const auto last = static_cast<std::size_t>(4 - history);
        CHECK(direction(history, 0) == direction(history, last));
        CHECK(direction(history, 0) != direction(history + 1, last - 1));
    }
}

TEST_CASE("inverse_hessian: a pair without curvature says nothing, so directions go down") {
    const std::vector<double> gradient{1, 1};
    train::detail::InverseHessian h(4);

    h.add({1, 1}, {-1, -1});
    h.add({1, 1}, {1, -1});
    h.add({1, 1}, {not_a_number, 1});

    CHECK(h.is_empty());
    CHECK(h.direction(gradient) == std::vector<double>{-1, -1});
    h.add({1, 0}, {2, 0});
    const std::vector<double> before = h.direction(gradient);
    h.add({1, 1}, {-1, -1});
    CHECK(h.direction(gradient) == before);
}

TEST_CASE("lbfgs: losses that are not finite are too far, not the end") {
    // −log x + x has its minimum at 1, and no value below 0.
    const auto loss = [](std::span<const double> x, std::span<double> gradient) {
        gradient[0] = x[0] > 0 ? 1 - 1 / x[0] : not_a_number;
        return x[0] > 0 ? x[0] - std::log(x[0]) : not_a_number;
    };
    for (const double from : {1e-6, 0.3, 50.}) {
        std::vector<double> x{from};
        const auto minimum = train::minimize({}, std::span(x), loss);
        CHECK(minimum.ending == Ending::converged);
        CHECK(std::abs(x[0] - 1) < 1e-7);
    }
    std::vector<double> x{-1};
    CHECK(mentions(message_of([&] { train::minimize({}, std::span(x), loss); }),
                   "the first loss is nan"));
}

TEST_CASE("lbfgs: no step raises the loss, and p has the lowest, whatever ends it") {
    std::vector<double> losses;
    std::vector<double> x(4, -1.2), gradient(4);
    const auto watch = [&](const train::Minimum& now) {
        losses.push_back(now.loss);
        return losses.size() < 7;
    };

    const auto stopped = train::minimize({}, std::span(x), rosenbrock<double>, watch);

    CHECK(stopped.ending == Ending::stopped);
    CHECK(stopped.steps == 7);
    CHECK(std::is_sorted(losses.rbegin(), losses.rend()));
    CHECK(rosenbrock<double>(x, gradient) == stopped.loss);
    const auto limited = train::minimize({.max_steps = 3}, std::span(x), rosenbrock<double>);
    CHECK(limited.ending == Ending::max_steps_reached);
    CHECK(rosenbrock<double>(x, gradient) == limited.loss);
    CHECK(limited.loss < stopped.loss);
}

TEST_CASE("lbfgs: a kink, a slope without end and nothing to do come to an end") {
    const auto kink = [](std::span<const double> x, std::span<double> g) {
        g[0] = x[0] < 0.3 ? -1 : 1;
        return std::abs(x[0] - 0.3);
    };
    const auto slope = [](std::span<const double> x, std::span<double> g) {
        g[0] = -1;
        return -x[0];
    };
    std::vector<double> x{5}, none;

    CHECK(train::minimize({}, std::span(x), kink).ending == Ending::cannot_fall);
    CHECK(std::abs(x[0] - 0.3) < 1e-6);
    const auto endless = train::minimize({.max_steps = 20}, std::span(x), slope);
    CHECK(endless.ending != Ending::converged);
    CHECK(x[0] > 1e6);
    const auto empty = [](std::span<const double>, std::span<double>) { return 1.; };
    CHECK(train::minimize({}, std::span(none), empty).ending == Ending::converged);
}

TEST_CASE("lbfgs: options that are not valid are refused") {
    std::vector<double> x{1};
    const auto refused = [&](const train::Lbfgs& options) {
        return mentions(
            message_of([&] { train::minimize(options, std::span(x), rosenbrock<double>); }),
            "train::minimize: Lbfgs has history");
    };

    CHECK(refused({.history = 0}));
    CHECK(refused({.max_steps = -1}));
    CHECK(refused({.gradient_tolerance = not_a_number}));
    CHECK(refused({.loss_tolerance = -1}));
}

TEST_CASE("early_stopping: ends after so many checks without a gain, and keeps the best weights") {
    train::EarlyStopping<float> goes_on({.patience = 2, .least_gain = 0.01});
    std::vector<float> p{0};
    const auto check = [&](double loss) {
        p[0] += 1;
        return goes_on(loss, p);
    };

    CHECK(check(not_a_number));
    CHECK(check(4));
    CHECK(check(2));
    CHECK(check(1.99));  // gains less than a hundredth
    CHECK(check(1.9));
    CHECK(check(-infinite));
    CHECK_FALSE(check(not_a_number));
    CHECK(goes_on.best_loss() == 1.9);
    CHECK(goes_on.best_check() == 5);
    goes_on.restore(p);
    CHECK(p[0] == 5);
}

TEST_CASE("early_stopping: options and restoring too early are refused") {
    using train::EarlyStopping;
    std::vector<float> p{0};

    CHECK_THROWS_AS(EarlyStopping<float>({.patience = 0}), eddy::InvalidArgument);
    CHECK_THROWS_AS(EarlyStopping<float>({.least_gain = not_a_number}), eddy::InvalidArgument);
    CHECK(
        mentions(message_of([&] { EarlyStopping<float>().restore(p); }), "restore after a check"));
}
