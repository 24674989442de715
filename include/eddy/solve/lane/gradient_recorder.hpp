#pragma once
// Between a group of lanes and the caller's arrays: on the way forward the states at save points
// are kept and terms of the loss added up; on the way back each save point has a cotangent, and
// gradients arrive lane by lane.
// Test: tests/solve/oracle_gradients.cpp

#include <eddy/solve/lane/arena.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <eddy/solve/lane/gradient_seeds.hpp>
#include <eddy/solve/lane/gradient_target.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/lane/objective.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Do lanes hand out their addends of shared parameters, to be added in the order of the lanes?
template <class Spec>
inline constexpr bool adds_lanes_in_order =
    Spec::shares_parameters&& Spec::sums_by_lane&& Spec::parameter_size > 0;

/// What a recorder keeps of its lanes. Two pointers: a third one made a kernel spill.
template <class Spec>
struct RecorderMemory {
    /// (save point, lane), and behind them what impulses that scale found.
    typename Spec::LaneState* states = nullptr;
    typename Spec::Lane* addends = nullptr;  // (lane, component) of shared parameters

    RecorderMemory() = default;
    EDDY_HD RecorderMemory(Arena& arena, std::int64_t num_lanes, const SharedTimes& times)
        : states(arena.take<typename Spec::LaneState>(num_states(num_lanes, times))),
          addends(arena.take<typename Spec::Lane>(
              adds_lanes_in_order<Spec> ? num_lanes * Spec::parameter_size : 0)) {}
    [[nodiscard]] EDDY_HD static std::int64_t num_states(std::int64_t num_lanes,
                                                         const SharedTimes& times) {
        constexpr std::int64_t size = Spec::state_size;
        return num_lanes * times.num_saves + (num_lanes * times.num_impulses + size - 1) / size;
    }
};

/// The sums to which a group adds its addend of a shared parameter's gradient.
template <class Lane>
struct SharedTarget {
    /// (lane, component) of the group, zero at first: the caller adds them up. Where it is null the
    /// group consists of whole blocks (lane_sums.hpp), whose sums it brings to `sums`.
    Lane* addends = nullptr;
    /// (block, component) of the group; one row beyond 64 parameters.
    Lane* sums = nullptr;
};

template <class Spec, class Objective, class Seeds>
class GradientRecorder {
    using Lane = typename Spec::Lane;
    using LaneState = typename Spec::LaneState;
    using Real = typename Spec::Scalar;

  public:
    static constexpr bool has_report = Seeds::has_report;
    static constexpr Result not_finite =
        Seeds::has_loss ? Result::loss_not_finite : Result::observed_not_finite;

    /// The `count` lanes from `first` on. Refers to all that is the same for all groups: where threads of a device
    /// kept copies, they would read them from their own memory, one after another.
    EDDY_HD GradientRecorder(const Problem<Spec>& problem, std::ptrdiff_t first, std::int32_t count,
                             const Seeds& seeds, const GradientTarget<Real>& target,
                             const SharedTarget<Lane>& shared, const RecorderMemory<Spec>& memory)
        : problem_(&problem),
          first_(first),
          count_(count),
          seeds_(&seeds),
          target_(&target),
          shared_(shared),
          memory_(memory) {
        if (shared.addends) memory_.addends = shared.addends;
    }

    /// One member's share of what is to be done before the lanes begin.
    EDDY_HD void begin(int member, int num_members) {
        if (adds_lanes_in_order<Spec>) {
            const std::int64_t count = std::int64_t{count_} * Spec::parameter_size;
            for (std::int64_t k = member; k < count; k += num_members) memory_.addends[k] = Lane(0);
        }
    }
    [[nodiscard]] EDDY_HD static constexpr bool wants_steps() { return false; }
    EDDY_HD void save_step(std::int32_t, const TakenStep&, const LaneState&) {}

    /// False where the loss, or what `observe` makes of the state, is not finite.
    [[nodiscard]] EDDY_HD bool save(std::int32_t lane, std::int32_t k, const LaneState& y) {
        return save(lane, k, y, time(lane, k));
    }
    /// Saves the state of a lane at another time, which may have a tangent.
    [[nodiscard]] EDDY_HD bool save(std::int32_t lane, std::int32_t k, const LaneState& y,
                                    const auto& t) {
        state(lane, k) = y;
        return seeds_->add(row(lane), Objective::value(t, y, parameters(lane),
                                                       seeds_->data_of(input_row(lane), k)));
    }

    /// The cotangent of the state at a save point; what the save point asks of the parameters goes
    /// to their gradient at once, or to add_to_p(i, value).
    [[nodiscard]] EDDY_HD LaneState pull_save(std::int32_t lane, std::int32_t k) {
        return pull_save(lane, k, [&](int i, const Lane& value) { add_p(lane, i, value); });
    }
    template <class AddToP>
    [[nodiscard]] EDDY_HD LaneState pull_save(std::int32_t lane, std::int32_t k,
                                              const AddToP& add_to_p) {
        Lane t_cotangent(0);
        const LaneState cotangent = pull_save(lane, k, time(lane, k), add_to_p, t_cotangent);
        if (target_->t0.first) add_save_time(lane, k, t_cotangent);
        return cotangent;
    }
    /// Pulls back the save point of a lane at another time, whose cotangent is added to.
    template <class Time, class AddToP>
    [[nodiscard]] EDDY_HD LaneState pull_save(std::int32_t lane, std::int32_t k, const Time& t,
                                              const AddToP& add_to_p, Lane& t_cotangent) {
        return Objective::pullback(t, state(lane, k), parameters(lane),
                                   seeds_->data_of(input_row(lane), k),
                                   seeds_->cotangent(input_row(lane), k), add_to_p, t_cotangent);
    }

    /// What an impulse that scales found, for its adjoint.
    EDDY_HD void keep(std::int32_t lane, std::int32_t k, const Lane& number) {
        kept(lane, k) = number;
    }
    /// From the cotangent of the state behind the impulses at a tstop to that before them.
    EDDY_HD void pull_impulses(std::int32_t lane, std::int32_t tstop, LaneState& cotangent) {
        pull_impulses(lane, problem_->times.tstop_of(input_row(lane), tstop).impulses, cotangent);
    }
    /// The same of a save point there, if it has the state behind them.
    EDDY_HD void pull_save_to_step(const Occupant& occupant, std::int32_t k, LaneState& cotangent) {
        const LaneTimes times = problem_->times_of(of_launch(occupant.lane));
        if (is_behind_impulses(times, occupant.tstop, k))
            pull_impulses(occupant.lane, occupant.tstop, cotangent);
    }
    EDDY_HD void pull_impulses(std::int32_t lane, const ImpulseRange& range, LaneState& cotangent) {
        MeetImpulses<Spec>::pull(
            problem_->times.impulses_of(input_row(lane)), range, cotangent,
            [&](std::int32_t k) { return kept(lane, k); },
            [&](std::int32_t k, const Lane& value) { add_amount(lane, k, value); });
    }
    /// The same of those at t0.
    template <bool with_times>
    EDDY_HD void pull_impulses_at_start(std::int32_t lane, LaneState& cotangent) {
        const LaunchLane of_lane = of_launch(lane);
        const LaneTimes times = problem_->times_of(of_lane);
        const ImpulseRange here = times.impulses_at_start();
        if (here.is_empty()) return;
        LaneState y = problem_->load_y0(of_lane);
        const LaneState y0 = y;
        MeetImpulses<Spec>::apply(
            times, here, y, [&](std::int32_t k, const Lane& number) { keep(lane, k, number); });
        pull_impulses(lane, here, cotangent);
        if constexpr (with_times) {
            const Lane along = dot_of(
                cotangent, LaneStart<Spec>::slope(*problem_, of_lane, y0,
                                                  LaneStart<Spec>::time_of(*problem_, of_lane)));
            add(target_->impulse_times, lane, 0, along);
            add(target_->t0, lane, 0, -along);
        }
    }
    EDDY_HD void add_amount(std::int32_t lane, std::int32_t k, const Lane& value) const {
        add(target_->impulse_amounts, lane, k, value);
    }

    // Derivatives with respect to times.

    EDDY_HD void add_tstop(std::int32_t lane, std::int32_t tstop, const Lane& value) {
        target_->add_tstop(problem_->times_of(of_launch(lane)), row(lane), tstop, primal(value));
    }
    EDDY_HD void add_save_time(std::int32_t lane, std::int32_t k, const Lane& value) {
        target_->add_save_time(problem_->times, row(lane), k, primal(value));
    }
    /// A save point at the start moves along f there.
    EDDY_HD void add_start_save(std::int32_t lane, std::int32_t k, const LaneState& seed) {
        const LaunchLane of_lane = of_launch(lane);
        const bool is_before = problem_->times.saves_before_impulses;
        const LaneState y =
            is_before ? problem_->load_y0(of_lane) : LaneStart<Spec>::state(*problem_, of_lane);
        const Lane along =
            dot_of(seed, LaneStart<Spec>::slope(*problem_, of_lane, y,
                                                LaneStart<Spec>::time_of(*problem_, of_lane)));
        add_save_time(lane, k, along);
        if (is_before)
            add(target_->t0, lane, 0, -along);
        else
            add_tstop(lane, 0, -along);
    }
    /// What moves a save point behind the impulses at a tstop: f there.
    [[nodiscard]] EDDY_HD Lane slope_behind(std::int32_t lane, std::int32_t tstop, std::int32_t k,
                                            const LaneState& seed) {
        const LaunchLane of_lane = of_launch(lane);
        const LaneTimes times = problem_->times_of(of_lane);
        const std::int32_t next = times.is_end(tstop) ? tstop : tstop + 1;
        const double t = times.tstops[next].confine(times.save_time[k]);
        return dot_of(seed, LaneStart<Spec>::slope(*problem_, of_lane, state(lane, k), t, next));
    }

    EDDY_HD void add_y0(std::int32_t lane, const LaneState& cotangent) {
        add_row<Spec::state_size>(target_->y0, target_->y0_tangent, row(lane), cotangent);
    }
    /// Adds to the gradient of the piece of the inputs that the steps to a tstop have read.
    template <int room>
    EDDY_HD void add_inputs(std::int32_t lane, std::int32_t tstop, const Vec<Lane, room>& values) {
        const std::ptrdiff_t first = problem_->piece_of(input_row(lane), tstop) * room;
        for (int i = 0; i < room; ++i) target_->inputs(row(lane), first + i) += primal(values[i]);
    }
    /// The same, where steps pass over knots: one number of a piece.
    EDDY_HD void add_input(std::int32_t lane, std::int32_t piece, int i, const Lane& value) {
        target_->inputs(row(lane), std::ptrdiff_t{piece} * Spec::input_room + i) += primal(value);
    }
    EDDY_HD void add_p(std::int32_t lane, int i, const Lane& value) {
        if (adds_lanes_in_order<Spec>) {
            Lane& sum = addend(lane, i);
            sum = sum + value;
        } else if (Spec::shares_parameters) {
            shared_.sums[i] = shared_.sums[i] + value;
        } else {
            target_->p(row(lane), i) += primal(value);
            if (Spec::is_dual) target_->p_tangent(row(lane), i) += tangent_or_zero(value);
        }
    }
    /// Adds to the gradient of all parameters.
    EDDY_HD void add_p(std::int32_t lane, const Vec<Lane, Spec::parameter_room>& values) {
        if constexpr (!Spec::shares_parameters && Spec::parameter_size > 0) {
            add_row<Spec::parameter_size>(target_->p, target_->p_tangent, row(lane), values);
        } else {
            for (int i = 0; i < Spec::parameter_size; ++i) add_p(lane, i, values[i]);
        }
    }
    /// The sums of one chain, place by place.
    EDDY_HD void add_sums(const Vec<typename Spec::Number, Spec::parameter_room>& sums) {
        for (int i = 0; i < Spec::parameter_size; ++i) {
            for (int place = 0; place < Spec::num_places; ++place)
                shared_.sums[i] = shared_.sums[i] + get_lane(sums[i], place);
        }
    }
    /// The state at a save point.
    [[nodiscard]] const LaneState& saved(std::int32_t lane, std::int32_t k) const {
        return memory_.states[static_cast<std::ptrdiff_t>(k) * count_ + lane];
    }
    /// A lane's gradient is zero after all.
    EDDY_HD void forget(std::int32_t lane) {
        visit_gradient(lane,
                       [](auto& number) { number = std::remove_cvref_t<decltype(number)>(0); });
    }
    /// Forgets what the group has brought to shared parameters.
    EDDY_HD void forget_sums() {
        for (int i = 0; i < Spec::parameter_size; ++i) shared_.sums[i] = Lane(0);
    }
    /// Is a lane's gradient finite? Its addend of sums over many shared parameters is not known.
    [[nodiscard]] EDDY_HD bool has_finite_gradient(std::int32_t lane) {
        Real nothing(
            0);  // all are read, none for the sake of another: a device waits for them together
        visit_gradient(lane, [&](const auto& number) {
            nothing += primal(number) - primal(number);
            if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(number)>, Real>)
                nothing += number.tangent - number.tangent;
        });
        return nothing == 0;
    }
    /// Lanes that are marked when all are done bring nothing to shared parameters: they will once more.
    EDDY_HD void leave_out(const GradientMark* marks) { left_out_ = marks; }
    /// All lanes of the group are done: adds their addends in the order of the lanes, so that the sum
    /// does not depend on who ended first, nor on the memory that there was.
    EDDY_HD void finish() {
        if (adds_lanes_in_order<Spec>) {
            for (std::int32_t lane = 0; left_out_ && lane < count_; ++lane) {
                for (int i = 0; left_out_[lane].ratio > 0 && i < Spec::parameter_size; ++i)
                    addend(lane, i) = Lane(0);
            }
            if (shared_.addends) return;
            Lane* sums = shared_.sums;
            for (std::int32_t lane = 0; lane < count_; ++lane) {
                if (lane > 0 && lane % lanes_per_block == 0) sums += Spec::parameter_size;
                for (int i = 0; i < Spec::parameter_size; ++i) sums[i] = sums[i] + addend(lane, i);
            }
        }
    }

  private:
    EDDY_HD void add(const EnsembleView<Real>& values, std::int32_t lane, std::int32_t k,
                     const Lane& value) const {
        GradientTarget<Real>::add(values, row(lane), k, primal(value));
    }
    [[nodiscard]] EDDY_HD static Lane dot_of(const LaneState& a, const LaneState& b) {
        Lane sum(0);
        for (int i = 0; i < Spec::state_size; ++i) sum = sum + a[i] * b[i];
        return sum;
    }
    /// (lane, impulse) Components of the states behind those of all save points.
    [[nodiscard]] EDDY_HD Lane& kept(std::int32_t lane, std::int32_t k) {
        const std::ptrdiff_t i = std::ptrdiff_t{lane} * problem_->times.num_impulses + k;
        const std::ptrdiff_t behind = std::ptrdiff_t{problem_->times.num_saves} * count_;
        return memory_
            .states[behind + i / Spec::state_size][static_cast<int>(i % Spec::state_size)];
    }
    /// All are read before the first is written.
    template <int size, int room>
    EDDY_HD static void add_row(const EnsembleView<Real>& values,
                                [[maybe_unused]] const EnsembleView<Real>& tangents,
                                std::ptrdiff_t row, const Vec<Lane, room>& added) {
        Vec<Real, size> sums;
        for_components<size>([&](int i) { sums[i] = values(row, i) + primal(added[i]); });
        for_components<size>([&](int i) { values(row, i) = sums[i]; });
        for (int i = 0; Spec::is_dual && i < size; ++i)
            tangents(row, i) += tangent_or_zero(added[i]);
    }
    /// Calls visit(number) for every number of a lane's gradient.
    template <class Visit>
    EDDY_HD void visit_gradient(std::int32_t lane, Visit visit) {
        const auto visit_row = [&](const EnsembleView<Real>& values) {
            for (std::ptrdiff_t i = 0; values.first && i < values.num_components; ++i)
                visit(values(row(lane), i));
        };
        for_components<Spec::state_size>([&](int i) { visit(target_->y0(row(lane), i)); });
        if (Spec::is_dual) visit_row(target_->y0_tangent);
        visit_row(target_->t0);
        visit_row(target_->t1);
        visit_row(target_->save_at);
        visit_row(target_->impulse_amounts);
        visit_row(target_->impulse_times);
        if (Spec::input_room > 0) visit_row(target_->inputs);
        if (adds_lanes_in_order<Spec>) {
            for (int i = 0; i < Spec::parameter_size; ++i) visit(addend(lane, i));
        } else if (!Spec::shares_parameters) {
            for_components<Spec::parameter_size>([&](int i) { visit(target_->p(row(lane), i)); });
            if (Spec::is_dual) visit_row(target_->p_tangent);
        }
    }
    /// A lane's addend of a shared parameter's gradient.
    [[nodiscard]] EDDY_HD Lane& addend(std::int32_t lane, int i) {
        return memory_.addends[std::ptrdiff_t{lane} * Spec::parameter_size + i];
    }
    [[nodiscard]] EDDY_HD LaunchLane of_launch(std::int32_t lane) const {
        return LaunchLane{first_ + lane};
    }
    /// The row of the arrays that a lane writes; `input_row` is that of those it reads.
    [[nodiscard]] EDDY_HD std::ptrdiff_t row(std::int32_t lane) const { return first_ + lane; }
    [[nodiscard]] EDDY_HD Row input_row(std::int32_t lane) const {
        return problem_->row_of(of_launch(lane));
    }
    [[nodiscard]] EDDY_HD double time(std::int32_t lane, std::int32_t k) const {
        return problem_->times_of(of_launch(lane)).save_time[k];
    }
    [[nodiscard]] EDDY_HD LaneParameters<Spec> parameters(std::int32_t lane) const {
        return {problem_, of_launch(lane)};
    }
    [[nodiscard]] EDDY_HD LaneState& state(std::int32_t lane, std::int32_t k) {
        return memory_.states[static_cast<std::ptrdiff_t>(k) * count_ + lane];
    }

    const Problem<Spec>* problem_;
    std::ptrdiff_t first_;
    std::int32_t count_;
    const Seeds* seeds_;
    const GradientTarget<Real>* target_;
    SharedTarget<Lane> shared_;
    RecorderMemory<Spec> memory_;
    const GradientMark* left_out_ = nullptr;  // (lane) of the group
};

}  // namespace eddy::inline v0::detail
