#pragma once
// The types of a lane program: what a group of lanes computes with, from the equation, the method,
// the controller and the type of number. `Number` is a plain number (one lane), a pack (several),
// or a dual number of either. Time is double always; errors and controllers are single precision.

#include <cstdint>
#include <eddy/ad/dual_lanes.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/core/result.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/solve/ensemble_array.hpp>
#include <eddy/solve/progress.hpp>
#include <eddy/solve/time_plan.hpp>
#include <eddy/steppers/controller/decision.hpp>
#include <eddy/steppers/explicit_rk.hpp>
#include <stop_token>
#include <vector>

namespace eddy {

namespace detail {

/// The time at progress s: asking for s + ds and then for t keeps the time of a last stage that of
/// the next step's first, bit for bit. It stays within bounds, whatever the rounding: on one side
/// of each jump.
template <class Time>
struct TimeAt {
    double t0, direction;
    Time s, lowest, highest;

    template <class Fraction>
    [[nodiscard, gnu::always_inline]] friend Time operator+(const TimeAt& at,
                                                            const Fraction& progress) {
        const Time t = mul_add(Time(at.direction), at.s + progress, Time(at.t0));
        return max(min(t, at.highest), at.lowest);
    }
};

/// The times of a step's stages, between those of its two ends: none is beyond an end, whatever the
/// rounding, and those of the ends are exact.
template <class Time>
struct StageTimes {
    Time first, last, length;

    [[gnu::always_inline]] StageTimes(const TimeAt<Time>& start, const Time& h)
        : first(start + Time(0)), last(start + h), length(last - first) {}

    [[nodiscard, gnu::always_inline]] Time at_fraction(double c) const {
        if (c == 0) return first;
        if (c == 1) return last;
        return mul_add(Time(c), length, first);
    }
};

template <class Controller>
concept AcceptsAlways = requires {
    requires !Controller::is_adaptive;
};

}  // namespace detail

/// Everything that is fixed when a lane program is compiled.
template <class FieldType, class MethodType, class ControllerType, class NumberType, bool shared>
struct LaneProgram {
    using Field = FieldType;
    using Method = MethodType;
    using Controller = ControllerType;
    using Number = NumberType;
    using Stepper = ExplicitRungeKutta<Field, Method>;
    using Dense = Interpolant<Method>;

    using Primal = PrimalOf<Number>;  // of the state, without tangents
    using Scalar = ScalarOf<Number>;  // float or double
    using Time = WithElement<Primal, double>;
    using Single = WithElement<Primal, float>;
    using Lane = LaneOf<Number>;  // what one lane of a Number holds
    using History = ControllerHistory<Single>;

    static constexpr bool is_adaptive = !detail::AcceptsAlways<Controller>;
    static constexpr bool shares_parameters = shared;
    static constexpr bool is_dual = !std::is_same_v<Number, Primal>;
    static constexpr int pack_slots = num_lanes_of<Number>;
    /// Packs of a group. A step of one pack waits for its own results most of the time; its
    /// neighbours, taken in turn, fill the gaps.
    static constexpr int max_packs = pack_slots > 1 ? 3 : 1;
    static constexpr int max_slots = pack_slots * max_packs;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    /// Does each lane hand out its own part of the parameters' gradient? The parts of many shared
    /// parameters stay in the slots: lanes then sit down in an order that depends on nothing else.
    static constexpr bool sums_by_lane = !shared || parameter_size <= 64;
    static constexpr int parameter_room = parameter_size > 0 ? parameter_size : 1;

    using State = Vec<Number, state_size>;
    using LaneState = Vec<Lane, state_size>;
    using LaneParameters = Vec<Lane, parameter_room>;
};

namespace detail {

/// What a replay needs of one pack of lanes.
template <class Program>
struct PackState {
    typename Program::State y;
    typename Program::Time s;  // progress of each slot
    typename Program::Time h;  // the size that the next attempt begins with
    typename Program::History history;
};

/// One number or array of T for each pack of a group; a copy copies those in use.
template <class Program, class T>
struct PerPack {
    int num_packs = 0;
    T pack[Program::max_packs];

    PerPack() = default;
    PerPack(const PerPack& other) { *this = other; }
    PerPack& operator=(const PerPack& other) {
        num_packs = other.num_packs;
        for (int i = 0; i < num_packs; ++i) pack[i] = other.pack[i];
        return *this;
    }
};

/// What a replay needs of a group of lanes.
template <class Program>
using LoopState = PerPack<Program, PackState<Program>>;

/// A look up from the work, now and then, by the thread that does it: a backend may call in others.
struct LookUp {
    void* threads = nullptr;  // null where there are no others
    void (*call)(void*) = nullptr;
    bool (*has_effect)(const void*) = nullptr;

    template <class Threads>
    [[nodiscard]] static LookUp of(Threads& threads) {
        return {
            &threads, [](void* kept) { static_cast<Threads*>(kept)->look_up(); },
            [](const void* kept) { return static_cast<const Threads*>(kept)->may_call_others(); }};
    }
    void operator()() const {
        if (threads != nullptr) call(threads);
    }
    [[nodiscard]] bool is_wanted() const { return threads != nullptr && has_effect(threads); }
};

}  // namespace detail

/// What is asked of all lanes of one call, as the lane programs read it. Views refer to the
/// caller's arrays.
template <class Program>
struct LaneInputs {
    using Scalar = typename Program::Scalar;

    TimePlan times;
    typename Program::Controller controller;
    Scalar rtol = 0;
    Vec<Scalar, Program::state_size> atol{};
    EnsembleView<const Scalar> y0, p;                  // p: one row where it is shared
    EnsembleView<const Scalar> y0_tangent, p_tangent;  // of a dual number; empty: zero
    std::stop_token cancelled;
    Progress* progress = nullptr;  // told of every lane that has ended
    detail::LookUp look_up;

    [[nodiscard]] typename Program::LaneState load_y0(std::ptrdiff_t lane) const {
        typename Program::LaneState y{};
        for (int i = 0; i < Program::state_size; ++i) y[i] = load(y0, y0_tangent, lane, i);
        return y;
    }
    [[nodiscard]] typename Program::Lane load_p(std::ptrdiff_t lane, int i) const {
        return load(p, p_tangent, Program::shares_parameters ? 0 : lane, i);
    }

  private:
    [[nodiscard]] static typename Program::Lane load(const EnsembleView<const Scalar>& values,
                                                     const EnsembleView<const Scalar>& tangents,
                                                     std::ptrdiff_t lane, std::ptrdiff_t i) {
        if constexpr (Program::is_dual) {
            return {values(lane, i), tangents.first ? tangents(lane, i) : Scalar(0)};
        } else {
            return values(lane, i);
        }
    }
};

/// What became of a lane.
struct LaneOutcome {
    Result result = Result::success;
    std::int64_t accepted = 0;
    std::int64_t rejected = 0;
    std::int64_t evaluations = 0;  // of f, on the way forward
    double t = 0;                  // where it ended
    int component = -1;            // of the state that failed; −1: none
};

}  // namespace eddy
