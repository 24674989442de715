#pragma once
// A right-hand side of any size, known when the program runs. It is traced, reversed and simplified by the
// passes that compile-time programs go through, and walked over rows of lanes (trace/rows/row_program.hpp):
// no compiler comes between the equation and its first value. What a call does not need is not made.
// Test: tests/ad/rows/runtime_field.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <eddy/trace/trace.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace eddy::inline v0 {

/// What the components of an equation are called.
struct FieldNames {
    std::vector<std::string> states{}, parameters{}, observables{};
};

/// A right-hand side dy/dt = f(t, y, p). Copies share what it is.
class EDDY_EXPORT RuntimeField {
  public:
    /// From a program (t, y, p) → dy/dt, as `trace_graph` makes it. Results behind the first are
    /// observables: numbers that nothing integrates.
    explicit RuntimeField(Graph graph, FieldNames names = {}, RowLevel level = row_level);

    /// The components of y.
    [[nodiscard]] int num_states() const;
    /// The components of p.
    [[nodiscard]] int num_parameters() const;
    /// False where f does not depend on t.
    [[nodiscard]] bool reads_time() const;
    /// The program (t, y, p) → dy/dt, simplified.
    [[nodiscard]] const Graph& graph() const;
    /// The program (t, y, p) → observables, one number each.
    [[nodiscard]] const Graph& observables() const;
    /// What its components are called; empty where they were given no names.
    [[nodiscard]] const FieldNames& names() const;
    /// What steppers over rows are given.
    [[nodiscard]] std::shared_ptr<const FieldMaker> maker() const;

  private:
    struct Parts;
    std::shared_ptr<const Parts> parts_;
};

namespace detail {

/// What steppers over rows are given of a program (t, y, p) → dy/dt. The rows of further arguments lie behind
/// those of p, and nothing is pulled back to them. What the way back needs is made when it is asked for.
/// Throws InvalidArgument where the program has an operation that rows do not have.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> graph_field(const Graph& graph,
                                                                        const FieldSizes& sizes,
                                                                        RowLevel level);

/// A std::vector of traced numbers as one vector.
template <class Result>
[[nodiscard]] auto as_traced(Graph& graph, const Result& result) {
    using Number = Traced<scalar_shape>;
    if constexpr (std::is_same_v<Result, std::vector<Number>>) {
        std::vector<int> parts;
        for (const Number& x : result) parts.push_back(x.node_in(graph));
        return DynamicTraced(
            graph,
            graph.push_list({.op = Op::concat, .size = static_cast<int>(parts.size())}, parts));
    } else {
        return result;
    }
}

}  // namespace detail

/// The right-hand side that a function of (t, y, p) is, with the sizes of y and p. It may be the same
/// generic function that is traced at compile time; what a lambda captures is constant. It returns a
/// vector of as many numbers as there are states: one that is traced, or a std::vector of traced numbers.
template <class Function>
[[nodiscard]] RuntimeField trace_field(int num_states, int num_parameters,
                                       const Function& function) {
    return RuntimeField(
        trace_graph([&](const auto& t, const auto& y,
                        const auto& p) { return detail::as_traced(*t.graph(), function(t, y, p)); },
                    Scalar{}, DynamicVector{num_states}, DynamicVector{num_parameters}));
}

}  // namespace eddy::inline v0
