#pragma once
// A chain of differentiable stages, each with a state of its own type, and its backward pass by a plan:
// what is kept of each stage, and which stages are evaluated again (stage_plan.hpp).
// Test: tests/checkpoint/sequence.cpp

#include <algorithm>
#include <cstdint>
#include <eddy/ad/linearize.hpp>
#include <eddy/checkpoint/parametric_body.hpp>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/checkpoint/unless_done.hpp>
#include <eddy/core/bytes_of.hpp>
#include <eddy/core/error.hpp>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// How a sequence is stopped: `linearize` or the pullback then throws Cancelled.
struct SequenceOptions {
    /// Checked before each stage, forward and backward.
    std::stop_token cancelled{};
    /// Asked before each stage, forward and backward, whether to go on. If it returns false, the
    /// sequence is cancelled; what it throws ends the call.
    std::function<bool()> poll{};

    /// Is the sequence to end here? Asks `poll`.
    [[nodiscard]] bool stop() const { return cancelled.stop_requested() || (poll && !poll()); }
};

namespace detail {

/// The stages with their parameters, given the type of the first state.
template <class X, class Stages, class Parameters, class... Bodies>
struct StageBodies {
    using type = std::tuple<Bodies...>;
    using Value = X;
};
template <class X, class F, class... Later, class... P, class... LaterParameters, class... Bodies>
struct StageBodies<X, std::tuple<F, Later...>, std::tuple<std::tuple<P...>, LaterParameters...>,
                   Bodies...>
    : StageBodies<typename ParametricBody<F, X, P...>::Value, std::tuple<Later...>,
                  std::tuple<LaterParameters...>, Bodies..., ParametricBody<F, X, P...>> {};

template <class Stages>
struct NoParameters;
template <class... Stages>
struct NoParameters<std::tuple<Stages...>> {
    template <class>
    using Nothing = std::tuple<>;
    using type = std::tuple<Nothing<Stages>...>;
};

template <class Bodies, class Stages, class Parameters>
[[nodiscard]] Bodies make_bodies(const Stages& stages, const Parameters& parameters) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
        return Bodies{std::apply(
            [&](const auto&... p) {
                return std::tuple_element_t<k, Bodies>(std::get<k>(stages), p...);
            },
            std::get<k>(parameters))...};
    }
    (std::make_index_sequence<std::tuple_size_v<Stages>>{});
}

/// Calls visit.template operator()<k>() for k = index, which is known when the program runs.
template <std::size_t count, class Visit>
void visit_index(std::size_t index, const Visit& visit) {
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        static_cast<void>(((index == k ? (visit.template operator()<k>(), true) : false) || ...));
    }
    (std::make_index_sequence<count>{});
}

template <class Body>
using KeptOf = typename decltype(std::declval<const Body&>().record(
    std::declval<typename Body::Input>()))::second_type;

/// What is alive of a chain: values, residuals, one cotangent.
template <class Bodies, class Last>
struct StagesAlive;
template <class... Bodies, class Last>
struct StagesAlive<std::tuple<Bodies...>, Last> {
    std::tuple<std::optional<typename Bodies::Input>..., std::optional<Last>> values;
    std::tuple<std::optional<KeptOf<Bodies>>...> residuals;
};

/// Every stage recorded as it is made: nothing is evaluated again.
[[nodiscard]] inline std::vector<StageAction> record_all(std::int32_t stages) {
    std::vector<StageAction> actions;
    for (std::int32_t i = 0; i <= stages; ++i) actions.push_back({StageActionKind::record, i});
    for (std::int32_t i = stages; i >= 0; --i) actions.push_back({StageActionKind::pullback, i});
    return actions;
}

}  // namespace detail

/// What `linearize` of a sequence returns: the value, with what the plan keeps, and the pullback, once.
template <class X, class Stages, class Parameters>
class SequenceLinearization {
    using Types = detail::StageBodies<X, Stages, Parameters>;
    using Bodies = typename Types::type;
    using Value = typename Types::Value;
    static constexpr std::size_t num_stages = std::tuple_size_v<Stages>;

  public:
    SequenceLinearization(const Stages& stages, std::vector<StageAction> actions,
                          SequenceOptions options, X x, const Parameters& parameters)
        : bodies_(detail::make_bodies<Bodies>(stages, parameters)),
          actions_(std::move(actions)),
          options_(std::move(options)),
          value(forward(std::move(x))) {}

    /// The cotangent of x; where parameters were given, a std::tuple of it and of a std::tuple for each
    /// stage.
    [[nodiscard]] auto pullback(const Value& cotangent) {
        require_argument(next_ < actions_.size(),
                         "sequence: pullback was called before; linearize again for another one");
        detail::UnlessDone guard([this] { free_all(); });
        cotangents_.emplace();
        std::get<num_stages>(*cotangents_) = cotangent;
        while (next_ < actions_.size()) act(actions_[next_++]);
        X first = *std::move(std::get<0>(*cotangents_));
        cotangents_.reset();
        guard.done = true;
        return joined(std::move(first));
    }

    /// The value, moved out: the pullback does not need it.
    [[nodiscard]] Value take_value() { return std::move(value); }

    /// Bytes that are kept now, without those of the value and the parameters.
    [[nodiscard]] std::int64_t kept_bytes() const {
        const auto bytes = [](const auto&... parts) {
            return ((parts ? bytes_of(*parts) : 0) + ... + std::int64_t{0});
        };
        return std::apply(bytes, alive_.values) + std::apply(bytes, alive_.residuals);
    }
    /// The largest number of bytes that were kept at once, so far.
    [[nodiscard]] std::int64_t peak_bytes() const { return peak_bytes_; }
    /// Evaluations of stages so far, recorded or not.
    [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }

  private:
    using Alive = detail::StagesAlive<Bodies, Value>;

    Value forward(X x) {
        std::get<0>(alive_.values) = std::move(x);
        while (next_ < actions_.size() && actions_[next_].kind != StageActionKind::pullback)
            act(actions_[next_++]);
        std::optional<Value>& last = std::get<num_stages>(alive_.values);
        Value result = *std::move(last);
        last.reset();
        is_forward_ = false;
        return result;
    }

    void free_all() {
        next_ = actions_.size();
        const auto free = [](auto&... parts) { (parts.reset(), ...); };
        std::apply(free, alive_.values);
        std::apply(free, alive_.residuals);
        cotangents_.reset();
    }

    void act(const StageAction& action) {
        const auto stage = static_cast<std::size_t>(action.stage);
        if (action.kind == StageActionKind::free) {
            if (is_forward_ && stage == num_stages) return;  // the caller's
            detail::visit_index<num_stages + 1>(
                stage, [&]<std::size_t k>() { std::get<k>(alive_.values).reset(); });
            return;
        }
        if (stage < num_stages && options_.stop())
            throw Cancelled(detail::compose(
                "sequence: cancelled before the {} of stage {}; linearize again for a gradient",
                action.kind == StageActionKind::pullback ? "pullback" : "evaluation", stage));
        detail::visit_index<num_stages>(stage, [&]<std::size_t k>() {
            if (action.kind == StageActionKind::pullback) {
                pull<k>();
            } else {
                evaluate<k>(action.kind == StageActionKind::record);
            }
        });
        peak_bytes_ = std::max(peak_bytes_, kept_bytes());
    }
    template <std::size_t k>
    void evaluate(bool records) {
        ++evaluations_;
        auto& x = std::get<k>(alive_.values);
        if (records) {
            auto [next, kept] = std::get<k>(bodies_).record(*std::move(x));
            x.reset();
            std::get<k>(alive_.residuals).emplace(std::move(kept));
            std::get<k + 1>(alive_.values).emplace(std::move(next));
        } else {
            std::get<k + 1>(alive_.values).emplace(std::get<k>(bodies_)(*x));
        }
    }
    template <std::size_t k>
    void pull() {
        auto& kept = std::get<k>(alive_.residuals);
        std::get<k>(*cotangents_)
            .emplace(std::get<k>(bodies_).pull_recorded(*kept, *std::get<k + 1>(*cotangents_)));
        std::get<k + 1>(*cotangents_).reset();
        kept.reset();
    }
    auto joined(X first) const {
        if constexpr (std::is_same_v<Parameters, typename detail::NoParameters<Stages>::type>) {
            return first;
        } else {
            return std::apply(
                [&](const auto&... body) {
                    return std::tuple_cat(std::tuple<X>(std::move(first)),
                                          std::make_tuple(body.parameter_cotangents())...);
                },
                bodies_);
        }
    }

    Bodies bodies_;
    std::vector<StageAction> actions_;
    SequenceOptions options_;
    std::size_t next_ = 0;
    bool is_forward_ = true;
    Alive alive_;
    std::optional<decltype(Alive::values)> cotangents_;
    std::int64_t evaluations_ = 0;
    std::int64_t peak_bytes_ = 0;

  public:
    Value value;
};

/// Differentiable stages, the first applied first; made by `sequence`. `net(x)` and `net.linearize(x)`;
/// where stages take more than x, `net(x, p_1, …, p_n)` with a std::tuple for each stage.
template <class... Stages>
struct Sequence {
    std::tuple<Stages...> stages;
    std::vector<StageAction> actions =
        detail::record_all(static_cast<std::int32_t>(sizeof...(Stages)));
    SequenceOptions options{};

    template <class X, class... Parameters>
    [[nodiscard]] auto operator()(const X& x, const Parameters&... parameters) const {
        return evaluate<0>(x, given(parameters...));
    }
    template <class X, class... Parameters>
    [[nodiscard]] auto linearize(X x, const Parameters&... parameters) const {
        const auto all = given(parameters...);
        return SequenceLinearization<X, std::tuple<Stages...>, std::remove_const_t<decltype(all)>>(
            stages, actions, options, std::move(x), all);
    }

    template <class... Parameters>
    [[nodiscard]] static auto given(const Parameters&... parameters) {
        constexpr bool as_many =
            sizeof...(Parameters) == 0 || sizeof...(Parameters) == sizeof...(Stages);
        static_assert(as_many,
                      "sequence: give x only, or x and a std::tuple of parameters for each stage");
        if constexpr (sizeof...(Parameters) == 0) {
            return typename detail::NoParameters<std::tuple<Stages...>>::type{};
        } else {
            return std::tuple<Parameters...>(parameters...);
        }
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        const bool is_planned = actions.size() != 2 * (sizeof...(Stages) + 1);
        std::apply(
            [&](const Stages&... stage) {
                visit("sequence",
                      is_planned ? "what its plan says" : "the residuals of every stage", stage...);
            },
            stages);
    }

  private:
    template <std::size_t k, class X, class Parameters>
    [[nodiscard]] auto evaluate(const X& x, const Parameters& parameters) const {
        const auto next = std::apply([&](const auto&... p) { return std::get<k>(stages)(x, p...); },
                                     std::get<k>(parameters));
        if constexpr (k + 1 == sizeof...(Stages)) {
            return next;
        } else {
            return evaluate<k + 1>(next, parameters);
        }
    }
};

/// A sequence that can be stopped: `sequence({.cancelled = token}, f, g)`.
template <class... Stages>
[[nodiscard]] auto sequence(SequenceOptions options, Stages... stages) {
    static_assert(sizeof...(Stages) > 0, "sequence: give at least one stage");
    Sequence<decltype(detail::as_differentiable(std::move(stages)))...> net{
        {detail::as_differentiable(std::move(stages))...}};
    net.options = std::move(options);
    return net;
}
/// A sequence of differentiable stages, the first applied first: traced programs, loops, functions of
/// your own. States may have any types. Its linearization keeps the residuals of every stage;
/// `remat(net, plan)` keeps what a plan says.
template <class... Stages>
[[nodiscard]] auto sequence(Stages... stages) {
    return sequence(SequenceOptions{}, std::move(stages)...);
}

/// The sequence whose linearizations follow a plan, which `plan(measure(net, x), options)` makes.
/// The gradient has the same bits.
template <class... Stages>
[[nodiscard]] Sequence<Stages...> remat(Sequence<Stages...> net, StagePlan plan) {
    require_argument(plan.kept.size() == sizeof...(Stages) + 1,
                     "remat: a plan of {} stages for a sequence of {}; take one of "
                     "measure(net, x), whose last stage is the turn",
                     plan.kept.size(), sizeof...(Stages));
    require_argument(
        std::ranges::none_of(plan.actions,
                             [](const StageAction& action) {
                                 return action.kind == StageActionKind::direct ||
                                        action.option != 0;
                             }),
        "remat: the plan has direct pullbacks or several options, which a sequence does not offer; "
        "take a plan of measure(net, x)");
    net.actions = std::move(plan.actions);
    return net;
}
/// `remat` of a sequence, by its other name.
template <class... Stages>
[[nodiscard]] Sequence<Stages...> checkpoint(Sequence<Stages...> net, StagePlan plan) {
    return remat(std::move(net), std::move(plan));
}

}  // namespace eddy::inline v0
