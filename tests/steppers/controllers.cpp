// Step-size controllers, error norms and the first step, against values worked out by hand.

#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/constant.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "support/catch.hpp"

namespace {

using History = eddy::ControllerHistory<double>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool near(double a, double b) { return std::fabs(a - b) <= 1e-14 * std::fabs(b); }

static_assert(eddy::StepController<eddy::PIDController, double>);
static_assert(eddy::StepController<eddy::ConstantController, float>);
static_assert(eddy::StepController<eddy::PIDController, eddy::Pack<double, 4>>);

}  // namespace

TEST_CASE("controllers: the constant controller accepts everything and changes nothing") {
    const auto decision = eddy::ConstantController{}.propose(7.0, -0.5, 5, History{});

    CHECK(decision.accept);
    CHECK(!decision.underflow);
    CHECK(decision.dt == -0.5);
}

TEST_CASE("controllers: the integral controller scales by 0.9 e^(-1/k)") {
    const auto controller = eddy::i_controller();

    const auto good = controller.propose(1. / 32, 0.1, 5, History{});
    CHECK(good.accept);
    CHECK(near(good.dt, 0.1 * 0.9 * 2));
    CHECK(good.history.previous_error == 1. / 32);

    const auto bad = controller.propose(32.0, -0.1, 5, good.history);
    CHECK(!bad.accept);
    CHECK(near(bad.dt, -0.1 * 0.9 / 2));
    CHECK(bad.history.previous_error == 1. / 32);
    CHECK(bad.history.was_rejected);
}

TEST_CASE("controllers: the proportional-integral controller is e^(-0.7/k) e1^(0.4/k)") {
    const auto decision =
        eddy::pi_controller().propose(std::pow(2., -10), 1.0, 5, {.previous_error = 1. / 32});

    CHECK(near(decision.dt, 0.9 * std::pow(2., 1.4 - 0.4)));
}

TEST_CASE("controllers: H312PID is e^(-1/18k) e1^(-1/9k) e2^(-1/18k)") {
    const auto decision = eddy::PIDController{}.propose(
        std::pow(2., -9), 1.0, 1, {.previous_error = std::pow(2., -9), .earlier_error = 0.25});

    CHECK(near(decision.dt, 0.9 * std::pow(2., 0.5 + 1 + 1. / 9)));
    CHECK(decision.history.earlier_error == std::pow(2., -9));
}

TEST_CASE("controllers: NaN and infinite errors are rejected with the smallest factor") {
    for (double error : {not_a_number, infinity}) {
        const auto decision = eddy::pi_controller().propose(error, 0.5, 5, History{});
        CHECK(!decision.accept);
        CHECK(near(decision.dt, 0.1));
        CHECK(decision.history.previous_error == 1);
    }
}

TEST_CASE(
    "controllers: a vanishing error gives the largest factor and is not held against the next") {
    const auto decision = eddy::pi_controller().propose(0.0, 0.5, 5, History{});

    CHECK(decision.accept);
    CHECK(decision.dt == 5);
    CHECK(decision.history.previous_error == 1e-4);
}

TEST_CASE("controllers: factors and sizes stay within their limits") {
    auto controller = eddy::i_controller();
    controller.dt_min = 0.01;
    controller.dt_max = 2;

    CHECK(near(controller.propose(1e30, 1.0, 5, History{}).dt, 0.2));
    CHECK(controller.propose(0.0, -1.0, 5, History{}).dt == -2);
    CHECK(controller.propose(1e30, 0.02, 5, History{}).dt == 0.01);
    CHECK(!controller.propose(1e30, 0.02, 5, History{}).underflow);
    CHECK(controller.propose(1e30, -0.01, 5, History{}).underflow);
    CHECK(!controller.propose(0.5, 0.01, 5, History{}).underflow);
    CHECK(
        near(controller.propose(1.0000001, 1.0, 5, History{}).dt, 0.9 * std::pow(1.0000001, -0.2)));
    CHECK(controller.propose(0.0, 1.0, 5, {.was_rejected = true}).dt == 1);
}

TEST_CASE("controllers: every lane of a pack is decided by itself") {
    using Pack = eddy::Pack<double, 4>;
    const double errors[4] = {0.5, not_a_number, 0, 40};
    const auto controller = eddy::pi_controller();

    const auto packed =
        controller.propose(Pack::load(errors), Pack(0.25), 5, eddy::ControllerHistory<Pack>{});

    for (int lane = 0; lane < 4; ++lane) {
        const auto alone = controller.propose(errors[lane], 0.25, 5, History{});
        CHECK(packed.accept[lane] == alone.accept);
        CHECK(near(packed.dt[lane], alone.dt));
        CHECK(near(packed.history.previous_error[lane], alone.history.previous_error));
    }
}

TEST_CASE("controllers: the error norm is the scaled root mean square") {
    const eddy::Vec<double, 2> y{{1, -4}}, next{{-2, 3}}, error{{0.6, 1.2}};

    // Scales 0.1 + 0.1·2 = 0.3 and 0.1 + 0.1·4 = 0.5 (0.2 + 0.4 = 0.6 with the second atol).
    CHECK(near(eddy::error_norm(error, y, next, 0.1, 0.1), std::sqrt((4 + 2.4 * 2.4) / 2)));
    CHECK(near(eddy::error_norm(error, y, next, 0.1, eddy::Vec<double, 2>{{0.1, 0.2}}), 2));
}

TEST_CASE("controllers: an error norm hides neither infinite states nor zero scales") {
    using State = eddy::Vec<double, 1>;

    CHECK(std::isnan(eddy::error_norm(State{{1}}, State{{1}}, State{{infinity}}, 0.1, 0.1)));
    CHECK(std::isnan(eddy::error_norm(State{{0}}, State{{1}}, State{{not_a_number}}, 0.1, 0.1)));
    CHECK(std::isnan(eddy::error_norm(State{{not_a_number}}, State{{1}}, State{{1}}, 0.1, 0.1)));
    CHECK(eddy::error_norm(State{{0}}, State{{0}}, State{{0}}, 0.1, 0.0) == 0);
    CHECK(eddy::error_norm(State{{1e-9}}, State{{0}}, State{{0}}, 0.1, 0.0) > 1);
}

TEST_CASE("controllers: the first step follows Hairer's rule") {
    CHECK(near(eddy::initial_step_trial(2.0, 4.0, 1.0), 0.005));
    CHECK(eddy::initial_step_trial(1e-6, 4.0, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, 1e-6, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, not_a_number, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, infinity, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, 4.0, 1e-12) == 1e-12);

    CHECK(near(eddy::initial_step(1.0, 4.0, 0.64, 1, 9.0), 0.05));     // (0.01 / 4)^(1/2)
    CHECK(near(eddy::initial_step(1e-5, 4.0, 0.64, 1, 9.0), 1e-3));    // 100 trial steps
    CHECK(near(eddy::initial_step(0.005, 1e-16, 0.0, 4, 9.0), 5e-6));  // max(1e-6, trial / 1000)
    CHECK(eddy::initial_step(1.0, 4.0, 0.64, 1, 1e-12) == 1e-12);
}
