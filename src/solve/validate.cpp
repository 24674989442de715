#include <cmath>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/validate.hpp>

namespace eddy::inline v0::detail {

namespace {

template <class... Values>
[[noreturn]] void fail(const char* where,
                       std::type_identity_t<MessageText<sizeof...(Values)>> what_and_what_to_do,
                       const Values&... values) {
    throw InvalidArgument(compose("{}: {}", where, compose(what_and_what_to_do, values...)));
}

void require_factors(const char* controller, double safety, double min_factor, double max_factor,
                     const char* where) {
    if (!(safety > 0 && safety < 1))
        fail(where, "{} with safety = {}; give a factor between 0 and 1, such as 0.9", controller,
             safety);
    if (!(min_factor > 0 && min_factor < 1))
        fail(where, "{} with min_factor = {}; give a factor between 0 and 1, such as 0.2",
             controller, min_factor);
    if (!(max_factor >= 1))
        fail(where, "{} with max_factor = {}; give a factor of at least 1, such as 10", controller,
             max_factor);
    if (safety < min_factor)
        fail(where,
             "{} with safety = {} below min_factor = {}, with which steps stall; give min_factor "
             "<= safety",
             controller, safety, min_factor);
}

}  // namespace

void require_possible_on(Machine machine, const Features& asked, const char* where) {
    const Refusal refusal = refusal_of(asked, Family::explicit_rk, machine, CallKind::solve);
    if (refusal != Refusal::none) throw_invalid_argument(said_of(refusal), {MessageValue(where)});
}

void require_impulses(std::span<const PlannedImpulse> impulses, int state_size, const char* where) {
    for (const PlannedImpulse& impulse : impulses) {
        if (impulse.component >= state_size)
            fail(where,
                 "an impulse changes component {} of y, which has {}; give a number below that",
                 impulse.component, state_size);
    }
}

void require_tolerances(const SolveOptions& options, int state_size, const Precision& precision,
                        const char* where) {
    if (!(options.rtol > 0) || !std::isfinite(options.rtol))
        fail(where, "rtol = {}; give a relative tolerance above 0, such as 1e-6", options.rtol);
    if (options.rtol < precision.smallest_rtol)
        fail(where, "rtol = {} is less than states of {} resolve; give at least {}", options.rtol,
             precision.type, precision.smallest_rtol);
    // Where the error may be the whole state, no digit is right.
    if (options.rtol > 1)
        fail(where, "rtol = {}; give a relative tolerance of at most 1, such as 1e-6",
             options.rtol);
    const auto& atol = options.atol.values;
    if (atol.size() != 1 && atol.size() != static_cast<std::size_t>(state_size))
        fail(where, "atol has {} numbers; give one, or one for each of the {} components{}",
             atol.size(), state_size,
             atol.empty() ? "; a solver or solution that was moved from has none" : "");
    for (std::size_t i = 0; i < atol.size(); ++i) {
        if (!(atol[i] >= 0) || !std::isfinite(atol[i]))
            fail(where, "atol[{}] = {}; give a finite absolute tolerance of at least 0", i,
                 atol[i]);
        if (atol[i] > precision.largest)
            fail(where, "atol[{}] = {} is no {}; give an absolute tolerance of at most {}", i,
                 atol[i], precision.type, precision.largest);
    }
}

void require_valid(const PIDController& controller, const char* where) {
    const auto& [pcoeff, icoeff, dcoeff, safety, min_factor, max_factor] = controller;
    // Controllers compute in single precision: beyond its range a step's size would be NaN.
    constexpr double most = 1e30;
    if (!(std::fabs(pcoeff) <= most && std::fabs(icoeff) <= most && std::fabs(dcoeff) <= most))
        fail(where,
             "PIDController with pcoeff = {}, icoeff = {}, dcoeff = {}; give finite coefficients",
             pcoeff, icoeff, dcoeff);
    // The exponents of the last errors add up to icoeff: below 0 an error would feed itself.
    if (icoeff < 0 || pcoeff + icoeff + dcoeff <= 0)
        fail(where,
             "PIDController with pcoeff = {}, icoeff = {}, dcoeff = {}, by which steps with large "
             "errors grow; give icoeff of at least 0 and a sum above 0, such as pi_controller()",
             pcoeff, icoeff, dcoeff);
    require_factors("PIDController", safety, min_factor, max_factor, where);
}
void require_valid(const PredictiveController& controller, const char* where) {
    const auto& [safety, min_factor, max_factor] = controller;
    require_factors("PredictiveController", safety, min_factor, max_factor, where);
}

void require_newton_tolerance(double newton_tolerance, const char* where) {
    if (!(newton_tolerance > 0 && newton_tolerance <= 1))
        fail(where,
             "newton_tolerance = {}; give a fraction of the tolerances above 0 and at most 1, such "
             "as "
             "1e-2",
             newton_tolerance);
}

void require_shape(const ArrayShape& got, const ArrayShape& wanted, const char* name,
                   const char* where, const char* alternative) {
    if (got == wanted) return;
    fail(where, "{} is {} x {} (trajectory, component); give {} x {}{}", name, got.rows, got.cols,
         wanted.rows, wanted.cols, alternative);
}

void require_y0_shape(const ArrayShape& got, const ArrayShape& wanted, const char* where) {
    const std::ptrdiff_t size = wanted.cols;
    if (got.cols != size && got.rows == 1 && got.cols % size == 0)
        require_shape(got, {got.cols / size, size}, "y0", where,
                      ": a vector is one trajectory, and of many each has a row");
    if (got.cols != size && got.rows == size)
        require_shape(got, {got.cols, size}, "y0", where,
                      ": a row for each trajectory, a column for each component");
    require_shape(got, wanted, "y0", where);
}

void throw_not_finite(double value, std::ptrdiff_t lane, std::ptrdiff_t component,
                      const ArrayName& name, const char* where) {
    if (name.save_point < 0)
        fail(where, "{}({}, {}) = {}; give finite numbers{}", name.text, lane, component, value,
             name.remedy);
    fail(where, "{}[{}]({}, {}) = {}, of save point {}; give finite numbers{}", name.text,
         name.save_point, lane, component, value, name.save_point, name.remedy);
}

template <class Real>
void require_finite(const EnsembleView<const Real>& array, const ArrayName& name,
                    const char* where) {
    for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
        for (std::ptrdiff_t lane = 0; lane < array.num_lanes; ++lane) {
            const auto value = array(lane, i);
            if (!std::isfinite(value))
                throw_not_finite(static_cast<double>(value), lane, i, name, where);
        }
    }
}
template void require_finite(const EnsembleView<const float>&, const ArrayName&, const char*);
template void require_finite(const EnsembleView<const double>&, const ArrayName&, const char*);

}  // namespace eddy::inline v0::detail
