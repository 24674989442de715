#pragma once
// Loops of known length: a carry goes from step to step; each step may read an input of its own and
// leave an output. Inputs and outputs stay outside the checkpoints, which hold carries only: (step)
// arrays beside (carry) slots.
//
// `checkpoint_scan` takes plain bodies, as CheckpointedLoop does; `scan` makes a Differentiable of
// a Differentiable body (carry, x) -> (carry, y), so that loops and scans nest in one another. Both
// take any placement of placement.hpp.
// Test: tests/checkpoint/scan.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/ad/differentiable.hpp>
#include <eddy/checkpoint/kept_loop.hpp>
#include <eddy/checkpoint/parametric_body.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

// One step of a scan as the body of a CheckpointedLoop over the carry. What is outside the carry is
// lent to it for one sweep at a time.
template <class Body, class Carry, class Input>
struct ScanStep {
    using Output =
        decltype(std::declval<const Body&>()
                     .advance(std::declval<Carry>(), std::declval<const Input&>(), std::int64_t{})
                     .second);

    Body body;
    const std::vector<Input>* inputs = nullptr;
    std::vector<Output>* outputs = nullptr;  // null: recomputing, they are known
    const std::vector<Output>* output_cotangents = nullptr;
    std::vector<Input>* input_cotangents = nullptr;  // last step first

    [[nodiscard]] const Input& input(std::int64_t step) const {
        return (*inputs)[static_cast<std::size_t>(step)];
    }

    void advance_in_place(Carry& carry, std::int64_t step) const {
        auto [next, output] = body.advance(std::move(carry), input(step), step);
        carry = std::move(next);
        if (outputs != nullptr) outputs->push_back(std::move(output));
    }
    Carry advance(const Carry& carry, std::int64_t step) const {
        Carry next = carry;
        advance_in_place(next, step);
        return next;
    }
    [[nodiscard]] const Output& output_cotangent(std::int64_t step) const {
        return (*output_cotangents)[static_cast<std::size_t>(step)];
    }
    void take(std::pair<Carry, Input> pulled, Carry& cotangent) {
        cotangent = std::move(pulled.first);
        input_cotangents->push_back(std::move(pulled.second));
    }
    void pullback_in_place(const Carry& carry, std::int64_t step, Carry& cotangent) {
        const Output& of_output = output_cotangent(step);
        if constexpr (requires {
                          body.pullback_in_place(carry, input(step), step, cotangent, of_output);
                      }) {
            input_cotangents->push_back(
                body.pullback_in_place(carry, input(step), step, cotangent, of_output));
        } else {
            take(body.pullback(carry, input(step), step, std::as_const(cotangent), of_output),
                 cotangent);
        }
    }
    template <class Observer>
    requires(requires(Body& pulled, const Carry& carry, const Input& x, const Output& y,
                      const Observer& observe) {
        pulled.pullback(carry, x, std::int64_t{}, carry, y, observe);
    }) void pullback_in_place(const Carry& carry, std::int64_t step, Carry& cotangent,
                              const Observer& observe) {
        take(body.pullback(carry, input(step), step, std::as_const(cotangent),
                           output_cotangent(step), observe),
             cotangent);
    }
    auto record(Carry& carry, std::int64_t step) const {
        auto [value, kept] = body.record(std::move(carry), input(step));
        carry = std::move(value.first);
        if (outputs != nullptr) outputs->push_back(std::move(value.second));
        return std::move(kept);
    }
    template <class Kept>
    void pull(Kept& kept, std::int64_t step, Carry& cotangent) {
        take(body.pull_recorded(kept, std::as_const(cotangent), output_cotangent(step)), cotangent);
    }
    Carry pullback(const Carry& carry, std::int64_t step, const Carry& cotangent) {
        Carry previous = cotangent;
        pullback_in_place(carry, step, previous);
        return previous;
    }
};

// A Differentiable ((carry, x), p...) -> (carry, y) as a plain scan body.
template <class Body, class Carry, class Input, class... Parameters>
struct DifferentiableScanStep {
    using Pair = std::pair<Carry, Input>;
    using Parametric = ParametricBody<Body, Pair, Parameters...>;
    using Value = typename Parametric::Value;

    Parametric body;

    Value advance(Carry carry, const Input& input, std::int64_t) const {
        return body(Pair(std::move(carry), input));
    }
    Pair pullback(const Carry& carry, const Input& input, std::int64_t, const Carry& cotangent,
                  const typename Value::second_type& output_cotangent) {
        return body.pullback(Pair(carry, input), Value(cotangent, output_cotangent));
    }
    template <class Observer>
    Pair pullback(const Carry& carry, const Input& input, std::int64_t, const Carry& cotangent,
                  const typename Value::second_type& output_cotangent, const Observer& observe) {
        return body.pullback(Pair(carry, input), Value(cotangent, output_cotangent),
                             [&](const Value& value) { observe(value.first); });
    }
    auto record(Carry carry, const Input& input) const {
        return body.record(Pair(std::move(carry), input));
    }
    template <class Kept>
    Pair pull_recorded(Kept& kept, const Carry& cotangent,
                       const typename Value::second_type& output_cotangent) {
        return body.pull_recorded(kept, Value(cotangent, output_cotangent));
    }
};

}  // namespace detail

/// A scan that has run: its last carry, its outputs, and its reverse.
template <class Carry, class Input, class Body, class Store = MemoryStore<Carry>,
          class Loop = CheckpointedLoop<Carry, detail::ScanStep<Body, Carry, Input>, Store>>
class CheckpointedScan {
    using Step = detail::ScanStep<Body, Carry, Input>;

  public:
    using Output = typename Step::Output;

    template <class... Stores>
    CheckpointedScan(Body body, const Carry& carry, std::vector<Input> inputs, LoopOptions options,
                     Stores... store)
        : inputs_(std::move(inputs)),
          loop_(Step{std::move(body)}, detail::with_length(std::move(options), inputs_.size()),
                std::move(store)...) {
        outputs_.reserve(inputs_.size());
        loop_.body().inputs = &inputs_;
        loop_.body().outputs = &outputs_;
        loop_.run(carry);
        loop_.body().outputs = nullptr;
    }

    [[nodiscard]] const Carry& last() const { return loop_.last(); }
    [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }  // (step)
    /// The same, moved out: the scan no longer has them.
    [[nodiscard]] Carry take_last() { return loop_.take_last(); }
    [[nodiscard]] std::vector<Output> take_outputs() { return std::move(outputs_); }
    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }
    [[nodiscard]] Result result() const { return loop_.result(); }
    [[nodiscard]] Body& body() { return loop_.body().body; }

    /// From the cotangents of the last carry and of every output, those of the first carry and of
    /// every input. Once.
    [[nodiscard]] std::pair<Carry, std::vector<Input>> reverse(
        const Carry& cotangent, const std::vector<Output>& output_cotangents) {
        const auto call = presence_.enter("CheckpointedScan::reverse");
        require_argument(
            output_cotangents.size() == inputs_.size(),
            "CheckpointedScan::reverse: {} output cotangents for {} steps; give one a step",
            output_cotangents.size(), inputs_.size());
        std::vector<Input> input_cotangents;
        input_cotangents.reserve(inputs_.size());
        Step& step = loop_.body();
        step.inputs = &inputs_;  // the scan may have moved since it ran
        step.output_cotangents = &output_cotangents;
        step.input_cotangents = &input_cotangents;
        Carry first = loop_.reverse(cotangent);
        std::ranges::reverse(input_cotangents);
        return {std::move(first), std::move(input_cotangents)};
    }

  private:
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    Loop loop_;
    detail::Presence presence_;
};

/// Runs `length` steps of a body that takes no inputs (see LoopBody), with `{.checkpoints = c}`,
/// `{.nested_lengths = {…}}` or any other placement. The result has `last()`, `reverse(cotangent)`
/// and `counters()` as a CheckpointedLoop has.
template <class State, class Body, class Store = MemoryStore<State>>
[[nodiscard]] auto checkpoint_scan(Body body, const State& x0, std::int64_t length,
                                   LoopOptions options, Store store = Store()) {
    require_argument(!options.length || *options.length == length,
                     "checkpoint_scan: length = {} and options.length = {}; leave the option out",
                     length, options.length.value_or(0));
    options.length = length;
    CheckpointedLoop<State, Body, Store> loop(std::move(body), std::move(options),
                                              std::move(store));
    loop.run(x0);
    return loop;
}

/// The same with one input for each step and stacked outputs. The body has `advance(carry, x, step)
/// const -> std::pair<Carry, Output>` and `pullback(carry, x, step, carry_cotangent,
/// output_cotangent) -> std::pair<Carry, Input>`.
/// It may also have `pullback_in_place(carry, x, step, Carry& carry_cotangent, output_cotangent) ->
/// Input`, which changes the cotangent of the carry in place.
template <class Carry, class Body, class Input, class Store = MemoryStore<Carry>>
[[nodiscard]] auto checkpoint_scan(Body body, const Carry& carry, std::vector<Input> inputs,
                                   LoopOptions options, Store store = Store()) {
    return CheckpointedScan<Carry, Input, Body, Store>(std::move(body), carry, std::move(inputs),
                                                       std::move(options), std::move(store));
}

/// What `Scan::linearize` returns: last carry and outputs, and their pullback, once.
template <class Body, class Carry, class Input, class... Parameters>
class ScanLinearization {
    using Step = detail::DifferentiableScanStep<Body, Carry, Input, Parameters...>;
    using Loop = CheckpointedScan<Carry, Input, Step, MemoryStore<Carry>,
                                  detail::StepLoop<Carry, detail::ScanStep<Step, Carry, Input>>>;

  public:
    using Value = std::pair<Carry, std::vector<typename Loop::Output>>;

    ScanLinearization(const Body& body, const LoopOptions& options,
                      const std::pair<Carry, std::vector<Input>>& input,
                      const Parameters&... parameters)
        : loop_(Step{typename Step::Parametric(body, parameters...)}, input.first, input.second,
                options),
          value(loop_.take_last(), loop_.take_outputs()) {}

    /// The cotangent of (carry, xs), or a std::tuple of that and those of every parameter.
    [[nodiscard]] auto pullback(const Value& cotangent) {
        auto first = loop_.reverse(cotangent.first, cotangent.second);
        return loop_.body().body.with_parameter_cotangents(std::move(first));
    }

    /// The value, moved out: the pullback does not need it.
    [[nodiscard]] Value take_value() { return std::move(value); }

    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }

  private:
    Loop loop_;

  public:
    Value value;
};

/// The scan; made by `scan`.
template <class Body>
class Scan {
  public:
    Scan(Body body, LoopOptions options) : body_(std::move(body)), options_(std::move(options)) {}

    template <class Carry, class Input, class... Parameters>
    [[nodiscard]] auto operator()(const std::pair<Carry, std::vector<Input>>& input,
                                  const Parameters&... parameters) const {
        using StepOutput =
            decltype(body_(std::pair<Carry, Input>(input.first, input.second[0]), parameters...)
                         .second);
        std::pair<Carry, std::vector<StepOutput>> result{input.first, {}};
        result.second.reserve(input.second.size());
        for (const Input& x : input.second) {
            auto [next, output] =
                body_(std::pair<Carry, Input>(std::move(result.first), x), parameters...);
            result.first = std::move(next);
            result.second.push_back(std::move(output));
        }
        return result;
    }

    template <class Carry, class Input, class... Parameters>
    [[nodiscard]] auto linearize(const std::pair<Carry, std::vector<Input>>& input,
                                 const Parameters&... parameters) const {
        static_assert(Differentiable<Body, std::pair<Carry, Input>, Parameters...>,
                      "scan: the body must be a traced program, with program_scan.hpp included, or "
                      "Differentiable on std::pair(carry, x): body(pair, p...) -> pair(carry, y), "
                      "and body.linearize(pair, p...) with value and pullback");
        return ScanLinearization<Body, Carry, Input, Parameters...>(body_, options_, input,
                                                                    parameters...);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("scan", detail::kept_text(options_), body_);
    }

  private:
    Body body_;
    LoopOptions options_;
};

/// A differentiable scan: `((carry, xs), p...) -> (carry, ys)` with `(carry, y) = body((carry, x),
/// p...)` for each x in turn. Argument and result are pairs of a carry and a std::vector. The
/// parameters p are differentiated too.
/// With no options the linearization of every step is kept, and nothing is evaluated twice; what it
/// keeps is the body's affair.
template <class Body>
[[nodiscard]] auto scan(Body body, LoopOptions options = {.placement = Placement::store_all}) {
    return Scan<Body>(std::move(body), std::move(options));
}

}  // namespace eddy::inline v0
