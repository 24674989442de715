#pragma once
// Between a group of lanes and the caller's arrays: on the way forward the states at save points
// are kept and terms of the loss added up; on the way back each save point has a cotangent, and
// gradients arrive lane by lane.

#include <algorithm>
#include <cmath>
#include <eddy/solve/lane_program.hpp>
#include <eddy/solve/lane_sums.hpp>
#include <eddy/solve/taps.hpp>
#include <type_traits>
#include <vector>

namespace eddy::detail {

/// Where the gradients of a call go. The tangents are those of a Hessian-vector product.
template <class Real>
struct GradientTarget {
    EnsembleView<Real> y0, p;                  // p: one row where it is shared
    EnsembleView<Real> y0_tangent, p_tangent;  // empty unless numbers are dual
    EnsembleView<Real> t0, t1, save_at;        // empty unless asked for
};

/// The terms of a loss: their derivative with respect to themselves is 1.
template <class Program>
struct LossSeeds {
    using Real = typename Program::Scalar;
    static constexpr bool has_report = true;     // of every lane, to the caller
    std::vector<EnsembleView<const Real>> data;  // (save point)
    Real* loss = nullptr;                        // (lane)

    /// False where the sum is no number any more.
    [[nodiscard]] bool add(std::ptrdiff_t lane, const Vec<typename Program::Lane, 1>& term) const {
        loss[lane] += primal(term[0]);
        return std::isfinite(loss[lane]);
    }
    [[nodiscard]] DataRow<Real> data_of(std::ptrdiff_t lane, std::int32_t k) const {
        return {data[static_cast<std::size_t>(k)], lane};
    }
    [[nodiscard]] Vec<typename Program::Lane, 1> cotangent(std::ptrdiff_t, std::int32_t) const {
        return {{typename Program::Lane(1)}};
    }
};

/// Cotangents that the caller has computed.
template <class Program, int num_outputs>
struct GivenSeeds {
    using Real = typename Program::Scalar;
    static constexpr bool has_report = false;
    std::vector<EnsembleView<const Real>> cotangents;  // (save point)

    [[nodiscard]] bool add(std::ptrdiff_t,
                           const Vec<typename Program::Lane, num_outputs>& values) const {
        return is_finite(values);  // or the solution's lane had ended here
    }
    [[nodiscard]] NoData data_of(std::ptrdiff_t, std::int32_t) const { return {}; }
    [[nodiscard]] Vec<typename Program::Lane, num_outputs> cotangent(std::ptrdiff_t lane,
                                                                     std::int32_t k) const {
        const auto& of_point = cotangents[static_cast<std::size_t>(k)];
        Vec<typename Program::Lane, num_outputs> row{};
        for (int i = 0; i < num_outputs; ++i)
            row[i] = of_point(of_point.num_lanes == 1 ? 0 : lane, i);
        return row;
    }
};

/// Where a group brings its part of a shared parameter's gradient.
template <class Lane>
struct SharedTarget {
    /// (lane, component) of the group, zero at first: the caller adds them up. Where it is null the
    /// group consists of whole blocks (lane_sums.hpp), whose sums it brings to `sums`.
    Lane* parts = nullptr;
    /// (block, component) of the group; one row beyond 64 parameters.
    Lane* sums = nullptr;
};

template <class Program, class Tap, class Seeds>
class GradientRecorder {
    using Lane = typename Program::Lane;
    using LaneState = typename Program::LaneState;
    using Real = typename Program::Scalar;
    static constexpr bool adds_lanes_in_order =
        Program::shares_parameters && Program::sums_by_lane && Program::parameter_size > 0;
    static constexpr std::ptrdiff_t num_parameters = Program::parameter_size;

  public:
    static constexpr bool has_report = Seeds::has_report;

    void begin(const LaneInputs<Program>& inputs, std::ptrdiff_t first, std::ptrdiff_t count,
               const Seeds& seeds, const GradientTarget<Real>& target,
               const SharedTarget<Lane>& shared) {
        inputs_ = &inputs;
        first_ = first;
        seeds_ = &seeds;
        target_ = target;
        shared_ = shared;
        count_ = count;
        states_.resize(inputs.times.saves.size() * static_cast<std::size_t>(count));
        if constexpr (adds_lanes_in_order) {
            if (!shared.parts)
                own_parts_.assign(static_cast<std::size_t>(count * num_parameters), Lane(0));
            parts_ = shared.parts ? shared.parts : own_parts_.data();
        }
    }
    [[nodiscard]] static constexpr bool wants_steps() { return false; }
    void save_step(std::int32_t, double, const LaneState&) {}

    /// False where the loss, or what `observe` makes of the state, is not finite.
    [[nodiscard]] bool save(std::int32_t lane, std::int32_t k, const LaneState& y) {
        state(lane, k) = y;
        return seeds_->add(row(lane),
                           Tap::value(time(k), y, parameters(lane), seeds_->data_of(row(lane), k)));
    }

    /// The cotangent of the state at a save point; what the save point asks of the parameters goes
    /// to their gradient at once.
    [[nodiscard]] LaneState pull_save(std::int32_t lane, std::int32_t k) {
        Lane t_cotangent(0);
        const LaneState cotangent = Tap::pullback(
            time(k), state(lane, k), parameters(lane), seeds_->data_of(row(lane), k),
            seeds_->cotangent(row(lane), k),
            [&](int i, const Lane& value) { add_p(lane, i, value); }, t_cotangent);
        if (target_.t0.first) add_save_time(lane, k, t_cotangent);
        return cotangent;
    }

    // Derivatives with respect to times. Stop 0 is the start, stop j the j-th of the plan.

    void add_stop(std::int32_t lane, std::int32_t stop, const Lane& value) {
        const auto& times = inputs_->times;
        if (stop == 0) {
            add(target_.t0, lane, 0, value);
        } else if (static_cast<std::size_t>(stop) == times.stops.size()) {
            add(target_.t1, lane, 0, value);
        } else {  // a save point that is stepped to moves the stop along, if it is not at a jump
            const Stop& at = times.stops[static_cast<std::size_t>(stop - 1)];
            const auto found = std::lower_bound(times.saves.begin(), times.saves.end(), at.s);
            if (found != times.saves.end() && *found == at.s && !at.is_jump)
                add(target_.save_at, lane, static_cast<std::int32_t>(found - times.saves.begin()),
                    value);
        }
    }
    void add_save_time(std::int32_t lane, std::int32_t k, const Lane& value) {
        if (inputs_->times.saves_the_end)
            add(target_.t1, lane, 0, value);
        else
            add(target_.save_at, lane, k, value);
    }
    /// A save point at the start moves along f there.
    void add_start_save(std::int32_t lane, std::int32_t k, const LaneState& seed) {
        Lane along(0);
        evaluate<FieldProgram<typename Program::Field>, Lane>(
            [&]<int output>(int i, const Lane& f) { along = along + seed[i] * f; },
            inputs_->times.stops.front().confine(inputs_->times.t0), inputs_->load_y0(row(lane)),
            parameters(lane));
        add_save_time(lane, k, along);
        add_stop(lane, 0, -along);
    }

    void add_y0(std::int32_t lane, const LaneState& cotangent) {
        for (int i = 0; i < Program::state_size; ++i)
            add(target_.y0, target_.y0_tangent, row(lane), i, cotangent[i]);
    }
    void add_p(std::int32_t lane, int i, const Lane& value) {
        if constexpr (adds_lanes_in_order) {
            Lane& sum = part(lane, i);
            sum = sum + value;
        } else if constexpr (Program::shares_parameters) {
            shared_.sums[i] = shared_.sums[i] + value;
        } else {
            add(target_.p, target_.p_tangent, row(lane), i, value);
        }
    }
    /// The sums of one pack, slot by slot.
    void add_sums(const Vec<typename Program::Number, Program::parameter_room>& sums) {
        for (int i = 0; i < Program::parameter_size; ++i) {
            for (int slot = 0; slot < Program::pack_slots; ++slot)
                shared_.sums[i] = shared_.sums[i] + get_lane(sums[i], slot);
        }
    }
    /// A lane's gradient is zero after all.
    void forget(std::int32_t lane) {
        visit_gradient(lane,
                       [](auto& number) { number = std::remove_cvref_t<decltype(number)>(0); });
    }
    /// And so is what the group has brought to shared parameters.
    void forget_sums() {
        for (int i = 0; i < Program::parameter_size; ++i) shared_.sums[i] = Lane(0);
    }
    /// Is a lane's gradient finite? Its part of sums over many shared parameters is not known.
    [[nodiscard]] bool has_finite_gradient(std::int32_t lane) {
        bool finite = true;
        visit_gradient(lane, [&](const auto& number) {
            finite = finite && std::isfinite(primal(number));
            if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(number)>, Real>)
                finite = finite && std::isfinite(number.tangent);
        });
        return finite;
    }
    /// All lanes of the group are done: adds their parts in the order of the lanes, so that the sum
    /// does not depend on who ended first, nor on the memory that there was.
    void finish() {
        if constexpr (adds_lanes_in_order) {
            if (shared_.parts) return;
            Lane* sums = shared_.sums;
            for (std::ptrdiff_t lane = 0; lane < count_; ++lane) {
                if (lane > 0 && lane % lanes_per_block == 0) sums += num_parameters;
                for (int i = 0; i < num_parameters; ++i) sums[i] = sums[i] + part(lane, i);
            }
        }
    }

  private:
    void add(const EnsembleView<Real>& values, std::int32_t lane, std::int32_t k,
             const Lane& value) const {
        values(row(lane), k) += primal(value);
    }
    static void add(const EnsembleView<Real>& values, const EnsembleView<Real>& tangents,
                    std::ptrdiff_t row, int i, const Lane& value) {
        values(row, i) += primal(value);
        if constexpr (Program::is_dual) tangents(row, i) += value.tangent;
    }
    /// Calls visit(number) for every number of a lane's gradient.
    template <class Visit>
    void visit_gradient(std::int32_t lane, Visit visit) {
        const auto visit_row = [&](const EnsembleView<Real>& values) {
            for (std::ptrdiff_t i = 0; values.first && i < values.num_components; ++i)
                visit(values(row(lane), i));
        };
        visit_row(target_.y0);
        visit_row(target_.y0_tangent);
        visit_row(target_.t0);
        visit_row(target_.t1);
        visit_row(target_.save_at);
        if constexpr (adds_lanes_in_order) {
            for (int i = 0; i < Program::parameter_size; ++i) visit(part(lane, i));
        } else if constexpr (!Program::shares_parameters) {
            visit_row(target_.p);
            visit_row(target_.p_tangent);
        }
    }
    /// A lane's part of a shared parameter's gradient.
    [[nodiscard]] Lane& part(std::ptrdiff_t lane, std::ptrdiff_t i) {
        return parts_[lane * num_parameters + i];
    }
    [[nodiscard]] std::ptrdiff_t row(std::int32_t lane) const { return first_ + lane; }
    [[nodiscard]] double time(std::int32_t k) const {
        return inputs_->times.save_time[static_cast<std::size_t>(k)];
    }
    [[nodiscard]] LaneParametersView<Program> parameters(std::int32_t lane) const {
        return {inputs_, row(lane)};
    }
    [[nodiscard]] LaneState& state(std::int32_t lane, std::int32_t k) {
        return states_[static_cast<std::size_t>(k * count_ + lane)];
    }

    const LaneInputs<Program>* inputs_ = nullptr;
    std::ptrdiff_t first_ = 0, count_ = 0;
    const Seeds* seeds_ = nullptr;
    GradientTarget<Real> target_;
    SharedTarget<Lane> shared_;
    Lane* parts_ = nullptr;          // (lane, component) of shared parameters
    std::vector<LaneState> states_;  // (save point, lane)
    std::vector<Lane> own_parts_;    // where the caller keeps none
};

}  // namespace eddy::detail
