#pragma once
// A traced program as the body of a scan: (carry, a, b, …) -> carry, or -> (carry, y). Its first
// argument is the carry. Each further one is given for the whole scan: as a range of what the program
// takes, one a step, such as the weights of each layer; or as it is, the same in every step.
// Test: tests/checkpoint/structured.cpp, tests/ad/linearize.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/kept_loop.hpp>
#include <eddy/checkpoint/program_step.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/core/error.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// What `ProgramScan::linearize` returns: the last carry, with the outputs of every step where the
/// program has any, and the pullback, once.
template <class Body, class Carry, class... Given>
class ProgramScanLinearization {
    using Step = detail::ProgramScanStep<Body, Carry, Given...>;
    using Outputs = std::vector<typename Step::Output>;

  public:
    /// A carry, or a pair of it and a vector of outputs.
    using Value = std::conditional_t<Step::has_outputs, std::pair<Carry, Outputs>, Carry>;

    ProgramScanLinearization(const Body& body, const LoopOptions& options, const Carry& carry,
                             const Given&... given)
        : loop_(Step{typename Step::Step(body, given...)}, options), value(run(carry)) {}

    /// The cotangent of the carry as it is, or a std::tuple of it and those of every further
    /// argument: a std::vector with one a step where that was a range.
    [[nodiscard]] auto pullback(const Value& cotangent) {
        Step& step = loop_.body();
        step.cotangents.prepare(step.step);
        if constexpr (Step::has_outputs) {
            const auto steps = static_cast<std::size_t>(loop_.steps());
            require_argument(cotangent.second.size() == steps,
                             "scan: {} output cotangents for {} steps; give one a step",
                             cotangent.second.size(), steps);
            step.output_cotangents = &cotangent.second;
            return joined(loop_.reverse(cotangent.first));
        } else {
            return joined(loop_.reverse(cotangent));
        }
    }

    /// The value, moved out: the pullback does not need it.
    [[nodiscard]] Value take_value() { return std::move(value); }
    [[nodiscard]] const LoopCounters& counters() const { return loop_.counters(); }

  private:
    Value run(const Carry& carry) {
        if constexpr (Step::has_outputs) {
            Outputs outputs;
            outputs.reserve(loop_.body().step.length());
            loop_.body().outputs = &outputs;
            loop_.run(carry);
            loop_.body().outputs = nullptr;
            return {loop_.take_last(), std::move(outputs)};
        } else {
            loop_.run(carry);
            return loop_.take_last();
        }
    }
    auto joined(Carry carry) {
        if constexpr (sizeof...(Given) == 0) {
            return carry;
        } else {
            return std::tuple_cat(std::tuple<Carry>(std::move(carry)),
                                  std::move(loop_.body().cotangents.sums));
        }
    }

    detail::StepLoop<Carry, Step> loop_;

  public:
    Value value;
};

/// The scan of a traced program; made by `scan`.
template <class Body>
class ProgramScan {
  public:
    ProgramScan(Body body, LoopOptions options)
        : body_(std::move(body)), options_(std::move(options)) {}

    /// (carry, a, b, …) -> the last carry, or that and the outputs.
    template <class Carry, class... Given>
    [[nodiscard]] auto operator()(const Carry& carry, const Given&... given) const {
        using Step = detail::ProgramScanStep<Body, Carry, Given...>;
        check<Carry, Given...>();
        const typename Step::Step step(body_, given...);
        const auto steps = static_cast<std::int64_t>(length(step));
        Carry x = carry;
        if constexpr (Step::has_outputs) {
            std::vector<typename Step::Output> outputs;
            outputs.reserve(static_cast<std::size_t>(steps));
            const Step body{.step = step, .outputs = &outputs};
            for (std::int64_t k = 0; k < steps; ++k) body.advance_in_place(x, k);
            return std::pair{std::move(x), std::move(outputs)};
        } else {
            const Step body{.step = step};
            for (std::int64_t k = 0; k < steps; ++k) body.advance_in_place(x, k);
            return x;
        }
    }

    /// Ranges are copied: pass large ones as a span, which must then live as long.
    template <class Carry, class... Given>
    [[nodiscard]] auto linearize(const Carry& carry, const Given&... given) const {
        check<Carry, Given...>();
        const detail::ProgramStep<Body, Given...> step(body_, given...);
        return ProgramScanLinearization<Body, Carry, Given...>(
            body_, detail::with_length(options_, length(step)), carry, given...);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("scan", detail::kept_text(options_), body_);
    }

  private:
    template <class Carry, class... Given>
    static consteval void check() {
        constexpr auto& graph = detail::IsDifferentiableProgram<Body>::graph;
        constexpr bool as_many = sizeof...(Given) + 1 == graph.num_arguments();
        static_assert(as_many,
                      "scan: give the carry and every further argument of the program, as a range "
                      "with one a step or as it is");
        constexpr bool closes = graph.outputs[0].size == graph.arguments[0].size &&
                                graph.outputs[0].is_scalar == graph.arguments[0].is_scalar;
        static_assert(
            closes,
            "scan: the first result of the program is the carry of the next step, and must "
            "have the shape of its first argument");
    }
    template <class Step>
    [[nodiscard]] std::size_t length(const Step& step) const {
        if constexpr (Step::has_length) {
            return step.length();
        } else {
            require_argument(
                options_.length.has_value(),
                "scan: no argument is a range with one a step, and no length is given; "
                "give one of them");
            return static_cast<std::size_t>(*options_.length);
        }
    }

    [[no_unique_address]] Body body_;
    LoopOptions options_;
};

/// The scan of a traced program `(carry, a, b, …) -> carry`, or `-> (carry, y)` with one y a step.
/// Further arguments are ranges with one element a step, or the same in every step. Of each step
/// everything that the pullback reads is kept.
template <class Recipe>
[[nodiscard]] auto scan(const Program<Recipe>& program,
                        LoopOptions options = {.placement = Placement::store_all}) {
    return scan(differentiable(program), std::move(options));
}
/// The same, of which each step keeps what the policy of `differentiable(program, policy)` allows.
template <class P, class Policy, int... argument>
[[nodiscard]] auto scan(const DifferentiableProgram<P, Policy, argument...>& program,
                        LoopOptions options = {.placement = Placement::store_all}) {
    static_assert(
        sizeof...(argument) == 0,
        "scan: the program is differentiated with respect to all its arguments; leave the "
        "list out");
    return ProgramScan<DifferentiableProgram<P, Policy, argument...>>(program, std::move(options));
}
/// The same of `remat(program, policy)`.
template <class Recipe, class Policy>
[[nodiscard]] auto scan(const Remat<Program<Recipe>, Policy>& body,
                        LoopOptions options = {.placement = Placement::store_all}) {
    return scan(differentiable(body.function, body.policy), std::move(options));
}
/// The same of `remat(program, hooks)`: what is kept of each step goes through the hooks.
template <class D, class Hooks>
[[nodiscard]] auto scan(const detail::HookedProgram<D, Hooks>& body,
                        LoopOptions options = {.placement = Placement::store_all}) {
    return ProgramScan<detail::HookedProgram<D, Hooks>>(body, std::move(options));
}
/// The same with the policy in front: `scan<dots_saveable>(program, {.checkpoints = 8})` keeps what it
/// allows of every step between two checkpoints. So with hooks: `scan<save_as<float>>(program)`.
template <auto policy, class Recipe>
[[nodiscard]] auto scan(const Program<Recipe>& program,
                        LoopOptions options = {.placement = Placement::store_all}) {
    options.keep = Keep::residuals;
    return scan(remat(program, policy), std::move(options));
}

namespace nn {

/// The scan of a layer that keeps what a policy or hooks allow: as a rule only the input of each layer,
/// which is evaluated again in the backward pass. `scan(remat(layer, policy), options)`.
template <class Recipe, class Policy = detail::NothingSaveable>
[[nodiscard]] auto remat_scan(const Program<Recipe>& layer, Policy policy = {},
                              LoopOptions options = {.placement = Placement::store_all}) {
    return scan(remat(layer, std::move(policy)), std::move(options));
}
/// The same on several levels, whose lengths multiply to the number of layers: at most as many inputs are
/// kept as their sum.
template <class Recipe>
[[nodiscard]] auto remat_scan(const Program<Recipe>& layer, std::vector<std::int64_t> lengths) {
    return scan(layer, {.nested_lengths = std::move(lengths)});
}

}  // namespace nn

}  // namespace eddy::inline v0
