#include <eddy/trace/pass_report.hpp>
#include <string_view>

namespace eddy {
namespace detail {
namespace {

std::string row(std::string_view pass, const std::string& before, const std::string& after) {
    const auto padded = [](const std::string& text) {
        return std::string(text.size() < 9 ? 9 - text.size() : 1, ' ') + text;
    };
    return std::string(pass) + std::string(pass.size() < 32 ? 32 - pass.size() : 1, ' ') +
           padded(before) + padded(after) + "\n";
}

}  // namespace

std::string pass_table(const Graph& raw, const Graph& code) {
    std::string table = row("pass", "before", "after");
    int size = raw.size();
    const auto note = [&](std::string_view pass, const Graph& graph) {
        table += row(pass, std::to_string(size), std::to_string(graph.size()));
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
    return table + row("all", std::to_string(raw.size()), std::to_string(size));
}

}  // namespace detail

std::string report_passes(const Graph& graph) {
    return detail::pass_table(graph, detail::finish_code(passes::simplify(graph)));
}

}  // namespace eddy
