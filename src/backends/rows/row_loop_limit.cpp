// Whether an attempt fails by loops of the equation (lane/loop_limit.hpp): its lane takes it once more, alone, by an
// equation whose loops give their last state where they run out. Few lanes ask: memory is taken for each.
// Test: tests/backends/row_loop_limit.cpp

#include <algorithm>
#include <cmath>
#include <eddy/backends/cpu/arena_memory.hpp>
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
bool RowStep<Real>::runs_out_of_turns(int place, const Real* y, const RowClocks& clocks) const {
    const std::unique_ptr<FieldOnTileOf<Real>> field = field_->with_last_states();
    if (!field) return false;
    if (const FieldOnTileOf<Real>* const steps = field_->steps())
        field->bring(steps->with_last_states());

    const auto with = [&](Arena arena, const auto& call) {
        RowStep step(*problem_, *field, false, arena);
        const RowClocks clock(1, arena);
        Real* const start = arena.take<Real>(problem_->state_size);
        return call(arena, step, clock, start);
    };
    std::size_t num_bytes = 0;
    with({}, [&](const Arena& counted, auto&&...) { num_bytes = counted.num_bytes(); });
    ArenaMemory memory;
    return with(memory.arena(num_bytes),
                [&](const Arena&, RowStep& step, const RowClocks& clock, Real* start) {
                    step.take_parameters();
                    step.load(0, loaded_lane_[place], start);
                    step.load_inputs(0, loaded_lane_[place], loaded_[place]);
                    state_of(place, y, start);
                    const row_kernels::Clocks &from = clocks.rows(), &to = clock.rows();
                    to.first[0] = from.first[place];
                    to.last[0] = from.last[place];
                    to.h[0] = from.h[place];
                    step.take_sizes(clock);
                    step.stages(0, method_->num_stages, start, clock, nullptr);
                    step.next_state(start, step.next_);
                    return std::all_of(step.next_, step.next_ + problem_->own_size(),
                                       [](Real x) { return std::isfinite(x); });
                });
}

template bool RowStep<double>::runs_out_of_turns(int, const double*, const RowClocks&) const;
template bool RowStep<float>::runs_out_of_turns(int, const float*, const RowClocks&) const;

}  // namespace eddy::inline v0::detail
