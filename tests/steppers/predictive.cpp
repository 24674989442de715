#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/predictive.hpp>

#include "support/catch.hpp"

namespace {

using History = eddy::ControllerHistory<float>;

float squared(double error) { return static_cast<float>(error * error); }

}  // namespace

static_assert(eddy::StepController<eddy::PredictiveController, float>);
static_assert(eddy::StepController<eddy::PredictiveController, eddy::Pack<float, 8>>);

TEST_CASE("predictive: the first step is the elementary controller's") {
    const auto decision = eddy::PredictiveController{}.propose(squared(1. / 32), 5, History{});

    CHECK(decision.factor == Approx(0.9 * 2).epsilon(1e-5));
    CHECK(decision.history.previous_log2 == Approx(-5).epsilon(1e-5));
    CHECK(decision.history.earlier_log2 == Approx(std::log2(1.8)).epsilon(1e-5));
}

TEST_CASE("predictive: an error that grows although the size did not is expected to grow on") {
    const History same_size{.previous_log2 = -5, .earlier_log2 = 0};

    const auto decision = eddy::PredictiveController{}.propose(squared(0.25), 5, same_size);

    // (e₁ / e²)^(1/5) = (2^−5 / 2^−4)^(1/5)
    CHECK(decision.factor == Approx(0.9 * std::pow(2., -0.2)).epsilon(1e-5));
}

TEST_CASE("predictive: an error that grew as the size did makes the plain choice") {
    // Twice the size, 2^5 times the error.
    const History doubled{.previous_log2 = -6, .earlier_log2 = 1};

    const auto decision = eddy::PredictiveController{}.propose(squared(0.5), 5, doubled);

    CHECK(decision.factor == Approx(0.9 * std::pow(2., 0.2)).epsilon(1e-5));
}

TEST_CASE("predictive: after a rejection nothing is predicted, and the next step does not grow") {
    const History history{.previous_log2 = -5, .earlier_log2 = 1};

    const auto rejected = eddy::PredictiveController{}.propose(squared(32), 5, history);
    const auto after = eddy::PredictiveController{}.propose(squared(0.01), 5, rejected.history);

    CHECK(rejected.factor == Approx(0.45).epsilon(1e-5));
    CHECK(rejected.history.previous_log2 == -5);
    // The size that is tried next, beside the last one accepted.
    CHECK(rejected.history.earlier_log2 == Approx(1 + std::log2(0.45)).epsilon(1e-5));
    CHECK(after.factor == 1);
    CHECK(after.history.previous_log2 == Approx(std::log2(0.01)).epsilon(1e-5));
}

TEST_CASE("predictive: factors keep their limits, whatever the error") {
    const eddy::PredictiveController controller{};
    const History histories[] = {{}, {-6, 3}, {-1, -20}, {0, 40, true}};
    for (const History& history : histories) {
        for (const float square : {0.f, 1e-30f, 0.5f, 1.f, 1.5f, 1e30f, INFINITY, NAN}) {
            const auto decision = controller.propose(square, 5, history);
            CHECK(decision.factor >= 0.2f);
            CHECK(decision.factor <= (square <= 1 ? 10.f : 0.9f));
            CHECK(std::isfinite(decision.history.previous_log2));
            CHECK(std::isfinite(decision.history.earlier_log2));
        }
    }
    CHECK(controller.propose(NAN, 5, History{}).factor == 0.2f);
}
