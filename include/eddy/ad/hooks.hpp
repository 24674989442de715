#pragma once
// What is kept for the way back, taken through a pair of functions: `remat(f, hooks(pack, unpack))`
// keeps pack(value) in place of each value, and goes on with unpack of it. `save_as<float>` is such a
// pair. What passes are the residuals of a program and its first argument, where the pullback reads
// that; of another Differentiable its first argument, from which it is linearized again. Further
// arguments stay as they were given: they are weights, which the caller keeps.
//
// Each value passes once, wherever checkpoints are: the gradient does not depend on them.
// Test: tests/ad/hooks.cpp

#include <array>
#include <concepts>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/narrowed.hpp>
#include <eddy/ad/policies.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/core/bytes_of.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// Two functions around what is kept; made by `hooks`.
template <class Pack, class Unpack, class Policy>
struct Hooks {
    static constexpr bool are_hooks = true;
    [[no_unique_address]] Pack pack;
    [[no_unique_address]] Unpack unpack;
    [[no_unique_address]] Policy policy;

    /// What is kept in place of the value.
    template <class T>
    [[nodiscard]] auto put(const T& value) const {
        return pack(value);
    }
    /// The value again.
    template <class T, class Packed>
    [[nodiscard]] T get(const Packed& packed) const {
        constexpr bool gives_back =
            std::is_convertible_v<std::invoke_result_t<const Unpack&, const Packed&>, T>;
        static_assert(gives_back, "hooks: unpack must return what pack was given");
        return unpack(packed);
    }
};

/// `pack(value)` returns what is kept in place of a value, of any copyable type; `unpack` returns the
/// value from that. Of a program, the policy chooses the values.
template <class Pack, class Unpack, class Policy = detail::EverythingSaveable>
[[nodiscard]] constexpr auto hooks(Pack pack, Unpack unpack, Policy policy = {}) {
    return Hooks<Pack, Unpack, Policy>{std::move(pack), std::move(unpack), std::move(policy)};
}

namespace detail {

struct NothingPacked {};

template <class Number, class Policy>
struct SaveAs {
    static constexpr bool are_hooks = true;
    [[no_unique_address]] Policy policy;

    template <class T>
    [[nodiscard]] auto put(const T& value) const {
        return narrowed<Number>(value);
    }
    template <class T, class Packed>
    [[nodiscard]] T get(const Packed& packed) const {
        T value{};
        widen(packed, value);
        return value;
    }
    /// The same of what another policy keeps.
    template <class Other>
    [[nodiscard]] constexpr SaveAs<Number, Other> operator()(Other other) const {
        return {std::move(other)};
    }
};

/// What stands in the place of a policy and takes values away, by `put`, and back, by `get`.
template <class H>
concept ResidualHooks = H::are_hooks;
/// Do only those residuals go through the hooks that the policy marks for offload?
template <class H>
inline constexpr bool takes_offloaded_only = false;

/// Which components of the residuals are marked for offload.
template <class D>
struct MarkedResiduals;
template <class P, class Policy, int... argument>
struct MarkedResiduals<DifferentiableProgram<P, Policy, argument...>> {
    static constexpr std::size_t size =
        DifferentiableProgram<P, Policy, argument...>::num_residuals;
    static constexpr auto is_marked = [] {
        std::array<bool, size + 1> marked{};  // also where there are none
        const Graph graph = P::graph.thaw();
        const SplitGraph split = split_graph(graph, argument_flags<argument...>(graph), Policy{});
        for (const Residual& residual : split.residuals) {
            for (int k = 0; k < residual.node.size; ++k)
                marked[static_cast<std::size_t>(residual.offset + k)] =
                    residual.saving == Saving::offload;
        }
        return marked;
    }();
    static constexpr int count = [] {
        int count = 0;
        for (const bool marked : is_marked) count += marked ? 1 : 0;
        return count;
    }();
};

/// Residuals that stay, and those that hooks took.
template <class Here, class Away>
struct HereAndAway {
    Here here;
    Away away;

    static constexpr std::int64_t fixed_bytes = fixed_bytes_of<Here, Away>();
    [[nodiscard]] std::int64_t kept_bytes() const { return bytes_of(here) + bytes_of(away); }
    void will_read() const requires(requires(const Away& packed) { packed.will_read(); }) {
        away.will_read();
    }
};

/// Residuals through hooks, and back.
template <class D, class H>
struct ResidualsThrough {
    template <class Residuals>
    [[nodiscard]] static auto put(const H& hooks, const Residuals& residuals) {
        if constexpr (!some_only()) {
            return hooks.put(residuals);
        } else if constexpr (MarkedResiduals<D>::count == 0) {
            return HereAndAway<Residuals, NothingPacked>{residuals, {}};
        } else {
            using Real = typename Residuals::value_type;
            constexpr int away_size = MarkedResiduals<D>::count;
            Vec<Real, D::num_residuals - away_size> here{};
            Vec<Real, away_size> away{};
            visit(residuals, here, away, [](const Real& from, Real& to) { to = from; });
            auto packed = hooks.put(away);
            return HereAndAway<decltype(here), decltype(packed)>{here, std::move(packed)};
        }
    }
    template <class Residuals, class Packed>
    [[nodiscard]] static Residuals get(const H& hooks, const Packed& packed) {
        if constexpr (!some_only()) {
            return hooks.template get<Residuals>(packed);
        } else if constexpr (MarkedResiduals<D>::count == 0) {
            return packed.here;
        } else {
            using Real = typename Residuals::value_type;
            const auto away = hooks.template get<Vec<Real, MarkedResiduals<D>::count>>(packed.away);
            Residuals residuals{};
            visit(residuals, packed.here, away, [](Real& to, const Real& from) { to = from; });
            return residuals;
        }
    }

  private:
    static constexpr bool some_only() {
        if constexpr (takes_offloaded_only<H>)
            return MarkedResiduals<D>::count < D::num_residuals;
        else
            return false;
    }
    template <class Residuals, class Here, class Away, class Visit>
    static void visit(Residuals& residuals, Here& here, Away& away, const Visit& visit) {
        int next_here = 0, next_away = 0;
        for (int k = 0; k < D::num_residuals; ++k) {
            if (MarkedResiduals<D>::is_marked[static_cast<std::size_t>(k)])
                visit(residuals[k], away[next_away++]);
            else
                visit(residuals[k], here[next_here++]);
        }
    }
};

/// What is kept of one evaluation, as the hooks gave it.
template <class StateType, class ResidualsType, class PackedState, class PackedResiduals>
struct Packed {
    using State = StateType;
    using Residuals = ResidualsType;
    [[no_unique_address]] PackedResiduals residuals;
    [[no_unique_address]] PackedState state;

    static constexpr std::int64_t fixed_bytes = fixed_bytes_of<PackedResiduals, PackedState>();
    [[nodiscard]] std::int64_t kept_bytes() const { return bytes_of(residuals) + bytes_of(state); }
    /// A hint that it is read next.
    void will_read() const {
        const auto hint = [](const auto& part) {
            if constexpr (requires { part.will_read(); }) part.will_read();
        };
        hint(residuals);
        hint(state);
    }
};

template <class F, class Value, class Kept, class... Rest>
struct HookedLinearization {
    Value value;
    F function;
    Kept kept;
    std::tuple<Rest...> rest;

    template <class... Cotangents>
    [[nodiscard]] auto pullback(const Cotangents&... cotangents) const {
        return std::apply(
            [&](const Rest&... p) {
                if constexpr (sizeof...(Cotangents) == 1)
                    return function.pull_recorded(kept, cotangents..., NothingPacked{}, p...);
                else
                    return function.pull_recorded(kept, std::tuple(cotangents...), NothingPacked{},
                                                  p...);
            },
            rest);
    }
    Value take_value() { return std::move(value); }
};

/// What both below share: `Derived` has `record` and `pull_recorded`, as a DifferentiableProgram.
template <class Derived, class F, class H>
struct Hooked {
    static constexpr bool passes_hooks = true;
    [[no_unique_address]] F function;
    [[no_unique_address]] H hooks;

    template <class... X>
    [[nodiscard]] auto operator()(const X&... x) const {
        constexpr bool is_in_trace = (may_have_graph<X> || ...);
        static_assert(!is_in_trace,
                      "remat: hooks take what is kept between two passes, which a part of a traced "
                      "function does not know; give them to remat(program, hooks)");
        return function(x...);
    }
    template <class State, class... Rest>
    [[nodiscard]] auto linearize(const State& x, const Rest&... p) const {
        Derived own = static_cast<const Derived&>(*this);  // with a store of its own, if it has one
        auto [value, kept] = own.record(x, p...);
        return HookedLinearization<Derived, decltype(value), decltype(kept), Rest...>{
            std::move(value), std::move(own), std::move(kept), {p...}};
    }
    /// Does the pullback read the argument, beside what was kept?
    [[nodiscard]] static constexpr bool reads(int index) {
        if constexpr (requires { F::reads(index); })
            return index > 0 && F::reads(index);
        else
            return index > 0;
    }
};

/// A program, D, whose residuals go through hooks.
template <class D, class H>
struct HookedProgram : Hooked<HookedProgram<D, H>, D, H> {
    template <class State, class... Rest>
    [[nodiscard]] auto record(const State& x, const Rest&... p) const {
        auto [value, residuals] = D{}.record(x, p...);
        auto packed = put(residuals);
        auto packed_x = put_argument(x);
        using Kept = Packed<State, decltype(residuals), decltype(packed_x), decltype(packed)>;
        return std::pair{std::move(value), Kept{std::move(packed), std::move(packed_x)}};
    }
    template <class Kept, class Cotangent, class Absent, class... Rest>
    [[nodiscard]] auto pull_recorded(const Kept& kept, const Cotangent& cotangent, const Absent&,
                                     const Rest&... p) const {
        return D::pull_recorded(residuals_of(kept), cotangent, argument_of(kept), p...);
    }

  private:
    static constexpr bool has_residuals = D::num_residuals > 0, reads_x = D::reads(0);

    template <class Residuals>
    [[nodiscard]] auto put([[maybe_unused]] const Residuals& residuals) const {
        if constexpr (has_residuals)
            return ResidualsThrough<D, H>::put(this->hooks, residuals);
        else
            return NothingPacked{};
    }
    template <class State>
    [[nodiscard]] auto put_argument([[maybe_unused]] const State& x) const {
        if constexpr (reads_x && takes_offloaded_only<H>)
            return x;
        else if constexpr (reads_x)
            return this->hooks.put(x);
        else
            return NothingPacked{};
    }
    template <class Kept>
    [[nodiscard]] auto residuals_of([[maybe_unused]] const Kept& kept) const {
        using Residuals = typename Kept::Residuals;
        if constexpr (has_residuals)
            return ResidualsThrough<D, H>::template get<Residuals>(this->hooks, kept.residuals);
        else
            return Residuals{};
    }
    template <class Kept>
    [[nodiscard]] auto argument_of([[maybe_unused]] const Kept& kept) const {
        using State = typename Kept::State;
        if constexpr (reads_x && takes_offloaded_only<H>)
            return kept.state;
        else if constexpr (reads_x)
            return this->hooks.template get<State>(kept.state);
        else
            return State{};
    }
};

/// Another Differentiable, whose input goes through hooks and which is linearized again.
template <class F, class H>
struct HookedFunction : Hooked<HookedFunction<F, H>, F, H> {
    template <class State, class... Rest>
    [[nodiscard]] auto record(const State& x, const Rest&... p) const {
        static_assert(
            Differentiable<F, State, Rest...>,
            "remat: the function must be Differentiable on these inputs: a traced program, "
            "or function(x...) and function.linearize(x...) with value and pullback");
        auto packed = this->hooks.put(x);
        return std::pair{
            this->function(x, p...),
            Packed<State, NothingPacked, decltype(packed), NothingPacked>{{}, std::move(packed)}};
    }
    template <class Kept, class Cotangent, class Absent, class... Rest>
    [[nodiscard]] auto pull_recorded(const Kept& kept, const Cotangent& cotangent, const Absent&,
                                     const Rest&... p) const {
        return pull_back_at(this->function, cotangent,
                            this->hooks.template get<typename Kept::State>(kept.state), p...);
    }
};

template <class F>
inline constexpr bool is_differentiable_program = false;
template <class P, class Policy, int... argument>
inline constexpr bool is_differentiable_program<DifferentiableProgram<P, Policy, argument...>> =
    true;

}  // namespace detail

/// Hooks that keep numbers in another type between the passes: `float`, `float16`, `bfloat16`. The
/// gradient loses as many digits. `save_as<float>(policy)` keeps what the policy says.
template <class Number>
inline constexpr detail::SaveAs<Number, detail::EverythingSaveable> save_as{};

/// f, of which what is kept for the backward pass goes through hooks. Of a program their policy says
/// what is kept, of a `differentiable` one its own. Of another Differentiable the input is kept.
template <class Function, detail::ResidualHooks H>
[[nodiscard]] constexpr auto remat(Function function, H hooks) {
    if constexpr (detail::is_program<Function>) {
        return remat(differentiable(function, hooks.policy), std::move(hooks));
    } else if constexpr (detail::is_differentiable_program<Function>) {
        return detail::HookedProgram<Function, H>{{std::move(function), std::move(hooks)}};
    } else {
        return detail::HookedFunction<Function, H>{{std::move(function), std::move(hooks)}};
    }
}

}  // namespace eddy::inline v0
