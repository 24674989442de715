#pragma once
// A step of one lane, in plain numbers: where it starts, and what the equation reads there.
// Test: tests/solve/oracle.cpp

#include <cmath>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/moving_times.hpp>
#include <eddy/solve/lane/tangent_error.hpp>
#include <eddy/steppers/step_size.hpp>

namespace eddy::inline v0::detail {

/// All that a step reads, except its size.
template <class Spec>
struct StepStart {
    [[no_unique_address]] typename Spec::Memory memory{};
    typename Spec::State y;
    [[no_unique_address]] ClockTangent<Spec> clock{};  // of t
    double elapsed = 0;                                // |t − t0|
    std::int32_t tstop = -1;                           // that it heads for
};

/// The number of an event where there is none.
inline constexpr int no_event = -1;

/// A step that was accepted.
template <class Spec>
struct AcceptedStep {
    StepStart<Spec> from;
    double size, end;                             // elapsed
    [[no_unique_address]] ClockTangent<Spec> by;  // of dt
    std::int64_t attempt;                         // number of the lane's attempt
    int event = no_event;                         // at its end

    [[nodiscard]] bool ends_lane() const {
        return event != no_event && is_terminal_at<typename Spec::Field>(event);
    }
};

/// Is the error of a step's tangent far above its tolerance? Then it is marked.
template <class Spec, class Trial>
void look_at_tangent(const Problem<Spec>& problem, double t0, const StepStart<Spec>& from,
                     const Trial& trial, TangentMark& mark) {
    if (!TangentError<Spec>::is_beyond(problem, trial.error, trial.next)) return;
    mark.t = t0 + problem.times.direction * from.elapsed;
    mark.ratio = static_cast<float>(TangentError<Spec>::ratio(problem, trial.error, trial.next));
}

/// What steps read for p: the parameters, and the piece of the inputs before a tstop.
template <class Spec>
struct PieceReads {
    const Vec<typename Spec::Number, Spec::parameter_room>& p;
    const Problem<Spec>& problem;
    Row row;
    std::int32_t tstop;

    [[nodiscard]] typename Spec::Number operator[](int i) const {
        if (i < Spec::parameter_size) return p[i];
        return typename Spec::Number(problem.input_number(row, tstop, i - Spec::parameter_size));
    }
};
/// The same of steps that pass over knots: the piece is that of the time that was told last.
template <class Spec>
struct PassingReads {
    const Vec<typename Spec::Number, Spec::parameter_room>& p;
    const Problem<Spec>& problem;
    Row row;
    mutable std::int32_t piece = 0;

    template <class Time>
    void move_to(const Time& t) const {
        const auto at = primal(convert<typename Spec::Number>(t));
        const std::int32_t count = problem.inputs.num_pieces(Spec::input_room);
        piece = 0;
        while (piece + 1 < count && number(piece + 1, 0) <= at) ++piece;
    }
    [[nodiscard]] typename Spec::Number operator[](int i) const {
        if (i < Spec::parameter_size) return p[i];
        return typename Spec::Number(number(piece, i - Spec::parameter_size));
    }

  private:
    [[nodiscard]] typename Spec::Scalar number(std::int32_t of_piece, int i) const {
        return problem.inputs.number(problem.inputs.row_of(to_index(row)), of_piece,
                                     Spec::input_room, i);
    }
};

/// One lane of a problem, with its parameters.
template <class Spec>
class LaneProblem {
    using Real = typename Spec::Primal;

  public:
    static_assert(Spec::num_places == 1, "a lane is computed in plain numbers");
    using Parameters = Vec<typename Spec::Number, Spec::parameter_room>;

    LaneProblem(const Problem<Spec>& of_all, LaunchLane which)
        : problem(of_all), of_launch(which), times_(of_all.times_of(which)) {
        const LaneParameters<Spec> p(&problem, of_launch);
        for (int i = 0; i < Spec::parameter_size; ++i) p_[i] = p[i];
    }

    const Problem<Spec>& problem;
    const LaunchLane of_launch;

    [[nodiscard]] typename Spec::State y0() const {
        return LaneStart<Spec>::found(problem, of_launch);
    }
    [[nodiscard]] const LaneTimes& times() const { return times_; }

    /// Calls use(in) with what a step of |dt| = size starts from.
    template <class Use>
    decltype(auto) with_step(const StepStart<Spec>& from, double size, Use&& use) const {
        return with_step(from, size, tangent_of_size(from, size), use);
    }
    /// Uses a step whose size may have this tangent.
    template <class Use>
    decltype(auto) with_step(const StepStart<Spec>& from, double size,
                             [[maybe_unused]] const ClockTangent<Spec>& by, Use&& use) const {
        if constexpr (Spec::moves_times)
            return with_still_step(from, size, [&](const auto& in) -> decltype(auto) {
                return MovingStep<std::remove_cvref_t<decltype(in)>, typename Spec::Number>{in}
                    .along(from.clock, by, use);
            });
        else
            return with_still_step(from, size, use);
    }
    /// The tangent of a step that is to end on its tstop: what its start moves by, it is shorter.
    [[nodiscard]] ClockTangent<Spec> tangent_of_size([[maybe_unused]] const StepStart<Spec>& from,
                                                     [[maybe_unused]] double size) const {
        if constexpr (Spec::moves_times)
            return size == times().tstops[from.tstop].elapsed - from.elapsed ? -from.clock
                                                                             : Real(0);
        else
            return {};
    }
    /// The tangent of a step that ends at an event.
    [[nodiscard]] ClockTangent<Spec> tangent_to_event([[maybe_unused]] const StepStart<Spec>& from,
                                                      [[maybe_unused]] double size,
                                                      [[maybe_unused]] int event) const {
        ClockTangent<Spec> by{};
        if constexpr (Spec::moves_times) {
            with_still_step(from, size, [&](const auto& in) {
                static_for<0, Spec::num_events>([&]<int i>() {
                    if (event == i) by = tangent_of_root<Spec, i>(in, from.memory, from.clock);
                });
            });
        }
        return by;
    }
    /// When a step ends that is to be differentiated with respect to.
    [[nodiscard]] auto time_after([[maybe_unused]] const StepStart<Spec>& from, double end,
                                  [[maybe_unused]] const ClockTangent<Spec>& by) const {
        const double t = times().t0 + times().direction * end;
        if constexpr (Spec::moves_times)
            return typename Spec::Number(static_cast<Real>(t), from.clock + by);
        else
            return t;
    }
    /// Uses a step at times without tangents.
    template <class Use>
    decltype(auto) with_still_step(const StepStart<Spec>& from, double size, Use&& use) const {
        if constexpr (Spec::input_room > 0) {
            const auto reads = reads_of(from.tstop);
            return use_step(from, size, reads, use);
        } else {
            return use_step(from, size, p_, use);
        }
    }
    /// What the steps to a tstop read for p: it, and a piece of the inputs.
    [[nodiscard]] auto reads_of(std::int32_t tstop) const requires(Spec::input_room > 0) {
        const Row row = problem.row_of(of_launch);
        if constexpr (Spec::passes_knots)
            return PassingReads<Spec>{p_, problem, row};
        else
            return PieceReads<Spec>{p_, problem, row, tstop};
    }
    /// Uses a step at times without tangents, with what it reads for p.
    template <class Read, class Use>
    decltype(auto) use_step(const StepStart<Spec>& from, double size, const Read& p,
                            Use&& use) const {
        const Tstop& to = times().tstops[from.tstop];
        const TimeAt<double> start{times().t0, times().direction, from.elapsed, to.lowest,
                                   to.highest};
        const StepSize<double, Real> dt{size, static_cast<Real>(times().direction * size)};
        return use(StepInput{StageTimes<double>(start, size), from.y, p, dt, path(from, size),
                             problem.tolerances()});
    }

    /// What impulses make of a state, told before each of them.
    template <class Tell>
    void meet_impulses(const ImpulseRange& range, typename Spec::State& y, const Tell& tell) const {
        for (std::int32_t k = range.first; k < range.end; ++k) {
            const PlannedImpulse& impulse = times_.impulses[k];
            const typename Spec::Number amount(static_cast<Real>(impulse.amount));
            auto& number = y[impulse.component];
            tell(number);
            if (impulse.kind == Impulse::add)
                number = number + amount;
            else
                number = impulse.kind == Impulse::scale ? number * amount : amount;
        }
    }
    /// The state where a step has landed, behind the impulses there.
    [[nodiscard]] typename Spec::State behind_impulses(const StepStart<Spec>& at) const {
        typename Spec::State y = at.y;
        meet_impulses(times_.tstops[at.tstop].impulses, y, [](const auto&) {});
        return y;
    }
    /// The cells of noise that the steps to a tstop are parts of.
    [[nodiscard]] DyadicGrid<double> grid(
        std::int32_t tstop) const requires Spec::has_dyadic_steps {
        DyadicGrid<double> cells;
        cells.begin(problem.noise.cell, problem.noise.level);
        cells.head_for(0, problem.cells_of(of_launch)[tstop]);
        return cells;
    }

  private:
    [[nodiscard]] typename Spec::Path path([[maybe_unused]] const StepStart<Spec>& from,
                                           [[maybe_unused]] double size) const {
        const auto number = static_cast<double>(of_launch);
        if constexpr (Spec::has_dyadic_steps) {
            const DyadicGrid<double> cells = grid(from.tstop);
            return {{number, from.elapsed, size},
                    problem.noise,
                    cells.noise_at(cells.place_at(from.elapsed), size)};
        } else if constexpr (Spec::has_noise) {
            const double origin = from.tstop > 0 ? times().tstops[from.tstop - 1].elapsed : 0;
            const double steps = std::floor((from.elapsed - origin) / times().dt0 + 0.5);
            return {{number, from.elapsed, size},
                    problem.noise,
                    {problem.cells_of(of_launch)[from.tstop].first, steps}};
        } else if constexpr (Spec::has_path)
            return typename Spec::Path({number, from.elapsed, size});
        else
            return {};
    }

    LaneTimes times_;
    Parameters p_{};
};

}  // namespace eddy::inline v0::detail
