#pragma once
// A while loop as a Differentiable: x -> the first x_n that the condition refuses, where x_{n+1} =
// body(x_n). The body is itself a Differentiable, so loops nest; each level has its own checkpoints
// and its own schedule. Calling it keeps nothing; `linearize` keeps checkpoints, and its pullback
// linearizes the body once per step, on recomputed states.

#include <cstdint>
#include <eddy/ad/differentiable.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/result.hpp>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {

// A Differentiable as the body of a CheckpointedLoop.
template <class Body>
struct DifferentiableStep {
    Body body;

    template <class State>
    State advance(const State& x, std::int64_t) const {
        return body(x);
    }
    template <class State>
    State pullback(const State& x, std::int64_t, const State& cotangent) {
        return body.linearize(x).pullback(cotangent);
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
template <class State, class Body>
class WhileLoopLinearization {
  public:
    template <class Condition>
    WhileLoopLinearization(const State& x, const Condition& condition, const Body& body,
                           const LoopOptions& options)
        : loop_({body}, options), value(loop_.run(x, [&](const State& state, std::int64_t step) {
              return detail::goes_on(condition, state, step);
          })) {}

    [[nodiscard]] State pullback(const State& cotangent) { return loop_.reverse(cotangent); }

    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }
    [[nodiscard]] Result result() const { return loop_.result(); }
    [[nodiscard]] std::int64_t steps() const { return loop_.steps(); }

  private:
    CheckpointedLoop<State, detail::DifferentiableStep<Body>> loop_;

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

    template <class State>
    [[nodiscard]] State operator()(const State& x0) const {
        State x = x0;
        for (std::int64_t step = 0;
             step < limit_ && detail::goes_on(condition_, std::as_const(x), step); ++step) {
            x = body_(std::as_const(x));
        }
        return x;
    }

    template <class State>
    [[nodiscard]] auto linearize(const State& x) const {
        static_assert(Differentiable<Body, State>,
                      "while_loop: the body must be Differentiable: body(x), and body.linearize(x) "
                      "with value and "
                      "pullback");
        return WhileLoopLinearization<State, Body>(x, condition_, body_, options_);
    }

  private:
    Condition condition_;
    Body body_;
    LoopOptions options_;
    std::int64_t limit_;
};

/// Slots of a while loop that is given no options: up to 2145 steps are then recomputed at most
/// once each.
inline constexpr std::int64_t default_checkpoints = 64;

/// x -> body(... body(x)) while `condition(x)` or `condition(x, step)` holds. InvalidArgument if
/// the options are bad.
template <class Condition, class Body>
[[nodiscard]] auto while_loop(Condition condition, Body body,
                              LoopOptions options = {.checkpoints = default_checkpoints}) {
    return WhileLoop<Condition, Body>(std::move(condition), std::move(body), std::move(options));
}

}  // namespace eddy
