// The options of trainings, and of their backend, at their extremes: each call is refused in a good sentence
// or does what it says.

#include <cmath>
#include <eddy/backends/tiles.hpp>
#include <eddy/interop/train/early_stopping.hpp>
#include <eddy/interop/train/lbfgs.hpp>
#include <eddy/interop/train/optimizer.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <string>
#include <vector>

#include "fuzz/check_extremes.hpp"
#include "support/catch.hpp"

namespace {

namespace train = eddy::train;

using fuzz::check_extremes;

template <class Rule>
void check_rule(const Rule& good, const std::string& name) {
    check_extremes(good, name, [](const Rule& rule) {
        train::Optimizer<Rule, double> optimizer(rule, 2);
        std::vector<double> p{1, -1};
        optimizer.step(p, std::vector<double>{0.5, 0});
        CHECK_FALSE(std::isnan(p[0]));
        CHECK(p[0] <= 1);
    });
}

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return -p[0] * y; }
};

}  // namespace

TEST_CASE("options_train: Tiles at its extremes") {
    const eddy::EnsembleArray<double> y0(3, 1, 2.), p(3, 1, 0.5);
    check_extremes(eddy::Tiles{}, "Tiles", [&](const eddy::Tiles& tiles) {
        const auto solution =
            eddy::solve(Decay{}, eddy::Bosh3{}, y0, p, {.t1 = 1, .rtol = 1e-6}, tiles);
        CHECK(std::abs(solution.y()(1, 0) - 2 * std::exp(-0.5)) < 1e-5);
    });
}

TEST_CASE("options_train: JointController at its extremes") {
    const eddy::EnsembleArray<double> y0(3, 1, 2.), p(3, 1, 0.5);
    check_extremes(eddy::PIDController{}, "JointController", [&](const eddy::PIDController& one) {
        const auto solution =
            eddy::solve(Decay{}, eddy::Bosh3{}, y0, p, {.t1 = 1, .rtol = 1e-6, .max_steps = 10'000},
                        eddy::JointController{one}, eddy::Tiles{});
        if (solution.success()) CHECK(std::abs(solution.y()(1, 0) - 2 * std::exp(-0.5)) < 1e-5);
    });
}

TEST_CASE("options_train: rules of optimizers at their extremes") {
    check_rule(train::Adam{}, "Adam");
    check_rule(train::Sgd{.momentum = 0.5}, "Sgd");
}

TEST_CASE(
    "options_train: a schedule at its extremes is a factor between 0 and 1, where `last` is") {
    const train::CosineSchedule good{.total = 100, .warmup = 10, .last = 0.1};
    check_extremes(good, "CosineSchedule", [](const train::CosineSchedule& schedule) {
        for (const std::int64_t step : {std::int64_t{0}, std::int64_t{50}, std::int64_t{200}}) {
            const double factor = schedule(step);
            if (schedule.last >= 0 && schedule.last <= 1) CHECK((factor >= 0 && factor <= 1));
        }
    });
}

TEST_CASE("options_train: Lbfgs at its extremes lowers the loss") {
    const auto loss = [](std::span<const double> x, std::span<double> gradient) {
        gradient[0] = 4 * std::pow(x[0] - 2, 3);
        return std::pow(x[0] - 2, 4);
    };
    check_extremes(train::Lbfgs{}, "Lbfgs", [&](const train::Lbfgs& options) {
        std::vector<double> x{5};
        const train::Minimum minimum = train::minimize(options, std::span(x), loss);
        CHECK(minimum.loss == std::pow(x[0] - 2, 4));
        CHECK(minimum.loss <= 81);
        CHECK(minimum.steps <= options.max_steps);
    });
}

TEST_CASE("options_train: EarlyStoppingOptions at its extremes") {
    check_extremes(train::EarlyStoppingOptions{}, "EarlyStopping",
                   [](const train::EarlyStoppingOptions& options) {
                       train::EarlyStopping<double> goes_on(options);
                       const std::vector<double> p{1};
                       const bool first = goes_on(1, p), second = goes_on(1, p);
                       CHECK(first);
                       CHECK(second == (options.patience > 1));
                   });
}
