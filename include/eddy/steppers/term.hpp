#pragma once
// What is integrated: a term says which function stands on the right-hand side, and what besides the
// state a step of it reads. A stepper is made of a term and a method.
// Test: tests/steppers/stochastic.cpp, tests/solve/other_steppers.cpp

#include <algorithm>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/steppers/kept_if.hpp>
#include <eddy/steppers/pull_program.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0 {

namespace detail {

template <class P, bool of_time>
consteval auto field_pullback() {
    if constexpr (of_time)
        return vjp<0, 1, 2>(P{});
    else
        return vjp<1, 2>(P{});
}
/// The vector–Jacobian product of a program of (t, y, p), that of t among its results or not. Which
/// is not asked for is not traced: of both, that would be half the time to compile a large field.
template <class P, bool of_time>
using FieldPullback = decltype(field_pullback<P, of_time>());

/// Functions that packs compute by a text of their own: gradients through them have no bits in common with plain numbers'.
[[nodiscard]] constexpr bool is_function_of_packs(Op op) {
    return op == Op::pow || (op >= Op::cbrt && op <= Op::polygamma) || op == Op::sigmoid ||
           op == Op::softplus;
}
/// What a stage keeps for its pullback, which would compute it again: roots, which take turns, and in packs all that is dear.
/// Threads of a GPU have no registers for that.
template <bool is_pack>
struct StageSaveable {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(value.op == Op::root || (is_pack && is_dear(value.op)));
    }
    /// Only then is a program divided: the halves are contracted together, and may round otherwise than apart.
    [[nodiscard]] static constexpr bool asks_for(Op op) {
        return op == Op::root || (is_pack && is_function_of_packs(op));
    }
};
template <class Number>
using SaveableIn = StageSaveable<(num_lanes_of<Number> > 1)>;

/// Both halves of a program of (t, y, p).
template <class P, class Number, bool of_time>
struct ChosenHalves {
    using type = DifferentiableProgram<P, SaveableIn<Number>, 1, 2>;
};
template <class P, class Number>
struct ChosenHalves<P, Number, true> {
    using type = DifferentiableProgram<P, SaveableIn<Number>, 0, 1, 2>;
};
template <class P, class Number, bool of_time>
using FieldHalves = typename ChosenHalves<P, Number, of_time>::type;

template <class P, class Number, bool of_time>
constexpr int num_kept_values() {
    constexpr bool is_divided =
        std::any_of(P::graph.nodes, P::graph.nodes + P::graph.size(),
                    [](const Node& node) { return SaveableIn<Number>::asks_for(node.op); });
    if constexpr (is_divided)
        return FieldHalves<P, Number, of_time>::num_residuals;
    else
        return 0;
}

}  // namespace detail

/// The path of a term that has no noise.
struct NoPath {};

/// Which lanes make a step, and over which interval: what a path of noise is a pure function of, so
/// that a replayed step meets the noise of the first. Each place has its own.
template <class Time>
struct StepInterval {
    Time lane;     // number of the trajectory
    Time elapsed;  // |t − t0| where the step begins
    Time size;     // |dt|
};

/// dy/dt = f(t, y, p).
template <class FieldType>
struct OdeTerm {
    using Field = FieldType;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = detail::program_parameters_of<Field>;
    template <class Time>
    using Path = NoPath;

    /// dy/dt. `p` is anything with operator[].
    template <class Time, class Number, class Parameters>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Vec<Number, state_size> derivative(
        const Time& t, const Vec<Number, state_size>& y, const Parameters& p) {
        Vec<Number, state_size> k{};
        derivative(t, y, p, k);
        return k;
    }
    /// The same into `k`, which lies apart from y: where the program is called, its results would be copied
    /// otherwise.
    template <class Time, class Number, class Parameters>
    EDDY_INLINE EDDY_HD static constexpr void derivative(const Time& t,
                                                         const Vec<Number, state_size>& y,
                                                         const Parameters& p,
                                                         Vec<Number, state_size>& k) {
        evaluate<FieldProgram<Field>, Number>(
            detail::SinkApart{[&]<int output>(int component, const Number& value)
                                  EDDY_INLINE { k.data[component] = value; }},
            t, y, p);
    }

    /// Where f was evaluated, and what it keeps for its pullback.
    template <class Number, bool of_time>
    struct Linearized {
        static constexpr int num_kept =
            detail::num_kept_values<FieldProgram<Field>, Number, of_time>();
        [[no_unique_address]] KeptIf<(num_kept > 0), Vec<Number, num_kept + (num_kept == 0)>> kept;
        Vec<Number, state_size> y;
    };
    /// The derivative at `at.y`, with what its pullback needs.
    template <class Time, class Number, bool of_time, class Parameters>
    EDDY_INLINE EDDY_HD static constexpr void linearize(const Time& t,
                                                        Linearized<Number, of_time>& at,
                                                        const Parameters& p,
                                                        Vec<Number, state_size>& k) {
        if constexpr (Linearized<Number, of_time>::num_kept == 0) {
            derivative(t, at.y, p, k);
        } else {
            using Forward =
                typename detail::FieldHalves<FieldProgram<Field>, Number, of_time>::Forward;
            evaluate<Forward, Number>(
                detail::SinkApart{[&]<int output>(int component, const Number& value) EDDY_INLINE {
                    if constexpr (output == 0)
                        k.data[component] = value;
                    else
                        at.kept.data[component] = value;
                }},
                t, at.y, p);
        }
    }

    /// Its vector–Jacobian product: the cotangent of y into `y_cotangent`, that of p added to
    /// `p_cotangent`. Returns that of t, zero unless it is asked for.
    template <bool of_time, class Time, class Number, class Parameters, class ParameterCotangent>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Number pull_derivative(
        const Time& t, const Vec<Number, state_size>& y, const Parameters& p,
        const Vec<Number, state_size>& k_cotangent, Vec<Number, state_size>& y_cotangent,
        ParameterCotangent& p_cotangent) {
        using Pullback = detail::FieldPullback<FieldProgram<Field>, of_time>;
        return detail::pull_program<Pullback, of_time>(y_cotangent, p_cotangent, t, y, p,
                                                       k_cotangent);
    }
    /// The same after `linearize`.
    template <class Time, class Number, bool of_time, class Parameters, class ParameterCotangent>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Number pull_linearized(
        const Time& t, const Linearized<Number, of_time>& at, const Parameters& p,
        const Vec<Number, state_size>& k_cotangent, Vec<Number, state_size>& y_cotangent,
        ParameterCotangent& p_cotangent) {
        if constexpr (Linearized<Number, of_time>::num_kept == 0) {
            return pull_derivative<of_time>(t, at.y, p, k_cotangent, y_cotangent, p_cotangent);
        } else {
            using Pullback =
                typename detail::FieldHalves<FieldProgram<Field>, Number, of_time>::Backward;
            return detail::pull_program<Pullback, of_time>(y_cotangent, p_cotangent, t, at.y, p,
                                                           at.kept, k_cotangent);
        }
    }
};

namespace detail {

template <class Field>
struct ChosenTerm {
    using type = OdeTerm<Field>;
};
template <class Field>
requires requires { typename Field::term; }
struct ChosenTerm<Field> {
    using type = typename Field::term;
};

}  // namespace detail

/// The term of what a call is given as its equation: that of a vector field, unless the type names
/// another as `term`. A term's Path<Time> is NoPath, or made from a StepInterval<Time>.
template <class Field>
using TermOf = typename detail::ChosenTerm<Field>::type;

}  // namespace eddy::inline v0
