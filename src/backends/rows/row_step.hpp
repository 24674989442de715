#pragma once
// What a tile of lanes computes: one attempt of all of them by any explicit Runge–Kutta method, its errors, what
// lies within it, and its discrete adjoint (steppers/explicit_rk.hpp). Sizes are numbers, the equation is an
// interface, the method a table: this is compiled once. A step of an implicit method is one evaluation (solved_step.hpp).
// Each lane has the bits that the step of a single lane has.

#include <eddy/solve/lane/ending.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <optional>
#include "../../steppers/rows/explicit_step.hpp"
#include "row_clocks.hpp"
#include "row_impulses.hpp"
#include "solved_step.hpp"
#include "stage_sums.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowStep {
  public:
    /// `goes_back`: will attempts keep what the way back needs?
    RowStep(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, bool goes_back,
            Arena& arena);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int state_size() const { return problem_->state_size; }
    [[nodiscard]] row_kernels::Shape shape() const { return {problem_->state_size, width_}; }
    /// Of what decides: not of tangents.
    [[nodiscard]] row_kernels::Shape own_shape() const { return {problem_->own_size(), width_}; }
    /// Numbers of the rows of that: tangents lie behind.
    [[nodiscard]] std::ptrdiff_t own_block() const {
        return std::ptrdiff_t{problem_->own_size()} * width_;
    }
    [[nodiscard]] const row_kernels::Kernels<Real>& kernels() const { return *kernels_; }
    [[nodiscard]] bool reads_time() const { return field_->reads_time(); }
    [[nodiscard]] const Real* next() const { return next_; }
    [[nodiscard]] Real* work() const { return work_; }
    [[nodiscard]] RowImpulses<Real>& impulses() { return impulses_; }

    /// The parameters of a call whose lanes share them as numbers.
    void take_parameters() {
        if (problem_->sums_tile) copy_parameters(p_);
    }
    /// The start, behind the impulses there, and the parameters of a lane, into its place.
    void load(int place, std::ptrdiff_t lane, Real* y);
    /// Its parameters alone, where those of another lane are there.
    void load_parameters(int place, std::ptrdiff_t lane) {
        if (lane == loaded_lane_[place]) return;
        loaded_lane_[place] = lane;
        loaded_[place] = -1;
        if (problem_->sums_tile) return;
        const std::ptrdiff_t row = problem_->row_of_p(lane);
        for (int i = 0; i < problem_->parameter_size; ++i)
            p_[i * width_ + place] = problem_->parameter(row, i);
    }
    /// Its steps head for a tstop: the piece of the inputs that they lie in.
    void load_inputs(int place, std::ptrdiff_t lane, std::int32_t tstop) {
        if (problem_->input_room == 0 || loaded_[place] == tstop) return;
        loaded_[place] = tstop;
        for (int i = 0; i < problem_->input_room; ++i)
            p_[problem_->behind_parameters(width_) + std::ptrdiff_t{i} * width_ + place] =
                problem_->input_number(lane, tstop, i);
    }
    /// What f reads of a lane beside its state, where its step at hand begins, into a place of other rows.
    void copy_reads(int place, const RowClocks& clocks, Real* t, Real* p, int to);
    /// Those parameters that all lanes share, as numbers.
    void copy_parameters(Real* to) const;
    /// The sizes of first steps from y, (place).
    void choose_first_sizes(const Real* y, double* sizes);

    /// Takes the sizes of the steps at hand as numbers of the state.
    void take_sizes(const RowClocks& clocks);
    /// Those sizes, with their signs: (lane).
    [[nodiscard]] const Real* sizes() const { return h_; }
    /// The equation on the tile of who works on this one now: tiles that wait for each other share those of workers.
    void work_by(FieldOnTileOf<Real>& field) {
        field_ = &field;
        if (whole_)
            whole_ = attempts_before_whole_ ? long_step_on(field, *method_, *attempts_before_whole_)
                                            : step_on(field, *method_, true);
    }
    /// Is f finite where a lane begins? Known once its first size has been chosen by the rule.
    [[nodiscard]] bool has_finite_slope(int place) const;
    /// The squared norms of the errors of the last attempt, (place).
    [[nodiscard]] const float* measure_all(const Real* y);

    /// The errors of the tangents of the last attempt, (tangent, component, place), in units of the sizes below.
    [[nodiscard]] const Real* tangent_errors();
    [[nodiscard]] const Real* error_sizes() const { return solved_ ? solved_->ones() : h_; }

    /// An attempt from y. `kept`, if any, gets what the way back needs.
    void attempt(const Real* y, const RowClocks& clocks, Real* kept);
    /// The verdicts on it. True where a lane has stalled, or landed.
    [[nodiscard]] bool judge(const Real* y, const RowClocks& clocks);
    /// The same of an attempt whose error had this squared norm in all lanes.
    [[nodiscard]] bool judge_jointly(const RowClocks& clocks, float squared_norm);
    /// Accepted steps take y and what is carried along, in memory of y's own where it may not be `swapped`.
    void accept(Real*& y, const RowClocks& clocks, bool swapped);
    /// Steps begin anew in some lanes: what was carried along is computed again.
    void renew() { has_first_stage_ = false; }

    /// The further stages of dense output, of the last attempt.
    void complete_stages(const Real* y, const RowClocks& clocks);
    /// The state of a lane within it, (component).
    void state_within(int place, const Real* y, double theta, Real* state) const;
    void state_of(int place, const Real* rows, Real* state) const;
    void put_state(int place, const Real* state, Real* rows) const;
    /// The component of a lane to blame for an attempt that stalled.
    [[nodiscard]] Blame blame(int place, const Real* y) const;
    /// Would that attempt have come to a number, if the loops of the equation gave their last state where they run out?
    [[nodiscard]] bool runs_out_of_turns(int place, const Real* y, const RowClocks& clocks) const;

    // The way back.

    /// Rows that a stage keeps: its state, then the residuals of the field.
    [[nodiscard]] int rows_per_stage() const { return problem_->state_size + num_residuals_; }
    /// Further lanes go back here: what takes as long to make as the first of them is worth it.
    void expect_more() {
        if (whole_times_) whole_back_ = step_back_on(*field_, *method_, true);
    }
    /// Is an attempt pulled back from y alone? Of a few states in many lanes, stages take less time to compute again in
    /// registers than to write and read.
    [[nodiscard]] static bool pulls_from_start(const RowProblem<Real>& problem,
                                               FieldOnTileOf<Real>& field);
    [[nodiscard]] bool keeps_stages() const { return keeps_stages_; }
    /// That pull. Adds to the rows of parameters.
    void pull_from_start(const Real* y, const RowClocks& clocks, const Real* next_cotangent,
                         Real* cotangent, Real* of_p) {
        pull_whole(clocks, y, false, next_cotangent, cotangent, of_p);
    }
    /// Are the stages of dense output kept as well?
    [[nodiscard]] bool keeps_dense_stages() const;
    /// Stages [first, last); the first `num_kept` of them all keep their states in `kept`, if any.
    void stages(int first, int last, const Real* y, const RowClocks& clocks, Real* kept,
                int num_kept = MethodOnRows::most_stages);
    void next_state(const Real* y, Real* to) const;
    /// From the cotangent of y⁺ to that of y; adds to the rows of parameters. `of_stages`: the cotangents of the first
    /// `count` stages, or null. Where sizes are asked for, the stages have just been computed.
    void pull(int count, const RowClocks& clocks, const Real* kept, Real* const* of_stages,
              const Real* next_cotangent, Real* cotangent, Real* of_p,
              const RowTimeCotangents<Real>& of_times);
    /// Of a save point at θ, with a cotangent: along the slope of its step there, and along its way from y over the
    /// step's size. The stages have just been computed.
    void dense_cotangents(int place, double theta, const Real* seed, Real& along,
                          Real& moved) const;
    /// f of a lane in a state, at a time on the way to a tstop: columns.
    void slope_of(int place, std::ptrdiff_t lane, std::int32_t tstop, double t, const Real* state,
                  Real* slope);
    /// Functions of where the last attempt ends.
    void evaluate_at_end(FieldOnTileOf<Real>& functions, const RowClocks& clocks, Real* to) {
        kernels_->stage_times(time_, clocks.rows(), width_, 1);
        functions.f(time_, next_, p_, to);
    }
    /// The state that a lane was given, (component).
    void start_of(std::ptrdiff_t lane, Real* state) const {
        for (int c = 0; c < problem_->state_size; ++c) state[c] = problem_->start(lane, c);
    }
    /// Which lanes the cotangents of shared parameters are summed over, in order, in a pull of so many stages.
    void sum_over(const int* lanes, int count, int num_stages) {
        if (FieldOnTileOf<Real>* const steps = field_->steps())
            steps->sum_over(lanes, count, 1);
        else
            field_->sum_over(lanes, count, num_stages);
    }
    /// How often iterations within the last attempt of a lane have asked f.
    [[nodiscard]] std::int64_t iterations(int place) const {
        return solved_ ? solved_->iterations(place) : 0;
    }
    /// w_i(θ) of dense output, (stage); of a Rosenbrock method's U, beside y and y⁺.
    void dense_weights(double theta, Real* weights) const;

  private:
    /// Is a stage's state y⁺?
    [[nodiscard]] bool ends_step(int i) const {
        return method_->carries_last && i == method_->num_stages - 1;
    }
    /// Does a whole attempt leave all of its stages? What asks for them rarely computes them again.
    [[nodiscard]] bool leaves_stages() const {
        return problem_->times.num_saves > 1 || problem_->events;
    }
    void wait_for_whole();
    void attempt_whole(const Real* y, const RowClocks& clocks, Real* kept);
    void pull_whole(const RowClocks& clocks, const Real* from, bool is_kept,
                    const Real* next_cotangent, Real* cotangent, Real* of_p);
    void set_whole_times(const RowClocks& clocks);
    void set_solved_times(const RowClocks& clocks);
    [[nodiscard]] Real* place_of(int i, Real* kept, int num_kept) const;
    void evaluate(int i, const Real* state, Real* residuals, const RowClocks& clocks);
    void take_prescribed(const RowClocks& clocks) const;
    void measure(float* norms, const row_kernels::Sum<Real>& error, const Real* y);
    void count_tangent(float* norms, row_kernels::Sum<Real> error, const Real* y);
    void set_time(Real* to, const RowClocks& clocks, double c) const;
    void add_sizes(int i, Real* dt) const;
    void add_times(int i, const Real* state, const RowTimeCotangents<Real>& of_times);
    /// What is measured of an estimate: its sum, or the error that a whole attempt has found.
    [[nodiscard]] row_kernels::Sum<Real> error_of(bool is_coarse) const;

    const RowProblem<Real>* problem_;
    const MethodOnRows* method_;
    FieldOnTileOf<Real>* field_;
    const row_kernels::Kernels<Real>* kernels_;
    RowImpulses<Real> impulses_;
    row_kernels::Times times_;
    int width_, num_residuals_;
    bool keeps_stages_, has_first_stage_ = false;
    Real *next_, *work_, *stage_, *time_, *p_, *row_;
    Real* span_;  // (place) of the lanes that were loaded last, as are the next three
    double *t0_, *lowest_, *highest_;
    std::int32_t* loaded_;         // (place) the tstop whose inputs are there
    std::ptrdiff_t* loaded_lane_;  // (place) whose parameters are
    float* norms_;                 // (estimate, lane)
    Real* own_h_;                  // (lane), where h is not that of the clocks
    const Real* h_ = nullptr;      // (lane) signed sizes of the steps at hand
    Real* k_[MethodOnRows::most_stages] = {};
    StageSums<Real> sums_;
    // An attempt as one program, where it is one, and its pullback: the times of stages, and errors.
    ExplicitStepOnTile<Real>*whole_ = nullptr, *whole_back_ = nullptr;
    std::atomic<std::int64_t>* attempts_before_whole_ = nullptr;  // of a long one
    Real *whole_times_ = nullptr, *errors_ = nullptr;
    Real *k_cotangent_ = nullptr, *of_time_ = nullptr;
    std::optional<SolvedStep<Real>> solved_;  // of an implicit method, which has no sums
    Real* stage_cotangent_[MethodOnRows::most_stages] = {};
};

}  // namespace eddy::inline v0::detail
