#pragma once
// How far the embedded error of every step moves what is computed from its end: a stepper of dual
// numbers whose step is that of a method, with its own error estimate as the tangent of what it adds,
//
//   y⁺ = R(y) + ε err(y),   err(y) = dt Σ_i (b_i − b̂_i) k_i,
//
// so that a tangent is a derivative with respect to ε. What is computed without tangents keeps its
// values. The adjoint of a step in dual numbers gives the tangent ε err_yᵀ λ⁺ besides Rᵀλ⁺: stage
// derivatives have the cotangents ε dt (b_i − b̂_i) λ⁺ of their own. Points within a step do not count
// the error of that step.
// Test: tests/solve/gradient_error.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>

namespace eddy::inline v0::detail {

template <class Term, RungeKuttaMethod Method>
struct EmbeddedErrorStepper : ExplicitRungeKuttaStepper<Term, Method, true> {
    using Base = ExplicitRungeKuttaStepper<Term, Method, true>;
    using Steps = typename Base::Steps;
    static constexpr int num_stages = Base::num_stages;
    static constexpr int evaluations_at_start = 0;
    static constexpr int evaluations_per_attempt = num_stages;
    static constexpr int evaluations_per_replay = num_stages;
    static_assert(Base::num_dense_stages >= num_stages);
    /// Not known beforehand: a step of one known size would leave out its error.
    using ConstantSize = void;

    template <class Number>
    using State = typename Base::template State<Number>;
    template <class Number>
    using Trial = typename Base::template Trial<Number>;
    /// The last stage is not the first of the next step, which begins ε err further.
    template <class Number>
    using Memory = NoMemory;

    template <class Input>
    [[nodiscard]] EDDY_HD static NoMemory first(const Input&) {
        return {};
    }
    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory&,
                                            Trial<Number>& trial) {
        State<Number> k[num_stages];
        Steps::template stages<0, num_stages>(in.t, in.y, in.p, in.dt, k);
        trial.error = Steps::error(in.dt, k);
        trial.next = moved(Steps::next_state(in.y, in.dt, k), trial.error);
        if constexpr (Base::has_coarse_error) trial.coarse = Steps::template error<true>(in.dt, k);
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE { trial.k[i] = k[i]; });
    }
    template <class Trial, class Mask>
    EDDY_HD static void carry(const Trial&, const Mask&, NoMemory&) {}
    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        std::remove_cvref_t<decltype(in.y)> k[num_stages];
        Steps::template stages<0, num_stages>(in.t, in.y, in.p, in.dt, k);
        return moved(Steps::next_state(in.y, in.dt, k), Steps::error(in.dt, k));
    }

    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization {
        static constexpr int count = dense ? Base::num_dense_stages : num_stages;
        typename Steps::template Stage<Number, with_times> stage[count];
        State<Number> k[count];
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        Steps::linearize_stages(in.t, in.y, in.p, in.dt, of_step.k, of_step.stage);
    }
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const State<Number>& next_cotangent, const Dense& dense, ParameterCotangent& p_cotangent,
        Times& times) {
        State<Number> own[Linearization<Number, with_times, is_dense>::count]{};
        if constexpr (is_dense) {
            static_for<0, Base::num_dense_stages>([&]<int i>() { own[i] = dense.stage[i]; });
        }
        static_for<0, num_stages>([&]<int i>()
                                      EDDY_INLINE { add_own<i>(in.dt.h, next_cotangent, own[i]); });
        return Steps::pull_stages(in.t, in.p, in.dt, of_step.k, of_step.stage, next_cotangent, own,
                                  p_cotangent, times) +
               dense.y;
    }

  private:
    template <class Number>
    static constexpr bool has_tangents = !std::is_same_v<Number, PrimalOf<Number>>;

    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Number> moved(State<Number> next,
                                                                 const State<Number>& error) {
        if constexpr (has_tangents<Number>) {
            for_components<Term::state_size>(
                [&](int i) EDDY_INLINE { next[i].tangent = next[i].tangent + error[i].value; });
        }
        return next;
    }
    /// dt (b_i − b̂_i) λ⁺ to the tangents of a stage's cotangent.
    template <int i, class Real, class Number>
    EDDY_INLINE EDDY_HD static void add_own(const Real& h, const State<Number>& next_cotangent,
                                            State<Number>& own) {
        constexpr double weight = Method::tableau.b_error[i];
        if constexpr (has_tangents<Number> && weight != 0) {
            const Real e = Real(static_cast<ScalarOf<Real>>(weight)) * h;
            for_components<Term::state_size>([&](int j) EDDY_INLINE {
                own[j].tangent = own[j].tangent + e * next_cotangent[j].value;
            });
        }
    }
};

}  // namespace eddy::inline v0::detail

namespace eddy::inline v0 {

/// A method in whose dual numbers a tangent is the effect of the steps' embedded errors.
template <RungeKuttaMethod Method>
struct WithEmbeddedError {
    static constexpr int order = Method::order;
    static constexpr bool has_error_estimate = true;
    template <class Term, bool estimates_error>
    using Stepper = detail::EmbeddedErrorStepper<Term, Method>;
    /// The method whose steps it takes.
    using Plain = Method;
};

}  // namespace eddy::inline v0
