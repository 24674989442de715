#pragma once
// ESDIRK methods as a Stepper. What the iterations of a step begin with is of that step alone as well. It
// fails where its factors have lost too many digits or an iteration does not converge.
// Test: tests/steppers/esdirk.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <eddy/steppers/dense_weight.hpp>
#include <eddy/steppers/esdirk_adjoint.hpp>
#include <eddy/steppers/implicit_stepper.hpp>

namespace eddy::inline v0 {

/// `estimates_error`: whether attempts come with error estimates, as a controller wants them.
template <class Term, EsdirkMethod Method, bool estimates_error>
struct EsdirkStepper
    : ImplicitStepper<EsdirkStepper<Term, Method, estimates_error>, Term, Method, estimates_error> {
    using Base = ImplicitStepper<EsdirkStepper, Term, Method, estimates_error>;
    using Base::interpolant, Base::state_size;
    using Field = typename Term::Field;
    using Steps = Esdirk<Field, Method>;
    using Adjoint = EsdirkAdjoint<Field, Method>;
    template <int i>
    using Weight = detail::DenseWeight<EsdirkRows<Method>, i>;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr bool keeps_size = !estimates_error;
    /// Besides those of the iterations, which a trial counts: f at the start, and the part of a split
    /// field that is not iterated at each stage.
    static constexpr int evaluations_per_attempt = 1 + (Steps::splits ? num_stages : 0);
    /// One update a stage: how many more there were nobody counts on the way back.
    static constexpr int evaluations_per_replay = num_stages + (Steps::splits ? num_stages : 0);
    static constexpr bool iterates = true;

    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    struct Trial {
        State<Number> next;
        State<Number> z[num_stages];  // hγ k_i
        [[no_unique_address]] KeptIf<estimates_error, State<Number>> error;
        MaskOf<Number> failed;
        PrimalOf<Number> evaluations;  // of f, by iterations
    };

    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void attempt(const Input& in, const NoMemory&,
                                            Trial<Number>& trial) {
        typename Steps::template Work<Number> work;
        Steps::template run<keeps_size>(in, work, trial.failed);
        Steps::set_next_state(in.y, work, trial.next);
        trial.evaluations = work.num_updates;
        if constexpr (estimates_error) trial.error = Steps::error(in, work);
        static_for<0, num_stages>([&]<int i>()
                                      EDDY_INLINE { trial.z[i] = work.template increment<i>(); });
    }

    /// For reports of steps that cannot be made.
    template <class Input>
    [[nodiscard]] EDDY_HD static int singular_component(const Input& in, int place) {
        const auto start = start_of(in);
        typename Steps::template Lu<NumberOf<Input>> lu;
        lu.factor(start.matrix);
        return lu.failed_pivot(start.matrix, place);
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static int infinite_component(const Input& in, int place) {
        const auto start = start_of(in);
        const int at_start =
            detail::infinite_row<typename Steps::Matrix>(start.f, start.matrix, place);
        if (at_start >= 0) return at_start;
        typename Steps::template Work<NumberOf<Input>> work;
        MaskOf<NumberOf<Input>> failed;
        Steps::template run<keeps_size>(in, work, failed);
        return get_lane(failed, place) ? Steps::broken_component(in, work, place) : -1;
    }

    /// The states within a step.
    template <class Number, class Real>
    struct Within {
        State<Number> y;
        Real h;
        State<Number> z[num_stages];

        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> at(const Theta& theta) const {
            State<Number> state = y;
            static_for<0, num_stages>(
                [&]<int i>() { detail::add_scaled(state, Weight<i>::at(Real(theta)), z[i]); });
            return state;
        }
        template <class Theta>
        [[nodiscard]] EDDY_HD State<Number> slope(const Theta& theta) const {
            State<Number> state{};
            static_for<0, num_stages>([&]<int i>() {
                detail::add_scaled(state, Weight<i>::slope(Real(theta)) / h, z[i]);
            });
            return state;
        }
        /// At the end of a step that lands, of methods that have no better way to save points: the slope of the last
        /// stage, of the order of the state.
        [[nodiscard]] EDDY_HD State<Number> slope_of_landing() const
            requires(Base::steps_to_save_points) {
            constexpr double by_gamma = 1 / Method::coefficients.gamma;
            return detail::scaled(Real(static_cast<ScalarOf<Real>>(by_gamma)) / h,
                                  z[num_stages - 1]);
        }
    };
    template <class Input, class Number>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in, const Trial<Number>& trial) {
        using Real = std::remove_cvref_t<decltype(in.dt.h)>;
        Within<Number, Real> within{in.y, in.dt.h, {}};
        static_for<0, num_stages>([&]<int i>() { within.z[i] = trial.z[i]; });
        return within;
    }

    template <class Number>
    using DenseCotangent = StageCotangents<State<Number>, num_stages>;
    template <class Input, class Theta, class Number>
    EDDY_HD static void pull_interpolant(const Input&, const Theta& theta,
                                         const State<Number>& cotangent,
                                         DenseCotangent<Number>& dense) {
        dense.y = dense.y + cotangent;
        static_for<0, num_stages>(
            [&]<int i>() { detail::add_scaled(dense.stage[i], Weight<i>::at(theta), cotangent); });
    }

  private:
    friend Base;
    template <class Number>
    using WorkOfStep = typename Steps::template Work<Number>;
    template <class Input, class Number>
    EDDY_INLINE EDDY_HD static void replay(const Input& in,
                                           typename Steps::template Work<Number>& work) {
        MaskOf<Number> unasked;
        Steps::template run<keeps_size>(in, work, unasked);
    }
    template <class Input>
    [[nodiscard]] EDDY_HD static auto start_of(const Input& in) {
        return Steps::template linear<NumberOf<Input>>(Steps::template stage_time<0>(in), in.y,
                                                       in.p, in.dt);
    }
};

}  // namespace eddy::inline v0
