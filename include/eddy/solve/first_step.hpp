#pragma once
// The sizes of the first steps of many lanes, by Hairer's rule
// (steppers/controller/initial_step.hpp), a pack of lanes at a time. Tangents play no part: step
// sizes are data.

#include <algorithm>
#include <eddy/core/vec_math.hpp>
#include <eddy/solve/lane_program.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <limits>
#include <vector>

namespace eddy::detail {

template <class Program>
class FirstStep {
    using Real = typename Program::Primal;
    using Scalar = typename Program::Scalar;
    using Time = typename Program::Time;
    using State = Vec<Real, Program::state_size>;
    static constexpr int pack_slots = num_lanes_of<Real>;

  public:
    /// The sizes for lanes [first, end), as progress, into `sizes`.
    static void choose(const LaneInputs<Program>& inputs, std::ptrdiff_t first, std::ptrdiff_t end,
                       std::vector<double>& sizes) {
        sizes.assign(static_cast<std::size_t>(end - first), inputs.times.dt0);
        if (inputs.times.dt0 != 0) return;
        for (std::ptrdiff_t lane = first; lane < end; lane += pack_slots) {
            const int count = static_cast<int>(std::min<std::ptrdiff_t>(pack_slots, end - lane));
            const Time h = of_pack(inputs, lane, count);
            for (int slot = 0; slot < count; ++slot)
                sizes[static_cast<std::size_t>(lane - first + slot)] = get_lane(h, slot);
        }
    }

  private:
    [[gnu::noinline]] static Time of_pack(const LaneInputs<Program>& inputs, std::ptrdiff_t lane,
                                          int count) {
        State y{};
        Vec<Real, Program::parameter_room> p{};
        for (int slot = 0; slot < pack_slots; ++slot) {  // beyond the last lane, that lane again
            const std::ptrdiff_t source = lane + std::min(slot, count - 1);
            for (int i = 0; i < Program::state_size; ++i)
                set_lane(y[i], slot, inputs.y0(source, i));
            for (int i = 0; i < Program::parameter_size; ++i)
                set_lane(p[i], slot, inputs.p(Program::shares_parameters ? 0 : source, i));
        }
        const State magnitude = abs(y);
        const auto norm = [&](const State& x) {
            return scaled_rms(x, magnitude, Real(inputs.rtol), inputs.atol);
        };
        const Stop& stop = inputs.times.stops.front();
        const TimeAt<Time> start{inputs.times.t0, inputs.times.direction, Time(0),
                                 Time(stop.lowest), Time(stop.highest)};
        const Real direction(static_cast<Scalar>(inputs.times.direction));
        const Real span(static_cast<Scalar>(inputs.times.span));
        const State f0 = derivative(start + Time(0), y, p);
        const Real f_norm = norm(f0);
        const Real trial = initial_step_trial(norm(y), f_norm, span);
        State y1 = y;
        add_scaled(y1, direction * trial, f0);
        const State f1 = derivative(start + convert<Time>(trial), y1, p);
        // Where the span is zero or less than the state's precision resolves, there is no slope.
        const Real slope_norm =
            norm(f1 - f0) / max(trial, Real(std::numeric_limits<Scalar>::min()));
        const Real h = initial_step(trial, f_norm, slope_norm, Program::Method::order, span);
        const Time smallest(std::max(inputs.times.dt_min, std::numeric_limits<double>::min()));
        return min(max(smallest, convert<Time>(h)), Time(inputs.times.dt_max));
    }

    template <class Parameters>
    static State derivative(const Time& t, const State& y, const Parameters& p) {
        State k{};
        evaluate<FieldProgram<typename Program::Field>, Real>(
            [&]<int output>(int component, const Real& value) { k.data[component] = value; }, t, y,
            p);
        return k;
    }
};

}  // namespace eddy::detail
