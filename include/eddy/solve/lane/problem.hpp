#pragma once
// What is asked of all lanes of one call, as the loops read it: plain numbers and views, so that a
// kernel takes it as it is. The views refer to arrays of the caller, or to what the call owns.

#include <cstddef>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/given_steps.hpp>
#include <eddy/solve/lane/solve_spec.hpp>
#include <eddy/solve/lane/times.hpp>
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

template <class Spec>
struct Problem {
    using Scalar = typename Spec::Scalar;
    // Where all lanes share their parameters: plain numbers that an instruction broadcasts; a dual
    // number of a single lane is not one of a pack.
    using SharedParameter = std::conditional_t<Spec::is_dual, typename Spec::Number, Scalar>;
    using Size = typename ConstantSizeOf<Spec>::type;

    LaneTimes times;
    Clock<ScalarOf<typename Spec::Time>> clock;
    [[no_unique_address]] typename Spec::Method method{};  // for what of it is known only now
    typename Spec::Controller controller;
    decltype(in_single(
        std::declval<typename Spec::Controller>())) control;  // the same, as rounds ask it
    Scalar rtol = 0;
    Vec<Scalar, Spec::state_size> atol{};
    EnsembleView<const Scalar> y0, p;                  // p: one row where it is shared
    EnsembleView<const Scalar> y0_tangent, p_tangent;  // of a dual number; empty: zero
    const SharedParameter* shared_p = nullptr;         // (component)
    [[no_unique_address]] Size size{};
    [[no_unique_address]] std::conditional_t<Spec::has_noise, NoisePlan, NoPath> noise{};
    GivenSteps given;              // where steps are not to be chosen
    bool counts_tangents = false;  // does the norm of errors? Of dual numbers

    [[nodiscard]] EDDY_HD typename Spec::Tolerances tolerances() const {
        if constexpr (IteratesWithinSteps<typename Spec::Stepper>)
            return {rtol, atol.data, static_cast<Scalar>(method.newton_tolerance)};
        else
            return {};
    }
    [[nodiscard]] EDDY_HD typename Spec::LaneState load_y0(std::ptrdiff_t lane) const {
        typename Spec::LaneState y{};
        for (int i = 0; i < Spec::state_size; ++i) y[i] = load(y0, y0_tangent, lane, i);
        return y;
    }
    [[nodiscard]] EDDY_HD typename Spec::Lane load_p(std::ptrdiff_t lane, int i) const {
        return load(p, p_tangent, Spec::shares_parameters ? 0 : lane, i);
    }

  private:
    [[nodiscard]] EDDY_HD static typename Spec::Lane load(
        const EnsembleView<const Scalar>& values, const EnsembleView<const Scalar>& tangents,
        std::ptrdiff_t lane, std::ptrdiff_t i) {
        if constexpr (Spec::is_dual) {
            return {values(lane, i), tangents.first ? tangents(lane, i) : Scalar(0)};
        } else {
            return values(lane, i);
        }
    }
};

/// The parameters of one lane, read where they are.
template <class Spec>
struct LaneParameters {
    const Problem<Spec>* problem;
    std::ptrdiff_t lane;

    [[nodiscard]] EDDY_HD typename Spec::Lane operator[](int i) const {
        return problem->load_p(lane, i);
    }
};

}  // namespace eddy::inline v0::detail
