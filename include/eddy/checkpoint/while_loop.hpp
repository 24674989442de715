#pragma once
// A while loop as a Differentiable: (x, p...) -> the first x_n that the condition refuses, where
// x_{n+1} = body(x_n, p...). The body is itself a Differentiable or a traced program, so loops nest;
// each level has its own checkpoints and its own schedule. Calling it keeps nothing; `linearize`
// keeps checkpoints of x and one copy of each p, and its pullback linearizes the body once per step,
// on recomputed states. Under Placement::store_all it keeps the linearization of every step instead,
// and evaluates nothing twice.
// Test: tests/checkpoint/while_loop.cpp

#include <cstdint>
#include <eddy/ad/differentiable.hpp>
#include <eddy/checkpoint/kept_loop.hpp>
#include <eddy/checkpoint/parametric_body.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/result.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

// A Differentiable as the body of a CheckpointedLoop.
template <class Body, class State, class... Parameters>
struct DifferentiableStep {
    ParametricBody<Body, State, Parameters...> body;

    State advance(const State& x, std::int64_t) const { return body(x); }
    State pullback(const State& x, std::int64_t, const State& cotangent) {
        return body.pullback(x, cotangent);
    }
    template <class Observer>
    State pullback(const State& x, std::int64_t, const State& cotangent, const Observer& observe) {
        return body.pullback(x, cotangent, observe);
    }
    auto record(State& x, std::int64_t) const {
        auto [next, kept] = body.record(std::move(x));
        x = std::move(next);
        return std::move(kept);
    }
    template <class Kept>
    void pull(Kept& kept, std::int64_t, State& cotangent) {
        cotangent = body.pull_recorded(kept, cotangent);
    }
};

// Pulls a loop back whose number of steps is known.
template <class Loop>
struct PullsBackSteps {
    Loop loop;
    std::int64_t steps;

    template <class Cotangent, class... Inputs>
    [[nodiscard]] auto pull_back(const Cotangent& cotangent, const Inputs&... x) const {
        return loop.pull_back_steps(steps, cotangent, x...);
    }
};

// Calls a condition that may or may not want the step.
template <class Condition, class State>
bool goes_on(const Condition& condition, const State& x, std::int64_t step) {
    if constexpr (std::is_invocable_v<const Condition&, const State&, std::int64_t>) {
        return condition(x, step);
    } else {
        static_assert(
            std::is_invocable_v<const Condition&, const State&>,
            "while_loop: the condition must be callable as condition(x) or condition(x, step)");
        return condition(x);
    }
}

}  // namespace detail

/// What `WhileLoop::linearize` returns: the last state, and its pullback, once.
template <class Body, class State, class... Parameters>
class WhileLoopLinearization {
    using Step = detail::DifferentiableStep<Body, State, Parameters...>;

  public:
    template <class Condition>
    WhileLoopLinearization(const Condition& condition, const Body& body, const LoopOptions& options,
                           const State& x, const Parameters&... parameters)
        : loop_(Step{detail::ParametricBody<Body, State, Parameters...>(body, parameters...)},
                options),
          value(last_of_run(condition, x)) {}

    /// The cotangent of x, or a std::tuple of those of x and every parameter.
    [[nodiscard]] auto pullback(const State& cotangent) {
        State first = loop_.reverse(cotangent);
        return loop_.body().body.with_parameter_cotangents(std::move(first));
    }

    /// The value, moved out: the pullback does not need it.
    [[nodiscard]] State take_value() { return std::move(value); }

    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }
    [[nodiscard]] Result result() const { return loop_.result(); }
    [[nodiscard]] std::int64_t steps() const { return loop_.steps(); }

  private:
    template <class Condition>
    State last_of_run(const Condition& condition, const State& x) {
        loop_.run(x, [&](const State& state, std::int64_t step) {
            return detail::goes_on(condition, state, step);
        });
        return loop_.take_last();
    }

    detail::StepLoop<State, Step> loop_;

  public:
    State value;
};

/// The loop; made by `while_loop`.
template <class Condition, class Body>
class WhileLoop {
  public:
    WhileLoop(Condition condition, Body body, LoopOptions options)
        : condition_(std::move(condition)),
          body_(std::move(body)),
          options_(std::move(options)),
          limit_(plan_placement(options_, "while_loop").limit) {}

    template <class State, class... Parameters>
    [[nodiscard]] State operator()(const State& x0, const Parameters&... parameters) const {
        return run(x0, parameters...).first;
    }

    /// For `remat`, whose pullback then need not make the last step to know that it is the last.
    template <class State, class... Parameters>
    [[nodiscard]] auto evaluate_and_note(const State& x0, const Parameters&... parameters) const {
        auto [x, steps] = run(x0, parameters...);
        return std::pair{std::move(x), detail::PullsBackSteps<WhileLoop>{*this, steps}};
    }
    /// The pullback of so many steps without the value: the last one is not made.
    template <class Cotangent, class State, class... Parameters>
    [[nodiscard]] auto pull_back_steps(std::int64_t steps, const Cotangent& of_last,
                                       const State& x0, const Parameters&... parameters) const {
        using Step = detail::DifferentiableStep<Body, State, Parameters...>;
        const std::int64_t made = steps > 0 ? steps - 1 : 0;
        LoopOptions options = options_;
        if (options.placement == Placement::automatic && options.nested_lengths.empty())
            options.length = made;
        detail::StepLoop<State, Step> loop(
            Step{detail::ParametricBody<Body, State, Parameters...>(body_, parameters...)},
            std::move(options));
        loop.run(x0, [made](const State&, std::int64_t step) { return step < made; });
        if (loop.result() == Result::cancelled) detail::throw_cancelled(0, steps);
        auto& body = loop.body().body;
        State cotangent = of_last;
        if (steps > 0) cotangent = body.pullback_at(loop.last(), cotangent);
        State first = loop.reverse(std::move(cotangent));
        return body.with_parameter_cotangents(std::move(first));
    }

    template <class State, class... Parameters>
    [[nodiscard]] auto linearize(const State& x, const Parameters&... parameters) const {
        static_assert(
            Differentiable<Body, State, Parameters...>,
            "while_loop: the body must be Differentiable: a traced program of (x, p...), or "
            "body(x, p...) and body.linearize(x, p...) with value and pullback");
        return WhileLoopLinearization<Body, State, Parameters...>(condition_, body_, options_, x,
                                                                  parameters...);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("while_loop", detail::kept_text(options_), body_);
    }

  private:
    /// The last state and the number of steps.
    template <class State, class... Parameters>
    [[nodiscard]] std::pair<State, std::int64_t> run(const State& x0,
                                                     const Parameters&... parameters) const {
        State x = x0;
        std::int64_t step = 0;
        for (; step < limit_ && detail::goes_on(condition_, std::as_const(x), step); ++step)
            x = body_(std::as_const(x), parameters...);
        return {std::move(x), step};
    }

    Condition condition_;
    Body body_;
    LoopOptions options_;
    std::int64_t limit_;
};

/// Slots of a while loop that is given no options: up to 2145 steps are then recomputed at most
/// once each.
inline constexpr std::int64_t default_checkpoints = 64;

/// A differentiable while loop: `(x, p...) -> body(… body(x, p...) …, p...)` while `condition(x)`
/// or `condition(x, step)` holds. The body is a Differentiable or a traced program. The parameters p
/// are differentiated with x; pass large ones as pointers or views. Bad options throw
/// InvalidArgument.
template <class Condition, class Body>
[[nodiscard]] auto while_loop(Condition condition, Body body,
                              LoopOptions options = {.checkpoints = default_checkpoints}) {
    auto differentiable = detail::as_differentiable(std::move(body));
    return WhileLoop<Condition, decltype(differentiable)>(
        std::move(condition), std::move(differentiable), std::move(options));
}

}  // namespace eddy::inline v0
