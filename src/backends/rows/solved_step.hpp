#pragma once
// A step of an implicit method on a tile: an equation of its own (steppers/rows/rosenbrock_on_rows.hpp,
// esdirk_on_rows.hpp), so that it is one evaluation, and one pullback. It reads times of stages, its size, y and p, and
// finds y⁺, its error, whether it came to a solution, and its stages: U_i of a Rosenbrock method, else z_i.

#include <eddy/backends/rows/row_problem.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// The cotangents of the time at which steps begin and of their sizes, (place), added to; those that are null nobody
/// asks for.
template <class Real>
struct RowTimeCotangents {
    Real *t = nullptr, *dt = nullptr;
};

template <class Real>
class SolvedStep {
  public:
    SolvedStep(const RowProblem<Real>& problem, int width, bool goes_back, Arena& arena);

    /// The sizes of the steps at hand, (place); set_time(to, c): the times of a stage.
    void begin(const Real* h, const auto& set_time) {
        for (int i = 0; i < method_->num_times; ++i) set_time(times_ + rows(i), method_->c[i]);
        // A lane that does not step has some size: what comes of it nobody takes, but it is a number.
        Real* const size = times_ + rows(method_->num_times);
        for (int place = 0; place < width_; ++place) size[place] = h[place] != 0 ? h[place] : 1;
        // An iteration reads the rounding unit.
        if (method_->esdirk)
            std::fill_n(size + width_, width_, std::numeric_limits<Real>::epsilon());
        std::fill_n(ones_, width_, Real(1));
    }
    /// Steps from y; `kept`, if any, gets that, and what the way back needs.
    void step(FieldOnTileOf<Real>& steps, const Real* y, const Real* p, Real* kept);

    // What it has found.

    [[nodiscard]] const Real* next() const { return solved_; }
    [[nodiscard]] const Real* error() const { return solved_ + rows(problem_->state_size); }
    [[nodiscard]] Real* stage(int i) const {
        return solved_ + rows(before_stages_ + problem_->state_size * i);
    }
    [[nodiscard]] bool has_failed(int place) const {
        return health_[place] < std::numeric_limits<Real>::epsilon();
    }
    /// How often iterations have asked f.
    [[nodiscard]] std::int64_t iterations(int place) const {
        return method_->esdirk ? static_cast<std::int64_t>(health_[width_ + place]) : 0;
    }
    /// The sizes of errors, which have that of the step already.
    [[nodiscard]] const Real* ones() const { return ones_; }

    // Dense output of a Rosenbrock method: columns.

    /// w_i(θ) of U, (stage), beside y and y⁺.
    void dense_weights(Real theta, Real* weights) const;
    void state_within(int place, const Real* y, const Real* next, Real theta, Real* state) const;
    /// h times seed · dy/dt of a point within the step: the derivative with respect to θ of y at θ.
    [[nodiscard]] Real slope_within(int place, double theta, const Real* seed) const;

    // The way back, of a step whose times are set.

    void pull(FieldOnTileOf<Real>& steps, const Real* p, const Real* kept, Real* const* of_stages,
              const Real* next_cotangent, Real* cotangent, Real* of_p);
    /// What times get of those of a step's stages, and of its size, from y.
    void add_times(FieldOnTileOf<Real>& steps, const Real* y, const Real* p,
                   const RowTimeCotangents<Real>& of_times);

  private:
    [[nodiscard]] std::ptrdiff_t rows(std::ptrdiff_t count) const { return count * width_; }

    const RowProblem<Real>* problem_;
    const MethodOnRows* method_;
    const row_kernels::Kernels<Real>* kernels_;
    int width_, before_stages_, num_rows_;
    Real *times_, *of_times_ = nullptr;              // of stages, then h, then what else is read
    Real *solved_, *health_, *cotangent_ = nullptr;  // what is found; behind its health, updates
    Real *ones_, *bend_, *sum_;                      // (place), (component)
    const Real* before_ = nullptr;                   // where the last one began
};

}  // namespace eddy::inline v0::detail
