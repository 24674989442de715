#include <cmath>
#include <cstdint>
#include <eddy/ad/remat.hpp>
#include <eddy/checkpoint/measure.hpp>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/core/error.hpp>
#include <eddy/trace/trace.hpp>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace {

using State = std::vector<double>;

/// A stage that counts its evaluations; its linearization holds its input `copies` times.
struct Sine {
    std::shared_ptr<int> evaluations = std::make_shared<int>(0);
    std::size_t copies = 1;

    struct Linearization {
        State value;
        std::vector<State> kept;
        State pullback(const State& cotangent) const {
            State result = cotangent;
            for (std::size_t i = 0; i < result.size(); ++i) result[i] *= std::cos(kept[0][i]);
            return result;
        }
        State take_value() { return std::move(value); }
        std::int64_t kept_bytes() const { return eddy::bytes_of(kept); }
    };
    State operator()(const State& x) const {
        ++*evaluations;
        State y = x;
        for (double& component : y) component = std::sin(component);
        return y;
    }
    Linearization linearize(const State& x) const {
        return {(*this)(x), std::vector<State>(copies, x)};
    }
};

struct Sum {  // a state of another type
    struct Linearization {
        double value;
        std::size_t size;
        State pullback(double cotangent) const { return State(size, cotangent); }
    };
    double operator()(const State& x) const {
        double sum = 0;
        for (double component : x) sum += component;
        return sum;
    }
    Linearization linearize(const State& x) const { return {(*this)(x), x.size()}; }
};

/// Stages of a graph that is no sequence: what is read later goes along, beside what is worked on.
using Both = std::pair<State, State>;
State product(const State& x, const State& y) {
    State result = x;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] *= y[i];
    return result;
}
struct Fork {  // x -> (x, x)
    struct Linearization {
        Both value;
        State pullback(const Both& c) const {
            State sum = c.first;
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += c.second[i];
            return sum;
        }
    };
    Both operator()(const State& x) const { return {x, x}; }
    Linearization linearize(const State& x) const { return {{x, x}}; }
};
struct SineBeside {  // (x, h) -> (x, sin h)
    Sine sine{};
    struct Linearization {
        Both value;
        Sine::Linearization kept;
        Both pullback(const Both& c) const { return {c.first, kept.pullback(c.second)}; }
        Both take_value() { return std::move(value); }
        std::int64_t kept_bytes() const { return kept.kept_bytes(); }
    };
    Both operator()(const Both& x) const { return {x.first, sine(x.second)}; }
    Linearization linearize(const Both& x) const {
        auto kept = sine.linearize(x.second);
        State h = kept.take_value();
        return {{x.first, std::move(h)}, std::move(kept)};
    }
};
struct Join {  // (x, h) -> x h
    struct Linearization {
        State value;
        Both kept;
        Both pullback(const State& c) const {
            return {product(c, kept.second), product(c, kept.first)};
        }
        State take_value() { return std::move(value); }
        std::int64_t kept_bytes() const { return eddy::bytes_of(kept); }
    };
    State operator()(const Both& x) const { return product(x.first, x.second); }
    Linearization linearize(const Both& x) const { return {(*this)(x), x}; }
};

constexpr std::int64_t state_bytes = 100 * sizeof(double);

auto network() { return eddy::sequence(Sine{}, Sine{}, Sine{}, Sine{}, Sine{}, Sine{}, Sum{}); }

State input() {
    State x(100);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01 * static_cast<double>(i);
    return x;
}

constexpr auto layer = eddy::trace<eddy::Vector<2>, eddy::Vector<4>, eddy::Vector<2>>(
    [](const auto& x, const auto& w, const auto& b) { return tanh(dense(w, b, x)); });

}  // namespace

// row 67: a sequence of stages, states of types of their own
TEST_CASE("sequence: the gradient by any plan has the bits of the composition") {
    const auto net = network();
    auto costs = eddy::measure(net, input());
    for (auto& stage : costs.stages) stage.time = 1;  // whatever this machine was doing meanwhile
    auto composed =
        eddy::compose(Sum{}, Sine{}, Sine{}, Sine{}, Sine{}, Sine{}, Sine{}).linearize(input());
    const State expected = composed.pullback(1.0);
    CHECK(net(input()) == composed.value);

    const eddy::StagePlan all = eddy::plan(costs);
    CHECK(all.curve.size() > 3);
    for (const eddy::BudgetPoint& point : all.curve) {
        const eddy::StagePlan plan = eddy::plan(costs, {.memory_bytes = point.bytes});
        auto linearization = eddy::checkpoint(net, plan).linearize(input());
        CHECK(linearization.value == composed.value);
        CHECK(linearization.pullback(1.0) == expected);
        CHECK(linearization.peak_bytes() <= plan.peak_bytes);
    }
}

TEST_CASE("sequence: without a plan every stage is evaluated once") {
    const Sine sine;
    const auto net = eddy::sequence(sine, sine, sine);
    auto linearization = net.linearize(input());
    CHECK(linearization.kept_bytes() == 3 * state_bytes);

    static_cast<void>(linearization.pullback(input()));

    CHECK(*sine.evaluations == 3);
    CHECK(linearization.kept_bytes() == 0);
    CHECK_THROWS_WITH(linearization.pullback(input()), support::contains("linearize again"));
}

// row 66: measured costs
TEST_CASE("measure: times and bytes of every stage, and the turn") {
    Sine heavy;
    heavy.copies = 5;
    const auto costs = eddy::measure(eddy::sequence(heavy, Sine{}, Sum{}), input());

    REQUIRE(costs.stages.size() == 4);
    CHECK(costs.stages[0].state_bytes == state_bytes);
    CHECK(costs.stages[0].options[0].residual_bytes == 5 * state_bytes);
    CHECK(costs.stages[1].options[0].residual_bytes == state_bytes);
    CHECK(costs.stages[3].state_bytes == sizeof(double));
    CHECK(costs.stages[0].time > 0);
    CHECK(costs.stages[0].time > costs.stages[2].time);
    CHECK(costs.stages[3].time == 0);
}

TEST_CASE("sequence: the budget decides which stages keep residuals") {
    Sine heavy;
    heavy.copies = 20;
    const Sine light;
    const auto net = eddy::sequence(light, heavy, light, light);
    auto costs = eddy::measure(net, input());
    for (auto& stage : costs.stages) stage.time = stage.options[0].record_time = 1;

    const std::int64_t enough = eddy::plan(costs).peak_bytes;
    const auto plan = eddy::plan(costs, {.memory_bytes = enough - 1});
    *light.evaluations = *heavy.evaluations = 0;
    auto linearization = eddy::remat(net, plan).linearize(input());
    static_cast<void>(linearization.pullback(input()));

    CHECK(eddy::plan(costs, {.memory_bytes = enough}).time < plan.time);
    CHECK(linearization.peak_bytes() < enough);
    CHECK(linearization.evaluations() > 4);
    CHECK(*light.evaluations + *heavy.evaluations == linearization.evaluations());
    CHECK_THROWS_WITH(eddy::plan(costs, {.memory_bytes = 10 * state_bytes}),
                      support::contains("no plan of these 5 stages fits"));
    CHECK_THROWS_WITH(eddy::remat(eddy::sequence(light), plan),
                      support::contains("a plan of 5 stages for a sequence of 1"));
}

TEST_CASE("sequence: programs with parameters of their own") {
    using Vec2 = eddy::Vec<double, 2>;
    const auto net = eddy::sequence(layer, eddy::remat(layer), layer);
    const std::tuple p{eddy::Vec<double, 4>{1, 2, 3, 4}, Vec2{0.1, 0.2}};
    const std::tuple q{eddy::Vec<double, 4>{-1, 0.5, 0.25, 1}, Vec2{0.3, 0.1}};
    const Vec2 x{0.3, -0.2}, cotangent{1, 2};

    const auto costs = eddy::measure(net, x, p, q, p);
    auto least = eddy::remat(net, eddy::plan(costs)).linearize(x, p, q, p);
    auto all = net.linearize(x, p, q, p);

    CHECK(all.value == net(x, p, q, p));
    const auto [dx, dp, dq, dr] = all.pullback(cotangent);
    CHECK(least.pullback(cotangent) == std::tuple(dx, dp, dq, dr));
    const auto apply = [](const auto& from, const auto& parameters) {
        return layer(from, std::get<0>(parameters), std::get<1>(parameters));
    };
    auto last = eddy::linearize(layer, apply(apply(x, p), q), std::get<0>(p), std::get<1>(p));
    CHECK(std::get<1>(dr) == std::get<2>(last.pullback(cotangent)));
    CHECK(all.value == last.value);
}

TEST_CASE("row 68: a graph of functions that is no sequence is planned with what goes along") {
    // x sin(sin(x)), and once more of that.
    const auto net = eddy::sequence(Fork{}, SineBeside{}, SineBeside{}, Join{}, Fork{},
                                    SineBeside{}, SineBeside{}, Join{}, Sum{});
    auto costs = eddy::measure(net, input());
    for (auto& stage : costs.stages) stage.time = 1;
    auto all = net.linearize(input());
    const State expected = all.pullback(1.0);
    const auto at = [](double x) { return x * std::sin(std::sin(x)); };
    const double x = input()[50], h = 1e-6;
    CHECK(expected[50] == Approx((at(at(x + h)) - at(at(x - h))) / (2 * h)).epsilon(1e-7));

    for (const eddy::BudgetPoint& point : eddy::plan(costs).curve) {
        const auto plan = eddy::plan(costs, {.memory_bytes = point.bytes});
        auto linearization = eddy::remat(net, plan).linearize(input());
        CHECK(linearization.pullback(1.0) == expected);
        CHECK(linearization.peak_bytes() <= point.bytes);
    }
}

TEST_CASE("sequence: is stopped by its token, and polls, before each stage and each pullback") {
    const Sine sine;
    int calls = 0, last = 100;
    std::stop_source source;
    const auto net =
        eddy::sequence({.cancelled = source.get_token(), .poll = [&] { return ++calls < last; }},
                       sine, sine, sine);
    auto whole = net.linearize(input());
    CHECK(calls == 3);
    static_cast<void>(whole.pullback(input()));
    CHECK(calls == 6);

    calls = 0, last = 2;
    CHECK_THROWS_WITH(net.linearize(input()),
                      support::contains("sequence: cancelled before the evaluation of stage 1"));
    calls = 0, last = 5;
    auto half = net.linearize(input());
    CHECK_THROWS_AS(half.pullback(input()), eddy::Cancelled);
    CHECK(half.kept_bytes() == 0);
    CHECK_THROWS_WITH(half.pullback(input()), support::contains("linearize again"));
    calls = 0, last = 100;
    auto stopped = net.linearize(input());
    source.request_stop();
    CHECK_THROWS_WITH(stopped.pullback(input()),
                      support::contains("cancelled before the pullback of stage 2"));
}
