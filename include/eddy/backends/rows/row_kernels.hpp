#pragma once
// What a step over rows computes beside the field: sums of stages, norms of errors, the sizes of the next
// steps. A row holds a number for each lane of a tile, rows follow each other without gaps. The functions are
// compiled once for each level of instructions (trace/rows/row_program.hpp); they know plain numbers alone, so
// that what one level inlines is nothing that another could call.
// Invariant: a lane's numbers depend on no other lane; `width` is one or a multiple of eight, blocks are aligned to
// 64 bytes, rows of times and verdicts have at least eight places.
// Test: tests/backends/row_solve.cpp

#include <cstddef>

namespace eddy::inline v0::row_kernels {

/// The most lanes of a tile.
inline constexpr int widest = 64;

/// Rows of one block: (component, lane).
struct Shape {
    int size, width;
};

/// Σ_j weight_j x_j of blocks.
template <class Real>
struct Sum {
    static constexpr int most = 24;
    int count = 0;
    Real weight[most];
    const Real* x[most];

    void add(double of, const Real* block) {
        if (of == 0) return;
        weight[count] = static_cast<Real>(of);
        x[count++] = block;
    }
};

/// How errors are measured: the components that count, and their tolerances.
template <class Real>
struct Tolerances {
    Real rtol;
    const Real* atol;    // (component)
    const int* counted;  // (k) components
    int num_counted;
};

/// What a controller answers by.
struct Control {
    enum class Kind { constant, pid, predictive, other } kind = Kind::constant;
    float coefficients[6] = {};  // of PIDControl or PredictiveControl, in their order
    float error_order = 1, order = 1;
    /// One of the caller's own is asked a lane at a time: from the squared norm of its error to the factor of its size.
    /// `history` is what it remembers: two logarithms, and whether it rejected (ControllerHistory).
    const void* other = nullptr;
    float (*propose)(const void* other, float squared_norm, float error_order,
                     float* history) = nullptr;
};

/// What all lanes know of time.
struct Times {
    double direction, dt0, dt_max, least;
};

/// Where the lanes of a tile are, (lane) each. One that has ended heads for where it is: its steps have size zero.
struct Clocks {
    double *elapsed, *size;         // |dt| to be tried next
    double *before, *tried, *used;  // of the last attempt; used: 0 where it was rejected
    double *tstop, *origin,
        *due;  // elapsed times: of the next tstop, of the last, of the next landing
    double *t0, *lowest, *highest;  // where time begins; bounds of the times that f is asked at
    double *rejected, *stalled;     // how many; 1: the last attempt could be no smaller
    float *previous_log2, *earlier_log2, *was_rejected;
    double *first, *last, *h;  // the interval of the attempt, and its signed size

    static constexpr int num_doubles = 16, num_floats = 3;
};

/// The first size of a step, by Hairer's rule.
template <class Real>
struct FirstStep {
    const Real *y, *f0, *f1;
    Real* y1;                             // rows of the trial step's end
    Real *trial, *f_norm, *time;          // (lane)
    double* size;                         // (lane)
    const Real* span;                     // (lane)
    const double *t0, *lowest, *highest;  // (lane)
};

/// What is computed of times: they are double, whatever the states.
struct TimeKernels {
    /// Chooses the sizes of an attempt, and the times between which it steps.
    void (*choose_sizes)(const Clocks&, int width, const Times&, bool adapts);
    /// Judges an attempt by its squared norms, or by which states are finite. True where a lane has stalled, or landed.
    bool (*judge)(const Clocks&, int width, const Times&, const Control&, const float* norms);
    bool (*judge_constant)(const Clocks&, int width, const Times&, const float* finite);
    /// The squared norms of two estimates as one.
    void (*combine_norms)(float* to, const float* coarse, int width);
};

/// Those of one level.
template <class Real>
struct Kernels : TimeKernels {
    /// to = from + Σ_j (weight_j h) x_j, or Σ_j weight_j x_j where h is null; from nothing where `from` is.
    void (*sum_rows)(Real* to, const Real* from, Shape, const Real* h, const Sum<Real>&);
    /// to = from + Σ_j (weight_j h) x_j, and further = from + Σ_j (further_weight_j h) x_j: of the sum after the next
    /// block, what is known already. Beyond the first-level cache what is read once serves both. The width is not one,
    /// and there are at most `most_shared` blocks.
    static constexpr int most_shared = 8;
    void (*two_sums)(Real* to, Real* further, const Real* from, Shape, const Real* h,
                     const Sum<Real>& sum, const Real* further_weight);
    /// to += x.
    void (*add_rows)(Real* to, const Real* x, Shape);
    /// to = x in the lanes where `chosen` is not zero.
    void (*choose_rows)(Real* to, const Real* x, Shape, const Real* chosen);
    /// to += x in these lanes.
    void (*add_chosen_rows)(Real* to, const Real* x, Shape, const Real* chosen);
    /// The squared norms of the errors h Σ_j weight_j x_j of a step from y to next; `work` is a block to work in.
    void (*squared_norms)(float* to, const Sum<Real>& error, Real* work, const Real* y,
                          const Real* next, Shape, const Real* h, const Tolerances<Real>&);
    /// (lane) 1 where an error h x of some component is more than a tangent is allowed (solve/lane/tangent_tolerance.hpp)
    /// that ends at `next`, else 0. True where there are any.
    bool (*tangents_beyond)(Real* to, const Real* x, const Real* next, Shape, const Real* h,
                            const Tolerances<Real>&);
    /// (lane) 1 where the sum of the components is finite, else 0; `sums` is a row to work in.
    void (*finite_sums)(float* to, Real* sums, const Real* x, Shape);

    /// w_i(θ) = Σ_m table[i][m] θ^(m + 1) of dense output, (stage).
    void (*dense_weights)(Real* to, const double* table, int stages, int powers, Real theta);
    /// to += weight x, of columns of rows: their numbers lie `stride` apart.
    void (*add_column)(Real* to, std::ptrdiff_t to_stride, Real weight, const Real* x,
                       std::ptrdiff_t stride, int size);

    /// The times from which f is asked at a fraction c of the step.
    void (*stage_times)(Real* to, const Clocks&, int width, double c);
    /// From f0 = f(t0, y) to the trial step; from f1, at its end, to the size.
    void (*first_times)(const FirstStep<Real>&, int width, const Times&);
    void (*first_trial)(const FirstStep<Real>&, Shape, const Times&, const Tolerances<Real>&);
    void (*first_size)(const FirstStep<Real>&, Shape, const Times&, const Tolerances<Real>&,
                       float order);
};

/// Those with fused multiply-add, or without, for float or double, for rows of a width.
template <class Real>
[[nodiscard]] const Kernels<Real>& of(bool fused, int width);

}  // namespace eddy::inline v0::row_kernels
