// Loops over rows have the bits of the interpreter, and so have their derivatives.

#include <eddy/ad/root.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/functions.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/trace.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/row_runs.hpp"

namespace {

using support::Rows;

template <class Real>
std::vector<support::RowsOf<Real>> any_arguments(const eddy::Graph& graph) {
    support::Random random(7);
    std::vector<support::RowsOf<Real>> arguments;
    for (const eddy::Argument& argument : graph.arguments) {
        auto& rows = arguments.emplace_back();
        for (int k = 0; k < argument.size * support::num_row_lanes; ++k)
            rows.push_back(static_cast<Real>(random.uniform(0.2, 2)));
    }
    return arguments;
}

/// Numbers in which rows differ from the interpreter, at all widths, by machine code and walked.
template <class Real>
int count_differences(const eddy::Graph& graph,
                      const std::vector<support::RowsOf<Real>>& arguments) {
    const auto expected = support::run_interpreted(graph, arguments);
    const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));
    int differences = 0;
    for (const int width : support::row_widths) {
        const auto run = [&](eddy::MachineCodeUse use, eddy::RowLevel level) {
            return support::run_rows(code, arguments, width, use, level);
        };
        const auto walked = run(eddy::MachineCodeUse::never, eddy::row_level);
        const auto made = run(eddy::MachineCodeUse::where_possible, eddy::row_level);
        const auto walked_fused = run(eddy::MachineCodeUse::never, eddy::RowLevel::fused);
        const auto fused = run(eddy::MachineCodeUse::where_possible, eddy::RowLevel::fused);
        for (std::size_t o = 0; o < expected.size(); ++o) {
            differences += support::count_differences(walked[o], expected[o]) != 0;
            differences += support::count_differences(made[o], expected[o]) != 0;
            differences += support::count_differences(fused[o], walked_fused[o]) != 0;
        }
    }
    return differences;
}

/// f, and both halves of its derivative, of functions of two vectors.
template <class Real, int size, int size_of_p, class Function>
void check(const Function& f) {
    const eddy::Graph graph = eddy::detail::finish_code(
        eddy::trace_graph(f, eddy::Vector<size>{}, eddy::Vector<size_of_p>{}));
    CHECK(count_differences(graph, any_arguments<Real>(graph)) == 0);

    const eddy::SplitGraph split = eddy::split_graph(graph, {1, 1});
    auto arguments = any_arguments<Real>(split.backward);
    CHECK(count_differences<Real>(split.forward, {arguments[0], arguments[1]}) == 0);
    if (split.residual_size > 0)
        arguments[2] =
            support::run_interpreted<Real>(split.forward, {arguments[0], arguments[1]})[1];
    CHECK(count_differences(split.backward, arguments) == 0);
}
template <int size, int size_of_p, class Function>
void check_both(const Function& f) {
    check<double, size, size_of_p>(f);
    check<float, size, size_of_p>(f);
}

constexpr auto repeated = [](const auto& x, const auto& p) {
    return eddy::repeat<5>(x, [&](const auto& s) {
        return eddy::vec(s[1] * p[0], s[0] - 0.1 * sqrt(1 + s[1] * s[1]), p[1] / s[2]);
    });
};
/// A chain: each turn knows its neighbours.
constexpr auto chain = [](const auto& y, const auto& p) {
    const auto right = eddy::concat(eddy::slice<1, 19>(y), y[19]);
    return eddy::scan<20>(eddy::vec(y[0] * 1.0, y[0] * 1.0), right,
                          [&](const auto& s, const auto& next) {
                              const auto f =
                                  p[0] * (s[0] - 2 * s[1] + next) + p[1] * s[1] * (1 - s[1]);
                              return eddy::carry_and_out(eddy::vec(s[1], next), f);
                          })
        .outs;
};
template <int size>
constexpr eddy::Vec<double, size> numbers_to() {
    eddy::Vec<double, size> numbers{};
    for (int k = 0; k < size; ++k) numbers[k] = 0.25 + k;
    return numbers;
}
/// Walks along what lies in several places; what is stacked belongs in several, is walked along and read besides.
constexpr auto in_pieces = [](const auto& y, const auto& p) {
    const auto pairs = eddy::concat(eddy::vec(p[0] * p[1], p[0]),
                                    eddy::concat(eddy::slice<4, 36>(y), eddy::vec(p[1], y[2])));
    const auto first = eddy::scan<20>(y[0] * 1.0, pairs, [&](const auto& s, const auto& pair) {
                           const auto next = s * 0.5 + pair[0] * pair[1];
                           return eddy::carry_and_out(next, eddy::vec(next * p[0], next));
                       }).outs;
    const auto walked = eddy::concat(eddy::slice<2, 18>(first), eddy::slice<0, 2>(y));
    const auto second = eddy::scan<20>(first[1] * 1.0, walked, [&](const auto& s, const auto& x) {
                            return eddy::carry_and_out(s * x, s + x);
                        }).outs;
    const auto third =
        eddy::scan<20>(y[5] * p[0], numbers_to<20>(), [](const auto& s, const auto& x) {
            return eddy::carry_and_out(s * 0.5 + x, s * x);
        }).outs;
    const auto behind =
        eddy::concat(eddy::slice<12, 8>(second),
                     eddy::concat(eddy::slice<10, 20>(first), eddy::slice<4, 16>(third)));
    return eddy::concat(eddy::slice<0, 12>(second), eddy::concat(second[15] * y[3], behind));
};
/// Components change places from turn to turn, and are more than registers.
template <int size>
constexpr auto rotated = [](const auto& x, const auto& p) {
    return eddy::repeat<7>(x, [&](const auto& s) {
        const auto turned = eddy::concat(eddy::slice<1, size - 1>(s), s[0]);
        return eddy::concat(eddy::vec(s[1], s[0]),
                            eddy::slice<2, size - 2>(p[0] * turned + p[1] / s));
    });
};
/// A loop in a loop walks along what neither computes.
constexpr auto nested = [](const auto& x, const auto& p) {
    return eddy::repeat<3>(x, [&](const auto& a) {
        return eddy::scan<4>(a, p,
                             [](const auto& s, const auto& q) {
                                 const auto next = s[1] + 0.1 * s[0] * q * q;
                                 return eddy::carry_and_out(eddy::vec(next, s[0]), next);
                             })
            .carry;
    });
};
/// Square roots by Heron's rule: each lane takes its own number of turns.
template <int most, int checkpoints = 0>
constexpr auto heron = [](const auto& x, const auto& p) {
    const auto root_of = [&](const auto& square) {
        return eddy::bounded_while<most>(
            square + p[1], [&](const auto& r) { return abs(r * r - square) > 0.01; },
            [&](const auto& r) { return 0.5 * (r + square / r); }, {.checkpoints = checkpoints});
    };
    return eddy::vec(root_of(p[0] * x[0]), eddy::select(x[1] < 1, root_of(3 * x[1]), x[1]));
};
/// Layers of one W, whose next state is dear to compute.
template <int count>
constexpr auto layers = [](const auto& x, const auto& w) {
    return eddy::repeat<count>(x, [&](const auto& h) {
        return tanh(eddy::dense(eddy::slice<0, 4>(w), eddy::slice<4, 2>(w), h));
    });
};
/// The same with weights of each, of which all turns are seen.
template <int count>
constexpr auto uneven_layers = [](const auto& x, const auto& w) {
    const auto [last, outs] = eddy::scan<count>(x, w, [](const auto& h, const auto& of_layer) {
        const auto next =
            h + tanh(eddy::dense(eddy::slice<0, 4>(of_layer), eddy::slice<4, 2>(of_layer), h));
        return eddy::carry_and_out(next, eddy::vec(next[1] * h[0], next[0]));
    });
    return eddy::concat(outs, last);
};
constexpr auto solved = [](const auto& x, const auto& p) {
    return eddy::root(
        x,
        [&](const auto& z) { return eddy::vec(z[0] * z[0] + z[1] - p[0] - 2, z[1] * z[1] - p[1]); },
        {.tolerance = 1e-6, .max_steps = 30});
};

eddy::SplitGraph split(const auto& f, int size_of_p) {
    return eddy::split_graph(eddy::detail::finish_code(eddy::trace_graph(
                                 f, eddy::Vector<2>{}, eddy::DynamicVector{size_of_p})),
                             {1, 1});
}
/// Numbers in which results differ where all lanes share the second argument from where each has the same as rows.
int count_differences_of_layers(const eddy::Graph& graph) {
    const auto numbers = any_arguments<double>(graph);
    const auto results = [&](const eddy::RowRoles& roles, int width) {
        const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph, roles));
        const bool shares = !roles.shared.empty();
        if (shares) CHECK(code->loops.back().loop.length <= 3);
        std::vector<Rows> blocks(graph.arguments.size() + graph.outputs.size());
        std::vector<const double*> pointers;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const bool is_argument = b < numbers.size();
            const int size =
                is_argument ? graph.arguments[b].size : graph.outputs[b - numbers.size()].size;
            for (int k = 0; k < size; ++k)
                for (int lane = 0; lane < (shares && b == 1 ? 1 : width); ++lane)
                    blocks[b].push_back(is_argument
                                            ? numbers[b][static_cast<std::size_t>(
                                                  k * support::num_row_lanes + (b == 1 ? 0 : lane))]
                                            : 0);
            pointers.push_back(blocks[b].data());
        }
        eddy::RowProgram(code, width, eddy::row_level).run(pointers.data());
        return std::vector<Rows>(blocks.begin() + static_cast<std::ptrdiff_t>(numbers.size()),
                                 blocks.end());
    };
    int differences = 0;
    for (const int width : support::row_widths) {
        const auto of_numbers = results({.adds = {}, .shared = {0, 1}, .summed = {}}, width);
        const auto of_rows = results({}, width);
        for (std::size_t o = 0; o < of_rows.size(); ++o)
            differences += support::count_differences(of_numbers[o], of_rows[o]) != 0;
    }
    return differences;
}

}  // namespace

TEST_CASE("loops over rows: all kinds have the interpreter's bits, forward and back") {
    check_both<3, 2>(repeated);
    check_both<20, 2>(chain);
    check_both<40, 2>(in_pieces);
    check_both<2, 4>(nested);
    check_both<2, 2>(heron<20>);
}
TEST_CASE("loops over rows: states that change places, and do not fit into registers") {
    check_both<5, 2>(rotated<5>);
    check_both<45, 2>(rotated<45>);
}
TEST_CASE("loops over rows: turns that run out, and states that are made again") {
    check_both<2, 2>(heron<2>);
    check_both<2, 2>(heron<20, 3>);
}
TEST_CASE("loops over rows: roots and linear systems") { check_both<2, 2>(solved); }
TEST_CASE("loops over rows: turns with products, several at once, have the bits of rows") {
    for (const eddy::SplitGraph& halves : {split(layers<11>, 6), split(uneven_layers<11>, 66)}) {
        CHECK(count_differences_of_layers(halves.forward) == 0);
        CHECK(count_differences_of_layers(halves.backward) == 0);
    }
}
TEST_CASE("loops over rows: a chain's way back copies neither states nor cotangents") {
    const eddy::Graph graph =
        eddy::detail::finish_code(eddy::trace_graph(chain, eddy::Vector<20>{}, eddy::Vector<2>{}));
    const eddy::ProgramCode code = eddy::row_code(eddy::split_graph(graph, {1, 1}).backward);

    // The state at the start has four components, and four results are no part of what turns stack.
    CHECK(code.operations.size() == 8);
    CHECK(code.loops.size() == 3);
}
