#pragma once
// The parameters of the lanes in the places of a Number, as the equation reads them: one Number per
// component where each lane has its own, plain numbers in memory where all lanes share them; and what
// parts of their cotangents are added to.
// Test: tests/solve/oracle_gradients.cpp

#include <eddy/solve/lane/passed_inputs.hpp>
#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

/// Parameters, and behind them the inputs of an equation. Their type tells no length: whoever reads (t, y, p)
/// without inputs sees the first of them alone.
template <class Given, class Number, int num_given, class Inputs>
struct DrivenParameters {
    Given given;
    Inputs inputs;

    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Number operator[](int i) const {
        if (i >= num_given) return inputs[i - num_given];
        return convert<Number>(given[i]);
    }
    template <class Time>
    EDDY_INLINE EDDY_HD void move_to(const Time& t) const requires requires {
        inputs.move_to(t);
    }
    { inputs.move_to(t); }
};
/// Inputs where steps end at knots: the numbers of the piece that each place is in.
template <class Number, int room>
struct PieceInputs : Vec<Number, room> {
    EDDY_HD void begin(const auto& /*tables*/) { *this = {}; }
    EDDY_HD void enter(const auto& tables, int place, std::ptrdiff_t row, std::int32_t piece) {
        for (int i = 0; i < room; ++i)
            set_lane((*this)[i], place, LaneOf<Number>(tables.number(row, piece, room, i)));
    }
};
/// Inputs of the places of a Number.
template <class Spec>
using PlaceInputs =
    std::conditional_t<Spec::passes_knots, PassedInputs<typename Spec::Number, Spec::input_room>,
                       PieceInputs<typename Spec::Number, Spec::input_room>>;

/// Parameters of a place, in all of them.
template <class Number, class Given>
struct SpreadParameters {
    const Given& given;
    int place;

    [[nodiscard]] Number operator[](int i) const {
        return Number(get_lane(convert<Number>(given[i]), place));
    }
};
template <class Number, class Given>
[[nodiscard]] auto spread(const Given& given, int place) {
    return SpreadParameters<Number, Given>{given, place};
}
template <class Number, class Given, int num_given, int room>
[[nodiscard]] auto spread(
    const DrivenParameters<Given, Number, num_given, PassedInputs<Number, room>>& driven,
    int place) {
    using OfPlace = SpreadParameters<Number, Given>;
    using Inputs = PassedInputs<Number, room>;
    return DrivenParameters<OfPlace, Number, num_given, Inputs>{{driven.given, place},
                                                                driven.inputs.spread(place)};
}

template <class Spec>
class PlaceParameters {
    static constexpr bool has_inputs = Spec::input_room > 0;
    using Own = Vec<typename Spec::Number, Spec::parameter_room>;
    using Shared = const typename Problem<Spec>::SharedParameter*;

  public:
    EDDY_HD void begin(const Problem<Spec>& problem) {
        if constexpr (Spec::shares_parameters)
            given() = problem.shared_p;
        else
            given() = Own{};
        if constexpr (has_inputs) values_.inputs.begin(problem.inputs);
    }
    /// Puts the parameters of a lane into a place.
    EDDY_HD void assign(const Problem<Spec>& problem, int place, LaunchLane lane) {
        if constexpr (!Spec::shares_parameters) {
            const LaneParameters<Spec> p(&problem, lane);
            for (int i = 0; i < Spec::parameter_size; ++i) set_lane(given()[i], place, p[i]);
        }
    }
    /// The steps of a place head for a tstop: loads the piece of the inputs that they lie in.
    EDDY_HD void head_for([[maybe_unused]] const Problem<Spec>& problem, [[maybe_unused]] int place,
                          [[maybe_unused]] LaunchLane lane, [[maybe_unused]] std::int32_t tstop) {
        if constexpr (has_inputs) {
            const Row row = problem.row_of(lane);
            values_.inputs.enter(problem.inputs, place, problem.inputs.row_of(to_index(row)),
                                 static_cast<std::int32_t>(problem.piece_of(row, tstop)));
        }
    }
    /// What f takes for p.
    [[nodiscard]] EDDY_INLINE EDDY_HD const auto& values() const { return values_; }

  private:
    using Given = std::conditional_t<Spec::shares_parameters, Shared, Own>;
    using Values = std::conditional_t<
        has_inputs,
        DrivenParameters<Given, typename Spec::Number, Spec::parameter_size, PlaceInputs<Spec>>,
        Given>;
    [[nodiscard]] EDDY_HD Given& given() {
        if constexpr (has_inputs)
            return values_.given;
        else
            return values_;
    }

    Values values_;
};

/// A sum that lanes which do not take part leave alone, whatever their values.
template <class Number, class SumMask, int size>
struct MaskedSum {
    Vec<Number, size>& sum;
    const SumMask& mask;

    EDDY_INLINE EDDY_HD void add(int i, const Number& value) const {
        sum[i] = select(mask, sum[i] + value, sum[i]);
    }
};

/// What the inputs of a place have got, which is then zero.
template <class Spec, class Sums>
[[nodiscard]] EDDY_HD auto take_input_sums(Sums& sums, int place) {
    Vec<typename Spec::Lane, Spec::input_room> taken;
    for (int i = 0; i < Spec::input_room; ++i) {
        auto& sum = sums[Spec::parameter_size + i];
        taken[i] = get_lane(sum, place);
        set_lane(sum, place, typename Spec::Lane(0));
    }
    return taken;
}

/// The sums of one place.
template <class Number, int size>
struct PlaceSums {
    Vec<Number, size>& sums;
    int place;

    EDDY_HD void add(int i, const LaneOf<Number>& value) const {
        set_lane(sums[i], place, get_lane(sums[i], place) + value);
    }
};

}  // namespace eddy::inline v0::detail
