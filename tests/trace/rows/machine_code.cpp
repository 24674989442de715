// Machine code has the bits of the list that is walked, at every width and level, and is made once for all who walk a list.

#include <eddy/ad/split.hpp>
#include <eddy/trace/functions.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/nn/mlp.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/trace.hpp>
#include <limits>
#include <thread>

#include "support/catch.hpp"
#include "support/chain_of_species.hpp"
#include "support/lane_arrays.hpp"
#include "support/random_graph.hpp"
#include "support/row_runs.hpp"

namespace {

using eddy::MachineCodeUse;
using eddy::Op;
using eddy::RowLevel;
using Code = std::shared_ptr<const eddy::ProgramCode>;

Code code_of(const eddy::Graph& graph, const eddy::RowRoles& roles = {}) {
    return std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph, roles));
}
bool has_machine_code() {
    const Code code = code_of(
        eddy::trace_graph([](const auto& x) { return x[0] * x[1]; }, eddy::DynamicVector{2}));
    return eddy::RowProgram(code, 8, eddy::row_level, MachineCodeUse::where_possible)
        .runs_machine_code();
}
/// Of this processor.
std::vector<RowLevel> levels() {
    std::vector<RowLevel> all{RowLevel::plain};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        all.push_back(RowLevel::fused);
#endif
    return all;
}

/// Numbers of all kinds for 64 lanes: zeros of both signs, infinities, NaN, tiny and huge ones among them.
template <class Real>
std::vector<support::RowsOf<Real>> any_rows(const eddy::Graph& graph, std::uint64_t seed) {
    using Limits = std::numeric_limits<Real>;
    const Real special[] = {Real(0),
                            -Real(0),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::max(),
                            Limits::denorm_min(),
                            Real(1)};
    support::Random random(seed);
    std::vector<support::RowsOf<Real>> rows;
    for (const eddy::Argument& argument : graph.arguments) {
        auto& row = rows.emplace_back();
        for (int k = 0; k < argument.size * support::num_row_lanes; ++k)
            row.push_back(random.one_in(4) ? special[random.below(8)]
                                           : static_cast<Real>(random.uniform(-2, 2)));
    }
    return rows;
}

/// Results of machine code that differ from those of the list, at any width and level.
template <class Real>
int count_differences(const eddy::Graph& graph, std::uint64_t seed) {
    const Code code = code_of(graph);
    const auto arguments = any_rows<Real>(graph, seed);
    int differences = 0;
    for (const RowLevel level : levels()) {
        for (const int width : support::row_widths) {
            const auto walked =
                support::run_rows(code, arguments, width, MachineCodeUse::never, level);
            const auto results =
                support::run_rows(code, arguments, width, MachineCodeUse::where_possible, level);
            for (std::size_t o = 0; o < results.size(); ++o)
                differences += support::count_differences(results[o], walked[o]) != 0;
        }
    }
    return differences;
}

/// One operation on rows, on numbers that all lanes share, and on the last result.
eddy::Graph all_operands(Op op) {
    eddy::Graph graph;
    graph.arguments = {{3, false}, {1, true}};
    const auto mask = [&](int a, int b) { return graph.push({.op = Op::less}, a, b); };
    const int rows[] = {graph.push_argument(0, 0, 1), graph.push_argument(0, 1, 1),
                        graph.push_argument(0, 2, 1)},
              other = graph.push_argument(1, 0, 1), number = graph.push_constant(-0.75);
    const bool reads_masks = op == Op::mask_and || op == Op::mask_or || op == Op::mask_not;
    std::vector<int> results;
    const auto push = [&](std::vector<int> operands) {
        operands.resize(static_cast<std::size_t>(eddy::operand_count(op)));
        for (std::size_t k = 0; k < operands.size(); ++k)
            if (reads_masks || (op == Op::select && k == 0)) operands[k] = mask(operands[k], other);
        int value = graph.push_list({.op = op}, operands);
        if (eddy::is_mask(op)) value = graph.push({.op = Op::select}, value, rows[0], other);
        results.push_back(value);
    };
    const int sum = graph.push({.op = Op::add}, rows[0], other);
    push({rows[0], rows[1], rows[2]});
    push({rows[0], rows[0], rows[2]});
    push({rows[0], rows[1], rows[0]});
    push({rows[0], rows[1], rows[1]});
    push({rows[1], rows[1], rows[1]});
    push({number, rows[1], rows[2]});
    push({rows[0], number, rows[2]});
    push({rows[0], rows[1], number});
    push({sum, rows[1], rows[2]});
    push({rows[1], sum, rows[2]});
    push({rows[2], rows[1], sum});
    push({sum, sum, sum});
    graph.push_output(results, static_cast<int>(results.size()), false);
    return graph;
}

}  // namespace

TEST_CASE("machine_code: each operation has the bits of the list that is walked") {
    for (int k = 0; k <= static_cast<int>(Op::select); ++k) {
        const Op op = static_cast<Op>(k);
        const bool is_function = op >= Op::pow && op <= Op::polygamma && op != Op::sqrt;
        if (!eddy::is_elementwise(op) || is_function) continue;

        INFO(eddy::name(op));
        CHECK(count_differences<double>(all_operands(op), 1) == 0);
        CHECK(count_differences<float>(all_operands(op), 2) == 0);
    }
}

TEST_CASE("machine_code: random programs have the bits of the list that is walked") {
    int num_run = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const eddy::Graph graph = eddy::passes::contract(
            eddy::passes::simplify(support::random_graph(seed, 3 + static_cast<int>(seed % 60))));

        INFO("seed " << seed);
        CHECK(count_differences<double>(graph, seed) == 0);
        CHECK(count_differences<float>(graph, seed) == 0);
        ++num_run;
    }
    CHECK(num_run == 400);
}

TEST_CASE(
    "machine_code: more values than registers are kept in their rows, and wide rows stay whole") {
    constexpr int size = 200;
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x) {
            auto values = x * x;
            for (int round = 0; round < 3; ++round) {
                auto sum = values[0] * x[1];
                for (int k = 1; k < size; ++k) sum = values[k] * x[size - 1 - k] + sum;
                const auto other = max(-x, sqrt(abs(values)));
                values = values * sum + exp(values[3]) * select(x < values, x, other);
            }
            return values;
        },
        eddy::DynamicVector{size});

    CHECK(count_differences<double>(graph, 1) == 0);
    CHECK(count_differences<float>(graph, 1) == 0);
    const auto runs_at = [code = code_of(graph)](int width) {
        return eddy::RowProgram(code, width, RowLevel::fused).runs_machine_code();
    };
    CHECK(runs_at(16) == has_machine_code());
    CHECK(runs_at(32) == (has_machine_code() && eddy::detail::has_wide_vectors()));
}

namespace {

constexpr auto with_functions = [](const auto& x, const auto& p) {
    return tanh(p[0] * x) + eddy::vec(exp(x[1]), pow(x[0], p[1]), pow(x[2], 3), sin(x[4]),
                                      atan2(x[1], x[2]), log(abs(x[0])), x[3], x[5]);
};
/// More states than registers, and many functions that follow each other.
constexpr auto repeated = [](const auto& x, const auto& p) {
    return eddy::repeat<5>(x, [&](const auto& s) { return with_functions(s, p); });
};
constexpr auto stacked = [](const auto& x, const auto& p) {
    return eddy::scan<8>(p[0] * 1.0, x,
                         [](const auto& s, const auto& part) {
                             const auto next = s * 0.5 + exp(-part);
                             return eddy::carry_and_out(next,
                                                        eddy::vec(sin(next), exp(part), next));
                         })
        .outs;
};
/// Kepler's equation: each lane leaves in its own turn, by a condition that calls a function.
constexpr auto kepler = [](const auto& x, const auto& p) {
    const auto solve = [&](const auto& mean) {
        return eddy::bounded_while<20>(
            mean + p[0] * 0.5, [&](const auto& e) { return abs(e - 0.5 * sin(e) - mean) > 1e-6; },
            [&](const auto& e) { return e - (e - 0.5 * sin(e) - mean) / (1 - 0.5 * cos(e)); });
    };
    return eddy::vec(solve(x[0]), eddy::select(x[1] < 1, solve(3 * x[1]), x[1]));
};

}  // namespace

TEST_CASE("machine_code: turns that call functions, forward and back") {
    const auto check = [](const auto& f, bool back) {
        const eddy::Graph graph =
            eddy::detail::finish_code(eddy::trace_graph(f, eddy::Vector<8>{}, eddy::Vector<2>{}));
        const eddy::SplitGraph split = eddy::split_graph(graph, {1, 1});
        for (const eddy::Graph* part : {&graph, &split.forward, &split.backward}) {
            if (part == &split.backward && !back) continue;
            CHECK(count_differences<double>(*part, 1) == 0);
            CHECK(count_differences<float>(*part, 2) == 0);
        }
    };
    check(repeated, true);
    check(stacked, true);
    check(kepler,
          false);  // back it is told how many turns were taken, which is no number of any kind

    const Code code = code_of(eddy::detail::finish_code(
        eddy::trace_graph(repeated, eddy::Vector<8>{}, eddy::Vector<2>{})));
    CHECK(eddy::RowProgram(code, 8, RowLevel::fused).runs_machine_code() == has_machine_code());
}

TEST_CASE("machine_code: threads that ask at once share one") {
    if (!has_machine_code()) return;
    const Code code = code_of(eddy::trace_graph([](const auto& x) { return x[0] * x[1] + x[0]; },
                                                eddy::DynamicVector{2}));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (int& of_thread : wrong) {
        threads.emplace_back([&] {
            eddy::RowProgramOf<float> program(code, 16, eddy::row_level);
            const std::vector<float> numbers(32, 3.f);
            std::vector<float> result(16);
            const float* const blocks[] = {numbers.data(), result.data()};
            program.run(blocks);
            of_thread = !program.runs_machine_code();
            for (const float r : result) of_thread += r != 12.f;
        });
    }
    for (std::thread& thread : threads) thread.join();

    CHECK(wrong == std::vector<int>(4, 0));
    CHECK_FALSE(
        eddy::RowProgram(code, 8, eddy::row_level, MachineCodeUse::never).runs_machine_code());
}

TEST_CASE(
    "machine_code: layers stay with their kernels, and what is between them has the same bits") {
    constexpr auto network = eddy::nn::mlp<2, 6, 5, 2>(eddy::nn::relu);
    const eddy::Graph graph = eddy::trace_graph(network, eddy::Scalar{}, eddy::DynamicVector{2},
                                                eddy::DynamicVector{network.parameter_size});
    const Code code = code_of(graph, {.adds = {}, .shared = {0, 0, 1}, .summed = {}});
    const auto arguments = any_rows<double>(graph, 3);
    for (const int width : support::row_widths) {
        support::Rows results[2];
        for (const bool is_made : {false, true}) {
            support::Rows& result = results[is_made];
            result.resize(static_cast<std::size_t>(2 * width));
            const double* const blocks[] = {arguments[0].data(), arguments[1].data(),
                                            arguments[2].data(), result.data()};
            eddy::RowProgram(code, width, eddy::row_level,
                             is_made ? MachineCodeUse::where_possible : MachineCodeUse::never)
                .run(blocks);
        }

        CHECK(support::count_differences(results[1], results[0]) == 0);
    }
}
