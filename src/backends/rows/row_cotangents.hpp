#pragma once
// The cotangents of a tile on its way back through rounds: of the states of its lanes, of what lies within the round at
// hand, and of parameters.

#include <algorithm>
#include <eddy/backends/rows/row_recorder.hpp>
#include "row_run.hpp"
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
struct RowCotangents {
    Real *of_state, *pulled;  // (component, place): at the end of the round; at its start
    Real* dense_of_y;         // of save points within it: (component, place)
    // The same of y⁺ of a Rosenbrock step, where an event may follow it: of the state before that. Else null.
    Real* dense_of_next = nullptr;
    Real* dense_of_k[MethodOnRows::most_stages] = {};
    Real *of_step, *of_p;  // (parameter, place), inputs behind them: of the round; of all so far
    const RowProblem<Real>* problem;
    int width;

    RowCotangents(const RowProblem<Real>& given, int tile_width, Arena& arena)
        : problem(&given), width(tile_width) {
        const auto rows = [&](std::int64_t count) { return arena.take<Real>(count * width); };
        for (Real** state : {&of_state, &pulled, &dense_of_y}) *state = rows(given.state_size);
        if (given.events && given.method->rosenbrock) dense_of_next = rows(given.state_size);
        for (int i = 0; i < given.method->num_dense; ++i) dense_of_k[i] = rows(given.state_size);
        of_step = arena.take<Real>(given.size_of_reads(width));
        of_p = given.sums_tile ? of_step : rows(given.parameter_size);
    }

    /// Where a lane's parameters are added to.
    [[nodiscard]] RowSums<Real> sums_of(int place) const {
        if (problem->sums_tile) return {of_p, 1};
        return {of_p + place, width};
    }
    void clear_dense() const {
        const std::ptrdiff_t block = std::ptrdiff_t{problem->state_size} * width;
        std::fill_n(dense_of_y, block, Real(0));
        if (dense_of_next) std::fill_n(dense_of_next, block, Real(0));
        for (int i = 0; i < problem->method->num_dense; ++i)
            std::fill_n(dense_of_k[i], block, Real(0));
    }
    /// Adds a save point at θ of a lane's step: to what lies within it, and at its end.
    void add_dense(RowStep<Real>& step, int place, const Real* seed, double theta) const {
        Real weights[MethodOnRows::most_stages];
        step.dense_weights(theta, weights);
        const bool reads_next = problem->method->rosenbrock != nullptr;
        const Real h = problem->method->is_implicit() ? 1 : step.sizes()[place];
        const auto of_next = reads_next ? static_cast<Real>(theta) : Real(0);
        const int size = problem->state_size;
        const row_kernels::Kernels<Real>& kernels = step.kernels();
        kernels.add_column(dense_of_y + place, width, 1 - of_next, seed, 1, size);
        if (reads_next)
            kernels.add_column((dense_of_next ? dense_of_next : of_state) + place, width, of_next,
                               seed, 1, size);
        for (int i = 0; i < problem->method->num_dense; ++i) {
            if (weights[i] == 0) continue;
            kernels.add_column(dense_of_k[i] + place, width, h * weights[i], seed, 1, size);
        }
    }
};

}  // namespace eddy::inline v0::detail
