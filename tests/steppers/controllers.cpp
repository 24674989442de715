// Step-size controllers, error norms and the first step, against values worked out by hand.

#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/constant.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>

#include "support/catch.hpp"
#include "support/same_bits.hpp"

namespace {

using History = eddy::ControllerHistory<float>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float float_infinity = std::numeric_limits<float>::infinity();

bool near(double a, double b) { return std::fabs(a - b) <= 1e-14 * std::fabs(b); }
/// Within the error of a float's power, 6e-7, and of the coefficients' rounding.
bool float_near(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); }
/// What a controller is told of an error norm.
float squared(float norm) { return norm * norm; }

static_assert(eddy::StepController<eddy::PIDController, float>);
static_assert(eddy::StepController<eddy::PIDController, eddy::Pack<float, 8>>);
static_assert(eddy::StepController<eddy::ConstantController, float>);
static_assert(!eddy::ConstantController::is_adaptive && eddy::PIDController::is_adaptive);

}  // namespace

TEST_CASE("controllers: the constant controller changes nothing") {
    const auto decision = eddy::ConstantController{}.propose(7.f, 5, {.previous_log2 = 3});

    CHECK(decision.factor == 1);
    CHECK(decision.history.previous_log2 == 3);
    CHECK(!decision.history.was_rejected);
}

TEST_CASE("controllers: the integral controller answers 0.9 e^(-1/k)") {
    const auto controller = eddy::i_controller();

    const auto good = controller.propose(squared(1.f / 32), 5, History{});
    CHECK(float_near(good.factor, 0.9 * 2));
    CHECK(good.history.previous_log2 == -5);
    CHECK(!good.history.was_rejected);

    const auto bad = controller.propose(squared(32), 5, good.history);
    CHECK(float_near(bad.factor, 0.9 / 2));
    CHECK(bad.history.previous_log2 == -5);
    CHECK(bad.history.was_rejected);
}

TEST_CASE("controllers: the proportional-integral controller is e^(-0.7/k) e1^(0.4/k)") {
    const auto decision =
        eddy::pi_controller().propose(squared(0x1p-10f), 5, {.previous_log2 = -5});

    CHECK(float_near(decision.factor, 0.9 * std::pow(2., 1.4 - 0.4)));
}

TEST_CASE("controllers: H312PID is e^(-1/18k) e1^(-1/9k) e2^(-1/18k)") {
    const auto decision = eddy::pid_controller().propose(squared(0x1p-9f), 1,
                                                         {.previous_log2 = -9, .earlier_log2 = -2});

    CHECK(float_near(decision.factor, 0.9 * std::pow(2., 0.5 + 1 + 1. / 9)));
    CHECK(decision.history.previous_log2 == -9);
    CHECK(decision.history.earlier_log2 == -9);
}

TEST_CASE("controllers: a rejection asks nothing of history and leaves it as it was") {
    const History history{.previous_log2 = -9, .earlier_log2 = -2};

    const auto decision = eddy::PIDController{}.propose(squared(8), 3, history);

    CHECK(float_near(decision.factor, 0.45));
    CHECK(decision.history.previous_log2 == -9);
    CHECK(decision.history.earlier_log2 == -2);
}

TEST_CASE("controllers: NaN and infinite errors give the smallest factor") {
    auto controller = eddy::pi_controller();
    for (double smallest : {0.2, 1e-30}) {
        controller.min_factor = smallest;
        for (float error : {float_nan, float_infinity}) {
            const auto decision = controller.propose(error, 5, {.previous_log2 = -4});
            CHECK(decision.factor == static_cast<float>(smallest));
            CHECK(decision.history.previous_log2 == -4);
            CHECK(decision.history.was_rejected);
        }
    }
}

TEST_CASE(
    "controllers: a vanishing error gives the largest factor and is not held against the next") {
    const float subnormal = std::numeric_limits<float>::denorm_min();
    for (float square : {0.f, subnormal, 1e-38f, 1e-10f}) {
        const auto decision = eddy::i_controller().propose(square, 5, History{});
        CHECK(float_near(decision.factor, square == 1e-10f ? 9 : 10));
        CHECK(float_near(decision.history.previous_log2, std::log2(1e-4)));
    }

    // Below 2^-63 the exponent is that of 2^-63.
    auto unlimited = eddy::i_controller();
    unlimited.max_factor = 1e38;
    CHECK(float_near(unlimited.propose(0.f, 5, History{}).factor, 0.9 * std::pow(2., 12.6)));
    CHECK(float_near(unlimited.propose(subnormal, 5, History{}).factor, 0.9 * std::pow(2., 12.6)));
}

TEST_CASE(
    "controllers: whatever the error, a rejected step shrinks and factors keep their limits") {
    const History histories[] = {{},
                                 {.previous_log2 = -13, .earlier_log2 = -1},
                                 {.previous_log2 = -1, .earlier_log2 = -13, .was_rejected = true}};
    const eddy::PIDController controllers[] = {eddy::pid_controller(), eddy::pi_controller(),
                                               eddy::i_controller()};
    int num_failures = 0;
    for (const auto& controller : controllers) {
        for (const auto& history : histories) {
            for (float order : {1.f, 2.f, 5.f, 8.f}) {
                for (float square = 1e-37f; square < 1e37f; square *= 1.37f) {
                    const float factor = controller.propose(square, order, history).factor;
                    const float most = square > 1 ? 0.9f : history.was_rejected ? 1.f : 10.f;
                    num_failures += !(factor >= 0.2f && factor <= most);
                }
                const float above_one = std::nextafter(1.f, 2.f);
                num_failures += !(controller.propose(above_one, order, history).factor <= 0.9f);
            }
        }
    }

    CHECK(num_failures == 0);
}

TEST_CASE("controllers: the accepted step after a rejection does not grow, the next one does") {
    const auto controller = eddy::i_controller();

    const auto rejected = controller.propose(squared(32), 5, History{});
    const auto first = controller.propose(squared(1e-9f), 5, rejected.history);
    const auto second = controller.propose(squared(1e-9f), 5, first.history);

    CHECK(first.factor == 1);
    CHECK(second.factor == 10);
}

TEST_CASE("controllers: every lane of a pack is decided by itself, bit for bit") {
    constexpr int lanes = 16;
    using Pack = eddy::Pack<float, lanes>;
    const float errors[lanes] = {0.5f,   float_nan,  0,      40,     float_infinity, 1,
                                 1e-30f, 1.0000001f, 0.99f,  1e-3f,  3e38f,          1e-45f,
                                 2,      0.125f,     1e-20f, 0.0001f};
    const auto controller = eddy::PIDController{};

    eddy::ControllerHistory<Pack> packed_history;
    History histories[lanes];
    for (int attempt = 0; attempt < 4; ++attempt) {
        float rotated[lanes];
        for (int lane = 0; lane < lanes; ++lane)
            rotated[lane] = errors[(lane + 5 * attempt) % lanes];
        const auto packed = controller.propose(Pack::load(rotated), 5, packed_history);
        for (int lane = 0; lane < lanes; ++lane) {
            const auto alone = controller.propose(rotated[lane], 5, histories[lane]);
            CHECK(packed.factor[lane] == alone.factor);
            CHECK(packed.history.previous_log2[lane] == alone.history.previous_log2);
            CHECK(packed.history.earlier_log2[lane] == alone.history.earlier_log2);
            CHECK(packed.history.was_rejected[lane] == alone.history.was_rejected);
            histories[lane] = alone.history;
        }
        packed_history = packed.history;
    }
}

TEST_CASE("controllers: the squared error norm is the scaled mean square") {
    const eddy::Vec<double, 2> y{{1, -4}}, next{{-2, 3}}, error{{0.6, 1.2}};
    const eddy::Vec<double, 2> atol{{0.1, 0.2}};

    // Scales 0.1 + 0.1·2 = 0.3 and 0.1 + 0.1·4 = 0.5 (0.2 + 0.4 = 0.6 with the second atol).
    CHECK(float_near(eddy::squared_error_norm(error, y, next, 0.1, 0.1), (4 + 2.4 * 2.4) / 2));
    CHECK(float_near(eddy::squared_error_norm(error, y, next, 0.1, atol), 4));
    CHECK(near(eddy::scaled_mean_square(error, abs(y), 0.1, atol), (9 + 4) / 2.));
}

TEST_CASE("controllers: an error norm hides neither infinite states nor zero scales") {
    const auto norm = [](double error, double y, double next, double rtol, double atol) {
        using State = eddy::Vec<double, 1>;
        return eddy::squared_error_norm(State{{error}}, State{{y}}, State{{next}}, rtol, atol);
    };

    for (const double rtol : {0.1, 0.}) {
        CHECK(std::isnan(norm(1, 1, infinity, rtol, 0.1)));
        CHECK(std::isnan(norm(1, 1, -infinity, rtol, 0.1)));
        CHECK(std::isnan(norm(0, 1, not_a_number, rtol, 0.1)));
        CHECK(std::isnan(norm(not_a_number, 1, 1, rtol, 0.1)));
        CHECK(norm(infinity, 1, 1, rtol, 0.1) == float_infinity);
    }
    CHECK(norm(0, 0, 0, 0.1, 0) == 0);
    CHECK(norm(1e-9, 0, 0, 0.1, 0) > 1);
    CHECK(float_near(norm(2e-300, 1e-300, 0, 1, 0), 4));
    CHECK(float_near(norm(1e300, 1e300, 1e300, 0.5, 0), 4));
}

TEST_CASE("controllers: two estimates make one norm, which hides nothing either") {
    CHECK(near(eddy::combined_square(4., 900.), 16. / 13));
    CHECK(eddy::combined_square(4., 0.) == 4);
    CHECK(eddy::combined_square(0., 0.) == 0);
    CHECK(eddy::combined_square(0., 9.) == 0);
    CHECK(std::isnan(eddy::combined_square(1., infinity)));  // not zero
    CHECK(std::isnan(eddy::combined_square(infinity, 1.)));
    CHECK(std::isnan(eddy::combined_square(1., not_a_number)));
    CHECK(std::isnan(eddy::combined_square(not_a_number, 1.)));
}

TEST_CASE("controllers: the first step follows Hairer's rule") {
    CHECK(near(eddy::initial_step_trial(2.0, 4.0, 1.0), 0.005));
    CHECK(eddy::initial_step_trial(1e-6, 4.0, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, 1e-6, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, not_a_number, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, infinity, 1.0) == 1e-6);
    CHECK(eddy::initial_step_trial(2.0, 4.0, 1e-12) == 1e-12);

    CHECK(std::fabs(eddy::initial_step(1.0, 4.0, 0.64, 1, 9.0) - 0.05) < 2e-7);  // (0.01 / 4)^(1/2)
    CHECK(near(eddy::initial_step(1e-5, 4.0, 0.64, 1, 9.0), 1e-3));              // 100 trial steps
    CHECK(near(eddy::initial_step(0.005, 1e-16, 0.0, 4, 9.0), 5e-6));  // max(1e-6, trial / 1000)
    CHECK(eddy::initial_step(1.0, 4.0, 0.64, 1, 1e-12) == 1e-12);
}

TEST_CASE("controllers: the root in the first step is good over the whole range of numbers") {
    double worst = 0, worst_of_usual = 0;
    for (const float order : {1.f, 2.f, 4.f, 8.f}) {
        for (double norm = 1.1e-15; norm < 1e300; norm *= 1.7) {
            const double exact = std::pow(0.01 / norm, 1. / (static_cast<double>(order) + 1));
            const double step = eddy::initial_step(1e9, norm, 0.0, order, 1e300);
            const double error = std::fabs(step / exact - 1);
            worst = std::fmax(worst, error);
            if (norm < 1e9) worst_of_usual = std::fmax(worst_of_usual, error);
            if (norm < 3e38) {
                const auto single = static_cast<float>(norm);
                const float rounded = eddy::initial_step(1e9f, single, 0.f, order, 1e30f);
                worst = std::fmax(worst, std::fabs(static_cast<double>(rounded) / exact - 1));
            }
        }
    }

    // The logarithm is rounded to single precision: it may be 1031.
    CHECK(worst < 2.5e-5);
    CHECK(worst_of_usual < 4e-6);
    CHECK(eddy::initial_step(1.0, infinity, 0.0, 4, 9.0) == 0);
    CHECK(eddy::initial_step(1.f, 1.f, float_infinity, 4, 9.f) == 0);
    CHECK(near(eddy::initial_step(1.0, 1e-300, 1e-300, 4, 9.0), 1e-3));  // trial / 1000
    CHECK(near(eddy::initial_step(1.0, not_a_number, 0.0, 4, 9.0), 1e-3));
}

TEST_CASE(
    "controllers: first steps of the lanes of a pack are those of single numbers, bit for bit") {
    constexpr int lanes = 8;
    using Pack = eddy::Pack<double, lanes>;
    const double norms[lanes] = {0, 1e-300, 3e-7, 1, 7.5, 1e40, 1e300, infinity};

    int num_different = 0;
    for (int shift = 0; shift < lanes; ++shift) {
        double slopes[lanes];
        for (int lane = 0; lane < lanes; ++lane) slopes[lane] = norms[(lane + shift) % lanes];
        const Pack first = Pack::load(norms), second = Pack::load(slopes);
        const Pack trial = eddy::initial_step_trial(second, first, Pack(9.0));
        const Pack step = eddy::initial_step(trial, first, second, 4, Pack(9.0));
        for (int lane = 0; lane < lanes; ++lane) {
            const double alone = eddy::initial_step_trial(slopes[lane], norms[lane], 9.0);
            num_different += !support::same_bits(trial[lane], alone);
            num_different += !support::same_bits(
                step[lane], eddy::initial_step(alone, norms[lane], slopes[lane], 4, 9.0));
        }
    }

    CHECK(num_different == 0);
}
