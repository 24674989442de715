#pragma once
// Fields that are driven from outside: dy/dt = f(t, y, p, u), or f(t, y, p, u, du), where u(t) is piecewise a polynomial
// and du its derivative. The program of such a field reads (t, y, q): q is p, then the coefficients of the piece in which t
// lies, as numbers that are constant there. So nothing is looked up, and every method and every derivative works as with
// parameters; a solve changes those numbers where a step ends on a knot, or, where steps pass over knots, at each time
// at which the program is evaluated.
// Test: tests/solve/inputs.cpp

#include <eddy/trace/input_piece.hpp>
#include <eddy/trace/structured.hpp>
#include <eddy/trace/trace_graph.hpp>

namespace eddy::inline v0::detail {

/// A field whose member `input_size` says how many components u has.
template <class Field>
concept HasInputs = requires {
    Field::input_size;
};

template <class Field>
inline constexpr int input_size_of = 0;
template <HasInputs Field>
inline constexpr int input_size_of<Field> = Field::input_size;

/// The greatest degree of the pieces, which a member `input_degree` may lower: there are then fewer coefficients.
template <class Field>
inline constexpr int input_degree_of = 3;
template <HasInputs Field>
requires requires { Field::input_degree; }
inline constexpr int input_degree_of<Field> = Field::input_degree;

/// Do steps pass over the knots? A member `input_is_smooth` says so.
template <class Field>
inline constexpr bool passes_knots = false;
template <HasInputs Field>
requires requires { Field::input_is_smooth; }
inline constexpr bool passes_knots<Field> = Field::input_is_smooth;

/// Both of these.
template <class Field>
inline constexpr InputSizes input_sizes_of{input_size_of<Field>, input_degree_of<Field>};
/// Numbers of one piece.
template <class Field>
inline constexpr int input_room_of = input_sizes_of<Field>.room();
/// What the program of a field reads in the place of p: p, and one piece behind it.
template <class Field>
inline constexpr int program_parameters_of = Field::parameter_size + input_room_of<Field>;

/// A driven field as a function of (t, y, q).
template <class Field>
struct DrivenField {
    static constexpr int num_p = Field::parameter_size, size = input_size_of<Field>,
                         degree = input_degree_of<Field>;
    template <bool with_slope>
    static constexpr bool is_callable = [] {
        using Times = Scalar;
        if constexpr (with_slope)
            return is_traceable<Field, Times, Vector<Field::state_size>, Vector<num_p>,
                                Vector<size>, Vector<size>>;
        else
            return is_traceable<Field, Times, Vector<Field::state_size>, Vector<num_p>,
                                Vector<size>>;
    }();

    template <class Time, class State, class Read>
    constexpr auto operator()(const Time& t, const State& y, const Read& q) const
        requires(is_callable<false> || is_callable<true>) {
        const auto since = t - q[num_p];
        const Coefficients<Read> coefficients{q};
        const auto u = value_of_piece<degree>(coefficients, since);
        if constexpr (num_p == 0)
            return at(t, y, q, coefficients, since, u);
        else
            return at(t, y, slice<0, num_p>(q), coefficients, since, u);
    }

  private:
    template <class Read>
    struct Coefficients {
        const Read& q;
        template <int power>
        [[nodiscard]] constexpr auto at() const {
            return slice<num_p + 1 + power * size, size>(q);
        }
    };
    template <class Time, class State, class Parameters, class Piece, class Since, class Input>
    static constexpr auto at(const Time& t, const State& y, const Parameters& p,
                             [[maybe_unused]] const Piece& coefficients,
                             [[maybe_unused]] const Since& since, const Input& u) {
        if constexpr (!is_callable<true>)
            return Field{}(t, y, p, u);
        else if constexpr (degree == 0)
            return Field{}(t, y, p, u, 0.0 * u);
        else
            return Field{}(t, y, p, u, slope_of_piece<degree>(coefficients, since));
    }
};

/// Does a field read du?
template <class Field>
inline constexpr bool reads_slopes = false;
template <HasInputs Field>
inline constexpr bool reads_slopes<Field> = DrivenField<Field>::template is_callable<true>;

}  // namespace eddy::inline v0::detail
