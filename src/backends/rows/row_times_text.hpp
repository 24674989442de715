#pragma once
// Times, sizes and verdicts: of the text of the kernels, row_kernels_text.hpp.

#include <eddy/solve/lane/judged_step.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <eddy/steppers/controller/predictive.hpp>

#include "row_sums_text.hpp"

namespace eddy::inline v0::detail {
namespace {

using P = PackOf<double>;
using Single = eddy::WithElement<P, float>;

// Clocks

template <class P>
TimeAt<P> time_at(const auto& of, int lane, const Times& times, const P& elapsed) {
    return {P::load(of.t0 + lane), times.direction, elapsed, P::load(of.lowest + lane),
            P::load(of.highest + lane)};
}
void choose_sizes(const Clocks& clocks, int width, const Times& times, bool adapts) {
    for_packs<P>(width, [&](int lane) EDDY_INLINE {
        const P elapsed = P::load(clocks.elapsed + lane), size = P::load(clocks.size + lane);
        const P wanted = adapts ? min(size, P(times.dt_max)) : size;
        const P left = P::load(clocks.tstop + lane) - elapsed;
        // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
        const P tried = select(wanted * P(1.01) >= left, left, wanted);
        const TimeAt<P> start = time_at(clocks, lane, times, elapsed);
        elapsed.store(clocks.before + lane);
        tried.store(clocks.tried + lane);
        (start + P(0.)).store(clocks.first + lane);
        (start + tried).store(clocks.last + lane);
        (P(times.direction) * tried).store(clocks.h + lane);
    });
}
template <class Real>
void stage_times(Real* to, const Clocks& clocks, int width, double c) {
    for_packs<P>(width, [&](int lane) EDDY_INLINE {
        const P first = P::load(clocks.first + lane), last = P::load(clocks.last + lane);
        const P time = c == 0 ? first : c == 1 ? last : mul_add(P(c), last - first, first);
        convert<eddy::WithElement<P, Real>>(time).store(to + lane);
    });
}
/// Where the lanes of a pack are after an attempt; true where one has stalled or landed.
bool move(const Clocks& clocks, int lane, const P& used, const P& stalled, const P& further) {
    const P before = P::load(clocks.before + lane), tstop = P::load(clocks.tstop + lane);
    const P tried = P::load(clocks.tried + lane);
    const auto accepted = used > P(0.);
    const P elapsed = select(accepted, select(tried == tstop - before, tstop, further), before);
    used.store(clocks.used + lane);
    stalled.store(clocks.stalled + lane);
    elapsed.store(clocks.elapsed + lane);
    return any((stalled > P(0.)) | (elapsed >= P::load(clocks.due + lane)));
}

/// What judge_step reads of a problem.
template <class Controller>
struct RowSpec {
    using Time = P;
    using Single = detail::Single;
    static constexpr bool has_dyadic_steps = false;
};
struct RowClock {
    double dt_max, least;
};

}  // namespace

template <class Controller>
struct Problem<RowSpec<Controller>> {
    RowClock clock;
    Controller control;
    float order_of_error;
    [[nodiscard]] float error_order() const { return order_of_error; }
};

namespace {

template <class Controller>
bool judge_by(const Controller& controller, const Clocks& clocks, int width, const Times& times,
              float error_order, const float* norms) {
    using Spec = RowSpec<Controller>;
    using Mask = MaskOf<P>;
    struct From {
        P size;
        ControllerHistory<Single> history;
    };
    struct Tried {
        P size, used;
        Mask stalled;
    };
    const Problem<Spec> problem{{times.dt_max, times.least}, controller, error_order};
    bool is_rare = false;
    for_packs<P>(width, [&](int lane) {
        const P elapsed = P::load(clocks.before + lane);
        From from{
            P::load(clocks.size + lane),
            {Single::load(clocks.previous_log2 + lane), Single::load(clocks.earlier_log2 + lane),
             Single::load(clocks.was_rejected + lane) > Single(0.f)}};
        From next = from;
        Tried tried{P::load(clocks.tried + lane), P(0.), Mask(false)};
        const bool may_be_cut = any(tried.size < min(from.size, P(times.dt_max)));
        const Mask accepted = judge_step(problem, from, tried, next, Single::load(norms + lane),
                                         least_size(problem, elapsed), may_be_cut);
        const P rejected = P::load(clocks.rejected + lane);
        select((tried.size > P(0.)) & !accepted, rejected + P(1.), rejected)
            .store(clocks.rejected + lane);
        next.size.store(clocks.size + lane);
        next.history.previous_log2.store(clocks.previous_log2 + lane);
        next.history.earlier_log2.store(clocks.earlier_log2 + lane);
        select(next.history.was_rejected, Single(1.f), Single(0.f))
            .store(clocks.was_rejected + lane);
        is_rare |= move(clocks, lane, tried.used, select(tried.stalled, P(1.), P(0.)),
                        elapsed + tried.size);
    });
    return is_rare;
}
/// A controller of the caller's own.
struct OtherControl {
    const Control* control;

    [[nodiscard]] StepDecision<Single> propose(const Single& squared_norm, float error_order,
                                               const ControllerHistory<Single>& history) const {
        constexpr int places = num_lanes_of<Single>;
        float norm[places], previous[places], earlier[places], rejected[places], factor[places];
        squared_norm.store(norm);
        history.previous_log2.store(previous);
        history.earlier_log2.store(earlier);
        select(history.was_rejected, Single(1.f), Single(0.f)).store(rejected);
        for (int i = 0; i < places; ++i) {
            float of_lane[] = {previous[i], earlier[i], rejected[i]};
            factor[i] = control->propose(control->other, norm[i], error_order, of_lane);
            previous[i] = of_lane[0];
            earlier[i] = of_lane[1];
            rejected[i] = of_lane[2];
        }
        return {
            Single::load(factor),
            {Single::load(previous), Single::load(earlier), Single::load(rejected) > Single(0.f)}};
    }
};
bool judge(const Clocks& clocks, int width, const Times& times, const Control& control,
           const float* norms) {
    const float* const of = control.coefficients;
    if (control.kind == Control::Kind::other)
        return judge_by(OtherControl{&control}, clocks, width, times, control.error_order, norms);
    if (control.kind == Control::Kind::predictive)
        return judge_by(PredictiveControl{of[0], of[1], of[2]}, clocks, width, times,
                        control.error_order, norms);
    return judge_by(PIDControl{of[0], of[1], of[2], of[3], of[4], of[5]}, clocks, width, times,
                    control.error_order, norms);
}
void combine_norms(float* to, const float* coarse, int width) {
    for_packs<P>(width, [&](int lane) {
        combined_square(Single::load(to + lane), Single::load(coarse + lane)).store(to + lane);
    });
}
bool judge_constant(const Clocks& clocks, int width, const Times& times, const float* finite) {
    bool is_rare = false;
    for_packs<P>(width, [&](int lane) {
        const P before = P::load(clocks.before + lane), origin = P::load(clocks.origin + lane);
        const P tried = P::load(clocks.tried + lane);
        const auto is_finite = convert<P>(Single::load(finite + lane)) > P(0.),
                   moves = tried > P(0.);
        // Counted: a sum of sizes would gather an error at every step.
        const P count = floor(mul_add(before - origin, P(1 / times.dt0), P(0.5))) + P(1.);
        is_rare |=
            move(clocks, lane, select(is_finite, tried, P(0.)),
                 select(moves & !is_finite, P(1.), P(0.)), mul_add(count, P(times.dt0), origin));
    });
    return is_rare;
}

// First steps

/// x / (atol + rtol |y|), or (x − minus) of it.
template <class P, class Real>
P scaled(const Real* x, const Real* minus, const Real* y, std::ptrdiff_t at, const P& atol,
         Real rtol) {
    const P value = minus ? P::load(x + at) - P::load(minus + at) : P::load(x + at);
    const P tolerance = atol + P(rtol) * abs(P::load(y + at));
    return value / max(tolerance, P(std::numeric_limits<Real>::min()));
}
template <class P, class Real>
P rms(const Real* x, const Real* minus, const Real* y, int width, int lane,
      const Tolerances<Real>& by) {
    P sum(0);
    int k = 0;
    const auto add = [&](const auto& ratio) EDDY_INLINE {
        sum = k++ == 0 ? P(ratio * ratio) : mul_add(P(ratio), P(ratio), sum);
    };
    // Of one lane by packs of components, which are added in order.
    using Along = PackOf<Real>;
    const int end = width == 1 && counts_in_a_row(by) ? by.num_counted : 0;
    while (k + Along::size <= end) {
        const auto ratios = scaled(x, minus, y, k, Along::load(by.atol + k), by.rtol);
        for (int i = 0; i < Along::size; ++i) add(ratios[i]);
    }
    while (k < by.num_counted) {
        const int c = by.counted[k];
        add(scaled(x, minus, y, std::ptrdiff_t{c} * width + lane, P(by.atol[c]), by.rtol));
    }
    return sqrt(sum / P(static_cast<Real>(by.num_counted)));
}
template <class Real>
void first_times(const FirstStep<Real>& first, int width, const Times& times) {
    for_packs<P>(width, [&](int lane) {
        const P time = time_at(first, lane, times, P(0.)) + P(0.);
        convert<eddy::WithElement<P, Real>>(time).store(first.time + lane);
    });
}
template <class Real>
void first_trial(const FirstStep<Real>& first, Shape shape, const Times& times,
                 const Tolerances<Real>& by) {
    for_lanes<Real>(shape.width, [&]<class P>(int lane) {
        using Time = eddy::WithElement<P, double>;
        const P f_norm = rms<P, Real>(first.f0, nullptr, first.y, shape.width, lane, by);
        const P trial =
            initial_step_trial(rms<P, Real>(first.y, nullptr, first.y, shape.width, lane, by),
                               f_norm, P::load(first.span + lane));
        const P h = P(static_cast<Real>(times.direction)) * trial;
        for (int c = 0; c < shape.size; ++c) {
            const std::ptrdiff_t at = std::ptrdiff_t{c} * shape.width + lane;
            mul_add(h, P::load(first.f0 + at), P::load(first.y + at)).store(first.y1 + at);
        }
        f_norm.store(first.f_norm + lane);
        trial.store(first.trial + lane);
        convert<P>(time_at(first, lane, times, Time(0.)) + convert<Time>(trial))
            .store(first.time + lane);
    });
}
template <class Real>
void first_size(const FirstStep<Real>& first, Shape shape, const Times& times,
                const Tolerances<Real>& by, float order) {
    for_lanes<Real>(shape.width, [&]<class P>(int lane) {
        using Time = eddy::WithElement<P, double>;
        const P trial = P::load(first.trial + lane);
        const P slope_norm = rms<P>(first.f1, first.f0, first.y, shape.width, lane, by) /
                             max(trial, P(std::numeric_limits<Real>::min()));
        const P h = initial_step(trial, P::load(first.f_norm + lane), slope_norm, order,
                                 P::load(first.span + lane));
        min(max(Time(times.least), convert<Time>(h)), Time(times.dt_max)).store(first.size + lane);
    });
}

}  // namespace
}  // namespace eddy::inline v0::detail
