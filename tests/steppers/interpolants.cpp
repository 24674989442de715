// The dense output of every method of solvers/ against its claims.

#include <eddy/core/pack.hpp>
#include <eddy/solvers/all.hpp>
#include <eddy/steppers/interpolant.hpp>

#include "steppers/exact_problem.hpp"
#include "steppers/rooted_trees.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::AllMethods;
using eddy::Interpolant;
using support::ErrorAt;
using support::ExactProblem;
using State = ExactProblem::State;

template <class Method>
inline constexpr int num_stages = Interpolant<Method>::num_stages;

/// w_i(θ), and the magnitude of what is summed for it.
template <class Method>
std::vector<support::Weighed> weights_at(long double theta) {
    std::vector<support::Weighed> weights;
    for (const auto& row : Interpolant<Method>::tableau.weights) {
        support::Weighed sum;
        long double power = theta;
        for (double coefficient : row) {
            sum += support::weighed(coefficient * power);
            power *= theta;
        }
        weights.push_back(sum);
    }
    return weights;
}

/// A step of `Method` from the exact state at `t`, with all stages that its interpolant needs.
template <class Method>
struct Step {
    long double t, dt;
    State y, next;
    State k[num_stages<Method>];

    Step(long double start, long double step) : t(start), dt(step) {
        constexpr auto& tableau = Interpolant<Method>::stage_tableau;
        next = y = ExactProblem::solution(t);
        for (int i = 0; i < num_stages<Method>; ++i) {
            State stage = y;
            for (int j = 0; j < i; ++j) stage = stage + dt * tableau.a[i][j] * k[j];
            k[i] = ExactProblem{}(t + tableau.c[i] * dt, stage, 0);
        }
        for (int i = 0; i < num_stages<Method>; ++i) next = next + dt * tableau.b[i] * k[i];
    }
    State at(long double theta) const { return Interpolant<Method>::evaluate(y, dt, k, theta); }
};

/// The largest error inside single steps from several points of the solution.
template <class Method>
ErrorAt error_of(long double dt) {
    double error = 0;
    for (long double t : {0.0L, 0.5L, 1.0L, 1.5L, 2.0L}) {
        const Step<Method> step(t, dt);
        for (long double theta : {0.15L, 0.35L, 0.6L, 0.85L})
            error = std::max(error, ExactProblem::error(step.at(theta), t + theta * dt));
    }
    return {static_cast<double>(dt), error};
}

double distance(const State& a, const State& b) {
    return static_cast<double>(std::max(std::fabs(a[0] - b[0]), std::fabs(a[1] - b[1])));
}

/// How far rounded coefficients move a sum of stage derivatives: half an ulp of each.
template <class Method>
double rounding(double times) {
    double sum = 0;
    for (const auto& weight : weights_at<Method>(1)) sum += static_cast<double>(weight.magnitude);
    return times * 0x1p-53 * sum;
}

}  // namespace

TEST_CASE("interpolants: the rooted-tree conditions hold inside the step up to the order claimed") {
    const auto trees = support::rooted_trees(8);

    AllMethods::for_each([&]<class Method>() {
        using Dense = Interpolant<Method>;
        int lowest = 8;
        for (long double theta : {0.1L, 0.3L, 0.5L, 0.8L})
            lowest =
                std::min(lowest, support::satisfied_order(Dense::stage_tableau.a,
                                                          weights_at<Method>(theta), theta, trees));

        INFO(support::type_name<Method>());
        CHECK(lowest == Dense::order);
    });
}

TEST_CASE("interpolants: the error of one step falls with the power of dt that the order claims") {
    AllMethods::for_each([]<class Method>() {
        std::vector<ErrorAt> points;
        for (long double dt = 0.5; dt > 1e-4; dt /= 1.25) points.push_back(error_of<Method>(dt));
        // Rounded weights of the longest tables leave 1e-13 dt.
        const auto window = support::asymptotic_window(points, 2e-14, 1e-2, 5);

        INFO(support::type_name<Method>());
        REQUIRE(window.size() == 5);
        const double slope = support::fitted_slope(window);
        CAPTURE(slope, window.front().error, window.back().error);
        CHECK(slope >= Interpolant<Method>::order + 1 - 0.2);
        // Tables with stages of their own have leading errors so small that those of the next order
        // show above round-off; that they are of no higher order the rooted trees say.
        if constexpr (Interpolant<Method>::order <= 4)
            CHECK(slope <= Interpolant<Method>::order + 1 + 0.2);
    });
}

TEST_CASE("interpolants: value and slope are those of the solution at both ends of a step") {
    AllMethods::for_each([]<class Method>() {
        using Dense = Interpolant<Method>;
        const Step<Method> step(0.5L, 0.1L);
        const State end_slope = ExactProblem{}(step.t + step.dt, step.next, 0);
        // |k| < 4 here, and the terms of a slope are those of a value times at most the degree.
        const double tolerance = rounding<Method>(4);

        INFO(support::type_name<Method>());
        CHECK(step.at(0) == step.y);
        CHECK(distance(step.at(1), step.next) <= 0.1 * tolerance);
        CHECK(distance(Dense::slope(step.k, 0.0L), step.k[0]) == 0);
        CHECK(distance(Dense::slope(step.k, 1.0L), end_slope) <=
              Dense::tableau.num_powers * tolerance);
    });
}

TEST_CASE("interpolants: the slope is the derivative of the value") {
    const Step<eddy::Vern7> step(0.5L, 0.1L);
    const long double theta = 0.4L, h = 1e-5L;
    const State difference = (step.at(theta + h) - step.at(theta - h)) / (2 * h * step.dt);

    // Central differences: h²/6 times a third derivative below 1e3, and round-off 1e-19 / (h dt).
    CHECK(distance(Interpolant<eddy::Vern7>::slope(step.k, theta), difference) < 1e-7);
}

TEST_CASE("interpolants: the pullback is the transpose of the evaluation") {
    support::Random random(7);
    const auto any_state = [&] {
        return eddy::Vec<double, 3>{
            {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}};
    };

    AllMethods::for_each([&]<class Method>() {
        const double dt = 0.3, theta = random.uniform(0, 1);
        const auto y = any_state(), cotangent = any_state(), seed = any_state();
        eddy::Vec<double, 3> k[num_stages<Method>], k_cotangent[num_stages<Method>];
        for (auto& stage : k) stage = any_state();
        for (auto& stage : k_cotangent) stage = seed;  // pullback adds to what is there
        auto y_cotangent = seed;
        const double forward = eddy::dot(cotangent, Interpolant<Method>::evaluate(y, dt, k, theta));

        Interpolant<Method>::pullback(dt, theta, cotangent, y_cotangent, k_cotangent);

        double backward = eddy::dot(y_cotangent - seed, y), magnitude = 3;
        for (int i = 0; i < num_stages<Method>; ++i) {
            backward += eddy::dot(k_cotangent[i] - seed, k[i]);
            magnitude += std::fabs(eddy::dot(k_cotangent[i] - seed, k[i])) + 3;
        }
        INFO(support::type_name<Method>());
        CHECK(std::fabs(forward - backward) <= 8 * 0x1p-52 * magnitude);
    });
}

TEST_CASE("interpolants: each lane of a pack has the bits of the scalar") {
    using Pack = eddy::Pack<float, 4>;
    using Dense = Interpolant<eddy::Tsit5>;
    support::Random random(11);
    const auto any_pack = [&] {
        Pack pack(0.0f);
        for (int lane = 0; lane < 4; ++lane)
            pack.set(lane, static_cast<float>(random.uniform(-1, 1)));
        return pack;
    };
    const Pack dt = any_pack(), theta = any_pack();
    const eddy::Vec<Pack, 1> y{{any_pack()}};
    eddy::Vec<Pack, 1> k[Dense::num_stages];
    for (auto& stage : k) stage[0] = any_pack();

    const auto packed = Dense::evaluate(y, dt, k, theta);

    for (int lane = 0; lane < 4; ++lane) {
        eddy::Vec<float, 1> lane_k[Dense::num_stages];
        for (int i = 0; i < Dense::num_stages; ++i) lane_k[i][0] = k[i][0][lane];
        const eddy::Vec<float, 1> lane_y{{y[0][lane]}};
        CHECK(Dense::evaluate(lane_y, dt[lane], lane_k, theta[lane])[0] == packed[0][lane]);
    }
}
