#pragma once
// What a linearization keeps, as text: each residual with its shape, bytes and origin, and the
// forward and the backward program side by side. Programs and run-time graphs are split here at run
// time, so looking costs nothing at compile time.

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

[[nodiscard]] EDDY_EXPORT std::string saved_residuals(const Graph& graph, PolicyFunction policy,
                                                      int bytes_per_number,
                                                      const ResidualReportOptions& options);
[[nodiscard]] EDDY_EXPORT std::string forward_backward(const Graph& graph, PolicyFunction policy,
                                                       const ResidualReportOptions& options);
EDDY_EXPORT void write(const std::string& text, const ResidualReportOptions& options);

[[nodiscard]] inline const Graph& graph_behind(const Graph& graph) { return graph; }
template <class Recipe>
[[nodiscard]] Graph graph_behind(const Program<Recipe>&) {
    return Program<Recipe>::graph.thaw();
}

}  // namespace detail

/// What the backward pass through `source`, a Program or a Graph, finds kept under `policy`: a line
/// for each residual with shape, bytes of `Real` per trajectory, and what it is; then what it reads
/// again from arguments and constants, which costs no memory.
template <class Real = double, class Source, class Policy = detail::EverythingSaveable>
[[nodiscard]] std::string saved_residuals(const Source& source, Policy = {},
                                          const ResidualReportOptions& options = {}) {
    return detail::saved_residuals(detail::graph_behind(source), &detail::ask<Policy>,
                                   static_cast<int>(sizeof(Real)), options);
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
[[nodiscard]] std::string forward_backward(const Source& source, Policy = {},
                                           const ResidualReportOptions& options = {}) {
    return detail::forward_backward(detail::graph_behind(source), &detail::ask<Policy>, options);
}

/// Writes `forward_backward` of the same arguments.
template <class Source, class Policy = detail::EverythingSaveable>
void print_forward_backward(const Source& source, Policy policy = {},
                            const ResidualReportOptions& options = {}) {
    detail::write(forward_backward(source, policy, options), options);
}

}  // namespace eddy::inline v0
