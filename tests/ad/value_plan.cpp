#include <algorithm>
#include <cstdint>
#include <eddy/ad/value_plan.hpp>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/golden_plans.hpp"

using eddy::KeptValues;
using eddy::ValueCost;
using eddy::detail::ValuePlanner;
using support::next;

namespace {

struct GoldenProgram {
    std::vector<ValueCost> values;
    std::int64_t budget, cost;  // cost -1: nothing fits
    std::int64_t per_byte, per_cost, cut;
    std::vector<std::pair<std::int64_t, std::int64_t>> hull;  // bytes, cost
    std::int64_t least_bytes;                                 // without computing these again
    std::vector<std::size_t> never;
};

std::vector<GoldenProgram> golden_programs() {
    std::vector<GoldenProgram> programs;
    auto numbers = support::golden_plans("programs.txt");
    for (std::size_t count; numbers >> count;) {
        GoldenProgram& program = programs.emplace_back();
        numbers >> program.budget >> program.cost;
        next(numbers);  // the bytes of one optimum: there may be others
        numbers >> program.per_byte >> program.per_cost >> program.cut;
        program.hull.resize(next<std::size_t>(numbers));
        for (auto& [bytes, cost] : program.hull) numbers >> bytes >> cost;
        numbers >> program.least_bytes;
        program.never.resize(next<std::size_t>(numbers));
        for (std::size_t& v : program.never) numbers >> v;
        program.values.resize(count);
        for (ValueCost& value : program.values) {
            numbers >> value.cost >> value.bytes >> value.read >> value.recomputable;
            value.operands.resize(next<std::size_t>(numbers));
            for (int& operand : value.operands) numbers >> operand;
        }
    }
    return programs;
}

/// Bytes and cost of what is kept, by the definition.
std::pair<std::int64_t, std::int64_t> bytes_and_cost(const std::vector<ValueCost>& values,
                                                     const eddy::List<char>& kept) {
    std::int64_t bytes = 0, cost = 0;
    std::vector<char> again(values.size());
    for (std::size_t v = values.size(); v-- > 0;) {  // operands come before
        if (kept[v] != 0) {
            bytes += values[v].bytes;
        } else if (values[v].read || again[v] != 0) {
            cost += values[v].recomputable ? values[v].cost : std::int64_t{1} << 40;
            for (int operand : values[v].operands) again[static_cast<std::size_t>(operand)] = 1;
        }
    }
    return {bytes, cost};
}

std::vector<ValueCost> random_program(std::mt19937& random, int count) {
    std::vector<ValueCost> values(static_cast<std::size_t>(count));
    for (int v = 0; v < count; ++v) {
        ValueCost& value = values[static_cast<std::size_t>(v)];
        value.cost = static_cast<std::int64_t>(random() % 10);
        value.bytes = 1 + static_cast<std::int64_t>(random() % 8);
        value.read = random() % 2 == 0;
        for (int k = 0; k < 2 && v > 0; ++k)
            value.operands.push_back(static_cast<int>(random() % static_cast<unsigned>(v)));
    }
    return values;
}

}  // namespace

// row 65: the best choice of the values of one program, by bytes
TEST_CASE("plan_values: cost, bytes and validity equal the golden programs") {
    for (const GoldenProgram& program : golden_programs()) {
        const KeptValues plan = eddy::plan_values(program.values, program.budget);
        CHECK(plan.fits == (program.cost >= 0));
        if (!plan.fits) {
            CHECK(ValuePlanner(program.values).fewest_bytes().bytes == program.hull[0].first);
            continue;
        }
        CHECK(plan.cost == program.cost);
        CHECK(plan.least_cost == program.cost);
        CHECK(plan.bytes <= program.budget);
        CHECK(bytes_and_cost(program.values, plan.kept) == std::pair(plan.bytes, plan.cost));
    }
}

TEST_CASE("plan_values: cuts, hull and least bytes equal the golden programs") {
    for (const GoldenProgram& program : golden_programs()) {
        ValuePlanner planner(program.values);
        const KeptValues cut = planner.cut(program.per_byte, program.per_cost);
        CHECK(program.per_byte * cut.bytes + program.per_cost * cut.cost == program.cut);
        for (const auto& [bytes, cost] : program.hull) {
            const KeptValues corner = planner.corner(bytes);
            CHECK(std::pair(corner.bytes, corner.cost) == std::pair(bytes, cost));
            CHECK(corner.least_cost == cost);
        }
        auto values = program.values;
        for (ValueCost& value : values) value.recomputable = true;
        for (std::size_t v : program.never) values[v].recomputable = false;
        CHECK(ValuePlanner(values).fewest_bytes().bytes == program.least_bytes);
    }
}

TEST_CASE("plan_values: no choice of the values of a short program is better") {
    std::mt19937 random(5);
    for (int repetition = 0; repetition < 100; ++repetition) {
        const auto values = random_program(random, 8);
        const auto budget = static_cast<std::int64_t>(random() % 30);
        std::int64_t least = std::int64_t{1} << 40;
        for (unsigned set = 0; set < 256; ++set) {
            std::vector<char> kept(8);
            for (unsigned v = 0; v < 8; ++v) kept[v] = static_cast<char>(set >> v & 1);
            const auto [bytes, cost] = bytes_and_cost(values, kept);
            if (bytes <= budget) least = std::min(least, cost);
        }
        CHECK(eddy::plan_values(values, budget).cost == least);
        const KeptValues rough = eddy::plan_values(values, budget, 0);
        CHECK(rough.cost >= least);
        CHECK(rough.least_cost <= least);
    }
}

TEST_CASE("plan_values: the optimum of 60 values, with a proof") {
    std::mt19937 random(6);
    for (int repetition = 0; repetition < 20; ++repetition) {
        const KeptValues plan = eddy::plan_values(random_program(random, 60), 50);
        CHECK(plan.cost == plan.least_cost);
        CHECK(plan.bytes <= 50);
    }
}

namespace {

constexpr std::int64_t cost_at_compile_time() {
    std::vector<ValueCost> values(3);
    for (ValueCost& value : values) value = {.cost = 2, .bytes = 4, .read = true};
    values[2].operands = {0, 1};
    return eddy::plan_values(values, 8, 0).cost;
}
static_assert(cost_at_compile_time() == 2);

}  // namespace
