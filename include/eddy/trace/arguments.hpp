#pragma once
// The arguments of one evaluation, held by reference, and which nodes depend on arguments that are
// dual numbers: all others are evaluated without tangents, as the constants to the derivative that
// they are.
// Test: tests/trace/trace_graph.cpp, tests/ad/residuals.cpp

#include <cstddef>
#include <eddy/core/numeric.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/graph.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// Vectors of any kind. A pack is a scalar, though it has lanes to index.
template <class T>
concept Indexable = (richness<T> == 0) && requires(const T& x) {
    x[0];
};

template <class T>
struct ComponentType {
    using type = T;
};
template <Indexable T>
struct ComponentType<T> {
    using type = std::remove_cvref_t<decltype(std::declval<const T&>()[0])>;
};
template <class T>
using ComponentOf = typename ComponentType<T>::type;

/// The scalar type of a call: the richest among the vector arguments (their state decides, not the
/// time) and all packs and dual numbers, or among all where there is no vector.
template <class... Arguments>
struct RealOf {
    static constexpr bool any_vector = (Indexable<Arguments> || ...);
    template <class T>
    using Candidate =
        std::conditional_t<!any_vector || Indexable<T> || (richness<T> > 0), ComponentOf<T>, float>;
    using type = RichestOf<Candidate<Arguments>...>;
};

/// How many components a vector has, where its type tells; else -1.
template <class T>
inline constexpr int length_of = -1;
template <class T, int length>
inline constexpr int length_of<Vec<T, length>> = length;
template <class T, std::size_t length>
inline constexpr int length_of<T[length]> = static_cast<int>(length);

/// A number for a scalar; for a vector anything with operator[], which, where its type tells its length,
/// has that of the vector. Of no components, anything.
template <class Argument, class Shape>
constexpr bool fits(const Shape& shape) {
    if (shape.is_scalar) return !Indexable<Argument>;
    if (shape.size == 0) return true;
    return Indexable<Argument> && (length_of<Argument> < 0 || length_of<Argument> == shape.size);
}

/// Before a caller's arguments are read, perhaps past their end.
template <class P, class... Arguments>
consteval void require_arguments() {
    constexpr bool as_many = sizeof...(Arguments) == P::code.num_arguments();
    static_assert(as_many, "evaluate: one argument is needed for each argument of the program");
    if constexpr (as_many) {
        constexpr bool fit = [] {
            [[maybe_unused]] int index = 0;
            return (fits<Arguments>(P::code.arguments[index++]) && ...);
        }();
        static_assert(fit,
                      "evaluate: an argument has another shape than the program was traced with; "
                      "give a number for a Scalar, and a vector of n components for a Vector<n>");
    }
}

template <int index, class T>
struct ArgumentSlot {
    const T& value;
};
template <int index, class T>
EDDY_INLINE EDDY_HD constexpr const T& get(const ArgumentSlot<index, T>& slot) {
    return slot.value;
}

template <class Indices, class... T>
struct ArgumentSlots;
template <int... index, class... T>
struct ArgumentSlots<std::integer_sequence<int, index...>, T...> : ArgumentSlot<index, T>... {
    static constexpr bool has_tangent[] = {
        !std::is_same_v<ComponentOf<T>, PrimalOf<ComponentOf<T>>>..., false};
};

/// The arguments of one evaluation, by reference.
template <class... T>
using ArgumentList =
    ArgumentSlots<std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>, T...>;

/// Which nodes have a tangent when arguments that have one are dual numbers: those that depend on
/// such an argument through operations with a derivative.
template <class Code>
struct Varying {
    bool node[Code::size() + 1];
};
template <class Code, class Flags>
constexpr Varying<Code> varying_nodes(const Code& code, const Flags& argument_varies) {
    Varying<Code> varies{};
    for (bool is_settled = false; !is_settled;) {
        is_settled = true;
        for (int i = 0; i < Code::size(); ++i) {
            const Node& node = code.nodes[i];
            if (is_mask(node.op) || is_locally_constant(node.op)) continue;
            if (node.op == Op::argument) varies.node[i] = argument_varies[node.index];
            for (int k = 0; k < node.count; ++k)
                varies.node[i] |= varies.node[code.operands[node.first + k]];
            if (node.op != Op::loop) continue;
            bool& carry = varies.node[code.operands[node.first]];
            is_settled &= carry == varies.node[i];
            carry = varies.node[i];
        }
    }
    return varies;
}

}  // namespace eddy::inline v0::detail
