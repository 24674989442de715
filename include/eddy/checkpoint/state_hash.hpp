#pragma once
// A hash of a loop state, bit for bit: two states that differ in any bit of a number hash
// differently but for chance. All NaN are one: their signs and payloads are no promise of any
// processor. It follows numbers, dual ones too, ranges, tuples and structs with a list `members`;
// padding never enters. For another type of your own specialise StateHash.
// Test: tests/checkpoint/determinism.cpp

#include <bit>
#include <concepts>
#include <cstdint>
#include <eddy/core/members.hpp>
#include <eddy/core/range.hpp>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

template <class T>
struct Dual;

/// Mixes 64 bits into a hash (multiplication by an odd constant, then the high half into the low).
[[nodiscard]] constexpr std::uint64_t mix_hash(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

/// The customization point of the determinism check, `StateHash<State>{}(state, seed)`. Specialise
/// it for states that are not made of numbers, ranges and tuples.
template <class State>
struct StateHash {};

/// States whose determinism can be checked.
template <class State>
concept HashableState = requires(const State& state, std::uint64_t seed) {
    { StateHash<State>{}(state, seed) } -> std::same_as<std::uint64_t>;
};

template <class Number>
requires std::integral<Number> || std::is_enum_v<Number>
struct StateHash<Number> {
    constexpr std::uint64_t operator()(Number number, std::uint64_t seed) const {
        return mix_hash(seed, static_cast<std::uint64_t>(number));
    }
};

template <>
struct StateHash<float> {
    constexpr std::uint64_t operator()(float number, std::uint64_t seed) const {
        const float one_nan = std::numeric_limits<float>::quiet_NaN();
        return mix_hash(seed, std::bit_cast<std::uint32_t>(number == number ? number : one_nan));
    }
};

template <>
struct StateHash<double> {
    constexpr std::uint64_t operator()(double number, std::uint64_t seed) const {
        const double one_nan = std::numeric_limits<double>::quiet_NaN();
        return mix_hash(seed, std::bit_cast<std::uint64_t>(number == number ? number : one_nan));
    }
};

template <detail::SizedRange Range>
requires HashableState<detail::RangeValueOf<Range>>
struct StateHash<Range> {
    constexpr std::uint64_t operator()(const Range& range, std::uint64_t seed) const {
        seed = mix_hash(seed, static_cast<std::uint64_t>(std::ranges::size(range)));
        for (const auto& element : range) {
            seed = StateHash<detail::RangeValueOf<Range>>{}(element, seed);
        }
        return seed;
    }
};

template <class... Members>
requires(HashableState<Members>&&...) struct StateHash<std::tuple<Members...>> {
    constexpr std::uint64_t operator()(const std::tuple<Members...>& state,
                                       std::uint64_t seed) const {
        std::apply(
            [&](const Members&... member) { ((seed = StateHash<Members>{}(member, seed)), ...); },
            state);
        return seed;
    }
};

template <class First, class Second>
requires HashableState<First> && HashableState<Second>
struct StateHash<std::pair<First, Second>> {
    constexpr std::uint64_t operator()(const std::pair<First, Second>& state,
                                       std::uint64_t seed) const {
        return StateHash<Second>{}(state.second, StateHash<First>{}(state.first, seed));
    }
};

/// A dual number: its value, then its tangent.
template <HashableState T>
struct StateHash<Dual<T>> {
    constexpr std::uint64_t operator()(const Dual<T>& x, std::uint64_t seed) const {
        return StateHash<T>{}(x.tangent, StateHash<T>{}(x.value, seed));
    }
};

/// A struct that lists its members (core/members.hpp).
template <detail::ListsMembers State>
requires HashableState<detail::MemberTypes<State>>
struct StateHash<State> {
    constexpr std::uint64_t operator()(const State& state, std::uint64_t seed) const {
        std::apply(
            [&]<class... Members>(const Members&... member) {
                ((seed = StateHash<Members>{}(member, seed)), ...);
            },
            detail::tie_members(state));
        return seed;
    }
};

}  // namespace eddy::inline v0
