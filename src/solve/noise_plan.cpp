#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/noise_plan.hpp>

namespace eddy::inline v0::detail {

namespace {

constexpr int most_levels = 23;  // nodes of a cell's tree have 24 bits

/// log2 of the steps to a cell.
int level_of(double cell, double dt0, const char* where) {
    if (cell == 0 || dt0 == 0) return 0;
    const double level = std::round(std::log2(cell / dt0));
    const double nearest = std::ldexp(dt0, static_cast<int>(level < 0 ? 0 : level));
    require_argument(
        level >= 0 && level <= most_levels && std::abs(cell - nearest) <= 1e-12 * nearest,
        "{}: noise_cell = {} with dt0 = {}; a cell is dt0 times a power of two, at "
        "most 2^{}: the nearest is {}",
        where, cell, dt0, most_levels, nearest);
    return static_cast<int>(level);
}

/// How many steps lead over a stretch: the last one is cut short, or stretched by a hundredth.
double steps_over(double length, double dt0) {
    double steps = std::ceil(length / dt0 - 1.01);
    if (steps < 0) steps = 0;
    while (steps * dt0 + dt0 * 1.01 < length) ++steps;
    while (steps > 0 && (steps - 1) * dt0 + dt0 * 1.01 >= length) --steps;
    return steps + 1;
}

}  // namespace

NoisePlan plan_noise(const SolveOptions& options, const TimePlan& times,
                     std::vector<double>& first_cells, const char* where) {
    require_argument(options.t1 >= options.t0,
                     "{}: t1 = {} is before t0 = {}; a stochastic equation is solved forward in "
                     "time",
                     where, options.t1, options.t0);
    require_argument(options.noise_cell >= 0 && std::isfinite(options.noise_cell),
                     "{}: noise_cell = {}; give a length of time, or 0 for dt0", where,
                     options.noise_cell);
    NoisePlan plan;
    plan.key = PhiloxKey(options.seed);
    plan.first_path = options.first_path;
    plan.antithetic = options.antithetic;
    plan.level = level_of(options.noise_cell, times.dt0, where);
    first_cells.clear();
    double cells = 0, from = 0;
    for (const Tstop& tstop : times.tstops) {
        first_cells.push_back(cells);
        if (times.dt0 > 0)
            cells +=
                std::ceil(std::ldexp(steps_over(tstop.elapsed - from, times.dt0), -plan.level));
        from = tstop.elapsed;
    }
    require_argument(cells < path_limit,
                     "{}: {} steps; there may be fewer than 2^48: give a larger "
                     "dt0",
                     where, cells);
    plan.first_cell = first_cells.data();
    return plan;
}

void require_path_numbers(const NoisePlan& plan, std::ptrdiff_t num_lanes, const char* where) {
    const auto limit = static_cast<std::uint64_t>(path_limit);
    require_argument(
        plan.first_path < limit && static_cast<std::uint64_t>(num_lanes) <= limit - plan.first_path,
        "{}: first_path = {} with {} lanes; paths have numbers below 2^48", where, plan.first_path,
        num_lanes);
}

}  // namespace eddy::inline v0::detail
