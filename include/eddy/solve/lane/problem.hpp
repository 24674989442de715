#pragma once
// What is asked of all lanes of one call, as the loops read it: plain numbers and views, so that a
// kernel takes it as it is. The views refer to arrays of the caller, or to what the call owns.
// Test: tests/solve/oracle.cpp, tests/solve/lanes.cpp

#include <cstddef>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/lane/input_tables.hpp>
#include <eddy/solve/lane/prescribed_steps.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <eddy/solve/lane/solve_spec.hpp>
#include <eddy/solve/lane/tangent_parts.hpp>
#include <eddy/solve/lane/times.hpp>
#include <eddy/steppers/consistent_start.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// The size that all steps have, where the method gains by knowing it beforehand.
template <class Spec>
struct ConstantSizeOf {
    struct None {};
    using type = None;
};
template <class Spec>
requires Spec::has_constant_size struct ConstantSizeOf<Spec> {
    using type = typename Spec::Stepper::template ConstantSize<typename Spec::Scalar>;
};

/// In the place of a plan of noise.
struct NoNoise {
    static constexpr int level = 0;
};
/// One direction that has no pattern with others, and so leaves no mode of the Jacobian at zero: ±1 along every
/// component of y0, ±|p| along every parameter behind them, ±1 where that is zero.
[[nodiscard]] EDDY_HD constexpr int fixed_sign(std::int64_t component) {
    const auto mixed = (static_cast<std::uint64_t>(component) + 1) * 0x9e3779b97f4a7c15u;
    return (mixed >> 62) % 2 == 0 ? 1 : -1;
}

template <class Spec>
struct Problem {
    using Scalar = typename Spec::Scalar;
    // Where all lanes share their parameters: plain numbers that an instruction broadcasts; a dual
    // number of a single lane is not one of a pack.
    using SharedParameter = std::conditional_t<Spec::is_dual, typename Spec::Number, Scalar>;
    using Size = typename ConstantSizeOf<Spec>::type;

    CallTimes times;
    Clock<ScalarOf<typename Spec::Time>> clock;
    [[no_unique_address]] typename Spec::Method method{};  // for what of it is known only now
    typename Spec::Controller controller;
    decltype(in_single(
        std::declval<typename Spec::Controller>())) control;  // the same, as rounds ask it
    Scalar rtol = 0;
    Vec<Scalar, Spec::state_size> atol{};
    Rows rows;                                         // of the arrays that the lanes are given
    EnsembleView<const Scalar> y0, p;                  // p: one row where it is shared
    EnsembleView<const Scalar> y0_tangent, p_tangent;  // of a dual number; empty: zero
    const SharedParameter* shared_p = nullptr;         // (component)
    /// In the place of p, where parameters do not lie in rows of one array; on the host only.
    const ParameterTable<Scalar>*table = nullptr, *table_tangent = nullptr;
    [[no_unique_address]] Size size{};
    [[no_unique_address]] std::conditional_t<Spec::has_noise, NoisePlan, NoNoise> noise{};
    /// (lane) the states in which lanes begin, found before they do.
    [[no_unique_address]] KeptIf<keeps_starts<typename Spec::Field>, typename Spec::LaneState*>
        starts{};
    /// Of an equation that reads inputs.
    [[no_unique_address]] KeptIf<(Spec::input_room > 0), InputTables<Scalar>> inputs{};
    PrescribedSteps prescribed;         // where steps are not to be chosen
    bool counts_tangents = false;       // does the norm of errors? Of dual numbers
    bool has_fixed_directions = false;  // in the place of tangents: see fixed_sign

    /// Are steps of constant size whole cells of the noise, where there is any?
    [[nodiscard]] EDDY_HD bool takes_whole_cells() const { return noise.level == 0; }
    /// The power of the step's size with which the norm of its error falls.
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr float error_order() {
        return Spec::Stepper::error_order;
    }
    [[nodiscard]] EDDY_HD typename Spec::Tolerances tolerances() const {
        if constexpr (IteratesWithinSteps<typename Spec::Stepper>)
            return {rtol, atol.data, static_cast<Scalar>(method.newton_tolerance)};
        else
            return {};
    }
    /// The row that a lane is given. On a device each lane has its own (call/mirrors.hpp).
    [[nodiscard]] EDDY_HD Row row_of(LaunchLane lane) const {
        return compiling_for_device ? Row{to_index(lane)} : rows(lane);
    }
    [[nodiscard]] EDDY_HD LaneTimes times_of(LaunchLane lane) const {
        return times.of(row_of(lane));
    }
    /// (tstop) The cells of noise before each.
    [[nodiscard]] EDDY_HD const CellRow* cells_of(LaunchLane lane) const requires Spec::has_noise {
        return noise.rows + times.table_row(row_of(lane)) * times.num_tstops;
    }
    [[nodiscard]] EDDY_HD typename Spec::LaneState load_y0(LaunchLane lane) const {
        const Row row = row_of(lane);
        typename Spec::LaneState y{};
        for (int i = 0; i < Spec::state_size; ++i) {
            y[i] = load(y0, y0_tangent, row, i);
            if (has_fixed_directions) set_tangent(y[i], static_cast<Scalar>(fixed_sign(i)));
        }
        return y;
    }
    /// The piece of the inputs that the steps of a lane to a tstop read, and a number of it.
    [[nodiscard]] EDDY_HD std::ptrdiff_t piece_of(Row row, std::int32_t tstop) const
        requires(Spec::input_room > 0) {
        return inputs.pieces[times.table_row(row) * times.num_tstops + tstop];
    }
    [[nodiscard]] EDDY_HD Scalar input_number(Row row, std::int32_t tstop, int i) const
        requires(Spec::input_room > 0) {
        return inputs.number(inputs.row_of(to_index(row)), piece_of(row, tstop), Spec::input_room,
                             i);
    }
    /// The row of a lane's parameters.
    [[nodiscard]] EDDY_HD Row row_of_p(LaunchLane lane) const {
        return Spec::shares_parameters ? Row{0} : row_of(lane);
    }
    [[nodiscard]] EDDY_HD typename Spec::Lane p_of_row(Row row, int i) const {
        auto number = has_table() ? load_from_table(to_index(row), i) : load(p, p_tangent, row, i);
        if (has_fixed_directions) set_tangent(number, fixed_direction(primal(number), i));
        return number;
    }
    [[nodiscard]] EDDY_HD static Scalar fixed_direction(const Scalar& parameter, int i) {
        const Scalar magnitude = parameter < 0 ? -parameter : parameter;
        return static_cast<Scalar>(fixed_sign(Spec::state_size + i)) *
               (parameter == 0 ? Scalar(1) : magnitude);
    }

    /// Are the parameters those of the table?
    [[nodiscard]] EDDY_HD bool has_table() const {
        return !compiling_for_device && !Spec::shares_parameters && table != nullptr;
    }

  private:
    [[nodiscard]] EDDY_HD typename Spec::Lane load_from_table(std::ptrdiff_t row, int i) const {
        return number_of_parts<typename Spec::Lane>((*table)(row, i), [&] {
            return table_tangent     ? (*table_tangent)(row, i)
                   : p_tangent.first ? p_tangent(row, i)
                                     : Scalar(0);
        });
    }
    [[nodiscard]] EDDY_HD static typename Spec::Lane load(
        const EnsembleView<const Scalar>& values, const EnsembleView<const Scalar>& tangents,
        Row of_lane, std::ptrdiff_t i) {
        const std::ptrdiff_t row = to_index(of_lane);
        return number_of_parts<typename Spec::Lane>(
            values(row, i), [&] { return tangents.first ? tangents(row, i) : Scalar(0); });
    }
};

/// The parameters of one lane, read where they are; behind them the inputs of its steps to a tstop.
template <class Spec>
class LaneParameters {
  public:
    EDDY_HD LaneParameters(const Problem<Spec>* problem, LaunchLane lane,
                           [[maybe_unused]] std::int32_t tstop = 0)
        : problem_(problem), row_(problem->row_of_p(lane)) {
        if constexpr (Spec::input_room > 0)
            inputs_ = {problem->row_of(lane), piece_before(lane, tstop)};
    }

    [[nodiscard]] EDDY_HD typename Spec::Lane operator[](int i) const {
        if constexpr (Spec::input_room > 0) {
            if (i >= Spec::parameter_size)
                return typename Spec::Lane(problem_->inputs.number(
                    problem_->inputs.row_of(to_index(inputs_.row)), inputs_.number,
                    Spec::input_room, i - Spec::parameter_size));
        }
        return problem_->p_of_row(row_, i);
    }
    /// The inputs are those at t from here on.
    template <class Time>
    EDDY_HD void move_to(const Time& t) const requires(Spec::passes_knots) {
        problem_->inputs.seek(inputs_.number, problem_->inputs.row_of(to_index(inputs_.row)),
                              primal(convert<typename Spec::Lane>(t)), Spec::input_room);
    }

  private:
    struct Piece {
        Row row;
        std::int32_t number;
    };
    [[nodiscard]] EDDY_HD std::int32_t piece_before(LaunchLane lane, std::int32_t tstop) const
        requires(Spec::input_room > 0) {
        return static_cast<std::int32_t>(problem_->piece_of(problem_->row_of(lane), tstop));
    }

    const Problem<Spec>* problem_;
    [[no_unique_address]] mutable KeptIf<(Spec::input_room > 0), Piece> inputs_{};
    Row row_;
};

}  // namespace eddy::inline v0::detail
