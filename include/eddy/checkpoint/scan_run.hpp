#pragma once
// A scan that has run, and is taken back once: a loop over the carry, and a step that has what is
// outside of it, such as the inputs. Where only the pullback is asked for, the last step is not made:
// its pullback begins at the carry before it.
//
// A step offers, beside what its loop asks for (kept_loop.hpp), Output and has_outputs; `outputs` and
// `output_cotangents`, which point to a vector with one a step during a sweep; prepare(), before the way
// back; pull_at(carry, step, Carry& cotangent), where nobody asks for the value of the step; and
// joined(Carry), the cotangents of all that was given.
// Test: tests/checkpoint/scan.cpp, tests/checkpoint/structured.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/kept_loop.hpp>
#include <eddy/core/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// Where the way forward of a scan ends.
enum class ScanEnd : std::uint8_t { last_carry, last_step };

template <class Carry, class Step, class Loop>
class ScanRun {
  public:
    using Outputs = std::vector<typename Step::Output>;

    /// The options know the length.
    template <class... Stores>
    ScanRun(Step step, LoopOptions options, const Carry& carry, ScanEnd end, Stores... store)
        : length_(options.length.value_or(0)),
          num_made_(end == ScanEnd::last_step && length_ > 0 ? length_ - 1 : length_),
          loop_(std::move(step), for_steps(std::move(options), num_made_), std::move(store)...) {
        if (end == ScanEnd::last_carry) loop_.body().outputs = &outputs_;
        if constexpr (Step::has_outputs) outputs_.reserve(static_cast<std::size_t>(length_));
        loop_.run(carry, [last = num_made_](const Carry&, std::int64_t k) { return k < last; });
        loop_.body().outputs = nullptr;
    }

    /// From the cotangents of the last carry and of every output, those of all that was given.
    [[nodiscard]] auto reverse(Carry cotangent, const Outputs& output_cotangents) {
        begin_reversal(output_cotangents);
        return step().joined(loop_.reverse(std::move(cotangent)));
    }
    /// The same of a run that ended before its last step.
    [[nodiscard]] auto reverse_from_last_step(Carry cotangent, const Outputs& output_cotangents) {
        if (loop_.result() == Result::cancelled) throw_cancelled(0, length_);
        begin_reversal(output_cotangents);
        if (num_made_ < length_) step().pull_at(loop_.last(), num_made_, cotangent);
        return step().joined(loop_.reverse(std::move(cotangent)));
    }

    [[nodiscard]] const Carry& last() const { return loop_.last(); }
    [[nodiscard]] Carry take_last() { return loop_.take_last(); }
    [[nodiscard]] const Outputs& outputs() const { return outputs_; }  // (step)
    [[nodiscard]] Outputs take_outputs() { return std::move(outputs_); }
    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }
    [[nodiscard]] Result result() const { return loop_.result(); }
    [[nodiscard]] Step& step() { return loop_.body(); }

  private:
    void begin_reversal(const Outputs& output_cotangents) {
        if constexpr (Step::has_outputs)
            require_argument(output_cotangents.size() == static_cast<std::size_t>(length_),
                             "scan: {} output cotangents for {} steps; give one a step",
                             output_cotangents.size(), length_);
        step().prepare();
        step().output_cotangents = &output_cotangents;
    }
    [[nodiscard]] static LoopOptions for_steps(LoopOptions options, std::int64_t steps) {
        if (options.nested_lengths.empty())
            options.length = steps;
        else if (options.length != steps)
            options.length.reset();  // nested lengths are at least as many steps
        return options;
    }

    std::int64_t length_, num_made_;
    Outputs outputs_;
    Loop loop_;
};

}  // namespace detail

/// What `linearize` of a scan returns: the last carry, with the outputs of every step where there are
/// any, and the pullback, once.
template <class Step, class Carry>
class ScanLinearization {
    using Run = detail::ScanRun<Carry, Step, detail::StepLoop<Carry, Step>>;

  public:
    /// A carry, or a pair of it and a vector of outputs.
    using Value =
        std::conditional_t<Step::has_outputs, std::pair<Carry, typename Run::Outputs>, Carry>;

    ScanLinearization(Step step, LoopOptions options, const Carry& carry)
        : run_(std::move(step), std::move(options), carry, detail::ScanEnd::last_carry),
          value(of_run()) {}

    /// The cotangents of all that was given, in the same form; those of arguments that are the same in
    /// every step are added up.
    [[nodiscard]] auto pullback(const Value& cotangent) {
        if constexpr (Step::has_outputs) {
            return run_.reverse(cotangent.first, cotangent.second);
        } else {
            return run_.reverse(cotangent, {});
        }
    }

    /// The value, moved out: the pullback does not need it.
    [[nodiscard]] Value take_value() { return std::move(value); }
    [[nodiscard]] const LoopCounters& counters() const { return run_.counters(); }

  private:
    [[nodiscard]] Value of_run() {
        if constexpr (Step::has_outputs) {
            return {run_.take_last(), run_.take_outputs()};
        } else {
            return run_.take_last();
        }
    }

    Run run_;

  public:
    Value value;
};

namespace detail {

/// The pullback of a scan without its value.
template <class Step, class Carry, class Cotangent>
[[nodiscard]] auto pull_back_scan(Step step, LoopOptions options, const Carry& carry,
                                  const Cotangent& cotangent) {
    ScanRun<Carry, Step, StepLoop<Carry, Step>> run(std::move(step), std::move(options), carry,
                                                    ScanEnd::last_step);
    if constexpr (Step::has_outputs) {
        return run.reverse_from_last_step(cotangent.first, cotangent.second);
    } else {
        return run.reverse_from_last_step(cotangent, {});
    }
}

}  // namespace detail
}  // namespace eddy::inline v0
