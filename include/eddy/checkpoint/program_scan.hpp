#pragma once
// A traced program as the body of a scan: (carry, a, b, …) -> carry, or -> (carry, y). Its first
// argument is the carry. Each further one is given for the whole scan: as a range of what the program
// takes, one a step, such as the weights of each layer; or as it is, the same in every step.
// Test: tests/checkpoint/structured.cpp, tests/ad/linearize.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/program_step.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/scan_run.hpp>
#include <eddy/core/error.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

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
        auto step = step_of<Carry>(given...);
        LoopOptions options = detail::with_length(options_, length(step.step));
        return ScanLinearization(std::move(step), std::move(options), carry);
    }

    /// The pullback without the value: the last step is not made.
    template <class Cotangent, class Carry, class... Given>
    [[nodiscard]] auto pullback_at(const Cotangent& cotangent, const Carry& carry,
                                   const Given&... given) const {
        auto step = step_of<Carry>(given...);
        LoopOptions options = detail::with_length(options_, length(step.step));
        return detail::pull_back_scan(std::move(step), std::move(options), carry, cotangent);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("scan", detail::kept_text(options_), body_);
    }

  private:
    template <class Carry, class... Given>
    [[nodiscard]] auto step_of(const Given&... given) const {
        check<Carry, Given...>();
        using Step = detail::ProgramScanStep<Body, Carry, Given...>;
        return Step{.step = typename Step::Step(body_, given...)};
    }
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
