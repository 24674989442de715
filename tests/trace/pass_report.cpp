#include <eddy/trace/field.hpp>
#include <eddy/trace/pass_report.hpp>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/raw_trace.hpp"

TEST_CASE("report_passes: a row per pass with the nodes before and after") {
    // cos(x) is dead; sin(x·1) folds to sin(x), of which there is another then.
    const eddy::Graph graph = support::raw_trace(
        [](auto x) {
            (void)cos(x);
            const auto one = sin(x * 1);
            return one * sin(x) + one;
        },
        eddy::Scalar{});

    CHECK(eddy::report_passes(graph) ==
          "pass                               before    after\n"
          "dead code                               8        7\n"
          "folding                                 7        6\n"
          "common subexpressions                   6        5\n"
          "dead code                               5        4\n"
          "folding                                 4        4\n"
          "common subexpressions                   4        4\n"
          "contraction, names                      4        3\n"
          "all                                     8        3\n");
}

TEST_CASE("report_passes: a program starts from its trace and ends with its code") {
    constexpr auto program = eddy::trace_field(support::Lorenz{});

    const std::string table = eddy::report_passes(program);

    CHECK(table.find("dead code") != std::string::npos);
    CHECK(table.find(" " + std::to_string(program.graph.size()) + "       " +
                     std::to_string(program.code.size()) + "\n") != std::string::npos);
}
