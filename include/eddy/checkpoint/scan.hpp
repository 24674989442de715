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
#include <eddy/checkpoint/parametric_body.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/scan_run.hpp>
#include <eddy/core/error.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

// One step of a scan as the body of a CheckpointedLoop over the carry, with the inputs. Outputs and
// their cotangents are lent to it for one sweep at a time.
template <class Body, class Carry, class Input>
struct ScanStep {
    using Output =
        decltype(std::declval<const Body&>()
                     .advance(std::declval<Carry>(), std::declval<const Input&>(), std::int64_t{})
                     .second);

    static constexpr bool has_outputs = true;

    Body body;
    std::vector<Input> inputs;
    std::vector<Output>* outputs = nullptr;  // null: recomputing, they are known
    const std::vector<Output>* output_cotangents = nullptr;
    std::vector<Input> input_cotangents{};  // last step first

    [[nodiscard]] const Input& input(std::int64_t step) const {
        return inputs[static_cast<std::size_t>(step)];
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
        input_cotangents.push_back(std::move(pulled.second));
    }
    void pullback_in_place(const Carry& carry, std::int64_t step, Carry& cotangent) {
        const Output& of_output = output_cotangent(step);
        if constexpr (requires {
                          body.pullback_in_place(carry, input(step), step, cotangent, of_output);
                      }) {
            input_cotangents.push_back(
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
    void pull_at(const Carry& carry, std::int64_t step, Carry& cotangent) {
        take(body.pullback_at(carry, input(step), std::as_const(cotangent), output_cotangent(step)),
             cotangent);
    }

    void prepare() {
        input_cotangents.clear();
        input_cotangents.reserve(inputs.size());
    }
    [[nodiscard]] auto joined(Carry first) {
        std::ranges::reverse(input_cotangents);
        std::pair both(std::move(first), std::move(input_cotangents));
        if constexpr (requires { body.joined(std::move(both)); }) {
            return body.joined(std::move(both));
        } else {
            return both;
        }
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
    Pair pullback_at(const Carry& carry, const Input& input, const Carry& cotangent,
                     const typename Value::second_type& output_cotangent) {
        return body.pullback_at(Pair(carry, input), Value(cotangent, output_cotangent));
    }
    auto record(Carry carry, const Input& input) const {
        return body.record(Pair(std::move(carry), input));
    }
    template <class Kept>
    Pair pull_recorded(Kept& kept, const Carry& cotangent,
                       const typename Value::second_type& output_cotangent) {
        return body.pull_recorded(kept, Value(cotangent, output_cotangent));
    }
    [[nodiscard]] auto joined(std::pair<Carry, std::vector<Input>> cotangents) const {
        return body.with_parameter_cotangents(std::move(cotangents));
    }
};

}  // namespace detail

/// A scan that has run: its last carry, its outputs, and its reverse.
template <class Carry, class Input, class Body, class Store = MemoryStore<Carry>>
class CheckpointedScan {
    using Step = detail::ScanStep<Body, Carry, Input>;
    using Run = detail::ScanRun<Carry, Step, CheckpointedLoop<Carry, Step, Store>>;

  public:
    using Output = typename Step::Output;

    CheckpointedScan(Body body, const Carry& carry, std::vector<Input> inputs, LoopOptions options,
                     Store store)
        : length_(inputs.size()),
          run_(Step{std::move(body), std::move(inputs)},
               detail::with_length(std::move(options), length_), carry, detail::ScanEnd::last_carry,
               std::move(store)) {}

    [[nodiscard]] const Carry& last() const { return run_.last(); }
    [[nodiscard]] const std::vector<Output>& outputs() const { return run_.outputs(); }  // (step)
    /// The same, moved out: the scan no longer has them.
    [[nodiscard]] Carry take_last() { return run_.take_last(); }
    [[nodiscard]] std::vector<Output> take_outputs() { return run_.take_outputs(); }
    [[nodiscard]] const LoopCounters& counters() const { return run_.counters(); }
    [[nodiscard]] Result result() const { return run_.result(); }
    [[nodiscard]] Body& body() { return run_.step().body; }

    /// From the cotangents of the last carry and of every output, those of the first carry and of
    /// every input. Once.
    [[nodiscard]] std::pair<Carry, std::vector<Input>> reverse(
        const Carry& cotangent, const std::vector<Output>& output_cotangents) {
        const auto call = presence_.enter("CheckpointedScan::reverse");
        require_argument(
            output_cotangents.size() == length_,
            "CheckpointedScan::reverse: {} output cotangents for {} steps; give one a step",
            output_cotangents.size(), length_);
        return run_.reverse(cotangent, output_cotangents);
    }

  private:
    std::size_t length_;
    Run run_;
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
        return ScanLinearization(step(input, parameters...), options(input.second), input.first);
    }

    /// The pullback without the value: the last step is not made.
    template <class Cotangent, class Carry, class Input, class... Parameters>
    [[nodiscard]] auto pullback_at(const Cotangent& cotangent,
                                   const std::pair<Carry, std::vector<Input>>& input,
                                   const Parameters&... parameters) const {
        return detail::pull_back_scan(step(input, parameters...), options(input.second),
                                      input.first, cotangent);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("scan", detail::kept_text(options_), body_);
    }

  private:
    template <class Carry, class Input, class... Parameters>
    [[nodiscard]] auto step(const std::pair<Carry, std::vector<Input>>& input,
                            const Parameters&... parameters) const {
        static_assert(Differentiable<Body, std::pair<Carry, Input>, Parameters...>,
                      "scan: the body must be a traced program, with program_scan.hpp included, or "
                      "Differentiable on std::pair(carry, x): body(pair, p...) -> pair(carry, y), "
                      "and body.linearize(pair, p...) with value and pullback");
        using Step = detail::DifferentiableScanStep<Body, Carry, Input, Parameters...>;
        return detail::ScanStep<Step, Carry, Input>{
            {typename Step::Parametric(body_, parameters...)}, input.second};
    }
    template <class Input>
    [[nodiscard]] LoopOptions options(const std::vector<Input>& inputs) const {
        return detail::with_length(options_, inputs.size());
    }

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
