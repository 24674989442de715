// Gradients by two methods: those of each lane are those of the method that finished it, and sums over
// lanes depend on nothing but the lanes.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>

#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"

namespace {

using namespace switching;
using support::HalfSquares;
using support::same_array;
using support::same_bits;
using support::same_row;

std::vector<Array> data_of(const Lanes& lanes) {
    std::vector<Array> data(5, Array(lanes.y0.rows(), 2));
    for (std::ptrdiff_t lane = 0; lane < lanes.y0.rows(); ++lane) {
        for (std::size_t k = 0; k < 5; ++k)
            data[k](lane, 0) = 0.1 * static_cast<double>(lane + static_cast<std::ptrdiff_t>(k));
    }
    data[2] = support::rows({{1, 0}});  // one row for all
    return data;
}

template <class A, class B>
bool same_gradient(const A& a, const B& b, std::ptrdiff_t lane) {
    return same_outcome(a.report, b.report, lane) && same_bits(a.loss(lane), b.loss(lane)) &&
           same_row(a.gradient.y0, lane, b.gradient.y0, lane) &&
           same_row(a.gradient.p, lane, b.gradient.p, lane);
}

}  // namespace

TEST_CASE("AutoSwitch: loss and gradient of each lane are those of one method alone") {
    const Lanes lanes(25);
    const auto data = data_of(lanes);
    const auto gradient_by = [&](const auto& method, int threads) {
        return eddy::value_and_gradient(Field{}, method, HalfSquares{}, data, lanes.y0, lanes.p,
                                        options, eddy::differentiate_times,
                                        eddy::Cpu{.threads = threads});
    };
    const auto same_times = [](const auto& a, const auto& b, std::ptrdiff_t lane) {
        return same_bits(a.gradient.t0(lane), b.gradient.t0(lane)) &&
               same_bits(a.gradient.t1(lane), b.gradient.t1(lane)) &&
               same_row(a.gradient.save_at, lane, b.gradient.save_at, lane);
    };

    const auto both = gradient_by(Both{}, 1), threaded = gradient_by(Both{}, 3);
    const auto first = gradient_by(First{}, 1), second = gradient_by(Second{}, 1);

    CHECK(both.report.num_switched() > 5);
    CHECK(both.report.num_switched() < 20);
    double total = 0;
    for (std::ptrdiff_t lane = 0; lane < 25; ++lane) {
        INFO("lane " << lane);
        CHECK((both.report.switched(lane) ? same_gradient(both, second, lane)
                                          : same_gradient(both, first, lane)));
        CHECK(same_gradient(both, threaded, lane));
        CHECK((both.report.switched(lane) ? same_times(both, second, lane)
                                          : same_times(both, first, lane)));
        CHECK(same_times(both, threaded, lane));
        total += both.loss(lane);
    }
    CHECK(both.loss.total == Approx(total).epsilon(1e-14));
    CHECK(same_bits(both.loss.total, threaded.loss.total));
}

TEST_CASE("AutoSwitch: the gradient of shared parameters is the sum over both kinds of lanes") {
    constexpr std::ptrdiff_t count = 30;
    const Lanes lanes(count);
    Array y0(count, 3), own(count, 2);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        y0(lane, 0) = 2;
        y0(lane, 2) = lanes.p(lane, 0);
        own(lane, 0) = 1, own(lane, 1) = 0.1;
    }
    const std::vector<double> p{1, 0.1};
    const eddy::SolveOptions asked{.t1 = 1, .rtol = 1e-4, .atol = 1e-7};
    const auto sum_by = [&](const auto& backend) {
        return eddy::value_and_gradient(Shared{}, Both{}, FirstSquared{}, y0, eddy::shared(p),
                                        asked, backend);
    };

    const auto one = sum_by(eddy::Cpu{.threads = 1}), three = sum_by(eddy::Cpu{.threads = 3}),
               oracle = sum_by(eddy::Serial{});
    const auto apart = eddy::value_and_gradient(Shared{}, Both{}, FirstSquared{}, y0, own, asked);

    CHECK(one.report.num_switched() > 5);
    CHECK(one.report.num_switched() < 25);
    CHECK(same_array(one.gradient.p, three.gradient.p));
    CHECK(same_array(one.gradient.p, oracle.gradient.p));
    CHECK(same_array(one.gradient.y0, oracle.gradient.y0));
    for (int i = 0; i < 2; ++i) {
        double sum = 0, size = 0;
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            sum += apart.gradient.p(lane, i);
            size += std::fabs(apart.gradient.p(lane, i));
        }
        CHECK(std::fabs(one.gradient.p(0, i) - sum) <= 1e-13 * size);
    }
}

TEST_CASE("AutoSwitch: pullback and pushforward are those of the method that finished the lane") {
    const Lanes lanes(25);
    auto asked = options;
    asked.stable_gradients = false;
    const std::vector<Array> cotangents(5, support::rows({{1, 0.5}}));
    const Array y0_tangent(25, 2, 1.), p_tangent(25, 1, 0.5);
    const auto pulled_by = [&](const auto& method) {
        return eddy::pullback(eddy::solve(Field{}, method, lanes.y0, lanes.p, asked), cotangents);
    };
    const auto pushed_by = [&](const auto& method) {
        return eddy::pushforward(Field{}, method, lanes.y0, lanes.p, y0_tangent, p_tangent, asked);
    };

    const auto both = pulled_by(Both{}), first = pulled_by(First{}), second = pulled_by(Second{});
    const auto pushed = pushed_by(Both{}), pushed_first = pushed_by(First{}),
               pushed_second = pushed_by(Second{});

    CHECK(both.report.num_switched() > 5);
    for (std::ptrdiff_t lane = 0; lane < 25; ++lane) {
        INFO("lane " << lane);
        const bool switched = both.report.switched(lane);
        const auto& alone = switched ? second : first;
        const auto& pushed_alone = switched ? pushed_second : pushed_first;
        CHECK(pushed.switched(lane) == switched);
        CHECK(same_row(both.y0, lane, alone.y0, lane));
        CHECK(same_row(both.p, lane, alone.p, lane));
        for (std::ptrdiff_t k = 0; k < 5; ++k) {
            CHECK(same_row(pushed.tangent(k), lane, pushed_alone.tangent(k), lane));
            CHECK(same_row(pushed.y(k), lane, pushed_alone.y(k), lane));
        }
        CHECK(static_cast<bool>(pushed.unreliable(lane)) ==
              static_cast<bool>(pushed_alone.unreliable(lane)));
    }
}

TEST_CASE("AutoSwitch: gradients where all lanes are switched, or none, are those of one method") {
    constexpr std::ptrdiff_t count = 11;
    const std::vector<double> p{1, 0.1};
    const eddy::SolveOptions asked{.t1 = 1, .rtol = 1e-4, .atol = 1e-7};
    const auto check = [&](double mu, const auto& alone, std::ptrdiff_t switched) {
        Array y0(count, 3);
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = 2;
            y0(lane, 2) = mu * (1 + 0.1 * static_cast<double>(lane));
        }
        const auto gradient_by = [&](const auto& method) {
            return eddy::value_and_gradient(Shared{}, method, FirstSquared{}, y0, eddy::shared(p),
                                            asked, eddy::Serial{});
        };
        const auto both = gradient_by(Both{});
        const auto one = gradient_by(alone);
        CHECK(both.report.num_switched() == switched);
        CHECK(same_bits(both.loss.total, one.loss.total));
        CHECK(same_array(both.gradient.y0, one.gradient.y0));
        CHECK(same_array(both.gradient.p, one.gradient.p));
    };

    check(1, First{}, 0);
    check(5000, Second{}, count);
}
