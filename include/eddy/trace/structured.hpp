#pragma once
// Matrices and structs as arguments and results of traced functions. To a graph each is one vector:
// the components of a matrix row by row, the members of a struct one after another. Here it gets its
// form back, on both sides: in the trace, where members are traced values, and at a call, where they
// are numbers.
// Test: tests/checkpoint/structured.cpp

#include <eddy/core/members.hpp>
#include <eddy/trace/matrix.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The shape of a scalar argument.
struct Scalar {};
/// The shape of a vector argument.
template <int length>
struct Vector {
    static_assert(length >= 0, "Vector: the length must not be negative");
};
/// The shape of an argument that is a matrix, row-major.
template <int rows, int columns>
struct Matrix {
    static_assert(rows > 0 && columns > 0, "Matrix: rows and columns must be positive");
};
/// The shape of an argument that is a struct: a template over what its members are made of, see
/// `Member`.
template <template <class> class Record>
struct Struct {};

/// What the members of a struct are made of while a function is traced.
struct Symbolic {};

namespace detail {

template <class Kind, class Shape>
struct MemberOf;
template <class Real>
struct MemberOf<Real, Scalar> {
    using type = Real;
};
template <class Real, int length>
struct MemberOf<Real, Vector<length>> {
    using type = Vec<Real, length>;
};
template <class Real, int rows, int columns>
struct MemberOf<Real, Matrix<rows, columns>> {
    using type = Mat<Real, rows, columns>;
};
template <class Kind, template <class> class Record>
struct MemberOf<Kind, Struct<Record>> {
    using type = Record<Kind>;
};
template <>
struct MemberOf<Symbolic, Scalar> {
    using type = Traced<scalar_shape>;
};
template <int length>
struct MemberOf<Symbolic, Vector<length>> {
    using type = Traced<length>;
};
template <int rows, int columns>
struct MemberOf<Symbolic, Matrix<rows, columns>> {
    using type = MatrixOf<Traced<rows * columns>, rows, columns>;
};

}  // namespace detail

/// The type of a struct's member: a number, Vec, Mat or struct of `Kind`, or what stands for it in a
/// trace:
///     template <class Kind> struct Layer {
///         eddy::Member<Kind, eddy::Matrix<5, 4>> weights;
///         eddy::Member<Kind, eddy::Vector<5>> bias;
///     };
/// Layer<double> is what callers have; Struct<Layer> is its shape.
template <class Kind, class Shape>
using Member = typename detail::MemberOf<Kind, Shape>::type;

namespace detail {

/// The number of components of a value, in all its members; -1 where it has other ones.
template <class T>
consteval int flat_size() {
    if constexpr (std::is_arithmetic_v<T> || (richness < T >> 0)) {
        return 1;
    } else if constexpr (shape_of<T> != no_shape && shape_of<T> != dynamic_shape) {
        return shape_of<T> == scalar_shape ? 1 : shape_of<T>;
    } else if constexpr (PlainStruct<T>) {
        return []<class... M>(std::tuple<M...>*) {
            return ((flat_size<M>() < 0) || ...) ? -1 : (flat_size<M>() + ... + 0);
        }(static_cast<MemberTypes<T>*>(nullptr));
    } else {
        return -1;
    }
}

/// A template over what its members are made of.
template <class T>
inline constexpr bool is_record = false;
template <template <class> class Record, class Kind>
inline constexpr bool is_record<Record<Kind>> =
    PlainStruct<Record<Kind>> && !requires(const Record<Kind>& x) {
    x + x;
};

/// Matrices, and structs of numbers, vectors and matrices. What has a sum of its own is a number.
template <class T>
consteval bool find_structured() {
    if constexpr (is_matrix<T>)
        return true;
    else if constexpr (is_record<T> || (PlainStruct<T> && ListsMembers<T>))
        return flat_size<T>() > 0;
    else
        return false;
}
template <class T>
inline constexpr bool is_structured = find_structured<T>();

template <class T>
struct FlatScalar {
    using type = T;
};
template <class T, int length>
struct FlatScalar<Vec<T, length>> {
    using type = T;
};
template <class... T>
struct FlatScalar<std::tuple<T...>> {
    using type = RichestOf<typename FlatScalar<T>::type...>;
};
template <class T>
requires is_structured<T>
struct FlatScalar<T> : FlatScalar<MemberTypes<T>> {
};

template <class T>
inline constexpr bool is_traced_struct = is_symbolic<T>;
template <class... T>
inline constexpr bool is_traced_struct<std::tuple<T...>> = (is_traced_struct<T> || ...);
// nvcc takes one constrained specialisation of a variable, not two.
template <class T>
requires(is_structured<T>) inline constexpr bool is_traced_struct<T> =
    is_traced_struct<MemberTypes<T>>;

template <class T>
constexpr void list_nodes(Graph& graph, const T& x, List<int>& nodes) {
    if constexpr (is_structured<T>)
        std::apply([&](const auto&... member) { (list_nodes(graph, member, nodes), ...); },
                   tie_members(x));
    else
        nodes.push_back(node_of(graph, x));
}
template <class T>
constexpr Graph* graph_within(const T& x) {
    if constexpr (is_structured<T>)
        return std::apply(
            [](const auto&... member) {
                Graph* found = nullptr;
                ((found = found != nullptr ? found : graph_within(member)), ...);
                return found;
            },
            tie_members(x));
    else
        return graph_of(x);
}
template <class Real, int length, class T>
constexpr void put_flat(Vec<Real, length>& flat, int& place, const T& x) {
    if constexpr (is_structured<T>) {
        std::apply([&](const auto&... member) { (put_flat(flat, place, member), ...); },
                   tie_members(x));
    } else if constexpr (is_vec<T>) {
        for (int k = 0; k < T::size(); ++k) flat[place++] = convert<Real>(x[k]);
    } else {
        flat[place++] = convert<Real>(x);
    }
}

/// A value as the vector that a graph knows; what has no structure as it is.
template <class T>
constexpr decltype(auto) flattened(const T& x) {
    if constexpr (is_matrix<T>) {
        return (x.components);
    } else if constexpr (!is_structured<T>) {
        return (x);
    } else if constexpr (is_traced_struct<T>) {
        constexpr int size = flat_size<T>();
        Graph* const graph = graph_within(x);
        if (graph == nullptr) return unknown_value<size>();
        List<int> nodes;
        list_nodes(*graph, x, nodes);
        return Traced<size>(*graph, graph->push_list({.op = Op::concat, .size = size}, nodes));
    } else {
        Vec<typename FlatScalar<T>::type, flat_size<T>()> flat{};
        int place = 0;
        put_flat(flat, place, x);
        return flat;
    }
}

/// A value of type T from components [place, …) of `part(place, Member)`.
template <class T, class Part>
constexpr T with_members(int& place, const Part& part) {
    if constexpr (is_structured<T>) {
        return [&]<class... M>(std::tuple<M...>*) {
            return T{with_members<M>(place, part)...};  // braces: from left to right
        }(static_cast<MemberTypes<T>*>(nullptr));
    } else {
        const int begin = place;
        place += flat_size<T>();
        return part(begin, static_cast<T*>(nullptr));
    }
}
template <class T, class Flat>
constexpr T unflattened(const Flat& flat) {
    int place = 0;
    return with_members<T>(place, [&]<class Piece>(int begin, Piece*) {
        if constexpr (is_vec<Piece>) {
            Piece piece{};
            for (int k = 0; k < Piece::size(); ++k)
                piece[k] = convert<typename Piece::value_type>(flat[begin + k]);
            return piece;
        } else {
            return convert<Piece>(flat[begin]);
        }
    });
}
/// The same in a trace: argument `index` of the graph.
template <class T>
constexpr T argument_structure(Graph& graph, int index) {
    int place = 0;
    return with_members<T>(place, [&]<class Piece>(int begin, Piece*) {
        return Piece(graph, graph.push_argument(index, begin, flat_size<Piece>()));
    });
}

/// The same of a traced vector.
template <class T, int shape>
constexpr T traced_structure(const Traced<shape>& flat) {
    int place = 0;
    return with_members<T>(place, [&]<class Piece>(int begin, Piece*) {
        Graph& graph = *flat.graph();
        return Piece(graph, slice_node(graph, flat.node(), begin, flat_size<Piece>()));
    });
}

/// A type with its traced members replaced by numbers.
template <class T, class Real>
struct NumbersFor {
    using type = T;
};
template <template <class> class Record, class Real>
struct NumbersFor<Record<Symbolic>, Real> {
    using type = Record<Real>;
};
template <int length, int rows, int columns, class Real>
struct NumbersFor<MatrixOf<Traced<length>, rows, columns>, Real> {
    using type = Mat<Real, rows, columns>;
};

/// A result in the form in which the function returned it.
template <class Returned, class Value>
constexpr auto in_form(const Value& value) {
    if constexpr (is_structured<Returned> && is_vec<Value>)
        return unflattened<typename NumbersFor<Returned, typename Value::value_type>::type>(value);
    else if constexpr (is_structured<Returned> && is_symbolic<Value>)
        return traced_structure<Returned>(value);
    else
        return value;
}
template <class Returned>
inline constexpr bool has_form = is_structured<Returned>;
template <class... T>
inline constexpr bool has_form<std::tuple<T...>> = (is_structured<T> || ...);

/// Does the function that `Recipe` traced return anything but numbers and vectors?
template <class Recipe>
inline constexpr bool returns_form = false;
template <class Recipe>
requires requires { typename Recipe::Returned; }
inline constexpr bool returns_form<Recipe> = has_form<typename Recipe::Returned>;

/// The results of a program that `Recipe` traced, in the form in which the function returned them.
template <class Recipe, class Value>
constexpr auto in_form_of(const Value& value) {
    if constexpr (!returns_form<Recipe>) {
        return value;
    } else if constexpr (is_structured<typename Recipe::Returned>) {
        return in_form<typename Recipe::Returned>(value);
    } else {
        using Returned = typename Recipe::Returned;
        return [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::make_tuple(
                in_form<std::tuple_element_t<k, Returned>>(std::get<k>(value))...);
        }
        (std::make_index_sequence<std::tuple_size_v<Returned>>{});
    }
}

/// A cotangent in the form of the argument that it belongs to.
template <class Given, class Value>
constexpr decltype(auto) cotangent_in_form(const Value& value) {
    if constexpr (is_structured<Given>)
        return unflattened<Given>(value);
    else
        return (value);
}
/// The cotangents of the arguments `argument...`, or of all, each in the form of its argument.
template <int... argument, class Value, class... Given>
constexpr auto cotangents_in_form(const Value& value, const std::tuple<Given...>*) {
    if constexpr (!(is_structured<Given> || ...)) {
        return value;
    } else if constexpr (sizeof...(argument) == 0) {
        return [&]<int... all>(std::integer_sequence<int, all...>) {
            return cotangents_in_form<all...>(value,
                                              static_cast<const std::tuple<Given...>*>(nullptr));
        }
        (std::make_integer_sequence<int, static_cast<int>(sizeof...(Given))>{});
    } else if constexpr (sizeof...(argument) == 1) {
        constexpr int index = (argument + ...);
        return cotangent_in_form<std::tuple_element_t<index, std::tuple<Given...>>>(value);
    } else {
        return [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::make_tuple(
                cotangent_in_form<std::tuple_element_t<argument, std::tuple<Given...>>>(
                    std::get<k>(value))...);
        }
        (std::make_index_sequence<sizeof...(argument)>{});
    }
}

}  // namespace detail

/// The components of a matrix or of a struct, one after another, as graphs and derivatives know them.
template <class T>
requires detail::is_structured<T>
[[nodiscard]] constexpr auto flat(const T& x) { return detail::flattened(x); }
/// A matrix or struct from its components: `structured<Layer<double>>(gradient)`.
template <class T, class Flat>
requires detail::is_structured<T>
[[nodiscard]] constexpr T structured(const Flat& components) {
    return detail::unflattened<T>(components);
}

}  // namespace eddy::inline v0
