#include <fmt/core.h>

#include <eddy/trace/pass_report.hpp>
#include <string_view>

namespace eddy::inline v0 {
namespace detail {
namespace {

template <class Count>
std::string row(std::string_view pass, const Count& before, const Count& after) {
    return fmt::format("{:32}{:>9}{:>9}\n", pass, before, after);
}

}  // namespace

std::string pass_table(const Graph& raw, const Graph& code) {
    std::string table = row<std::string_view>("pass", "before", "after");
    int size = raw.size();
    const auto note = [&](std::string_view pass, const Graph& graph) {
        table += row(pass, size, graph.size());
        size = graph.size();
    };
    // `simplify` does all three in one walk, as often; apart, each shows its own share.
    Graph graph = raw;
    for (int num_folded = 1; num_folded > 0;) {
        note("dead code", graph = passes::eliminate_dead_code(graph));
        note("folding", graph = passes::fold(graph, num_folded));
        note("common subexpressions", graph = passes::eliminate_common_subexpressions(graph));
    }
    note("contraction, names", code);
    return table + row("all", raw.size(), size);
}

}  // namespace detail

std::string report_passes(const Graph& graph) {
    return detail::pass_table(graph, detail::finish_code(passes::simplify(graph)));
}

}  // namespace eddy::inline v0
