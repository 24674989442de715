#pragma once
// What a linearization keeps, as text: each residual with its shape, bytes and origin, and the
// forward and the backward program side by side. Programs and run-time graphs are split here at run
// time, so looking costs nothing at compile time.
// Test: tests/ad/residuals.cpp

#include <eddy/ad/remat.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/core/export.hpp>
#include <eddy/trace/print.hpp>
#include <iosfwd>
#include <string>

namespace eddy::inline v0 {

struct ResidualReportOptions {
    ArgumentNames names = {};            // what arguments are called; x0, x1, … by default
    std::vector<int> with_respect_to{};  // the differentiated arguments; all, where empty
    std::ostream* out = nullptr;         // where printers write; std::cout, where null
};

namespace detail {

[[nodiscard]] EDDY_EXPORT std::string saved_residuals(const Graph& graph, int bytes_per_number,
                                                      const ResidualReportOptions& options);
[[nodiscard]] EDDY_EXPORT std::string forward_backward(const Graph& graph,
                                                       const ResidualReportOptions& options);
EDDY_EXPORT void write(const std::string& text, const ResidualReportOptions& options);

[[nodiscard]] inline const Graph& graph_behind(const Graph& graph) { return graph; }
template <class Recipe>
[[nodiscard]] Graph graph_behind(const Program<Recipe>&) {
    return Program<Recipe>::graph.thaw();
}
template <class Source>
inline constexpr bool has_graph = std::is_same_v<Source, Graph>;
template <class Recipe>
inline constexpr bool has_graph<Program<Recipe>> = true;

/// What is reported: a graph under its policy, and the arguments that are differentiated.
struct Reported {
    Graph graph;
    ResidualReportOptions options;
};
template <class Source, class Policy>
[[nodiscard]] Reported reported(const Source& source, const Policy& policy,
                                const ResidualReportOptions& options) {
    static_assert(
        has_graph<Source>,
        "saved_residuals: pass a traced program, differentiable(program) or a Graph; of a "
        "loop, a scan or a composition pass the program within");
    Reported result{{}, options};
    if constexpr (has_graph<Source>) {
        result.graph = graph_behind(source);
        set_policy(result.graph, 0, policy);
    }
    return result;
}
/// One that has its own policy and arguments.
template <class P, class Own, int... argument, class Policy>
[[nodiscard]] Reported reported(const DifferentiableProgram<P, Own, argument...>&, const Policy&,
                                const ResidualReportOptions& options) {
    Reported result{P::graph.thaw(), options};
    set_policy(result.graph, 0, Own{});
    if (sizeof...(argument) > 0) result.options.with_respect_to = {argument...};
    return result;
}

}  // namespace detail

/// What the backward pass through `source`, a Program or a Graph, finds kept under `policy`, or
/// through `differentiable(program, policy)` under its own: a line for each residual with shape,
/// bytes of `Real` per trajectory, and what it is; then what it reads again from arguments and
/// constants, which costs no memory.
template <class Real = double, class Source, class Policy = detail::EverythingSaveable>
[[nodiscard]] std::string saved_residuals(const Source& source, Policy policy = {},
                                          const ResidualReportOptions& options = {}) {
    const detail::Reported reported = detail::reported(source, policy, options);
    return detail::saved_residuals(reported.graph, static_cast<int>(sizeof(Real)),
                                   reported.options);
}

/// Writes the values that the backward pass keeps under a policy, as `saved_residuals` returns
/// them: a line for each.
template <class Real = double, class Source, class Policy = detail::EverythingSaveable>
void print_saved_residuals(const Source& source, Policy policy = {},
                           const ResidualReportOptions& options = {}) {
    detail::write(saved_residuals<Real>(source, policy, options), options);
}

/// The forward program, which returns the residuals last, beside the backward one, which takes them
/// after the arguments.
template <class Source, class Policy = detail::EverythingSaveable>
[[nodiscard]] std::string forward_backward(const Source& source, Policy policy = {},
                                           const ResidualReportOptions& options = {}) {
    const detail::Reported reported = detail::reported(source, policy, options);
    return detail::forward_backward(reported.graph, reported.options);
}

/// Writes `forward_backward` of the same arguments.
template <class Source, class Policy = detail::EverythingSaveable>
void print_forward_backward(const Source& source, Policy policy = {},
                            const ResidualReportOptions& options = {}) {
    detail::write(forward_backward(source, policy, options), options);
}

}  // namespace eddy::inline v0
