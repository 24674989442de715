#pragma once
// What the stages of a sequence cost, in time and bytes, as a plan asks for it (stage_plan.hpp).
// Test: tests/checkpoint/sequence.cpp

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/core/bytes_of.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0 {

namespace detail {

/// The median of five times, in seconds, after one call. Calls are repeated until they take long enough
/// for a clock.
template <class Call>
[[nodiscard]] double measured_time(const Call& call) {
    using Clock = std::chrono::steady_clock;
    const auto run = [&](std::int64_t times) {
        const auto begin = Clock::now();
        for (std::int64_t i = 0; i < times; ++i) {
            const auto result = call();
            look_at(&result);
        }
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    run(1);
    std::int64_t times = 1;
    constexpr double long_enough = 2e-5;
    while (run(times) < long_enough && times < (std::int64_t{1} << 20)) times *= 4;
    std::array<double, 5> seconds{};
    for (double& second : seconds) second = run(times) / static_cast<double>(times);
    std::ranges::nth_element(seconds, seconds.begin() + 2);
    return seconds[2];
}

template <class Body, class X>
[[nodiscard]] StageCost measured_stage(Body& body, const X& x) {
    auto recorded = body.record(x);
    StageOption option{.residual_bytes = bytes_of(recorded.second)};
    if constexpr (requires { recorded.second.argument(); }) {
        // The residuals of a program take its input over.
        if (option.residual_bytes >= bytes_of(x) && recorded.second.has_argument)
            option.record_transient = -bytes_of(x);
    }
    StageCost cost{.state_bytes = bytes_of(x)};
    cost.time = measured_time([&] { return body(x); });
    option.record_time = std::max(cost.time, measured_time([&] { return body.record(x); }));
    option.pullback_time = measured_time([&] {
        auto again = body.record(x);
        return body.pull_recorded(again.second, again.first);
    });
    option.pullback_time = std::max(0.0, option.pullback_time - option.record_time);
    cost.options = {option};
    return cost;
}

}  // namespace detail

/// Times and bytes of each stage of a sequence at x, as `plan` takes them: the time of the stage, of
/// recording it, and of its pullback, each the median of five; the bytes of its state and of its
/// residuals, by `bytes_of`. The last stage is the turn, at which the caller has the value and makes its
/// cotangent.
template <class... Stages, class X, class... Parameters>
[[nodiscard]] ChainCosts measure(const Sequence<Stages...>& net, const X& x,
                                 const Parameters&... parameters) {
    using All = decltype(net.given(parameters...));
    using Types = detail::StageBodies<X, std::tuple<Stages...>, All>;
    auto bodies = detail::make_bodies<typename Types::type>(net.stages, net.given(parameters...));
    ChainCosts costs;
    const auto go_on = [&]<std::size_t k>(const auto& self, const auto& state,
                                          std::integral_constant<std::size_t, k>) -> void {
        if constexpr (k < sizeof...(Stages)) {
            auto& body = std::get<k>(bodies);
            costs.stages.push_back(detail::measured_stage(body, state));
            self(self, body(state), std::integral_constant<std::size_t, k + 1>{});
        } else {
            costs.stages.push_back({.time = 0,
                                    .state_bytes = bytes_of(state),
                                    .options = {{.record_time = 0, .reads_input = true}}});
        }
    };
    go_on(go_on, x, std::integral_constant<std::size_t, 0>{});
    costs.output_cotangent_bytes = 0;
    return costs;
}

}  // namespace eddy::inline v0
