// Dyadic steps: their places and sizes, and that the path along them is the one path of its cells.

#include <cmath>
#include <eddy/steppers/brownian/dyadic_path.hpp>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

using eddy::CellRow;
using eddy::NoisePlan;
using Grid = eddy::detail::DyadicGrid<double>;

Grid grid_of(double cell, int depth, const CellRow& row) {
    Grid grid;
    grid.begin(cell, depth);
    grid.head_for(0, row);
    return grid;
}
/// The path of a step from `elapsed`.
eddy::DyadicPath<double> path_at(const Grid& grid, const NoisePlan& plan, double elapsed,
                                 double size) {
    return {{3, elapsed, size}, plan, grid.noise_at(grid.place_at(elapsed), size)};
}
struct Step {
    double elapsed, size;
};
/// Steps of sizes that a generator wants, over a row.
std::vector<Step> random_steps(const Grid& grid, const CellRow& row, double least,
                               std::mt19937& random) {
    std::vector<Step> steps;
    std::uniform_real_distribution<double> exponent(std::log(least), std::log(row.end - row.begin));
    double elapsed = row.begin;
    while (elapsed < row.end) {
        const auto here = grid.place_at(elapsed);
        const double size = grid.size_at(here, std::exp(exponent(random)));
        steps.push_back({elapsed, size});
        elapsed = grid.end_of(here, size, row.end);
    }
    CHECK(elapsed == row.end);
    return steps;
}

}  // namespace

TEST_CASE("dyadic: steps end on the tstop, begin where others end, and are parts of their cells") {
    std::mt19937 random(1);
    for (const double origin : {0., 0.37, 1e3, 1e6}) {
        for (const double count : {1., 2., 7.}) {
            for (const double rest : {0.011, 0.4, 0.99999999999, 1., 1.01}) {
                const double cell = 0.3;
                const CellRow row{origin, origin + (count - 1 + rest) * cell, 5, count};
                const Grid grid = grid_of(cell, 12, row);
                for (const Step& step : random_steps(grid, row, 1e-3, random)) {
                    const auto here = grid.place_at(step.elapsed);
                    const double part = Grid::part_of(here, step.size);
                    int exponent = 0;
                    REQUIRE(std::frexp(part, &exponent) == 0.5);
                    REQUIRE(part <= 1);
                    REQUIRE(std::fmod(here.units, part * 4096) == 0);
                    const auto noise = grid.noise_at(here, step.size);
                    REQUIRE(noise.units >= 0);
                    REQUIRE(noise.units + part * 4096 <= 4096);
                    REQUIRE(noise.cell >= 5);
                    REQUIRE(noise.cell <= 4 + count);
                }
            }
        }
    }
}

TEST_CASE("dyadic: a step is as large as is wanted and as its place allows") {
    const CellRow row{0, 4, 0, 4};
    const Grid grid = grid_of(1, 10, row);
    const auto size = [&](double elapsed, double wanted) {
        return grid.size_at(grid.place_at(elapsed), wanted);
    };
    CHECK(size(0, 100) == 1);
    CHECK(size(0, 1) == 1);
    CHECK(size(0, 0.98) == 0.5);
    CHECK(size(0, 0.995) == 1);  // a hundredth more is as good
    CHECK(size(0.5, 100) == 0.5);
    CHECK(size(0.75, 0.3) == 0.25);
    CHECK(size(0.25, 1) == 0.25);
    CHECK(size(3, 1) == 1);
    CHECK(size(1 - 1. / 1024, 1) == 1. / 1024);
    CHECK(size(0, 1e-9) == 1. / 1024);
    CHECK(size(0, 0) == 1. / 1024);
    CHECK(grid.end_of(grid.place_at(3.5), 0.5, 4) == 4);
}

TEST_CASE("dyadic: no step crosses the end of one that was looked at before it") {
    std::mt19937 random(2);
    const CellRow row{0, 3.3, 0, 4};
    const Grid grid = grid_of(1, 10, row);
    double elapsed = 0;
    std::vector<double> looked_at;
    while (elapsed < row.end) {
        const auto here = grid.place_at(elapsed);
        double wanted = 2, size = 0;
        do {  // rejected so and so often
            size = grid.size_at(here, wanted);
            looked_at.push_back(grid.end_of(here, size, row.end));
            wanted = size * 0.4;
        } while (random() % 3 != 0 && size > grid.least_at(here));
        const double end = looked_at.back();
        for (const double time : looked_at) CHECK((time <= elapsed || time >= end));
        elapsed = end;
    }
}

TEST_CASE("dyadic: increments are those of steps of that constant size, bit for bit") {
    std::mt19937 random(3);
    NoisePlan plan, constant;
    plan.key = constant.key = eddy::PhiloxKey(9);
    plan.level = 10;
    const double cell = 0.25;
    const CellRow row{0, 8 * cell, 0, 8};
    const Grid grid = grid_of(cell, plan.level, row);
    for (const Step& step : random_steps(grid, row, 1e-3, random)) {
        constant.level = static_cast<int>(std::lround(std::log2(cell / step.size)));
        const eddy::BrownianPath<double> expected({3, step.elapsed, step.size}, constant,
                                                  {0, std::round(step.elapsed / step.size)});
        const auto both = expected.increments<double, 2, true>();
        const auto found =
            path_at(grid, plan, step.elapsed, step.size).increments<double, 2, true>();
        for (int k = 0; k < 2; ++k) {
            REQUIRE(found.w[k] == both.w[k]);
            REQUIRE(found.h[k] == both.h[k]);
        }
    }
}

TEST_CASE("dyadic: a pack has the steps and the path of each of its lanes") {
    using Pack = eddy::Pack<double, 8>;
    NoisePlan plan;
    plan.key = eddy::PhiloxKey(4);
    plan.level = 9;
    eddy::detail::DyadicGrid<Pack> grid;
    grid.begin(0.1, plan.level);
    Pack elapsed(0.), lanes(3.), tstop(0.);
    const double at[8] = {0, 0.05, 0.025, 0.1, 0.1625, 0.2, 0.31, 0.2125},
                 wanted[8] = {1, 0.02, 1, 0.01, 0.03, 1e-3, 1, 0.0126};
    CellRow rows[8];
    Pack want(0.);
    for (int i = 0; i < 8; ++i) {
        rows[i] = {0, 0.33 + 0.003 * i, 2. * i, 4};
        grid.head_for(i, rows[i]);
        elapsed.set(i, at[i]);
        want.set(i, wanted[i]);
        tstop.set(i, rows[i].end);
    }
    const auto here = grid.place_at(elapsed);
    const Pack size = grid.size_at(here, want), end = grid.end_of(here, size, tstop);
    const eddy::DyadicPath<Pack> path({lanes, elapsed, size}, plan, grid.noise_at(here, size));
    const auto found = path.increments<Pack, 1, true>();
    for (int i = 0; i < 8; ++i) {
        const Grid alone = grid_of(0.1, plan.level, rows[i]);
        const auto place = alone.place_at(at[i]);
        REQUIRE(size[i] == alone.size_at(place, wanted[i]));
        REQUIRE(end[i] == alone.end_of(place, size[i], rows[i].end));
        const auto expected = path_at(alone, plan, at[i], size[i]).increments<double, 1, true>();
        REQUIRE(found.w[0][i] == expected.w[0]);
        REQUIRE(found.h[0][i] == expected.h[0]);
    }
}
