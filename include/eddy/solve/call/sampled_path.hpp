#pragma once
// The Brownian path of a call, for those who want to look at it: W at times of the grid that its
// steps may end on.
// Test: tests/solve/stochastic_path.cpp

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/noise_plan.hpp>
#include <eddy/steppers/stochastic/check_field.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/sde_term.hpp>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// A time as a place among the cells of a path by steps of constant size.
struct TimeOfPath {
    std::size_t row = 0;
    double cell = 0;   // of the row
    double units = 0;  // 2^-depth parts of the cell; of a cell that is cut short, steps of dt0
};

/// The cells of a path, and which times are on their grid.
class PathTimes {
  public:
    static constexpr int depth = 23;

    EDDY_EXPORT PathTimes(const SolveOptions& options, std::int64_t number);
    PathTimes(const PathTimes&) = delete;  // the plan refers to the rows
    PathTimes& operator=(const PathTimes&) = delete;

    [[nodiscard]] EDDY_EXPORT TimeOfPath find(double t) const;
    /// Is the last cell of a row shorter or longer than the others?
    [[nodiscard]] EDDY_EXPORT bool is_cut(const TimeOfPath& at) const;
    /// Steps of a cell that is cut.
    [[nodiscard]] EDDY_EXPORT double steps_of_cut_cell(std::size_t row) const;
    [[nodiscard]] double rest(std::size_t row) const {
        return rows_[row].end - (rows_[row].begin + (rows_[row].count - 1) * plan_.cell);
    }
    [[nodiscard]] const CellRow& row(std::size_t k) const { return rows_[k]; }
    [[nodiscard]] const NoisePlan& plan() const { return plan_; }
    [[nodiscard]] double dt0() const { return dt0_; }

  private:
    std::vector<CellRow> rows_;
    NoisePlan plan_;
    double t0_ = 0, t1_ = 0, dt0_ = 0;
};

}  // namespace detail

/// One path of a call, made by `brownian_path`: path(t) is W(t) of each noise, zero at t0. From one
/// time to a later one that is near it takes a few draws; nothing is stored.
template <int noises>
class SampledPath {
  public:
    SampledPath(const SolveOptions& options, std::int64_t number)
        : times_(options, number), lane_(static_cast<double>(number)), to_cell_(noises) {}

    /// The path at time t. If t is on no grid, InvalidArgument says which times are.
    [[nodiscard]] std::vector<double> operator()(double t) {
        const detail::TimeOfPath at = times_.find(t);
        go_to_cell(at);
        std::vector<double> w = to_cell_;
        if (times_.is_cut(at))
            add_steps(at, w);
        else
            add_parts(at, w);
        return w;
    }

  private:
    /// Sums whole cells, up to the one of a time.
    void go_to_cell(const detail::TimeOfPath& at) {
        if (at.row < here_.row || (at.row == here_.row && at.cell < here_.cell)) {
            here_ = {};
            to_cell_.assign(noises, 0.);
        }
        while (here_.row != at.row || here_.cell != at.cell) {
            if (times_.is_cut(here_)) {
                here_.units = times_.steps_of_cut_cell(here_.row);
                add_steps(here_, to_cell_);
                here_.units = 0;
            } else {
                add_step(here_, 0, here_.cell, times_.plan().cell, to_cell_);
            }
            if (++here_.cell == times_.row(here_.row).count) here_ = {here_.row + 1, 0, 0};
        }
    }
    /// The largest parts of a cell first.
    void add_parts(const detail::TimeOfPath& at, std::vector<double>& w) const {
        double before = 0, part = 1;
        const double fraction = at.units * 0x1p-23;
        for (int level = 0; level <= times_.depth; ++level, part /= 2) {
            if (before + part > fraction) continue;
            add_step(at, level, (at.cell + before) / part, part * times_.plan().cell, w);
            before += part;
        }
    }
    /// Steps of dt0, the last one of what is left.
    void add_steps(const detail::TimeOfPath& at, std::vector<double>& w) const {
        const int level = times_.plan().level;
        const double last = times_.steps_of_cut_cell(at.row) - 1;
        for (double step = 0; step < at.units; ++step) {
            const double size =
                step == last ? times_.rest(at.row) - last * times_.dt0() : times_.dt0();
            add_step(at, level, std::ldexp(at.cell, level) + step, size, w);
        }
    }
    void add_step(const detail::TimeOfPath& at, int level, double step, double size,
                  std::vector<double>& w) const {
        NoisePlan plan = times_.plan();
        plan.level = level;
        const BrownianPath<double> path({lane_, 0, size}, plan, {times_.row(at.row).first, step});
        const auto dw = path.template increments<double, noises, false>();
        for (int k = 0; k < noises; ++k) w[static_cast<std::size_t>(k)] += dw.w[k];
    }

    detail::PathTimes times_;
    double lane_;
    detail::TimeOfPath here_;  // of the sum
    std::vector<double> to_cell_;
};

/// The Brownian path with this number under these options, for steps of constant size. Plot it, or
/// compare a solve with the exact solution.
/// `path(t)` takes times of the dyadic grid of its cells. In a cell that a tstop cuts short, it
/// takes only times where a step of dt0 ends.
template <class Field>
[[nodiscard]] auto brownian_path(const Field&, const SolveOptions& options, std::int64_t number) {
    constexpr bool is_stochastic = detail::StochasticField<Field> || detail::KineticField<Field>;
    constexpr auto family = is_stochastic ? detail::Family::noise : detail::Family::explicit_rk;
    if constexpr (detail::check_refusal<detail::refusal_of(
                      detail::Features().with(detail::Feature::path_alone), family,
                      detail::Machine::host, detail::CallKind::solve)>())
        return SampledPath<TermOf<Field>::num_noises>(options, number);
}

}  // namespace eddy::inline v0
