#pragma once
// One step of a scan whose body is a traced program: what it is given in each step, what it keeps,
// and where the cotangents of what it is given go.
// Test: tests/checkpoint/structured.cpp, tests/ad/linearize.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/ad/cotangent.hpp>
#include <eddy/ad/hooks.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/checkpoint/kept_loop.hpp>
#include <eddy/checkpoint/parametric_body.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/range.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

template <class T>
struct IsDifferentiableProgram : std::false_type {};
template <class P, class Policy, int... argument>
struct IsDifferentiableProgram<DifferentiableProgram<P, Policy, argument...>> : std::true_type {
    static constexpr auto& graph = P::graph;
};
template <class D, class Hooks>
struct IsDifferentiableProgram<HookedProgram<D, Hooks>> : IsDifferentiableProgram<D> {};

/// Is an argument of the program given once a step? A number takes a range of numbers, a vector a
/// range of vectors.
template <class Given, bool is_scalar>
consteval bool is_given_each_step() {
    if constexpr (!SizedRange<Given>) {
        return false;
    } else if constexpr (is_scalar) {
        return true;
    } else {
        return Indexable<RangeValueOf<Given>> || is_structured<RangeValueOf<Given>>;
    }
}

/// One step, as the body of a CheckpointedLoop and of a KeptLoop. `Body` is a DifferentiableProgram,
/// or one with hooks.
template <class Body, class... Given>
class ProgramStep {
    static constexpr auto& graph = IsDifferentiableProgram<Body>::graph;
    using Indices = std::index_sequence_for<Given...>;
    template <std::size_t k>
    using GivenAt = std::tuple_element_t<k, std::tuple<Given...>>;
    template <std::size_t k>
    static constexpr bool each_step =
        is_given_each_step<GivenAt<k>, graph.arguments[k + 1].is_scalar>();

  public:
    explicit ProgramStep(Body body, Given... given)
        : body_(std::move(body)), given_(std::move(given)...) {}

    /// Steps of the scan: how many the ranges have, which must agree.
    [[nodiscard]] std::size_t length() const {
        std::optional<std::size_t> length;
        for_each_given([&]<std::size_t k>() {
            if constexpr (each_step<k>) {
                const auto size = static_cast<std::size_t>(std::ranges::size(std::get<k>(given_)));
                require_argument(!length || *length == size,
                                 "scan: argument {} has {} steps but one before it has {}; give "
                                 "every step one of each",
                                 k + 1, size, length.value_or(0));
                length = size;
            }
        });
        return length.value_or(0);
    }
    static constexpr bool has_length = []<std::size_t... k>(std::index_sequence<k...>) {
        return (each_step<k> || ... || false);
    }
    (Indices{});

    template <class Carry>
    [[nodiscard]] auto evaluate(const Carry& carry, std::int64_t step) const {
        return call([&](const auto&... x) { return body_(carry, x...); }, step);
    }
    template <class Carry>
    [[nodiscard]] auto record_value(const Carry& carry, std::int64_t step) const {
        return call([&](const auto&... x) { return body_.record(carry, x...); }, step);
    }
    template <class Kept, class Carry, class Cotangent>
    [[nodiscard]] auto pull_value(const Kept& kept, const Carry& carry, const Cotangent& cotangent,
                                  std::int64_t step) const {
        return call(
            [&](const auto&... x) { return body_.pull_recorded(kept, cotangent, carry, x...); },
            step);
    }

    /// The pullback without the value. With hooks what is kept passes through them, as in other steps.
    static constexpr bool can_pull_at = !requires { Body::passes_hooks; };
    template <class Carry, class Cotangent>
    [[nodiscard]] auto pull_value_at(const Carry& carry, const Cotangent& cotangent,
                                     std::int64_t step) const {
        return call([&](const auto&... x) { return body_.pullback_at(cotangent, carry, x...); },
                    step);
    }

    template <std::size_t k>
    static constexpr bool is_each_step = each_step<k>;
    template <std::size_t k>
    [[nodiscard]] const GivenAt<k>& given() const {
        return std::get<k>(given_);
    }
    template <class Visit>
    static void for_each_given(const Visit& visit) {
        [&]<std::size_t... k>(std::index_sequence<k...>) { (visit.template operator()<k>(), ...); }
        (Indices{});
    }

  private:
    template <class Function>
    auto call(const Function& function, std::int64_t step) const {
        return [&]<std::size_t... k>(std::index_sequence<k...>) {
            return function(element<k>(step)...);
        }
        (Indices{});
    }
    template <std::size_t k>
    [[nodiscard]] decltype(auto) element([[maybe_unused]] std::int64_t step) const {
        if constexpr (each_step<k>) {
            return std::get<k>(given_)[static_cast<std::size_t>(step)];
        } else {
            return static_cast<const GivenAt<k>&>(std::get<k>(given_));
        }
    }

    [[no_unique_address]] Body body_;
    std::tuple<Given...> given_;
};

/// The first result of a step, which the next one takes.
template <class Value>
const Value& carry_of(const Value& value) {
    return value;
}
template <class Carry, class... Outputs>
const Carry& carry_of(const std::tuple<Carry, Outputs...>& value) {
    return std::get<0>(value);
}
/// The others: none, one as it is, several as a std::tuple.
template <class Value>
NothingKept output_of(const Value&) {
    return {};
}
template <class Carry, class Output>
const Output& output_of(const std::tuple<Carry, Output>& value) {
    return std::get<1>(value);
}
template <class Carry, class First, class Second, class... Outputs>
auto output_of(const std::tuple<Carry, First, Second, Outputs...>& value) {
    return tail(value);
}
/// The cotangent of a step's value.
template <class Carry>
const Carry& joined_cotangent(const Carry& carry, const NothingKept&) {
    return carry;
}
template <class Carry, class Output>
std::tuple<Carry, Output> joined_cotangent(const Carry& carry, const Output& output) {
    return {carry, output};
}
template <class Carry, class... Outputs>
std::tuple<Carry, Outputs...> joined_cotangent(const Carry& carry,
                                               const std::tuple<Outputs...>& outputs) {
    return std::tuple_cat(std::tuple<Carry>(carry), outputs);
}

/// The cotangents of what was given: one a step, or their sum.
template <class Step, class Pulled, class Indices>
struct GivenCotangents;
template <class Step, class... Pulled, std::size_t... k>
struct GivenCotangents<Step, std::tuple<Pulled...>, std::index_sequence<k...>> {
    template <std::size_t index>
    using PulledAt = std::tuple_element_t<index + 1, std::tuple<Pulled...>>;
    template <std::size_t index>
    using Sum = std::conditional_t<Step::template is_each_step<index>, std::vector<PulledAt<index>>,
                                   PulledAt<index>>;
    std::tuple<Sum<k>...> sums;

    void prepare(const Step& step) {
        [[maybe_unused]] const auto clear = [&]<std::size_t index>() {
            if constexpr (Step::template is_each_step<index>)
                std::get<index>(sums).assign(std::ranges::size(step.template given<index>()),
                                             PulledAt<index>{});
            else
                std::get<index>(sums) = PulledAt<index>{};
        };
        (clear.template operator()<k>(), ...);
    }
    void add(const std::tuple<Pulled...>& pulled, std::int64_t step) {
        [[maybe_unused]] const auto add_one = [&]<std::size_t index>() {
            if constexpr (Step::template is_each_step<index>)
                std::get<index>(sums)[static_cast<std::size_t>(step)] = std::get<index + 1>(pulled);
            else
                add_cotangent(std::get<index>(sums), std::get<index + 1>(pulled));
        };
        (add_one.template operator()<k>(), ...);
    }
};

/// The steps with all that is outside the carry: outputs, and the cotangents of both sides.
template <class Body, class Carry, class... Given>
struct ProgramScanStep {
    using Step = ProgramStep<Body, Given...>;
    using Value = decltype(std::declval<const Step&>().evaluate(std::declval<Carry>(), 0));
    using Output = std::remove_cvref_t<decltype(output_of(std::declval<const Value&>()))>;
    static constexpr bool has_outputs = !std::is_same_v<Output, NothingKept>;
    using Residuals = typename decltype(std::declval<const Step&>().record_value(
        std::declval<Carry>(), 0))::second_type;
    using Kept = KeptOfProgram<Residuals, Carry, Body::reads(0)>;
    using Pulled = decltype(as_tuple(std::declval<const Step&>().pull_value(
        std::declval<const Residuals&>(), std::declval<const Carry&>(),
        std::declval<const Value&>(), 0)));

    Step step;
    std::vector<Output>* outputs = nullptr;  // null: recomputing, they are known
    const std::vector<Output>* output_cotangents = nullptr;
    GivenCotangents<Step, Pulled, std::index_sequence_for<Given...>> cotangents{};

    void advance_in_place(Carry& carry, std::int64_t index) const {
        note(step.evaluate(carry, index), carry);
    }
    [[nodiscard]] Carry advance(const Carry& carry, std::int64_t index) const {
        return carry_of(step.evaluate(carry, index));
    }
    [[nodiscard]] Kept record(Carry& carry, std::int64_t index) const {
        auto [value, residuals] = step.record_value(carry, index);
        Kept kept(carry, std::move(residuals));
        note(value, carry);
        return kept;
    }
    void pull(const Kept& kept, std::int64_t index, Carry& cotangent) {
        const auto pulled =
            step.pull_value(kept.residuals, kept.argument(),
                            joined_cotangent(cotangent, output_cotangent(index)), index);
        if constexpr (std::is_same_v<decltype(pulled), const Pulled>) {
            take(pulled, index, cotangent);
        } else {
            take(as_tuple(pulled), index, cotangent);
        }
    }
    void pullback_in_place(const Carry& carry, std::int64_t index, Carry& cotangent) {
        pullback_in_place(carry, index, cotangent, [](const Carry&) {});
    }
    template <class Observer>
    void pullback_in_place(const Carry& carry, std::int64_t index, Carry& cotangent,
                           const Observer& observe) {
        Carry next = carry;
        const Kept kept = record(next, index);
        observe(std::as_const(next));
        pull(kept, index, cotangent);
    }
    [[nodiscard]] Carry pullback(const Carry& carry, std::int64_t index, Carry cotangent) {
        pullback_in_place(carry, index, cotangent);
        return cotangent;
    }
    void pull_at(const Carry& carry, std::int64_t index, Carry& cotangent) {
        if constexpr (Step::can_pull_at) {
            take(as_tuple(step.pull_value_at(
                     carry, joined_cotangent(cotangent, output_cotangent(index)), index)),
                 index, cotangent);
        } else {
            pullback_in_place(carry, index, cotangent);
        }
    }

    void prepare() { cotangents.prepare(step); }
    [[nodiscard]] auto joined(Carry first) {
        if constexpr (sizeof...(Given) == 0) {
            return first;
        } else {
            return std::tuple_cat(std::tuple<Carry>(std::move(first)), std::move(cotangents.sums));
        }
    }

  private:
    void take(const Pulled& pulled, std::int64_t index, Carry& cotangent) {
        cotangent = std::get<0>(pulled);
        cotangents.add(pulled, index);
    }
    void note(const Value& value, Carry& carry) const {
        carry = carry_of(value);
        if constexpr (has_outputs) {
            if (outputs != nullptr) outputs->push_back(output_of(value));
        }
    }
    [[nodiscard]] decltype(auto) output_cotangent([[maybe_unused]] std::int64_t index) const {
        if constexpr (has_outputs) {
            return static_cast<const Output&>(
                (*output_cotangents)[static_cast<std::size_t>(index)]);
        } else {
            return NothingKept{};
        }
    }
};

}  // namespace detail
}  // namespace eddy::inline v0
