#pragma once
// Which components of the state norms are made of: those that change. A component whose right-hand side is
// zero (a context, parameters kept in the state) has no error; it would lower the mean of those that have one.
// Which these are, the trace knows: zero_components.hpp.
// Test: tests/solve/constant_components.cpp

#include <eddy/core/vec.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <eddy/steppers/term.hpp>
#include <eddy/trace/zero_components.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// A flag for each component.
template <int size>
struct ComponentFlags {
    bool of[size]{};
};

/// The components of a program's first result that are zero.
template <class Program>
consteval auto zero_components() {
    constexpr auto& graph = Program::graph;
    const ZeroComponents zeros(graph);
    ComponentFlags<graph.outputs[0].size> is_zero{};
    int i = 0;
    for (int k = 0; k < graph.outputs[0].count; ++k) {
        const int node = graph.operands[graph.outputs[0].first + k];
        for (int c = 0; c < graph.nodes[node].size; ++c) is_zero.of[i++] = zeros.is_zero(node, c);
    }
    return is_zero;
}

/// The components that a term does not change; of a term that nothing is known of, none.
template <class Term>
struct ConstantComponents {
    static constexpr ComponentFlags<Term::state_size> are{};
};
template <class Field>
struct ConstantComponents<OdeTerm<Field>> {
    /// Where M stands before dy/dt, its row says that too.
    static constexpr auto are = [] {
        auto is_zero = zero_components<FieldProgram<Field>>();
        if constexpr (has_mass<Field>) {
            for (int i = 0; i < Field::state_size; ++i) {
                for (int j = 0; j < Field::state_size; ++j)
                    is_zero.of[i] = is_zero.of[i] && (Field::mass[i][j] != 0) == (i == j);
            }
        }
        return is_zero;
    }();
};

/// The components of a term's state that count in norms, `count` of them, in order: all that change. Where none
/// does they all count.
template <class Term>
struct CountedComponents {
    static constexpr int size = Term::state_size;
    static constexpr int num_constant = [] {
        int found = 0;
        for (const bool is : ConstantComponents<Term>::are.of) found += is ? 1 : 0;
        return found;
    }();
    static constexpr int count = num_constant < size ? size - num_constant : size;
    static constexpr bool are_all = count == size;

    struct List {
        int of[count]{};
    };
    /// [k]: which component the k-th is.
    static constexpr List component = [] {
        List list{};
        int k = 0;
        for (int i = 0; i < size; ++i)
            if (are_all || !ConstantComponents<Term>::are.of[i]) list.of[k++] = i;
        return list;
    }();
};

/// Those of a Vec, or of anything that has its components; itself where they are all.
template <class Term, class Values>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr decltype(auto) counted(const Values& values) {
    using Counted = CountedComponents<Term>;
    if constexpr (Counted::are_all) {
        return (values);
    } else {
        Vec<std::remove_cvref_t<decltype(values[0])>, Counted::count> those{};
        static_for<0, Counted::count>([&]<int k>() EDDY_INLINE {
            constexpr int i = Counted::component.of[k];
            those.data[k] = values[i];
        });
        return those;
    }
}

}  // namespace eddy::inline v0::detail
