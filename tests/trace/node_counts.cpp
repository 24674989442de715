// How large programs are: the sizes that compile time and run time follow from. Prints its figures.

#include <cstdio>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/field.hpp>

#include "support/catch.hpp"
#include "support/equations.hpp"

namespace {

struct Counts {
    int field, vjp;
};

template <class Field>
Counts print_counts(const char* name, Field field) {
    constexpr auto program = eddy::trace_field(field);
    constexpr auto pullback = eddy::vjp<1, 2>(program);
    const Counts counts{program.graph.size(), pullback.graph.size()};
    std::printf("%-10s nodes of f %5d (contracted %5d), of its VJP %5d (contracted %5d)\n", name,
                counts.field, program.code.size(), counts.vjp, pullback.code.size());
    // The trace tells as much before any pass.
    using Program = eddy::FieldProgram<Field>;
    const int least = eddy::detail::least_length(Program::recipe::make_raw());
    CHECK(least > 0);
    CHECK(least <= eddy::detail::program_length<Program>);
    return counts;
}

}  // namespace

TEST_CASE("node counts: Lorenz takes at most 14 nodes, its VJP 26") {
    const Counts counts = print_counts("Lorenz", support::Lorenz{});

    CHECK(counts.field <= 14);
    CHECK(counts.vjp <= 26);
}

TEST_CASE("node counts: Pleiades takes at most 567 nodes, its VJP 1,628") {
    const Counts counts = print_counts("Pleiades", support::Pleiades{});

    CHECK(counts.field <= 567);
    CHECK(counts.vjp <= 1628);
}

TEST_CASE("node counts: a network 2-64-64-2 takes at most 40 nodes, its VJP 120") {
    const Counts counts = print_counts("MLP", support::Mlp{});

    CHECK(counts.field <= 40);
    CHECK(counts.vjp <= 120);
}
