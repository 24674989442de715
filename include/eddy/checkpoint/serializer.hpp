#pragma once
// How a state becomes bytes and a state again, for the stores that keep bytes. States that are
// trivially copyable, contiguous ranges of trivially copyable elements such as std::vector<double>,
// and dense arrays that own their elements such as Eigen::VectorXd and Eigen::ArrayXXd, need
// nothing; for any other type specialise Serializer. What comes back must
// equal what was saved, bit for bit where it matters to the body.
// Test: tests/checkpoint/disk_store.cpp

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

namespace eddy::inline v0 {

/// The customization point for states in files: specialise it with the three static functions of
/// `Serializable`.
template <class State>
struct Serializer {};

/// `size_bytes(state)`; `save(state, bytes)` fills exactly that many bytes; `load(bytes, state)`
/// assigns to a state that held some earlier value.
template <class State>
concept Serializable = requires(const State& state, State& target, std::span<std::byte> bytes,
                                std::span<const std::byte> saved) {
    { Serializer<State>::size_bytes(state) } -> std::convertible_to<std::size_t>;
    Serializer<State>::save(state, bytes);
    Serializer<State>::load(saved, target);
};

namespace detail {

// A pointer or a view is trivially copyable, but its bytes are not the state.
template <class State>
concept PlainValue =
    std::is_trivially_copyable_v<State> && !std::is_pointer_v<State> && !std::ranges::view<State>;

template <class State>
concept PlainArray =
    !PlainValue<State> && !std::ranges::view<State> && std::ranges::contiguous_range<State> &&
    std::ranges::sized_range<State> && PlainValue<std::ranges::range_value_t<State>> &&
    requires(State & state, std::size_t size) {
    state.resize(size);
};

// A dense array of an array library's, of rows and columns. A view of another's elements cannot be
// made without them.
template <class State>
concept PlainDense =
    !PlainValue<State> && !PlainArray<State> && std::is_default_constructible_v<State> &&
    PlainValue<typename State::Scalar> && requires(State & state, const State& fixed) {
    { state.data() } -> std::same_as<typename State::Scalar*>;
    { fixed.data() } -> std::same_as<const typename State::Scalar*>;
    { fixed.rows() } -> std::integral;
    { fixed.cols() } -> std::integral;
    state.resize(fixed.rows(), fixed.cols());
};

}  // namespace detail

template <detail::PlainValue State>
struct Serializer<State> {
    static std::size_t size_bytes(const State&) { return sizeof(State); }
    static void save(const State& state, std::span<std::byte> bytes) {
        std::memcpy(bytes.data(), &state, sizeof(State));
    }
    static void load(std::span<const std::byte> bytes, State& state) {
        std::memcpy(&state, bytes.data(), sizeof(State));
    }
};

template <detail::PlainArray State>
struct Serializer<State> {
    static constexpr std::size_t element_size = sizeof(std::ranges::range_value_t<State>);

    static std::size_t size_bytes(const State& state) {
        return std::ranges::size(state) * element_size;
    }
    static void save(const State& state, std::span<std::byte> bytes) {
        if (!bytes.empty()) std::memcpy(bytes.data(), std::ranges::data(state), bytes.size());
    }
    static void load(std::span<const std::byte> bytes, State& state) {
        state.resize(bytes.size() / element_size);
        if (!bytes.empty()) std::memcpy(std::ranges::data(state), bytes.data(), bytes.size());
    }
};

/// Rows and columns, then the elements as they lie in memory.
template <detail::PlainDense State>
struct Serializer<State> {
    using Shape = std::array<std::int64_t, 2>;

    static std::size_t size_bytes(const State& state) {
        return sizeof(Shape) + static_cast<std::size_t>(state.rows()) *
                                   static_cast<std::size_t>(state.cols()) *
                                   sizeof(typename State::Scalar);
    }
    static void save(const State& state, std::span<std::byte> bytes) {
        const Shape shape{state.rows(), state.cols()};
        std::memcpy(bytes.data(), shape.data(), sizeof(Shape));
        const auto elements = bytes.subspan(sizeof(Shape));
        if (!elements.empty()) std::memcpy(elements.data(), state.data(), elements.size());
    }
    static void load(std::span<const std::byte> bytes, State& state) {
        Shape shape{};
        std::memcpy(shape.data(), bytes.data(), sizeof(Shape));
        state.resize(shape[0], shape[1]);
        const auto elements = bytes.subspan(sizeof(Shape));
        if (!elements.empty()) {
            std::memcpy(static_cast<void*>(state.data()), elements.data(), elements.size());
        }
    }
};

}  // namespace eddy::inline v0
