#pragma once
// Methods that are not explicit Runge–Kutta methods, written for tests alone: they bring along all
// that the concept of a step has and an explicit method does not need.

#include <bit>
#include <cstdint>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <type_traits>

namespace support {

/// t at a fraction of the step.
template <class Input>
auto time_at(const Input& in, double c) {
    if constexpr (requires { in.t.at_fraction(c); })
        return in.t.at_fraction(c);
    else
        return in.t + in.dt.fraction(c);
}

/// Adds the products of a cotangent with the derivatives of f to those of y and p.
template <class Field, class Time, class Number, int size, class Parameters, class Sum>
void pull_field(const Time& t, const eddy::Vec<Number, size>& y, const Parameters& p,
                const eddy::Vec<Number, size>& cotangent, eddy::Vec<Number, size>& y_sum,
                Sum& p_sum) {
    using Pullback = decltype(eddy::vjp<1, 2>(eddy::FieldProgram<Field>{}));
    eddy::evaluate<Pullback, Number>(
        [&]<int output>(int i, const Number& value) {
            if constexpr (output == 0)
                y_sum[i] = y_sum[i] + value;
            else
                eddy::detail::accumulate(p_sum, i, value);
        },
        t, y, p, cotangent);
}

/// ROS2 of Verwer et al. 1999, SIAM J. Sci. Comput. 20(4), 1456, eq. 2: two stages, linearly
/// implicit, of second order for any matrix A in place of the Jacobian. A is that of a step some
/// while ago, carried along; it is taken anew every third step and after a rejection. A step fails
/// where A is too large for it. For gradients A is data.
template <class Term, bool estimates_error>
struct CarriedJacobianStepper {
    using Field = typename Term::Field;
    static constexpr int state_size = Term::state_size, parameter_size = Term::parameter_size;
    static_assert(state_size == 2);
    static constexpr float order = 2, error_order = 2;
    static constexpr bool can_fail = true, memory_follows_state = false;
    static constexpr bool steps_to_save_points = true;
    static constexpr int evaluations_at_start = 0, evaluations_per_attempt = 2;
    static constexpr int evaluations_per_replay = 2;
    static constexpr double gamma = 0.2928932188134524;  // 1 − √½

    template <class Time>
    using Path = eddy::NoPath;
    template <class Number>
    using State = eddy::Vec<Number, state_size>;
    template <class Number>
    struct Memory {
        Number a[2][2]{};
        Number age{};  // in steps; 3: too old
        friend Memory select(const auto& mask, const Memory& x, const Memory& y) {
            using eddy::select;
            Memory chosen;
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) chosen.a[i][j] = select(mask, x.a[i][j], y.a[i][j]);
            }
            chosen.age = select(mask, x.age, y.age);
            return chosen;
        }
    };
    template <class Number>
    struct Trial {
        State<Number> next, error;
        Memory<Number> memory;  // with which it was tried
        decltype(Number(0) < Number(0)) failed;
    };
    template <class Input>
    using NumberOf = typename std::remove_cvref_t<decltype(std::declval<Input>().y)>::value_type;

    template <class Input>
    static auto first(const Input& in) {
        Memory<NumberOf<Input>> memory;
        Field::jacobian(in.y, memory.a);
        memory.age = NumberOf<Input>(0);
        return memory;
    }
    template <class Number>
    static Memory<Number> refreshed(const auto& in, const Memory<Number>& memory) {
        return select(memory.age >= Number(3), first(in), memory);
    }

    /// Solves (I − γ dt A) x = b, or with the transpose.
    template <class Number>
    static State<Number> solve(const Memory<Number>& memory, const Number& h,
                               const State<Number>& b, bool transposed) {
        const Number g = Number(gamma) * h;
        const Number m00 = Number(1) - g * memory.a[0][0], m11 = Number(1) - g * memory.a[1][1];
        const Number m01 = -(g * memory.a[transposed ? 1 : 0][transposed ? 0 : 1]);
        const Number m10 = -(g * memory.a[transposed ? 0 : 1][transposed ? 1 : 0]);
        const Number det = m00 * m11 - m01 * m10;
        return {{(b[0] * m11 - b[1] * m01) / det, (m00 * b[1] - m10 * b[0]) / det}};
    }

    template <class Input, class Number>
    static void stages(const Input& in, const Memory<Number>& memory, State<Number>& k1,
                       State<Number>& k2, State<Number>& between) {
        const Number h = in.dt.h;
        k1 = solve(memory, h, Term::derivative(time_at(in, 0), in.y, in.p), false);
        between = in.y;
        for (int i = 0; i < 2; ++i) between[i] = between[i] + h * k1[i];
        State<Number> b = Term::derivative(time_at(in, 1), between, in.p);
        for (int i = 0; i < 2; ++i) b[i] = b[i] - Number(2) * k1[i];
        k2 = solve(memory, h, b, false);
    }
    template <class Input, class Number>
    static void attempt(const Input& in, const Memory<Number>& memory, Trial<Number>& trial) {
        const Number h = in.dt.h;
        State<Number> k1, k2, between;
        trial.memory = refreshed(in, memory);
        stages(in, trial.memory, k1, k2, between);
        for (int i = 0; i < 2; ++i) {
            trial.next[i] = in.y[i] + Number(1.5) * h * k1[i] + Number(0.5) * h * k2[i];
            trial.error[i] = Number(0.5) * h * (k1[i] + k2[i]);
        }
        trial.failed = abs(h * trial.memory.a[0][0]) > Number(20);
    }
    template <class Number>
    static void carry(const Trial<Number>& trial, const auto& accepted, Memory<Number>& memory) {
        Memory<Number> older = trial.memory, stale = memory;
        older.age = older.age + Number(1);
        stale.age = Number(3);
        memory = select(accepted, older, stale);
    }
    template <class Number>
    static auto squared_error(const Trial<Number>& trial, auto&& squared_norm) {
        return squared_norm(trial.error);
    }
    template <class Input, class Number>
    static State<Number> step(const Input& in, const Memory<Number>& memory) {
        Trial<Number> trial;
        attempt(in, memory, trial);
        return trial.next;
    }

    /// A straight line: nobody is to see it.
    template <class Number>
    struct Line {
        State<Number> from, slope_of;
        State<Number> at(const auto& theta) const {
            State<Number> y = from;
            for (int i = 0; i < 2; ++i) y[i] = y[i] + Number(theta) * slope_of[i];
            return y;
        }
        State<Number> slope(const auto&) const { return slope_of; }
    };
    template <class Input, class Number>
    static Line<Number> interpolant(const Input& in, const Trial<Number>& trial) {
        return {in.y, trial.next - in.y};
    }
    template <class Number>
    struct DenseCotangent {
        State<Number> y{};
    };
    template <class Number>
    static void pull_interpolant(const auto&, const auto&, const State<Number>& cotangent,
                                 DenseCotangent<Number>& dense) {
        dense.y = dense.y + cotangent;
    }

    template <class Number, bool with_times, bool dense>
    struct Linearization {
        Memory<Number> memory;
        State<Number> between;
    };
    template <class Input, class Number, bool with_times, bool dense>
    static void linearize(const Input& in, const Memory<Number>& memory,
                          Linearization<Number, with_times, dense>& of_step) {
        State<Number> k1, k2;
        of_step.memory = refreshed(in, memory);
        stages(in, of_step.memory, k1, k2, of_step.between);
    }
    template <class Input, class Number, bool with_times, bool is_dense>
    static State<Number> pull(const Input& in,
                              const Linearization<Number, with_times, is_dense>& of_step,
                              const State<Number>& next_cotangent, const auto&, auto& p_cotangent,
                              auto&) {
        const Number h = in.dt.h;
        State<Number> of_k2, of_k1, of_between{}, of_y = next_cotangent;
        for (int i = 0; i < 2; ++i) of_k2[i] = Number(0.5) * h * next_cotangent[i];
        const State<Number> w2 = solve(of_step.memory, h, of_k2, true);
        pull_field<Field>(time_at(in, 1), of_step.between, in.p, w2, of_between, p_cotangent);
        for (int i = 0; i < 2; ++i) {
            of_k1[i] = Number(1.5) * h * next_cotangent[i] - Number(2) * w2[i] + h * of_between[i];
            of_y[i] = of_y[i] + of_between[i];
        }
        const State<Number> w1 = solve(of_step.memory, h, of_k1, true);
        pull_field<Field>(time_at(in, 0), in.y, in.p, w1, of_y, p_cotangent);
        return of_y;
    }
};
struct CarriedJacobian {
    static constexpr bool has_error_estimate = true;
    template <class Term, bool estimates_error>
    using Stepper = CarriedJacobianStepper<Term, estimates_error>;
};

/// Noise of one component, from a hash of lane and start: two values of equal probability, whose
/// square is the size of the step.
template <class Time>
struct HashPath {
    eddy::StepInterval<Time> interval;
    explicit HashPath(const eddy::StepInterval<Time>& over) : interval(over) {}

    /// ±1.
    [[nodiscard]] Time sign() const {
        using eddy::get_lane, eddy::set_lane;
        Time signs(0);
        for (int place = 0; place < eddy::num_lanes_of<Time>; ++place) {
            std::uint64_t bits = std::bit_cast<std::uint64_t>(get_lane(interval.elapsed, place)) ^
                                 (static_cast<std::uint64_t>(get_lane(interval.lane, place)) << 32);
            for (const std::uint64_t factor : {0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu})
                bits = (bits ^ (bits >> 29)) * factor;
            set_lane(signs, place, (bits >> 63) != 0 ? 1. : -1.);
        }
        return signs;
    }
};
template <class FieldType>
struct NoisyTerm : eddy::OdeTerm<FieldType> {
    template <class Time>
    using Path = HashPath<Time>;
};

/// y + dt f ± √dt/4, the weak Euler scheme (Kloeden & Platen 1992, eq. 14.1.2), of constant size.
template <class Term, bool estimates_error>
struct NoisyEulerStepper {
    using Field = typename Term::Field;
    static_assert(!estimates_error);
    static constexpr int state_size = Term::state_size, parameter_size = Term::parameter_size;
    static constexpr float order = 1, error_order = 1;
    static constexpr bool can_fail = false, memory_follows_state = true;
    static constexpr bool steps_to_save_points = true;
    static constexpr int evaluations_at_start = 0, evaluations_per_attempt = 1;
    static constexpr int evaluations_per_replay = 1;

    template <class Time>
    using Path = typename Term::template Path<Time>;
    template <class Number>
    using State = eddy::Vec<Number, state_size>;
    template <class Number>
    using Memory = eddy::NoMemory;
    template <class Number>
    struct Trial {
        State<Number> next;
    };
    template <class Input>
    static eddy::NoMemory first(const Input&) {
        return {};
    }
    template <class Input>
    static auto step(const Input& in, const eddy::NoMemory&) {
        using Number = typename std::remove_cvref_t<decltype(in.y)>::value_type;
        const auto k = Term::derivative(time_at(in, 0), in.y, in.p);
        const Number noise =
            eddy::convert<Number>(in.path.sign()) * Number(0.25) * sqrt(abs(Number(in.dt.h)));
        State<Number> next = in.y;
        for (int i = 0; i < state_size; ++i) next[i] = next[i] + in.dt.h * k[i] + noise;
        return next;
    }
    template <class Input, class Number>
    static void attempt(const Input& in, const eddy::NoMemory& memory, Trial<Number>& trial) {
        trial.next = step(in, memory);
    }
    static void carry(const auto&, const auto&, eddy::NoMemory&) {}
    static auto squared_error(const auto& trial, auto&& squared_norm) {
        return squared_norm(trial.next);
    }
    template <class Number>
    struct Line {
        State<Number> from, slope_of;
        State<Number> at(const auto&) const { return from; }
        State<Number> slope(const auto&) const { return slope_of; }
    };
    template <class Input, class Number>
    static Line<Number> interpolant(const Input& in, const Trial<Number>& trial) {
        return {in.y, trial.next - in.y};
    }
    template <class Number>
    struct DenseCotangent {};
    template <class Number>
    static void pull_interpolant(const auto&, const auto&, const State<Number>&,
                                 DenseCotangent<Number>&) {}
    template <class Number, bool with_times, bool dense>
    struct Linearization {};
    static void linearize(const auto&, const auto&, auto&) {}
    template <class Input, class Number, bool with_times, bool is_dense>
    static State<Number> pull(const Input& in, const Linearization<Number, with_times, is_dense>&,
                              const State<Number>& next_cotangent, const auto&, auto& p_cotangent,
                              auto&) {
        State<Number> of_k, of_y = next_cotangent;
        for (int i = 0; i < state_size; ++i) of_k[i] = in.dt.h * next_cotangent[i];
        pull_field<Field>(time_at(in, 0), in.y, in.p, of_k, of_y, p_cotangent);
        return of_y;
    }
};
struct NoisyEuler {
    static constexpr bool has_error_estimate = false;
    template <class Term, bool estimates_error>
    using Stepper = NoisyEulerStepper<Term, estimates_error>;
};

}  // namespace support
