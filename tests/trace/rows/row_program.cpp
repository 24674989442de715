// Programs over rows have the bits of the interpreter, whatever the operations and the width.

#include <algorithm>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/functions.hpp>
#include <eddy/trace/nn/mlp.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/trace.hpp>
#include <limits>
#include <utility>

#include "support/catch.hpp"
#include "support/lane_arrays.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/random_graph.hpp"
#include "support/row_runs.hpp"

namespace {

using support::Rows;

template <class Real = double>
std::vector<support::RowsOf<Real>> any_rows(const eddy::Graph& graph, std::uint64_t seed) {
    const auto arrays = support::any_arguments<Real>(graph, seed, support::num_row_lanes);
    std::vector<support::RowsOf<Real>> rows;
    for (const auto& array : arrays)
        rows.emplace_back(array.data(),
                          array.data() + array.num_components() * support::num_row_lanes);
    return rows;
}

/// Results that differ from the expected ones, at any width.
template <class Real>
int count_differences(const std::shared_ptr<const eddy::ProgramCode>& code,
                      const std::vector<support::RowsOf<Real>>& arguments,
                      const std::vector<support::RowsOf<Real>>& expected) {
    int differences = 0;
    for (const int width : support::row_widths) {
        const auto results = support::run_rows(code, arguments, width);
        REQUIRE(results.size() == expected.size());
        for (std::size_t o = 0; o < results.size(); ++o)
            differences += support::count_differences(results[o], expected[o]) != 0;
    }
    return differences;
}
template <class Real>
int count_differences(const eddy::Graph& graph, std::uint64_t seed) {
    const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));
    const auto arguments = any_rows<Real>(graph, seed);
    return count_differences(code, arguments, support::run_interpreted(graph, arguments));
}

/// Functions whose bits on numbers are the C library's, and on packs and rows those of packs.
bool is_of_library(eddy::Op op) {
    return (op >= eddy::Op::pow && op <= eddy::Op::polygamma && op != eddy::Op::powi &&
            op != eddy::Op::sqrt) ||
           op == eddy::Op::sigmoid || op == eddy::Op::softplus;
}
bool has_library_functions(const eddy::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const eddy::Node& node) { return is_of_library(node.op); });
}

/// A function of one number or two, on all lanes, by packs.
template <eddy::Op op, class Real>
support::RowsOf<Real> of_packs(const std::vector<support::RowsOf<Real>>& x) {
    using P = eddy::Pack<Real, 8>;
    support::RowsOf<Real> results(support::num_row_lanes);
    for (int lane = 0; lane < support::num_row_lanes; lane += 8) {
        const auto load = [&](int c) {
            return P::load(x[0].data() + c * support::num_row_lanes + lane);
        };
        P value;
        if constexpr (op == eddy::Op::polygamma)
            value = polygamma(2, load(0));
        else if constexpr (eddy::operand_count(op) == 1)
            value = eddy::apply<op>(load(0));
        else
            value = eddy::apply<op>(load(0), load(1));
        value.store(results.data() + lane);
    }
    return results;
}
template <eddy::Op op, class Real>
void check_function() {
    eddy::Graph graph;
    graph.arguments = {{2, false}};
    std::vector<int> operands;
    for (int c = 0; c < eddy::operand_count(op); ++c)
        operands.push_back(graph.push_argument(0, c, 1));
    graph.push_output(
        {graph.push_list({.op = op, .index = op == eddy::Op::polygamma ? 2 : 0}, operands)}, 1,
        true);
    const auto arguments = any_rows<Real>(graph, 3);
    const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));

    INFO(eddy::name(op));
    CHECK(count_differences(code, arguments, {of_packs<op>(arguments)}) == 0);
}

}  // namespace

TEST_CASE("row_program: each operation on numbers has the interpreter's bits") {
    using eddy::Op;
    for (int k = 0; k <= static_cast<int>(Op::select); ++k) {
        const Op op = static_cast<Op>(k);
        if (!eddy::is_elementwise(op) || eddy::is_mask(op) || is_of_library(op)) continue;
        eddy::Graph graph;
        graph.arguments = {{1, true}, {3, false}, {1, false}};
        std::vector<int> operands;
        if (op == Op::select)
            operands.push_back(graph.push({.op = Op::less}, graph.push_argument(0, 0, 1),
                                          graph.push_argument(2, 0, 1)));
        for (int c = static_cast<int>(operands.size()); c < eddy::operand_count(op); ++c)
            operands.push_back(graph.push_argument(1, c, 1));
        graph.push_output({graph.push_list({.op = op, .index = op == Op::powi ? 5 : 0}, operands)},
                          1, true);

        INFO(eddy::name(op));
        CHECK(count_differences<double>(graph, 1) == 0);
        CHECK(count_differences<float>(graph, 1) == 0);
    }
}

TEST_CASE("row_program: functions have the bits of packs at every width") {
    []<int... k>(std::integer_sequence<int, k...>) {
        const auto check = []<int op_index>() {
            constexpr eddy::Op op = static_cast<eddy::Op>(op_index);
            if constexpr (eddy::is_elementwise(op) &&
                          ((op >= eddy::Op::pow && op <= eddy::Op::polygamma &&
                            op != eddy::Op::powi) ||
                           op == eddy::Op::sigmoid || op == eddy::Op::softplus))
                check_function<op, double>(), check_function<op, float>();
        };
        (check.template operator()<k>(), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(eddy::Op::select)>{});
}

TEST_CASE("row_program: random programs have the interpreter's bits") {
    int num_run = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const eddy::Graph graph = eddy::passes::contract(
            eddy::passes::simplify(support::random_graph(seed, 3 + static_cast<int>(seed % 30))));
        if (has_library_functions(graph)) continue;
        ++num_run;

        INFO("seed " << seed);
        CHECK(count_differences<double>(graph, seed) == 0);
        CHECK(count_differences<float>(graph, seed) == 0);
    }
    CHECK(num_run > 100);
}

TEST_CASE("row_program: a function of what the same function has made is a call of its own") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x) {
            const auto cubed = [](const auto& z) { return pow(z, 3); };
            const auto a = cubed(x[0]), b = cubed(a), c = cubed(b), d = cubed(c), e = cubed(d);
            return eddy::vec(a, b, c, d, e, cubed(x[1]), cubed(x[2]), cubed(x[3]), cubed(x[4]));
        },
        eddy::DynamicVector{5});

    CHECK(count_differences<double>(graph, 1) == 0);
    CHECK(count_differences<float>(graph, 2) == 0);
}

TEST_CASE("row_program: a result that adds leaves what was there before") {
    const eddy::Graph graph =
        eddy::trace_graph([](const auto& x) { return eddy::vec(x[0] * x[1], x[0], x[0] * x[1]); },
                          eddy::DynamicVector{2});
    const auto code = std::make_shared<const eddy::ProgramCode>(
        eddy::row_code(graph, {.adds = {1}, .shared = {}, .summed = {}}));
    eddy::RowProgram program(code, 1, eddy::row_level);
    const double x[] = {2, 3};
    double sum[] = {100, 200, 300};
    const double* const blocks[] = {x, sum};

    program.run(blocks);
    program.run(blocks);

    CHECK(sum[0] == 112);
    CHECK(sum[1] == 204);
    CHECK(sum[2] == 312);
}

TEST_CASE("row_program: what the next operation alone reads takes no row") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x) {
            auto sum = x[0] * x[1];
            for (int k = 2; k < 100; ++k) sum = (sum + x[k]) * x[k];
            return sum;
        },
        eddy::DynamicVector{100});

    const eddy::ProgramCode code = eddy::row_code(graph);

    CHECK(code.num_scratch == 0);
    CHECK(code.operations.size() == 1 + 2 * 98);
}

namespace {

template <class Real>
void check_layers() {
    using Rows = support::RowsOf<Real>;
    using Program = eddy::RowProgramOf<Real>;
    constexpr auto network = eddy::nn::mlp<2, 6, 5, 2>(eddy::nn::tanh);
    constexpr int num_weights = network.parameter_size;
    const eddy::Graph graph = eddy::trace_graph(network, eddy::Scalar{}, eddy::DynamicVector{2},
                                                eddy::DynamicVector{num_weights});
    const auto of_rows = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));
    const auto of_numbers = std::make_shared<const eddy::ProgramCode>(
        eddy::row_code(graph, {.adds = {}, .shared = {0, 0, 1}, .summed = {}}));
    support::Random random(3);
    Rows y(2 * 64), numbers(num_weights), weights;
    for (Real& x : y) x = static_cast<Real>(random.uniform(-1, 1));
    for (Real& x : numbers) x = static_cast<Real>(random.uniform(-1, 1));

    CHECK(of_numbers->blocks.size() == 3);
    CHECK(of_numbers->operations.size() == 6 + 5);
    for (const int width : support::row_widths) {
        weights.clear();
        for (const Real x : numbers) weights.insert(weights.end(), std::size_t(width), x);
        const Rows t(64, Real(0));
        Rows expected(std::size_t(2 * width)), results(std::size_t(2 * width));
        const Real* const blocks[] = {t.data(), y.data(), weights.data(), expected.data()};
        const Real* const shared[] = {t.data(), y.data(), numbers.data(), results.data()};
        Program(of_rows, width, eddy::row_level).run(blocks);
        Program(of_numbers, width, eddy::row_level).run(shared);

        CHECK(support::count_differences(results, expected) == 0);
    }
}

}  // namespace

TEST_CASE(
    "row_program: a layer whose weights all lanes share is one operation, with the same bits") {
    check_layers<double>();
    check_layers<float>();
}

namespace {

bool runs_fused_programs() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}
/// A network of 64 lanes and the sum of their outer products, in tiles of a width.
template <class Real>
std::vector<support::RowsOf<Real>> results_at(eddy::RowLevel level, int width) {
    using Rows = support::RowsOf<Real>;
    constexpr auto network = eddy::nn::mlp<6, 24, 19, 6>(eddy::nn::tanh);
    constexpr int num_weights = network.parameter_size;
    eddy::Graph graph = eddy::trace_graph(network, eddy::Scalar{}, eddy::DynamicVector{6},
                                          eddy::DynamicVector{num_weights});
    graph.arguments.push_back({24, false});
    const int y = graph.push_argument(1, 0, 6), v = graph.push_argument(3, 0, 24);
    graph.push_output({graph.push({.op = eddy::Op::outer, .size = 6 * 24}, y, v)}, 6 * 24, false);
    const auto code = std::make_shared<const eddy::ProgramCode>(
        eddy::row_code(graph, {.adds = {}, .shared = {0, 0, 1}, .summed = {0, 1}}));
    eddy::RowProgramOf<Real> program(code, width, level);
    support::Random random(3);
    const auto any = [&](int size) {
        Rows numbers;
        for (int k = 0; k < size; ++k) numbers.push_back(static_cast<Real>(random.uniform(-1, 1)));
        return numbers;
    };
    const int lanes = support::num_row_lanes;
    const Rows t(64), of_y = support::to_tiles(any(6 * lanes), 6, width),
                      weights = any(num_weights),
                      of_v = support::to_tiles(any(24 * lanes), 24, width);
    Rows results(std::size_t(6 * lanes)), sum(6 * 24, Real(1));
    std::vector<int> all;
    for (int lane = 0; lane < width; ++lane) all.push_back(lane);
    for (int first = 0; first < lanes; first += width) {
        const Real* const blocks[] = {t.data(),
                                      of_y.data() + 6 * first,
                                      weights.data(),
                                      of_v.data() + 24 * first,
                                      results.data() + 6 * first,
                                      sum.data()};
        program.run(blocks, {all.data(), width});
    }
    return {support::from_tiles(results, 6, width), sum};
}
template <class Real>
void check_wide_vectors(eddy::RowLevel level) {
    const auto expected = results_at<Real>(level, 1);
    CHECK(expected[1][0] != Real(1));
    for (const int width : support::row_widths) {
        const auto results = results_at<Real>(level, width);
        CHECK(support::count_differences(results[0], expected[0]) == 0);
        CHECK(support::count_differences(results[1], expected[1]) == 0);
    }
}

}  // namespace

TEST_CASE("row_program: vectors of 32 and of 64 bytes, where there are any, change no bits") {
    for (const eddy::RowLevel level : {eddy::RowLevel::plain, eddy::RowLevel::fused}) {
        if (level == eddy::RowLevel::fused && !runs_fused_programs()) continue;
        check_wide_vectors<double>(level);
        check_wide_vectors<float>(level);
    }
}
TEST_CASE("row_program: functions of numbers that follow each other have the bits of each") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const auto& x, const auto& y) {
            return eddy::concat(eddy::concat(tanh(x), exp(eddy::concat(y, x))), tanh(y));
        },
        eddy::DynamicVector{7}, eddy::DynamicVector{6});
    const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));
    const std::vector<Rows> arguments = any_rows(graph, 5);
    const std::vector<Rows> expected = support::run_rows(code, arguments, 64);

    for (const int width : support::row_widths)
        CHECK(support::count_differences(support::run_rows(code, arguments, width)[0],
                                         expected[0]) == 0);
}
/// Reads, adds and finds at places, some of them outside, of constants and of each lane's own numbers.
eddy::Graph tables(int size, bool is_even) {
    using eddy::Op;
    eddy::Graph graph;
    graph.arguments = {{1, true}, {1, true}, {9, false}, {3, false}};
    const int place = graph.push_argument(0, 0, 1), x = graph.push_argument(1, 0, 1),
              own = graph.push_argument(2, 0, 9), added = graph.push_argument(3, 0, 3);
    const int offset = static_cast<int>(graph.constants.size());
    for (int k = 0; k < 9; ++k)
        graph.constants.push_back(0.5 * k - 2 + (is_even ? 0 : 0.01 * k * k));
    const int knots = graph.push({.op = Op::constant, .size = 9, .offset = offset});
    const int more = graph.push({.op = Op::add_at, .size = 9}, own, place, added);
    graph.push_output({graph.push({.op = Op::at, .size = size}, knots, place)}, size, false);
    graph.push_output({graph.push({.op = Op::at, .size = size}, more, place)}, size, false);
    graph.push_output({more}, 9, false);
    graph.push_output({graph.push({.op = Op::add_at, .size = 9}, graph.push_zeros(9), x, added)}, 9,
                      false);
    graph.push_output({graph.push({.op = Op::knot, .index = is_even}, knots, x)}, 1, true);
    return graph;
}

template <class Real>
void check_tables() {
    for (const int size : {1, 4}) {
        for (const bool is_even : {false, true}) {
            const eddy::Graph graph = tables(size, is_even);
            auto arguments = any_rows<Real>(graph, 7);
            for (int lane = 0; lane < support::num_row_lanes; ++lane)
                arguments[0][std::size_t(lane)] = static_cast<Real>(0.23 * lane - 3);
            arguments[0][5] = std::numeric_limits<Real>::quiet_NaN();
            const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph));

            CHECK(count_differences(code, arguments, support::run_interpreted(graph, arguments)) ==
                  0);
        }
    }
}
TEST_CASE("row_program: tables have the interpreter's bits, inside and outside") {
    check_tables<double>();
    check_tables<float>();
}
TEST_CASE("row_program: what is added at places of a result makes no vector of its length") {
    constexpr int length = 1000, lanes = 8;
    eddy::Graph graph;
    graph.arguments = {{1, true}, {2, false}, {1, true}, {3, false}};
    int added = graph.push_zeros(length);
    for (const int k : {0, 2}) {
        const int size = graph.arguments[std::size_t(k + 1)].size;
        added = graph.push({.op = eddy::Op::add_at, .size = length}, added,
                           graph.push_argument(k, 0, 1), graph.push_argument(k + 1, 0, size));
    }
    graph.push_output({graph.push_argument(0, 0, 1), added}, 1 + length, false);
    Rows first(lanes), two(2 * lanes, 0.25), second(lanes, 3.5), three(3 * lanes, 2);
    for (int lane = 0; lane < lanes; ++lane) first[std::size_t(lane)] = 2 * lane - 1;
    first[7] = 1e9;
    const auto run = [&](const eddy::RowRoles& roles, Rows result) {
        const auto code = std::make_shared<const eddy::ProgramCode>(eddy::row_code(graph, roles));
        CHECK(code->num_scratch < 10);
        CHECK(code->operations.size() < 10);
        const double* const blocks[] = {first.data(), two.data(), second.data(), three.data(),
                                        result.data()};
        const int chosen[] = {0, 3, 7};
        eddy::RowProgram(code, lanes, eddy::row_level).run(blocks, {chosen, 3});
        return result;
    };

    const Rows rows = run({.adds = {1}, .shared = {}, .summed = {}}, Rows(1001 * lanes, 100));
    const Rows sums = run({.adds = {}, .shared = {}, .summed = {1}}, Rows(1001, 100));

    int differences = 0;
    for (int c = 0; c < 1001; ++c) {
        double sum = 100;
        for (int lane = 0; lane < lanes; ++lane) {
            const double at = first[std::size_t(lane)];
            double more = c == 0 ? at : 0;
            if (c > 0 && (c - 1 == at || c - 2 == at)) more += 0.25;
            if (c > 3 && c <= 6) more += 2;
            differences += rows[std::size_t(c * lanes + lane)] != 100 + more;
            if (lane == 0 || lane == 3 || lane == 7) sum += more;
        }
        differences += sums[std::size_t(c)] != sum;
    }
    CHECK(differences == 0);
}
TEST_CASE("row_program: widths that there are none of are refused in a sentence") {
    const auto code = std::make_shared<const eddy::ProgramCode>();
    CHECK(support::message_of([&] { (void)eddy::RowProgram(code, 12, eddy::row_level); }) ==
          "RowProgram: tiles of 12 lanes; take 1, 8, 16, 32 or 64");
}
