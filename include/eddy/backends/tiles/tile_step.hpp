#pragma once
// What a tile computes: the states of its lanes, one attempt of all of them, its errors, what lies within
// it. How far each lane is, and what an attempt means for it, is told by clocks.
// Test: tests/solve/tiles_oracle.cpp

#include <cmath>
#include <eddy/backends/tiles/lane_clock.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/first_step.hpp>
#include <eddy/steppers/tile/tile_runge_kutta.hpp>

namespace eddy::inline v0::detail {

/// How many lanes a tile takes: so many that the longest vector of the equation stays in the first-level
/// cache, at least one native vector of them. It depends on the equation alone.
template <class Spec, bool with_gradient>
inline constexpr int tile_lanes = [] {
    if constexpr (RungeKuttaMethod<typename Spec::Method>) {
        using Real = typename Spec::Scalar;
        using Stepper = TileRungeKutta<typename Spec::Field, typename Spec::Method, Real>;
        constexpr int bytes_of_vector = 32 << 10;
        constexpr int longest = Stepper::template longest<with_gradient>;
        int lanes = most_tile_lanes<Real>;
        while (lanes > native_lanes<Real> &&
               lanes * static_cast<int>(sizeof(Real)) * longest > bytes_of_vector)
            lanes /= 2;
        return lanes;
    } else {
        return 1;  // Tiles says that the method is not for it
    }
}();

template <class Spec, bool with_gradient>
class TileStep {
  public:
    using Real = typename Spec::Scalar;
    using Stepper = TileRungeKutta<typename Spec::Field, typename Spec::Method, Real>;
    using Clock = LaneClock<Spec>;
    using LaneState = typename Spec::LaneState;
    static constexpr int state_size = Spec::state_size;
    using Counted = CountedComponents<typename Spec::Term>;  // what norms are made of
    static constexpr int num_stages = Spec::Stepper::num_stages;
    static constexpr int num_dense_stages = Stepper::num_dense_stages;
    static constexpr int most_lanes = tile_lanes<Spec, with_gradient>;
    /// Is the first stage of a step taken from the one before? Where residuals are kept it is computed
    /// with its own: what the last step kept may be gone.
    static constexpr bool keeps_first_stage = Spec::Stepper::keeps_last_stage && !with_gradient;

    TileStep(const Problem<Spec>& problem, Arena& arena) : problem_(&problem) {
        constexpr std::int64_t size = state_size;
        in_ = {most_lanes, arena.take<double>(most_lanes), arena.take<double>(most_lanes),
               arena.take<Real>(most_lanes)};
        chosen_ = arena.take<Real>(most_lanes);
        norms_ = arena.take<float>(most_lanes);
        next_ = arena.take<Real>(size * most_lanes);
        work_ = arena.take<Real>(size * most_lanes);
        coarse_ = arena.take<Real>(Spec::Stepper::has_coarse_error ? size * most_lanes : 0);
        p_ = arena.take<Real>(
            Spec::shares_parameters ? 0 : std::int64_t{Spec::parameter_size} * most_lanes);
        stepper_.lay_out(arena, most_lanes, std::bool_constant<with_gradient>{});
    }

    /// Takes lanes of the problem, and writes their first states to y.
    void begin(std::ptrdiff_t first_lane, int count, Real* y) {
        first_lane_ = first_lane;
        count_ = count;
        in_.width = whole_vectors<Real>(count);
        // Beyond the last lane, that lane again: numbers that the equation can take.
        const auto load = [&](Real* to, int size, const auto& from) {
            for (int c = 0; c < size; ++c) {
                for (int lane = 0; lane < in_.width; ++lane) {
                    const LaunchLane source{first_lane + std::min(lane, count - 1)};
                    to[c * in_.width + lane] = from(to_index(problem_->rows(source)), c);
                }
            }
        };
        load(y, state_size, problem_->y0);
        if constexpr (Spec::shares_parameters) {
            stepper_.set_parameters({problem_->shared_p, 1, true});
        } else {
            if constexpr (Spec::parameter_size > 0)
                load(p_, Spec::parameter_size,
                     [&](std::ptrdiff_t row, int i) { return problem_->p_of_row(Row{row}, i); });
            stepper_.set_parameters({p_, in_.width, false});
        }
    }
    [[nodiscard]] int width() const { return in_.width; }
    [[nodiscard]] int num_lanes() const { return count_; }
    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_lane_; }
    [[nodiscard]] Stepper& stepper() { return stepper_; }
    [[nodiscard]] const TileInterval<Real>& interval() const { return in_; }
    [[nodiscard]] const Real* next() const { return next_; }
    [[nodiscard]] Real* work() const { return work_; }

    /// The next steps of lanes, from `elapsed` of so large a `size`, and bounded by a tstop.
    void set_step(int lane, double elapsed, double size, std::int32_t tstop) {
        const LaneTimes times = problem_->times.of_all();
        const Tstop& to = times.tstops[tstop];
        const TimeAt<double> start{times.t0, times.direction, elapsed, to.lowest, to.highest};
        in_.first[lane] = start + 0.;
        in_.last[lane] = start + size;
        in_.h[lane] = static_cast<Real>(times.direction * size);
    }
    /// Lanes that the tile has no work for step nowhere.
    void fill_up() {
        for (int lane = count_; lane < in_.width; ++lane) {
            in_.first[lane] = in_.last[lane] = in_.first[count_ - 1];
            in_.h[lane] = 0;
        }
    }

    /// An attempt from y. `kept`, if any, gets what the way back needs.
    void attempt(const Real* y, Clock* clocks, Real* kept) {
        for (int lane = 0; lane < count_; ++lane) {
            clocks[lane].choose_size(*problem_, first_lane_ + lane);
            set_step(lane, clocks[lane].elapsed(), clocks[lane].size(), clocks[lane].tstop());
        }
        fill_up();
        if constexpr (with_gradient) {
            stepper_.template stages<0, Stepper::num_stages>(in_, y, kept);
            stepper_.template stages<Stepper::num_stages, num_stages>(
                in_, y, keeps_dense_stages() ? kept : nullptr);
        } else {
            stepper_.template stages<keeps_first_stage ? 1 : 0, num_stages>(in_, y);
        }
        stepper_.next_state(in_, y, next_);
        if constexpr (Spec::is_adaptive) compute_norms(y);
    }
    /// The verdicts on an attempt.
    void judge(Clock* clocks) {
        if constexpr (Spec::is_adaptive)
            judge_each(clocks, [&](int lane) { return norms_[lane]; });
        else
            judge_by_state(clocks);
    }
    /// Gives all lanes the same verdict.
    void judge_jointly(Clock* clocks, float squared_norm) {
        judge_each(clocks, [&](int) { return squared_norm; });
    }
    /// The squared norm of a lane's error.
    [[nodiscard]] float squared_norm(int lane) const { return norms_[lane]; }
    /// Accepted steps take y and what is carried along.
    void accept(Real* y, const Clock* clocks) {
        choose_lanes([&](int lane) { return clocks[lane].was_accepted(); });
        choose_rows(y, state_size, in_.width, chosen_, next_);
        if constexpr (keeps_first_stage)
            choose_rows(stepper_.k(0), state_size, in_.width, chosen_, stepper_.k(num_stages - 1));
    }
    /// The first stage of lanes whose steps now head for another tstop.
    template <class IsChosen>
    void renew_first_stage(const Real* y, const Clock* clocks, const IsChosen& is_chosen) {
        if constexpr (keeps_first_stage) {
            for (int lane = 0; lane < count_; ++lane)
                set_step(lane, clocks[lane].elapsed(), 0, clocks[lane].tstop());
            fill_up();
            stepper_.first_stage(in_, y, work_);
            choose_lanes(is_chosen);
            choose_rows(stepper_.k(0), state_size, in_.width, chosen_, work_);
        }
    }
    /// A row with ones in the lanes that are chosen.
    template <class IsChosen>
    const Real* choose_lanes(const IsChosen& is_chosen) {
        for (int lane = 0; lane < in_.width; ++lane)
            chosen_[lane] = static_cast<Real>(lane < count_ && is_chosen(lane));
        return chosen_;
    }

    /// Does an attempt keep what dense output needs on the way back? Not where that has stages of its own.
    [[nodiscard]] bool keeps_dense_stages() const {
        return num_dense_stages <= num_stages && problem_->times.num_saves > 1;
    }
    /// The further stages of dense output, of the last attempt.
    void complete_stages(const Real* y) {
        stepper_.template stages<num_stages, num_dense_stages>(in_, y);
    }
    /// The state of a lane within the last attempt.
    [[nodiscard]] LaneState state_within(int lane, const Real* y, double theta) const {
        LaneState k[num_dense_stages];
        for (int i = 0; i < num_dense_stages; ++i) k[i] = state_of(lane, stepper_.k(i));
        return Interpolant<typename Spec::Method>::evaluate(state_of(lane, y), in_.h[lane], k,
                                                            static_cast<Real>(theta));
    }
    [[nodiscard]] LaneState state_of(int lane, const Real* rows) const {
        LaneState state;
        for (int c = 0; c < state_size; ++c) state[c] = rows[c * in_.width + lane];
        return state;
    }

    /// The component of a lane to blame for an attempt that stalled.
    [[nodiscard]] Blame blame(int lane, const Real* y) const {
        return detail::blame(state_size, [&](int c) {
            const std::ptrdiff_t at = std::ptrdiff_t{c} * in_.width + lane;
            if constexpr (Spec::is_adaptive)
                return error_ratio(*problem_, c, work_[at], y[at], next_[at]);
            else
                return next_[at];
        });
    }

    /// The sizes of first steps, (lane).
    void choose_first_sizes(const Real* y, double* sizes);
    /// Is the derivative finite where the lane begins? Known once its first size has been chosen by the rule.
    [[nodiscard]] bool has_finite_slope(int lane) const {
        const LaneState slope = state_of(lane, stepper_.k(0));
        bool is_finite = true;
        for (int c = 0; c < state_size; ++c) is_finite = is_finite && std::isfinite(slope[c]);
        return is_finite;
    }

  private:
    template <class SquaredNorm>
    void judge_each(Clock* clocks, const SquaredNorm& squared_norm) requires Spec::is_adaptive {
        for (int lane = 0; lane < count_; ++lane) clocks[lane].judge(*problem_, squared_norm(lane));
    }
    void compute_norms(const Real* y) requires Spec::is_adaptive {
        stepper_.error(in_, work_);
        if constexpr (Spec::Stepper::has_coarse_error) stepper_.template error<true>(in_, coarse_);
        for_vectors<Real>(in_.width, [&](int lane) {
            auto square = squared_norm_of(work_ + lane, y + lane, next_ + lane);
            if constexpr (Spec::Stepper::has_coarse_error)
                square = combined_square(square,
                                         squared_norm_of(coarse_ + lane, y + lane, next_ + lane));
            square.store(norms_ + lane);
        });
    }
    /// squared_error_norm of the lanes of a vector.
    [[nodiscard]] auto squared_norm_of(const Real* error, const Real* y, const Real* next) const {
        using P = TilePack<Real>;
        using Single = eddy::WithElement<P, float>;
        return sum_of_squared_ratios<Counted::count>([&](int k) {
                   const int c = Counted::component.of[k];
                   const std::ptrdiff_t at = std::ptrdiff_t{c} * in_.width;
                   return scaled_error(P::load(error + at), P::load(y + at), P::load(next + at),
                                       problem_->rtol, problem_->atol[c]);
               }) *
               Single(1.f / static_cast<float>(Counted::count));
    }
    void judge_by_state(Clock* clocks) requires(!Spec::is_adaptive) {
        using P = TilePack<Real>;
        for_vectors<Real>(in_.width, [&](int lane) {
            P sum(Real(0));
            for (int c = 0; c < state_size; ++c)
                sum = sum + P::load(next_ + std::ptrdiff_t{c} * in_.width + lane);
            sum.store(chosen_ + lane);
        });
        for (int lane = 0; lane < count_; ++lane)
            clocks[lane].judge(*problem_, std::isfinite(chosen_[lane]));
    }

    const Problem<Spec>* problem_;
    Stepper stepper_;
    TileInterval<Real> in_;
    std::ptrdiff_t first_lane_ = 0;
    int count_ = 0;
    Real *chosen_, *next_, *work_, *coarse_, *p_;  // work: the error estimate, then anything
    float* norms_;
};

/// A vector of lanes at a time; f of all of them at once.
template <class Spec, bool with_gradient>
void TileStep<Spec, with_gradient>::choose_first_sizes(const Real* y, double* sizes) {
    if (problem_->times.dt0 != 0) {
        std::fill_n(sizes, count_, problem_->times.dt0);
        return;
    }
    using P = TilePack<Real>;
    using Time = eddy::WithElement<P, double>;
    using Rule = FirstStepRule<Spec, P, Time>;
    Real *const f0 = stepper_.k(0), *const f1 = work_, *const y1 = next_;
    const auto load = [&](const Real* rows, int lane) {
        Vec<P, state_size> state;
        for (int c = 0; c < state_size; ++c)
            state[c] = P::load(rows + std::ptrdiff_t{c} * in_.width + lane);
        return state;
    };
    const LaneTimes of_all = problem_->times.of_all();
    const Tstop& to = of_all.tstops[0];
    const FirstTimes<P, Time> times{Time(of_all.t0), Time(to.lowest), Time(to.highest),
                                    P(static_cast<Real>(of_all.span))};
    const auto rule_of = [&](int lane) {
        return Rule{*problem_, times, load(y, lane), load(f0, lane)};
    };
    for_vectors<Real>(in_.width, [&](int lane) {
        Rule::time_after(*problem_, times, Time(0)).store(in_.last + lane);
    });
    stepper_.derivative(in_.last, in_.width, y, f0);
    for_vectors<Real>(in_.width, [&](int lane) {
        const Rule rule = rule_of(lane);
        const auto end = rule.end_state();
        for (int c = 0; c < state_size; ++c)
            end[c].store(y1 + std::ptrdiff_t{c} * in_.width + lane);
        rule.end_time().store(in_.last + lane);
    });
    stepper_.derivative(in_.last, in_.width, y1, f1);
    for_vectors<Real>(in_.width, [&](int lane) {
        rule_of(lane).size(load(f1, lane), MaskOf<P>(true)).store(in_.last + lane);
    });
    std::copy_n(in_.last, count_, sizes);
}

}  // namespace eddy::inline v0::detail
