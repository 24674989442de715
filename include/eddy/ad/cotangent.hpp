#pragma once
// Sums of cotangents: a value that is read more than once, such as the parameters of every step of
// a loop, collects one contribution per reader.
// Test: tests/checkpoint/parameters.cpp, tests/checkpoint/structured.cpp

#include <cstddef>
#include <eddy/core/error.hpp>
#include <eddy/core/members.hpp>
#include <eddy/core/range.hpp>
#include <optional>
#include <tuple>
#include <utility>

namespace eddy::inline v0 {

/// What a pullback returns for an argument that has no derivative: a string, a choice, a file.
using NotDifferentiated = std::tuple<>;

template <class T>
constexpr void add_cotangent(T& total, const T& x);

namespace detail {
template <class... T>
constexpr void add_members(const std::tuple<T&...>& total, const std::tuple<const T&...>& x) {
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        (add_cotangent(std::get<k>(total), std::get<k>(x)), ...);
    }
    (std::index_sequence_for<T...>{});
}
}  // namespace detail

/// total += x for numbers, Vecs and whatever else has a +; component by component for ranges, tuples
/// and plain structs.
template <class T>
constexpr void add_cotangent(T& total, const T& x) {
    if constexpr (requires { total = total + x; }) {
        total = total + x;
    } else if constexpr (detail::SizedRange<T>) {
        internal_check(std::ranges::size(total) == std::ranges::size(x),
                       "cotangents of one value have one size");
        auto from = std::ranges::begin(x);
        for (auto& component : total) add_cotangent(component, *from++);
    } else if constexpr (detail::PlainStruct<T>) {
        detail::add_members(detail::tie_members(total), detail::tie_members(x));
    } else {
        constexpr bool has_components = requires { std::tuple_size<T>::value; };
        static_assert(has_components,
                      "add_cotangent: the cotangents of a parameter are added up over the steps of "
                      "a loop, and this type has no sum; give it an operator+ or a list of its "
                      "members, or take a number, a vector, a plain struct, a std::array, a "
                      "std::pair or a std::tuple");
        if constexpr (has_components) {
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                (add_cotangent(std::get<k>(total), std::get<k>(x)), ...);
            }
            (std::make_index_sequence<std::tuple_size_v<T>>{});
        }
    }
}

namespace detail {
template <class T>
inline constexpr bool is_summed_by_members = PlainStruct<T> && !requires(T & total, const T& x) {
    total = total + x;
};
}  // namespace detail

/// A cotangent of the type and size of x that is zero.
template <class T>
[[nodiscard]] constexpr T zero_cotangent(const T& x) {
    if constexpr (detail::SizedRange<T> && !std::is_constructible_v<T, std::nullptr_t>) {
        T zero = x;
        for (auto& component : zero) component = zero_cotangent(component);
        return zero;
    } else if constexpr (detail::is_summed_by_members<T>) {
        T zero = x;
        std::apply([](auto&... member) { ((member = zero_cotangent(member)), ...); },
                   detail::tie_members(zero));
        return zero;
    } else {
        return T{};
    }
}

/// Collects the cotangents of inputs that every step of a loop reads.
template <class... Cotangents>
class CotangentSum {
  public:
    void add(const std::tuple<Cotangents...>& contribution) {
        if (total_) {
            add_cotangent(*total_, contribution);
        } else {
            total_ = contribution;
        }
    }
    /// The sum; where nothing was added, zeros like the inputs (value-initialised where the
    /// cotangent has another type than its input, as for a pointer to weights).
    template <class... Inputs>
    [[nodiscard]] std::tuple<Cotangents...> total(const Inputs&... inputs) const {
        return total_ ? *total_ : std::tuple<Cotangents...>{zero_like<Cotangents>(inputs)...};
    }

  private:
    template <class Cotangent, class Input>
    static Cotangent zero_like(const Input& input) {
        if constexpr (std::is_same_v<Cotangent, Input>) {
            return zero_cotangent(input);
        } else {
            return Cotangent{};
        }
    }
    std::optional<std::tuple<Cotangents...>> total_;
};

namespace detail {

/// tuple<First, Rest...> without its first element.
template <class First, class... Rest>
constexpr std::tuple<Rest...> tail(const std::tuple<First, Rest...>& all) {
    return std::apply(
        [](const First&, const Rest&... rest) { return std::tuple<Rest...>(rest...); }, all);
}

/// The CotangentSum for the inputs of a pullback beyond its first.
template <class Pulled>
struct SumOfRest {
    using type = CotangentSum<>;
};
template <class First, class... Rest>
struct SumOfRest<std::tuple<First, Rest...>> {
    using type = CotangentSum<Rest...>;
};

}  // namespace detail
}  // namespace eddy::inline v0
