#pragma once
// The value types that a function meets while it is traced: `Traced<shape>` stands for a number or
// a vector, and its operators append nodes to the graph instead of computing. The shape is part of
// the type, so a program that would not fit together does not compile; `Traced<dynamic_shape>`
// knows its size at run time only and throws instead. A scalar that has met no graph yet (a
// default-constructed accumulator, a literal) holds its number itself.
//
// A component of a vector is an object of its own, so that references, swaps and copies mean what
// they mean for numbers. It is made when it is asked for; where one has been assigned to, the next
// use of the whole vector puts the components together again.
// Test: tests/trace/trace_graph.cpp

#include <concepts>
#include <eddy/core/list.hpp>
#include <eddy/trace/misuse.hpp>
#include <eddy/trace/shape_of.hpp>
#include <eddy/trace/slice_node.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// The outcome of a traced comparison. It cannot steer C++ control flow, because both branches are
/// part of the program.
template <int shape>
class TracedMask {
  public:
    /// Of literals: unknown.
    constexpr TracedMask() = default;
    constexpr TracedMask(Graph& graph, int node) : graph_(&graph), node_(node) {}
    [[nodiscard]] constexpr Graph* graph() const { return graph_; }
    [[nodiscard]] constexpr int node() const { return node_; }
    [[nodiscard]] constexpr int node_in(Graph& graph) const {
        if (node_ >= 0) return node_;
        graph.error = TraceError::literals_only;
        return graph.push({.op = Op::equal}, graph.push_constant(0), graph.push_constant(0));
    }

    template <class Bool>
    requires std::same_as<Bool, bool>
    constexpr explicit operator Bool() const {
        static_assert(sizeof(Bool) == 0,
                      "trace: a traced comparison cannot steer if, while, && or ?: of C++; use "
                      "eddy::select(condition, a, b)");
        return false;
    }

    template <class Number>
    requires std::same_as<Number, double>
    constexpr operator Number() const { return detail::refuse_mask<Number>(); }

  private:
    Graph* graph_ = nullptr;
    int node_ = -1;
};

template <int shape>
struct detail::ShapeOf<TracedMask<shape>> {
    static constexpr int value = shape;
};

/// A traced number.
template <>
class Traced<scalar_shape> {
  public:
    constexpr Traced() = default;
    /// A literal; it joins a graph when it meets a traced value.
    template <class Number>
    requires std::is_arithmetic_v<Number>
    constexpr Traced(Number literal) : literal_(static_cast<double>(literal)) {}
    constexpr Traced(Graph& graph, int node) : graph_(&graph), node_(node) {}

    constexpr Traced(const Traced&) = default;
    /// A literal joins the graph of what it replaces.
    constexpr Traced& operator=(const Traced& x) {
        literal_ = x.literal_;
        node_ = graph_ != nullptr ? x.node_in(*graph_) : x.node_;
        graph_ = graph_ != nullptr ? graph_ : x.graph_;
        return *this;
    }
    template <class T>
    requires(std::is_convertible_v<const T&, Traced> && !std::same_as<T, Traced>) constexpr Traced&
    operator=(const T& x) {
        return *this = Traced(x);
    }
    template <class T>
    requires std::is_convertible_v<const T&, Traced>
    constexpr const Traced& operator=(const T&) const {
        detail::refuse_assignment<T>();
        return *this;
    }

    [[nodiscard]] constexpr Graph* graph() const { return graph_; }
    [[nodiscard]] constexpr int node() const { return node_; }
    [[nodiscard]] constexpr double literal() const { return literal_; }
    [[nodiscard]] constexpr int node_in(Graph& graph) const {
        if (node_ == unknown) graph.error = TraceError::literals_only;
        return node_ < 0 ? graph.push_constant(literal_) : node_;
    }
    /// What no literal holds, as long as there is no graph to report it to.
    [[nodiscard]] static constexpr Traced make_unknown() {
        Traced x;
        x.node_ = unknown;
        return x;
    }
    [[nodiscard]] constexpr bool is_unknown() const { return node_ == unknown; }

    template <class Number>
    requires std::same_as<Number, double>
    constexpr operator Number() const { return detail::refuse_number<Number>(); }
    template <class Bool>
    requires std::same_as<Bool, bool>
    constexpr explicit operator Bool() const {
        static_assert(sizeof(Bool) == 0,
                      "trace: a traced value cannot steer if, while, && or ?: of C++; use "
                      "eddy::select(condition, a, b)");
        return false;
    }

  private:
    static constexpr int unknown = -2;

    Graph* graph_ = nullptr;
    int node_ = -1;
    double literal_ = 0;
};

namespace detail {

/// A traced vector: its node, and the components that have been asked for.
struct TracedComponents {
    using Value = Traced<scalar_shape>;
    static constexpr int never_read = -2, without_node = -1;

    Graph* graph = nullptr;  // null: all components are literals
    int node = -1;           // of the vector, before components were assigned to
    List<Value> values;      // empty until one is asked for; the last one: read past the end
    List<int> nodes;         // of each value when it was read off the vector
    bool was_left = false;   // a read past the end, before there was a graph

    constexpr TracedComponents(Graph* of_graph, int of_node) : graph(of_graph), node(of_node) {}
    constexpr explicit TracedComponents(int size)
        : values(static_cast<std::size_t>(size) + 1),
          nodes(static_cast<std::size_t>(size), without_node) {}

    [[nodiscard]] constexpr int size() const {
        return graph != nullptr ? (*graph)[node].size : static_cast<int>(nodes.size());
    }
    [[nodiscard]] constexpr Graph* find_graph() const {
        Graph* found = graph;
        for (std::size_t i = 0; found == nullptr && i < nodes.size(); ++i)
            found = values[i].graph();
        return found;
    }

    /// Component i, as an object that lives as long as the vector.
    constexpr Value& component(int i) {
        return std::is_constant_evaluated() ? component_here(i) : component_at_run_time(i);
    }
    constexpr Value& component_here(int i) {
        if (values.empty()) {
            values.resize(static_cast<std::size_t>(size()) + 1);
            nodes.resize(static_cast<std::size_t>(size()), never_read);
        }
        if (i < 0 || i >= size()) {
            if (graph == nullptr)
                was_left = true;
            else
                values.back() = {*graph, slice_node(*graph, node, i, 1)};
            return values.back();
        }
        const auto k = static_cast<std::size_t>(i);
        if (!is_changed(k)) read(k);
        return values[k];
    }

    constexpr Value* all() {
        for (int i = 0; i < size(); ++i) component(i);
        return values.data();
    }

    /// A new value of the same size: those who hold components see it, too.
    constexpr void replace(Graph* of_graph, int of_node, const TracedComponents* literals) {
        graph = of_graph;
        node = of_node;
        if (graph == nullptr) {
            values.resize(literals->values.size());
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = literals->values[i];
            nodes = literals->nodes;
        } else {
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                if (nodes[i] != never_read) read(i);
            }
        }
    }

    /// The node of the whole vector, with what has become of its components.
    constexpr int whole(Graph& of_graph) {
        return std::is_constant_evaluated() ? whole_here(of_graph) : whole_at_run_time(of_graph);
    }
    constexpr int whole_here(Graph& of_graph) {
        if (was_left) of_graph.error = TraceError::index_past_end;
        List<int> parts;
        std::size_t begin = 0;  // of a run of components as they were
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!is_changed(i)) continue;
            keep(parts, begin, i);
            parts.push_back(values[i].node_in(of_graph));
            begin = i + 1;
        }
        if (parts.empty()) return node;
        keep(parts, begin, nodes.size());
        const int result = parts.size() == 1
                               ? parts[0]
                               : of_graph.push_list({.op = Op::concat, .size = size()}, parts);
        // What a remat region makes must not be found by what follows the region.
        if (of_graph.current_region == 0) settle(of_graph, result);
        return result;
    }

    // At run time: compiled in the library, not where a function is traced.
    EDDY_EXPORT Value& component_at_run_time(int i);
    EDDY_EXPORT int whole_at_run_time(Graph& of_graph);

  private:
    [[nodiscard]] constexpr bool is_changed(std::size_t i) const {
        return nodes[i] != never_read && (nodes[i] < 0 || values[i].node() != nodes[i]);
    }
    /// Takes component i from the node of the vector.
    constexpr void read(std::size_t i) {
        nodes[i] = slice_node(*graph, node, static_cast<int>(i), 1);
        values[i] = {*graph, nodes[i]};
    }
    constexpr void keep(List<int>& parts, std::size_t begin, std::size_t end) const {
        const std::size_t most = graph != nullptr && (*graph)[node].op == Op::concat ? 1 : end;
        for (; begin < end; begin += most) {
            const std::size_t count = most < end - begin ? most : end - begin;
            parts.push_back(
                slice_node(*graph, node, static_cast<int>(begin), static_cast<int>(count)));
        }
    }
    constexpr void settle(Graph& of_graph, int of_node) {
        graph = &of_graph;
        node = of_node;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (is_changed(i)) read(i);
        }
    }
};

}  // namespace detail

/// A traced vector. One of run-time size has components of its own once it has been read where it
/// may be assigned to; before, it is no more than its node.
template <int shape>
class Traced {
    using Component = Traced<scalar_shape>;
    using Components = detail::TracedComponents;
    static constexpr bool is_static = shape > 0;
    using ReadComponent = std::conditional_t<is_static, const Component&, Component>;
    template <int>
    friend class Traced;

  public:
    /// Zeros, to be filled.
    constexpr Traced() requires is_static : components_(new Components(shape)) {}
    constexpr Traced(Graph& graph, int node) : graph_(&graph), node_(node) {
        if constexpr (is_static) make_components();
    }
    /// The components of a Vec of numbers or of traced scalars.
    template <class T>
    requires std::is_convertible_v<const T&, Component>
    constexpr Traced(const Vec<T, shape>& x) : Traced() {
        for (int i = 0; i < shape; ++i) components_->values[static_cast<std::size_t>(i)] = x[i];
    }
    /// Forgets the static shape.
    template <int other>
    requires(!is_static && other > 0) constexpr Traced(const Traced<other>& x) { copy(x); }
    template <class T>
    requires(!is_static && std::same_as<T, Component>) constexpr Traced(const T& x)
        : graph_(x.graph()), node_(x.node()) {
        if (graph_ != nullptr) return;
        components_ = new Components(1);
        components_->values[0] = x;
    }
    constexpr Traced(const Traced& x) : graph_(x.graph_), node_(x.node_) {
        if (is_static || x.components_ != nullptr) copy(x);
    }
    constexpr ~Traced() {
        if (components_ != nullptr) delete components_;
    }

    constexpr Traced& operator=(const Traced& x) {
        if (this == &x) return *this;
        if (components_ != nullptr && (is_static || size() == x.size())) {
            Graph* const graph = x.graph();
            components_->replace(graph, graph != nullptr ? x.node_in(*graph) : -1, x.components_);
        } else {
            if (components_ != nullptr) delete components_;
            components_ = nullptr;
            copy(x);
        }
        return *this;
    }
    template <class T>
    requires(std::is_convertible_v<const T&, Traced> && !std::same_as<T, Traced>) constexpr Traced&
    operator=(const T& x) {
        return *this = Traced(x);
    }
    template <class T>
    requires std::is_convertible_v<const T&, Traced>
    constexpr const Traced& operator=(const T&) const {
        detail::refuse_assignment<T>();
        return *this;
    }

    [[nodiscard]] constexpr Graph* graph() const {
        return components_ != nullptr ? components_->find_graph() : graph_;
    }
    [[nodiscard]] constexpr int node() const {
        return components_ != nullptr ? components_->whole(*graph()) : node_;
    }
    [[nodiscard]] constexpr int node_in(Graph& graph) const {
        return components_ != nullptr ? components_->whole(graph) : node_;
    }

    [[nodiscard]] static constexpr int size() requires is_static { return shape; }
    [[nodiscard]] constexpr int size() const requires(!is_static) {
        return components_ != nullptr ? components_->size() : (*graph_)[node_].size;
    }

    /// One component: an object that lives in the vector.
    [[nodiscard]] constexpr Component& operator[](int i) & {
        make_components();
        return components_->component(i);
    }
    [[nodiscard]] constexpr ReadComponent operator[](int i) const& {
        if constexpr (!is_static) {
            if (components_ == nullptr) return {*graph_, detail::slice_node(*graph_, node_, i, 1)};
        }
        return components_->component(i);
    }
    [[nodiscard]] constexpr Component operator[](int i) const&& {
        return static_cast<const Traced&>(*this)[i];
    }
    [[nodiscard]] constexpr Component* begin() {
        make_components();
        return components_->all();
    }
    [[nodiscard]] constexpr Component* end() { return begin() + size(); }
    [[nodiscard]] constexpr const Component* begin() const requires is_static {
        return components_->all();
    }
    [[nodiscard]] constexpr const Component* end() const requires is_static {
        return begin() + size();
    }

    template <class Values>
    requires(is_static&& std::same_as<Values, Vec<Component, shape>>) constexpr operator Values()
        const {
        Values values{};
        for (int i = 0; i < shape; ++i) values[i] = (*this)[i];
        return values;
    }

  private:
    constexpr void make_components() {
        if (components_ == nullptr) components_ = new Components(graph_, node_);
    }
    template <int other>
    constexpr void copy(const Traced<other>& x) {
        graph_ = x.graph();
        if (graph_ == nullptr) {
            components_ = new Components(*x.components_);
        } else {
            node_ = x.node_in(*graph_);
            if constexpr (is_static) make_components();
        }
    }

    Graph* graph_ = nullptr;  // both of no meaning where there are components
    int node_ = -1;
    Components* components_ = nullptr;
};

}  // namespace eddy::inline v0
