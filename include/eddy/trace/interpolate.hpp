#pragma once
// Interpolation in a table inside a traced function: the interval is found by bisection, or by a division
// where the knots are about even, and read by `at`. So a call costs the same for many knots as for few, but
// for the steps of the bisection, and so does its gradient with respect to the values. What constants decide
// is computed when the function is traced: of constant values the table holds a polynomial for each interval.
// Test: tests/trace/interpolate.cpp

#include <eddy/trace/loops.hpp>
#include <eddy/trace/plain_interpolation.hpp>
#include <iterator>

namespace eddy::inline v0 {

/// How `interpolate` treats what a table does not tell.
struct InterpolateOptions {
    Outside outside = Outside::nan;  ///< outside of the knots
};

namespace detail {

template <Interpolation of>
struct InterpolationKind {
    static constexpr Interpolation value = of;
};

/// Makes inputs of a solve: see solve/ask/inputs.hpp.
template <class Knots>
struct HermiteInputs;
/// Called with knots, values and perhaps slopes it makes inputs of a solve.
template <>
struct InterpolationKind<Interpolation::cubic_hermite> {
    static constexpr Interpolation value = Interpolation::cubic_hermite;

    template <class Knots = List<double>, class Values = List<double>, class... Slopes>
    [[nodiscard]] auto operator()(const Knots& knots, const Values& values,
                                  const Slopes&... slopes) const {
        return HermiteInputs<Knots>::make(knots, values, slopes...);
    }
};

}  // namespace detail

/// Straight lines between the values.
inline constexpr detail::InterpolationKind<detail::Interpolation::linear> linear;
/// Cubics with a continuous slope, which are monotone where the values are.
inline constexpr detail::InterpolationKind<detail::Interpolation::pchip> pchip;
/// Cubics through given values and slopes. `cubic_hermite(knots, values, slopes)` makes inputs of a solve, of the shapes that
/// `piecewise_constant` takes; without slopes these are backward differences, so that nothing depends on later values.
inline constexpr detail::InterpolationKind<detail::Interpolation::cubic_hermite> cubic_hermite;
/// Cubics with continuous first and second derivatives, the second one zero at the ends.
inline constexpr detail::InterpolationKind<detail::Interpolation::natural_spline> natural_spline;

namespace detail {

/// A column of a table: numbers, or a node of the graph.
struct TableColumn {
    List<double> numbers;
    int node = -1, size = 0;

    [[nodiscard]] constexpr bool is_traced() const { return node >= 0; }
    /// The column as a node; numbers become constants.
    constexpr int node_in(Graph& graph) const {
        return is_traced() ? node : push_numbers(graph, numbers);
    }
    static constexpr int push_numbers(Graph& graph, const List<double>& numbers) {
        const auto offset = static_cast<int>(graph.constants.size());
        for (double number : numbers) graph.constants.push_back(number);
        return graph.push(
            {.op = Op::constant, .size = static_cast<int>(numbers.size()), .offset = offset});
    }
};

template <class T>
inline constexpr bool is_traced_column = is_symbolic<T> || is_traced_vec<T>;
/// Vectors of numbers of any kind.
template <class T>
concept NumberColumn = !is_traced_column<T> && requires(const T& x) {
    std::begin(x);
    std::size(x);
};
template <NumberColumn T>
using ColumnNumber = std::remove_cvref_t<decltype(*std::begin(std::declval<const T&>()))>;

template <class Number, NumberColumn T>
[[nodiscard]] constexpr List<Number> numbers_of(const T& column) {
    List<Number> numbers;
    for (const auto& number : column) numbers.push_back(convert<Number>(number));
    return numbers;
}
template <class T>
[[nodiscard]] constexpr TableColumn table_column(Graph& graph, const T& column) {
    TableColumn result;
    if constexpr (is_traced_column<T>) {
        result.node = node_of(graph, column);
        result.size = graph[result.node].size;
    } else {
        result.numbers = numbers_of<double>(column);
        result.size = static_cast<int>(result.numbers.size());
    }
    return result;
}

/// One call of `interpolate` in a function that is traced.
class TracedTable {
    using Number = Traced<scalar_shape>;

  public:
    constexpr TracedTable(Graph& graph, Interpolation kind, const TableColumn& knots,
                          const TableColumn& values, const TableColumn& slopes)
        : graph_(graph), kind_(kind), knots_(knots), values_(values), slopes_(slopes) {
        if (knots.size == 2 && kind == Interpolation::pchip) kind_ = Interpolation::linear;
    }

    [[nodiscard]] constexpr bool check() const {
        if (knots_.size < 2 || values_.size != knots_.size ||
            (kind_ == Interpolation::cubic_hermite && slopes_.size != knots_.size)) {
            const int count = values_.size == knots_.size ? slopes_.size : values_.size;
            report(graph_, TraceError::table_sizes,
                   [&] { return table_sizes_message(knots_.size, count); });
            return false;
        }
        if (knots_.is_traced() || are_increasing(knots_.numbers)) return true;
        report(graph_, TraceError::table_knots, [] { return knots_not_increasing; });
        return false;
    }

    constexpr Number at(Number x, Outside outside) {
        if (outside != Outside::extrapolate) x = within(x, knot(0), knot(knots_.size - 1), outside);
        const int is_even = !knots_.is_traced() && knots_.size > 2 && are_even(knots_.numbers);
        place_ = Number(graph_, graph_.push({.op = Op::knot, .index = is_even},
                                            knots_.node_in(graph_), x.node_in(graph_)));
        return is_constant() ? of_constants(x) : of_columns(x);
    }

  private:
    [[nodiscard]] constexpr bool is_constant() const {
        return !knots_.is_traced() && !values_.is_traced() && !slopes_.is_traced();
    }
    [[nodiscard]] constexpr Number knot(int i) {
        if (!knots_.is_traced()) return Number(knots_.numbers[static_cast<std::size_t>(i)]);
        return {graph_, slice_node(graph_, knots_.node, i, 1)};
    }
    /// `size` components of a vector from the place of the interval on, moved by `shift`.
    template <int size>
    constexpr Vec<Number, size> read(int vector, Number place) {
        const int found = graph_.push({.op = Op::at, .size = size}, vector, place.node());
        Vec<Number, size> parts{};
        for (int k = 0; k < size; ++k) parts[k] = Number(graph_, slice_node(graph_, found, k, 1));
        return parts;
    }
    /// The numbers that row(i) has of each interval i, at the place of the interval.
    template <int columns, class Row>
    constexpr Vec<Number, columns> read_rows(Row row) {
        List<double> all;
        for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(knots_.size); ++i) {
            const Vec<double, columns> of_interval = row(i);
            for (double number : of_interval) all.push_back(number);
        }
        return read<columns>(TableColumn::push_numbers(graph_, all), place_ * columns);
    }

    constexpr Number of_constants(Number x) {
        const auto &knots = knots_.numbers, &y = values_.numbers;
        if (kind_ == Interpolation::linear) {
            const auto row = read_rows<3>([&](std::size_t i) {
                return Vec<double, 3>{knots[i], y[i],
                                      (y[i + 1] - y[i]) / (knots[i + 1] - knots[i])};
            });
            return row[1] + (x - row[0]) * row[2];
        }
        if (kind_ == Interpolation::natural_spline) slopes_.numbers = spline_slopes(knots, y);
        const auto row = read_rows<5>([&](std::size_t i) {
            const KnotInterval<double> interval = knot_interval(knots, i);
            Vec<double, 2> slopes{};
            if (kind_ == Interpolation::pchip) {
                const std::size_t last = knots.size() - 2;
                slopes =
                    pchip_slopes({i > 0 ? y[i - 1] : 0, y[i], y[i + 1], i < last ? y[i + 2] : 0},
                                 interval, i == 0, i == last);
            } else {
                slopes = {slopes_.numbers[i], slopes_.numbers[i + 1]};
            }
            const auto c = cubic_through({y[i], y[i + 1]}, slopes, interval.per_own);
            return Vec<double, 5>{knots[i], c[0], c[1], c[2], c[3]};
        });
        return value_of_cubic(Vec<Number, 4>{row[1], row[2], row[3], row[4]}, x - row[0]);
    }

    constexpr Number of_columns(Number x) {
        const int values = values_.node_in(graph_);
        if (kind_ == Interpolation::pchip) {
            const KnotInterval<Number> interval = whole_interval();
            const auto y = read<4>(values, place_ - 1);
            const auto slopes = pchip_slopes(y, interval, place_ == 0, place_ == knots_.size - 2);
            return value_of_cubic(cubic_through({y[1], y[2]}, slopes, interval.per_own),
                                  x - interval.begin);
        }
        const auto own = own_interval();
        const Number begin = own[0], per_length = own[1];
        const auto y = read<2>(values, place_);
        if (kind_ == Interpolation::linear)
            return y[0] + (x - begin) * ((y[1] - y[0]) * per_length);
        const auto slopes = kind_ == Interpolation::natural_spline
                                ? spline_slopes_of(values)
                                : read<2>(slopes_.node_in(graph_), place_);
        return value_of_cubic(cubic_through(y, slopes, per_length), x - begin);
    }
    /// Where the interval begins, and 1 / its length.
    constexpr Vec<Number, 2> own_interval() {
        if (knots_.is_traced()) {
            const auto ends = read<2>(knots_.node, place_);
            return {ends[0], 1 / (ends[1] - ends[0])};
        }
        return read_rows<2>([&](std::size_t i) {
            const KnotInterval<double> interval = knot_interval(knots_.numbers, i);
            return Vec<double, 2>{interval.begin, interval.per_own};
        });
    }
    constexpr KnotInterval<Number> whole_interval() {
        if (!knots_.is_traced()) {
            const auto row = read_rows<interval_size>([&](std::size_t i) {
                const KnotInterval<double> of = knot_interval(knots_.numbers, i);
                return Vec<double, interval_size>{of.begin,     of.per_own, of.per_before,
                                                  of.per_after, of.left,    of.right};
            });
            return {row[0], row[1], row[2], row[3], row[4], row[5]};
        }
        const auto x = read<4>(knots_.node, place_ - 1);
        const Number before = x[1] - x[0], own = x[2] - x[1], after = x[3] - x[2];
        const auto weight = [](Number a, Number b) { return (2 * b + a) / (3 * (a + b)); };
        return {x[1],
                1 / own,
                1 / before,
                1 / after,
                select(place_ == 0, own / (own + after), weight(before, own)),
                select(place_ == knots_.size - 2, own / (own + before), weight(own, after))};
    }

    /// The slopes of a natural spline of traced values, at both ends of the interval: two loops of a turn for each knot, or,
    /// of a long table, for each that is near enough to count (SplineFactors::reach).
    constexpr Vec<Number, 2> spline_slopes_of(int values) {
        const SplineFactors factors(knots_.numbers);
        const int near = 2 * factors.reach() + 2;
        const bool is_part = 2 * near <= knots_.size;
        const int count = is_part ? near : knots_.size;
        const Number first =
            is_part ? min(max(place_ - factors.reach(), 0), knots_.size - near) : Number(0);
        const auto part = [&](int vector, int size) {
            if (!is_part) return DynamicTraced(graph_, vector);
            return DynamicTraced(graph_,
                                 graph_.push({.op = Op::at, .size = size}, vector, first.node()));
        };
        const auto constants = [&](const List<double>& numbers, int size) {
            return part(TableColumn::push_numbers(graph_, numbers), size);
        };
        const DynamicTraced y = part(values, count);
        const DynamicTraced rates = (slice(y, 1, count - 1) - slice(y, 0, count - 1)) *
                                    constants(factors.per_square, count - 1);
        const auto joined = [&](int a, int b) {
            return DynamicTraced(graph_,
                                 graph_.push_list({.op = Op::concat, .size = count}, {a, b}));
        };
        const int zero = graph_.push_constant(0);
        const DynamicTraced right = (joined(zero, rates.node()) + joined(rates.node(), zero)) *
                                    constants(factors.scale, count);
        const int forward =
            sweep(right.node(), constants(factors.lower, count).node(), count, false);
        const int slopes = sweep(forward, constants(factors.upper, count).node(), count, true);
        return read<2>(slopes, is_part ? place_ - first : place_);
    }
    /// All z_i = from_i − factor_i z of the turn before; none before the first.
    constexpr int sweep(int from, int factors, int count, bool is_backward) {
        const int id = num_loops(graph_);
        const auto part = [&](int of) {
            return Number(graph_, graph_.push({.op = Op::element, .index = id}, of));
        };
        int next = -1;
        const int loop = push_loop(graph_, Number(graph_, graph_.push_constant(0)),
                                   {.length = count, .is_backward = is_backward},
                                   [&](Graph&, const Number& before) {
                                       next = (part(from) - part(factors) * before).node();
                                       return List<int>{next, next};
                                   });
        return graph_.push({.op = Op::stacked, .size = count, .index = id}, loop, next);
    }

    Graph& graph_;
    Interpolation kind_;
    TableColumn knots_, values_, slopes_;
    Number place_;
};

template <class T>
struct TableNumber {
    using type = std::conditional_t<std::is_integral_v<T>, double, T>;
};
template <NumberColumn T>
struct TableNumber<T> {
    using type = std::conditional_t<std::is_integral_v<ColumnNumber<T>>, double, ColumnNumber<T>>;
};

template <Interpolation kind, class Knots, class Values, class Slopes, class X>
constexpr auto interpolate_table(const Knots& knots, const Values& values, const Slopes& slopes,
                                 const X& x, const InterpolateOptions& options) {
    constexpr bool are_columns = (is_traced_column<Knots> || NumberColumn<Knots>)&&(
        is_traced_column<Values> || NumberColumn<Values>)&&(is_traced_column<Slopes> ||
                                                            NumberColumn<Slopes>);
    static_assert(are_columns,
                  "interpolate: knots, values and slopes must be vectors: a Vec, an array, or "
                  "components of the state or the parameters");
    constexpr bool has_factors = kind != Interpolation::natural_spline || !is_traced_column<Knots>;
    static_assert(has_factors,
                  "interpolate: the knots of a natural_spline must be numbers; of knots that are "
                  "traced take linear, pchip or cubic_hermite");
    constexpr bool is_number = shape_of<X> == scalar_shape || shape_of<X> == dynamic_shape ||
                               (shape_of<X> == no_shape && !NumberColumn<X>);
    static_assert(is_number, "interpolate: x must be a number; call it for each component");
    if constexpr (are_columns && has_factors && is_number) {
        if constexpr (is_symbolic<X> || is_traced_column<Knots> || is_traced_column<Values> ||
                      is_traced_column<Slopes>) {
            using Number = Traced<scalar_shape>;
            Graph* const graph = common_graph(x, knots, values, slopes);
            if (graph == nullptr) return Number(unknown_value<scalar_shape>());
            TracedTable table(*graph, kind, table_column(*graph, knots),
                              table_column(*graph, values), table_column(*graph, slopes));
            if (!table.check()) return Number(*graph, graph->push_constant(0));
            return table.at(Number(*graph, node_of(*graph, x)), options.outside);
        } else {
            using Real =
                RichestOf<typename TableNumber<X>::type, typename TableNumber<Values>::type,
                          typename TableNumber<Slopes>::type>;
            return plain_interpolate<Real>(kind, numbers_of<double>(knots),
                                           numbers_of<Real>(values), numbers_of<Real>(slopes),
                                           convert<Real>(x), options.outside);
        }
    }
}

}  // namespace detail

/// The value at x of a table with `values` at increasing `knots`, two at least: vectors of numbers, or of
/// traced values, such as parameters. Outside of the knots it is NaN, unless options ask for another rule;
/// at NaN it is NaN.
template <detail::Interpolation kind, class Knots, class Values, class X>
[[nodiscard]] constexpr auto interpolate(detail::InterpolationKind<kind>, const Knots& knots,
                                         const Values& values, const X& x,
                                         const InterpolateOptions& options = {}) {
    constexpr bool needs_slopes = kind == detail::Interpolation::cubic_hermite;
    static_assert(!needs_slopes,
                  "interpolate: cubic_hermite takes slopes behind the values, "
                  "interpolate(cubic_hermite, knots, values, slopes, x); pchip finds its own");
    if constexpr (!needs_slopes)
        return detail::interpolate_table<kind>(knots, values, List<double>{}, x, options);
}
/// The same of a table with slopes.
template <class Knots, class Values, class Slopes, class X>
[[nodiscard]] constexpr auto interpolate(
    detail::InterpolationKind<detail::Interpolation::cubic_hermite>, const Knots& knots,
    const Values& values, const Slopes& slopes, const X& x,
    const InterpolateOptions& options = {}) {
    return detail::interpolate_table<detail::Interpolation::cubic_hermite>(knots, values, slopes, x,
                                                                           options);
}

}  // namespace eddy::inline v0
