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

/// Calls body(lane) for each pack; of one lane with plain numbers, which no idle ones wait beside.
void for_clocks(int width, const auto& body) {
    if (width == 1) return body.template operator()<double>(0);
    for_packs<P>(width, [&](int lane) EDDY_INLINE { body.template operator()<P>(lane); });
}
template <class Number, class Real>
Number load(const Real* from) {
    if constexpr (std::is_same_v<Number, Real>)
        return *from;
    else
        return Number::load(from);
}
template <class Number, class Real>
void store(const Number& x, Real* to) {
    if constexpr (std::is_same_v<Number, Real>)
        *to = x;
    else
        x.store(to);
}
template <class P>
TimeAt<P> time_at(const auto& of, int lane, const Times& times, const P& elapsed) {
    return {load<P>(of.t0 + lane), times.direction, elapsed, load<P>(of.lowest + lane),
            load<P>(of.highest + lane)};
}
void choose_sizes(const Clocks& clocks, int width, const Times& times, bool adapts) {
    for_clocks(width, [&]<class P>(int lane) EDDY_INLINE {
        const P elapsed = load<P>(clocks.elapsed + lane), size = load<P>(clocks.size + lane);
        const P wanted = adapts ? min(size, P(times.dt_max)) : size;
        const P left = load<P>(clocks.tstop + lane) - elapsed;
        // Stretched by up to a hundredth rather than leave a tiny step, as in DOPRI5.
        const P tried = select(wanted * P(1.01) >= left, left, wanted);
        const TimeAt<P> start = time_at(clocks, lane, times, elapsed);
        store(elapsed, clocks.before + lane);
        store(tried, clocks.tried + lane);
        store(start + P(0), clocks.first + lane);
        store(start + tried, clocks.last + lane);
        store(P(times.direction) * tried, clocks.h + lane);
    });
}
template <class Real>
void stage_times(Real* to, const Clocks& clocks, int width, double c) {
    for_clocks(width, [&]<class P>(int lane) EDDY_INLINE {
        const P first = load<P>(clocks.first + lane), last = load<P>(clocks.last + lane);
        const P time = c == 0 ? first : c == 1 ? last : mul_add(P(c), last - first, first);
        store(convert<eddy::WithElement<P, Real>>(time), to + lane);
    });
}
/// Where the lanes of a pack are after an attempt; true where one has stalled or landed.
template <class P>
bool move(const Clocks& clocks, int lane, const P& used, const P& stalled, const P& further) {
    const P before = load<P>(clocks.before + lane), tstop = load<P>(clocks.tstop + lane);
    const P tried = load<P>(clocks.tried + lane);
    const auto accepted = used > P(0);
    const P elapsed = select(accepted, select(tried == tstop - before, tstop, further), before);
    store(used, clocks.used + lane);
    store(stalled, clocks.stalled + lane);
    store(elapsed, clocks.elapsed + lane);
    return any((stalled > P(0)) | (elapsed >= load<P>(clocks.due + lane)));
}

/// What judge_step reads of a problem.
template <class P, class Controller>
struct RowSpec {
    using Time = P;
    using Single = eddy::WithElement<P, float>;
    static constexpr bool has_dyadic_steps = false;
};
struct RowClock {
    double dt_max, least;
};

}  // namespace

template <class P, class Controller>
struct Problem<RowSpec<P, Controller>> {
    RowClock clock;
    Controller control;
    float order_of_error;
    [[nodiscard]] float error_order() const { return order_of_error; }
};

namespace {

template <class Controller>
bool judge_by(const Controller& controller, const Clocks& clocks, int width, const Times& times,
              float error_order, const float* norms) {
    bool is_rare = false;
    for_clocks(width, [&]<class P>(int lane) EDDY_INLINE {
        using Single = eddy::WithElement<P, float>;
        using Mask = MaskOf<P>;
        struct From {
            P size;
            ControllerHistory<Single> history;
        };
        struct Tried {
            P size, used;
            Mask stalled;
        };
        const Problem<RowSpec<P, Controller>> problem{
            {times.dt_max, times.least}, controller, error_order};
        const P elapsed = load<P>(clocks.before + lane);
        const From from{
            load<P>(clocks.size + lane),
            {load<Single>(clocks.previous_log2 + lane), load<Single>(clocks.earlier_log2 + lane),
             load<Single>(clocks.was_rejected + lane) > Single(0)}};
        From next = from;
        Tried tried{load<P>(clocks.tried + lane), P(0), Mask(false)};
        const bool may_be_cut = any(tried.size < min(from.size, P(times.dt_max)));
        const Mask accepted = judge_step(problem, from, tried, next, load<Single>(norms + lane),
                                         least_size(problem, elapsed), may_be_cut);
        const P rejected = load<P>(clocks.rejected + lane);
        store(select((tried.size > P(0)) & !accepted, rejected + P(1), rejected),
              clocks.rejected + lane);
        store(next.size, clocks.size + lane);
        store(next.history.previous_log2, clocks.previous_log2 + lane);
        store(next.history.earlier_log2, clocks.earlier_log2 + lane);
        store(select(next.history.was_rejected, Single(1), Single(0)), clocks.was_rejected + lane);
        is_rare |=
            move(clocks, lane, tried.used, select(tried.stalled, P(1), P(0)), elapsed + tried.size);
    });
    return is_rare;
}
/// A controller of the caller's own.
struct OtherControl {
    const Control* control;

    template <class Single>
    [[nodiscard]] StepDecision<Single> propose(const Single& squared_norm, float error_order,
                                               const ControllerHistory<Single>& history) const {
        constexpr int places = num_lanes_of<Single>;
        float norm[places], previous[places], earlier[places], rejected[places], factor[places];
        store(squared_norm, norm);
        store(history.previous_log2, previous);
        store(history.earlier_log2, earlier);
        store(select(history.was_rejected, Single(1), Single(0)), rejected);
        for (int i = 0; i < places; ++i) {
            float of_lane[] = {previous[i], earlier[i], rejected[i]};
            factor[i] = control->propose(control->other, norm[i], error_order, of_lane);
            previous[i] = of_lane[0];
            earlier[i] = of_lane[1];
            rejected[i] = of_lane[2];
        }
        return {
            load<Single>(factor),
            {load<Single>(previous), load<Single>(earlier), load<Single>(rejected) > Single(0)}};
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
