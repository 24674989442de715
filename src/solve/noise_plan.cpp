#include <algorithm>
#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/noise_plan.hpp>
#include <limits>
#include <span>

namespace eddy::inline v0::detail {

double steps_over(double length, double dt0) {
    double steps = std::ceil(length / dt0 - 1.01);
    if (steps < 0) steps = 0;
    if (steps >= 0x1p53) return steps;  // one more is no other number; too many in any case
    while (steps * dt0 + dt0 * 1.01 < length) ++steps;
    while (steps > 0 && (steps - 1) * dt0 + dt0 * 1.01 >= length) --steps;
    return steps + 1;
}

namespace {

constexpr int most_levels = 23;  // nodes of a cell's tree have 24 bits

/// log2 of the steps to a cell.
int level_of(double cell, double dt0, const char* where) {
    if (cell == 0 || dt0 == 0) return 0;
    const double level = std::clamp(std::round(std::log2(cell / dt0)), 0., double{most_levels});
    const double nearest = std::ldexp(dt0, static_cast<int>(level));
    require_argument(std::abs(cell - nearest) <= 1e-12 * nearest,
                     "{}: noise_cell = {} with dt0 = {}; a cell is dt0 times a power of two, at "
                     "most 2^{}: the nearest is {}",
                     where, cell, dt0, most_levels, nearest);
    return static_cast<int>(level);
}

/// How often a cell may be halved so that the ends of steps are apart as elapsed times.
int depth_of(double cell, double span) {
    if (cell == 0 || span == 0) return 0;
    const double parts = cell / (8 * std::numeric_limits<double>::epsilon() * span);
    return std::clamp(static_cast<int>(std::floor(std::log2(parts))), 0, most_levels);
}

/// The cells between the tstops of one row: whole ones that the last step, of constant size, cuts short, or ones
/// whose last ends on the tstop. Returns their number.
double cells_of(const NoisePlan& plan, bool is_adaptive, const TimePlan& times,
                std::span<const Tstop> tstops, std::vector<CellRow>& rows) {
    double cells = 0, from = 0;
    for (const Tstop& tstop : tstops) {
        CellRow row{from, tstop.elapsed, cells, 1};
        if (times.dt0 > 0) {
            const double length = tstop.elapsed - from;
            row.count = is_adaptive
                            ? steps_over(length, plan.cell)
                            : std::ceil(std::ldexp(steps_over(length, times.dt0), -plan.level));
            cells += row.count;
        }
        rows.push_back(row);
        from = tstop.elapsed;
    }
    return cells;
}

}  // namespace

void require_noisy_steps(const SolveOptions& options, const char* where) {
    const bool is_own = options.t0.is_own() || options.t1.is_own();
    const double t0 = is_own ? 0 : static_cast<double>(options.t0),
                 t1 = is_own ? 1 : static_cast<double>(options.t1);
    const bool is_interval = std::isfinite(t0) && std::isfinite(t1);
    require_argument(!is_interval || !(t1 < t0), said_of(Refusal::backward_noise), where, t1, t0);
    require_argument(std::isfinite(options.dt0),
                     "{}: dt0 = {}; give the size of the steps, or, with a controller, of the "
                     "first and largest",
                     where, options.dt0);
    require_argument(options.dt0 != 0 || !is_interval || t1 == t0,
                     "{}: a stochastic equation, but dt0 = 0; give the size of its steps, or, with "
                     "a controller, of the first and largest, .dt0 = ...",
                     where);
}

NoisePlan plan_noise(const SolveOptions& options, bool is_adaptive, TimePlan& times,
                     std::vector<CellRow>& rows, const char* where) {
    require_argument(options.noise_cell >= 0 && std::isfinite(options.noise_cell),
                     "{}: noise_cell = {}; give a length of time, or 0 for dt0", where,
                     options.noise_cell);
    NoisePlan plan;
    plan.key = PhiloxKey(options.seed);
    plan.first_path = options.first_path;
    plan.antithetic = options.antithetic;
    plan.level = level_of(options.noise_cell, times.dt0, where);
    plan.cell = std::ldexp(times.dt0, plan.level);
    plan.root = std::sqrt(times.dt0);
    if (is_adaptive) {
        plan.level = depth_of(plan.cell, times.span);
        times.dt_max = std::min(times.dt_max, times.dt0);
    }
    require_argument(times.direction > 0, said_of(Refusal::backward_noise), where,
                     times.t0 - times.span, times.t0);
    rows.clear();
    double cells = 0;
    for (std::size_t first = 0; first < times.tstops.size(); first += times.num_tstops)
        cells = std::max(cells, cells_of(plan, is_adaptive, times,
                                         {&times.tstops[first], times.num_tstops}, rows));
    require_argument(cells < path_limit,
                     "{}: {} steps; there may be fewer than 2^48: give a larger "
                     "dt0",
                     where, cells);
    plan.rows = rows.data();
    return plan;
}

void require_path_numbers(const NoisePlan& plan, std::ptrdiff_t num_lanes, std::int64_t paths,
                          const char* where) {
    require_argument(paths > 0, "{}: paths = {}; give at least 1", where, paths);
    const auto limit = static_cast<std::uint64_t>(path_limit);
    const auto lanes = static_cast<std::uint64_t>(num_lanes);
    const bool fits =
        plan.first_path < limit &&
        (lanes == 0 || static_cast<std::uint64_t>(paths) <= (limit - plan.first_path) / lanes);
    require_argument(fits,
                     "{}: first_path = {} with {} trajectories of {} paths; keep the numbers of "
                     "paths below 2^48",
                     where, plan.first_path, num_lanes, paths);
}

void require_no_paths(std::int64_t paths, const char* where) {
    require_argument(paths == 1, said_of(Refusal::paths_without_noise), where, paths);
}

}  // namespace eddy::inline v0::detail
