#pragma once
// A right-hand side of any size, known when the program runs. It is traced, reversed and simplified by the
// passes that compile-time programs go through, and walked over rows of lanes (trace/rows/row_program.hpp):
// no compiler comes between the equation and its first value. What a call does not need is not made.
// Test: tests/ad/rows/runtime_field.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/input_piece.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <eddy/trace/trace_graph.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace eddy::inline v0 {

/// What the components of an equation are called.
struct FieldNames {
    std::vector<std::string> states{}, parameters{}, observables{}, inputs{};
};

/// A right-hand side dy/dt = f(t, y, p). Copies share what it is.
class EDDY_EXPORT RuntimeField {
  public:
    /// From a program (t, y, p) → dy/dt, as `trace_graph` makes it. Results behind the first are
    /// observables: numbers that nothing integrates. Of an equation that reads inputs, a piece of them lies behind the
    /// components of p.
    explicit RuntimeField(Graph graph, FieldNames names = {}, RowLevel level = row_level,
                          InputSizes inputs = {});

    /// The components of y.
    [[nodiscard]] int num_states() const;
    /// The components of p.
    [[nodiscard]] int num_parameters() const;
    /// The components of u.
    [[nodiscard]] int num_inputs() const;
    /// False where f does not depend on t.
    [[nodiscard]] bool reads_time() const;
    /// The program (t, y, p) → dy/dt, simplified.
    [[nodiscard]] const Graph& graph() const;
    /// The same → observables, one number each.
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

/// A part of a result that is more than dy/dt; nothing is pulled back to what only `judges` it, nor to tangents of that.
struct ResultPiece {
    int size;
    bool has_tangents, judges = false;

    [[nodiscard]] bool operator==(const ResultPiece&) const = default;
};
/// What steppers over rows are given of a program (t, y, p) → dy/dt. The rows of further arguments lie behind
/// those of p, and nothing is pulled back to them. What the way back needs is made when it is asked for.
/// With `pieces`, the tangents of each follow it. One of the same program that was made a little while ago is returned again. Throws InvalidArgument where the program has an operation that rows do not have.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> graph_field(
    const Graph& graph, const FieldSizes& sizes, RowLevel level,
    std::vector<ResultPiece> pieces = {});

/// The inputs of a field whose sizes are known when the program runs: (t, q) → u and du.
class RunTimeInputs {
  public:
    RunTimeInputs(int num_parameters, const InputSizes& sizes)
        : first_(num_parameters), sizes_(sizes) {}
    /// Of a field without them, q is p.
    [[nodiscard]] int size_of_q() const { return first_ + sizes_.room(); }

    [[nodiscard]] DynamicTraced value(const Traced<scalar_shape>& t, const DynamicTraced& q) const {
        return value_of_piece<degree>(of(q), t - q[first_]);
    }
    [[nodiscard]] DynamicTraced slope(const Traced<scalar_shape>& t, const DynamicTraced& q) const {
        return slope_of_piece<degree>(of(q), t - q[first_]);
    }

  private:
    static constexpr int degree = InputSizes{}.degree;
    struct Coefficients {
        const RunTimeInputs& of;
        const DynamicTraced& q;
        template <int power>
        [[nodiscard]] DynamicTraced at() const {
            return slice(q, of.first_ + 1 + power * of.sizes_.size, of.sizes_.size);
        }
    };

    [[nodiscard]] Coefficients of(const DynamicTraced& q) const { return {*this, q}; }

    int first_;
    InputSizes sizes_;
};

/// A std::vector of traced numbers as one vector.
template <class Result>
[[nodiscard]] auto as_traced(Graph& graph, const Result& result) {
    using Number = Traced<scalar_shape>;
    if constexpr (std::is_same_v<Result, std::vector<Number>>) {
        List<int> parts;
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
/// The same of an equation that is driven by inputs: a function of (t, y, p, u), or of (t, y, p, u, du) with their slopes.
/// `num_inputs`: the components of u.
template <class Function>
[[nodiscard]] RuntimeField trace_field(int num_states, int num_parameters, int num_inputs,
                                       const Function& function) {
    require_argument(num_inputs > 0,
                     "trace_field: {} inputs; give at least one, or a function of (t, y, p)",
                     num_inputs);
    const InputSizes sizes{num_inputs};
    const detail::RunTimeInputs inputs(num_parameters, sizes);
    const auto driven = [&](const auto& t, const auto& y, const auto& q) {
        const DynamicTraced p = num_parameters > 0 ? slice(q, 0, num_parameters) : q;
        const DynamicTraced u = inputs.value(t, q);
        constexpr bool takes_slope = std::is_invocable_v<const Function&, decltype(t), decltype(y),
                                                         decltype(p), decltype(u), decltype(u)>;
        if constexpr (takes_slope)
            return detail::as_traced(*t.graph(), function(t, y, p, u, inputs.slope(t, q)));
        else
            return detail::as_traced(*t.graph(), function(t, y, p, u));
    };
    return RuntimeField(
        trace_graph(driven, Scalar{}, DynamicVector{num_states}, DynamicVector{inputs.size_of_q()}),
        {}, row_level, sizes);
}

}  // namespace eddy::inline v0
