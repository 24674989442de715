#pragma once
// Values one after another, as they lie in memory: ranks are of one kind of machine. A struct that is more than its bytes
// has a function `members` that hands on what is sent of it. A tuple of pointers to that would be made by all who include
// the struct.

#include <cstdint>
#include <cstring>
#include <eddy/solve/ranks/rank_wire.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

struct TakesAll {
    void operator()(const auto&...) const {}
};
template <class T>
concept HasMembers = requires(const T& of) {
    T::members(of, TakesAll{});
};

template <class T>
void put(RankWire::Message& message, const T& value) {
    const auto bytes = [&](const void* first, std::size_t count) {
        const std::size_t end = message.size();
        message.resize(end + count);
        if (count > 0) std::memcpy(message.data() + end, first, count);
    };
    if constexpr (HasMembers<T>) {
        T::members(value, [&](const auto&... member) { (put(message, member), ...); });
    } else if constexpr (std::is_trivially_copyable_v<T>) {
        bytes(&value, sizeof(T));
    } else {
        using Element = typename T::value_type;
        put(message, static_cast<std::uint64_t>(value.size()));
        if constexpr (std::is_trivially_copyable_v<Element> && !HasMembers<Element>)
            bytes(value.data(), value.size() * sizeof(Element));
        else
            for (const Element& element : value) put(message, element);
    }
}

/// Reads what put() has written, and moves `at` behind it.
template <class T>
void take(const std::byte*& at, T& value) {
    const auto bytes = [&](void* first, std::size_t count) {
        if (count > 0) std::memcpy(first, at, count);
        at += count;
    };
    if constexpr (HasMembers<T>) {
        T::members(value, [&](auto&... member) { (take(at, member), ...); });
    } else if constexpr (std::is_trivially_copyable_v<T>) {
        bytes(&value, sizeof(T));
    } else {
        using Element = typename T::value_type;
        std::uint64_t size = 0;
        take(at, size);
        value.resize(size);
        if constexpr (std::is_trivially_copyable_v<Element> && !HasMembers<Element>)
            bytes(value.data(), size * sizeof(Element));
        else
            for (Element& element : value) take(at, element);
    }
}

template <class T>
[[nodiscard]] RankWire::Message message_of(const T& value) {
    RankWire::Message message;
    put(message, value);
    return message;
}
template <class T>
[[nodiscard]] T read_as(const std::byte* message) {
    T value;
    take(message, value);
    return value;
}

}  // namespace eddy::inline v0::detail
