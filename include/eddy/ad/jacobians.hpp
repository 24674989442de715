#pragma once
// The structural non-zeros of ∂f/∂y and, where they are asked for, of ∂f/∂p of a program f(t, y, p, …) as one program:
// what they have in common is computed once.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/ad/jacobian.hpp>

namespace eddy::inline v0::detail {

template <class P, bool of_p>
struct FieldJacobiansOf {
    static constexpr int expected_nodes = 8 * P::graph.size() + 64;
    static constexpr Graph make() {
        const Graph primal = P::graph.thaw();
        Graph both = primal;
        const List<int> of_y = append_jacobian(both, primal, 1, JacobianPlanOf<P, 1>::plan());
        List<int> to_p;
        if constexpr (of_p) to_p = append_jacobian(both, primal, 2, JacobianPlanOf<P, 2>::plan());
        both.outputs.clear();
        if (!of_y.empty()) both.push_output(of_y, JacobianPlanOf<P, 1>::num_nonzeros, false);
        if constexpr (of_p) {
            if (!to_p.empty()) both.push_output(to_p, JacobianPlanOf<P, 2>::num_nonzeros, false);
        }
        return passes::simplify(both);
    }
};

/// Both of them, of a program without loops, whose non-zeros lie row by row.
template <class P, bool of_p>
struct FieldJacobians {
    using OfY = JacobianPlanOf<P, 1>;
    using OfP = JacobianPlanOf<P, 2>;
    static constexpr int num_of_y = OfY::num_nonzeros;
    static constexpr int num_of_p = [] {
        if constexpr (of_p)
            return OfP::num_nonzeros;
        else
            return 0;
    }();

    template <class Number>
    struct Values {
        Number by_y[num_of_y + 1], by_p[num_of_p + 1];
    };
    /// `arguments`: those of P.
    template <class Number, class... Arguments>
    EDDY_HD static void evaluate_into(Values<Number>& values, const Arguments&... arguments) {
        if constexpr (num_of_y + num_of_p > 0) {
            evaluate<Program<FieldJacobiansOf<P, of_p>>, Number>(
                SinkApart{[&]<int output>(int entry, const Number& value) EDDY_INLINE {
                    if constexpr (output == 0 && num_of_y > 0)
                        values.by_y[entry] = value;
                    else
                        values.by_p[entry] = value;
                }},
                arguments...);
        }
    }
};

}  // namespace eddy::inline v0::detail
