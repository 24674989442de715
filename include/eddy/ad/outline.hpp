#pragma once
// What a Differentiable is made of, for reports and drawings: a tree of levels (compositions, parts
// that are dropped, loops, scans, solves) with traced programs as its leaves. A type that has parts
// says so by `describe(visit)`, which calls visit(what it is, what it keeps, parts...) with the parts
// in the order in which they are evaluated.
// Test: tests/checkpoint/outline.cpp

#include <eddy/ad/linearize.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/list.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {
namespace detail {

/// A program under its policy, and the arguments that are differentiated; all, where there are none.
struct OutlinedProgram {
    Graph graph;
    List<int> with_respect_to;
};

/// A level of a Differentiable.
struct Outline {
    std::string what, kept;
    List<Outline> parts{};
    std::shared_ptr<const OutlinedProgram> program{};  // of a leaf
};

template <class Recipe, class Policy>
[[nodiscard]] Outline outline_of_program(const Program<Recipe>& program, const Policy& policy,
                                         List<int> with_respect_to) {
    OutlinedProgram leaf{graph_with_places(program), std::move(with_respect_to)};
    set_policy(leaf.graph, 0, policy);
    return {"program", "", {}, std::make_shared<OutlinedProgram>(std::move(leaf))};
}

// Declared before they call one another.
template <class Recipe>
[[nodiscard]] Outline outline_of(const Program<Recipe>& program);
template <class P, class Policy, int... argument>
[[nodiscard]] Outline outline_of(const DifferentiableProgram<P, Policy, argument...>&);
template <class Function, class Policy>
[[nodiscard]] Outline outline_of(const Remat<Function, Policy>& f);
template <class Outer, class Inner>
[[nodiscard]] Outline outline_of(const Composition<Outer, Inner>& f);

template <class F>
[[nodiscard]] Outline outline_of(const F& f) {
    if constexpr (requires { f.describe([](const auto&...) {}); }) {
        Outline outline;
        f.describe([&](std::string what, std::string kept, const auto&... part) {
            outline = {std::move(what), std::move(kept), {outline_of(part)...}, nullptr};
        });
        return outline;
    } else {
        return {"function with a pullback of its own", "its linearization", {}, nullptr};
    }
}
template <class Recipe>
[[nodiscard]] Outline outline_of(const Program<Recipe>& program) {
    return outline_of_program(program, EverythingSaveable{}, {});
}
template <class P, class Policy, int... argument>
[[nodiscard]] Outline outline_of(const DifferentiableProgram<P, Policy, argument...>&) {
    return outline_of_program(P{}, Policy{}, {argument...});
}
template <class Function, class Policy>
[[nodiscard]] Outline outline_of(const Remat<Function, Policy>& f) {
    if constexpr (is_program<Function>) {
        return outline_of_program(f.function, f.policy, {});
    } else {
        return {"remat", "what goes in", {outline_of(f.function)}, nullptr};
    }
}
template <class Outer, class Inner>
[[nodiscard]] Outline outline_of(const Composition<Outer, Inner>& f) {
    Outline inner = outline_of(f.inner), outer = outline_of(f.outer);
    if (inner.what != "compose") inner = {"compose", "", {std::move(inner)}, nullptr};
    inner.parts.push_back(std::move(outer));
    return inner;
}

/// The outline as a drawing, a box for each level.
[[nodiscard]] EDDY_EXPORT std::string to_graphviz(const Outline& outline);

}  // namespace detail

/// A Differentiable that is no traced program, in the language of Graphviz: a box for each level of
/// it, in it the boxes of its parts, in those the programs.
template <class F>
requires(std::is_class_v<F> && !std::is_same_v<F, Graph> && !detail::is_program<F>)
    [[nodiscard]] std::string to_graphviz(const F& f) {
    return detail::to_graphviz(detail::outline_of(f));
}

}  // namespace eddy::inline v0
