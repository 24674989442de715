#pragma once
// What a linearization keeps, as text: each residual with its shape, bytes and origin, and the
// forward and the backward program side by side. Programs and run-time graphs are split here at run
// time, so looking costs nothing at compile time. Of a composition, a loop or a solve a report has a
// block for each level, with those of its programs in it.
// Test: tests/ad/residuals.cpp, tests/checkpoint/outline.cpp

#include <eddy/ad/outline.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/core/export.hpp>
#include <eddy/trace/print.hpp>
#include <iosfwd>
#include <string>

namespace eddy::inline v0 {

struct ResidualReportOptions {
    ArgumentNames names = {};     // what arguments are called; x0, x1, … by default
    List<int> with_respect_to{};  // the differentiated arguments; all, where empty
    std::ostream* out = nullptr;  // where printers write; std::cout, where null
    bool places = false;          // file, line and function where values come from
};

namespace detail {

[[nodiscard]] EDDY_EXPORT std::string saved_residuals(const Graph& graph, int bytes_per_number,
                                                      const ResidualReportOptions& options);
[[nodiscard]] EDDY_EXPORT std::string forward_backward(const Graph& graph,
                                                       const ResidualReportOptions& options);
/// The same of every level of a Differentiable.
[[nodiscard]] EDDY_EXPORT std::string saved_residuals(const Outline& outline, int bytes_per_number,
                                                      const ResidualReportOptions& options);
[[nodiscard]] EDDY_EXPORT std::string forward_backward(const Outline& outline,
                                                       const ResidualReportOptions& options);
EDDY_EXPORT void write(const std::string& text, const ResidualReportOptions& options);

[[nodiscard]] inline const Graph& graph_behind(const Graph& graph) { return graph; }
template <class Recipe>
[[nodiscard]] Graph graph_behind(const Program<Recipe>& program) {
    return graph_with_places(program);
}
template <class Source>
inline constexpr bool has_graph = std::is_same_v<Source, Graph>;
template <class Recipe>
inline constexpr bool has_graph<Program<Recipe>> = true;

/// The outline of what has its own policies. Another one can be given for a program only.
template <class Source, class Policy>
[[nodiscard]] Outline outline_in_report(const Source& source, const Policy&) {
    constexpr bool has_own_policy = std::is_same_v<Policy, EverythingSaveable>;
    static_assert(has_own_policy,
                  "saved_residuals: a policy is that of a traced program or a Graph; of a "
                  "differentiable program, a loop or a composition those are reported that it has");
    return outline_of(source);
}
/// A graph under a policy.
template <class Source, class Policy>
[[nodiscard]] Graph graph_under(const Source& source, const Policy& policy) {
    Graph graph = graph_behind(source);
    set_policy(graph, 0, policy);
    return graph;
}

}  // namespace detail

/// What the backward pass through `source`, a Program or a Graph, finds kept under `policy`: a line
/// for each residual with shape, bytes of `Real` per trajectory, and what it is; then what it reads
/// again from arguments and constants, which costs no memory. Of any other Differentiable (a
/// differentiable program, a composition, a loop, a solve) a block for each level, under its own
/// policies.
template <class Real = double, class Source, class Policy = detail::EverythingSaveable>
[[nodiscard]] std::string saved_residuals(const Source& source, Policy policy = {},
                                          const ResidualReportOptions& options = {}) {
    constexpr int bytes_per_number = static_cast<int>(sizeof(Real));
    if constexpr (detail::has_graph<Source>) {
        return detail::saved_residuals(detail::graph_under(source, policy), bytes_per_number,
                                       options);
    } else {
        return detail::saved_residuals(detail::outline_in_report(source, policy), bytes_per_number,
                                       options);
    }
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
    if constexpr (detail::has_graph<Source>) {
        return detail::forward_backward(detail::graph_under(source, policy), options);
    } else {
        return detail::forward_backward(detail::outline_in_report(source, policy), options);
    }
}

/// Writes `forward_backward` of the same arguments.
template <class Source, class Policy = detail::EverythingSaveable>
void print_forward_backward(const Source& source, Policy policy = {},
                            const ResidualReportOptions& options = {}) {
    detail::write(forward_backward(source, policy, options), options);
}

}  // namespace eddy::inline v0
