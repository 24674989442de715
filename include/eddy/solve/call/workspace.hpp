#pragma once
// What all calls on an ensemble share: from the caller's arrays and options to a checked problem.
// Test: tests/solve/solver_objects.cpp, tests/solve/validation.cpp

#include <algorithm>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/input_plan.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/noise_plan.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/call/kept_object.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/rank_share.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// A problem, and what it refers to besides the caller's arrays.
template <class Spec>
class PreparedProblem {
    using Scalar = typename Spec::Scalar;

  public:
    /// What the equation reads of inputs.
    static constexpr InputUse input_use{input_size_of<typename Spec::Field>,
                                        input_degree_of<typename Spec::Field>, Spec::input_room,
                                        Spec::passes_knots, reads_slopes<typename Spec::Field>};
    Problem<Spec> problem;
    /// Of the options, whose values of inputs and amounts of impulses may be replaced between calls.
    std::uint64_t edition = 0;
    RankShare ranks;  // where several processes share the lanes of the call

    PreparedProblem() = default;
    PreparedProblem(const PreparedProblem&) = delete;  // the problem refers to what is in here
    PreparedProblem& operator=(const PreparedProblem&) = delete;

    [[nodiscard]] const TimePlan& times() const { return *plan_; }
    [[nodiscard]] std::ptrdiff_t num_lanes() const { return num_lanes_; }
    /// 0 of equations without noise.
    [[nodiscard]] double noise_cell() const {
        if constexpr (Spec::has_noise)
            return problem.noise.cell;
        else
            return 0;
    }

    /// The method of the call, with what of it is known only when it runs; before `prepare`.
    template <class Method>
    void take_method(const Method& method, const char* where) {
        if constexpr (std::is_same_v<Method, typename Spec::Method>) {
            require_valid_method(method, where);
            problem.method = method;
        }
    }

    /// Checks everything that a solve is given, and sets the problem. That of dual numbers wants its
    /// tangents next.
    template <class Y0, class Parameters, class Memory = HostMemory>
    void prepare(const SolveOptions& options, const typename Spec::Controller& controller,
                 const Y0& y0, const Parameters& p, const char* where, const Memory& memory = {}) {
        memory.forget_checks();
        require_times_of(options, ensemble_view(y0).num_lanes, where);
        plan_or_renew(options, controller, where);
        // The tangents of a call before may be gone.
        problem.y0 = ensemble_view(y0);
        problem.p = parameter_view(p);
        problem.y0_tangent = problem.p_tangent = {};
        problem.table = problem.table_tangent = nullptr;
        const std::ptrdiff_t lanes = problem.y0.num_lanes;
        const std::ptrdiff_t at_least_none = lanes > 0 ? lanes : 0;  // a view may say anything
        require_y0_shape(array_shape(problem.y0), {at_least_none, Spec::state_size}, where);
        take_count(lanes);
        require_inputs_of(options.inputs, lanes, where);
        if (const auto* table = table_of(p)) {
            take_table(table_, *table, problem.p, problem.table, "p", where, memory);
        } else if (Spec::parameter_size > 0 || is_shared<Parameters>) {
            const ArrayShape wanted{is_shared<Parameters> ? 1 : lanes, Spec::parameter_size};
            const bool is_one_row = array_shape(problem.p) == ArrayShape{1, Spec::parameter_size};
            require_shape(
                array_shape(problem.p), wanted, "p", where,
                is_one_row ? ", or eddy::shared(p) for one row that all trajectories use" : "");
        }
        if (!memory.leaves_out_lanes) require_finite_in<Y0>(memory, problem.y0, "y0", where);
        require_path_numbers(problem.noise, lanes, options.paths, where);
        if (!HasTable<Parameters> && Spec::parameter_size > 0 &&
            (is_shared<Parameters> || !memory.leaves_out_lanes))
            require_finite_in<Parameters>(memory, problem.p, "p", where);
        if (!Spec::is_dual) share_parameters(memory);  // else tangents follow
    }

    /// Joins the other ranks once a call has been checked here: waits for all, and takes this one's
    /// place among them.
    void join_ranks(const SolveOptions& options, const char* where) {
        if (Spec::is_dual && Spec::shares_parameters && ranks.moves_lanes) add_shared_direction();
        ranks.join(num_lanes_);
        if (!ranks) return;
        if constexpr (Spec::has_noise) {
            problem.noise.first_path = options.first_path;
            require_path_numbers(problem.noise, ranks.num_lanes, options.paths, where);
            problem.noise.first_path += static_cast<std::uint64_t>(ranks.first_lane) *
                                        static_cast<std::uint64_t>(options.paths);
        }
    }
    /// Lanes of all ranks are solved along the direction of shared parameters that each has.
    void add_shared_direction() {
        Fingerprint print;
        for (int i = 0; problem.p_tangent.first && i < Spec::parameter_size; ++i)
            print.add(static_cast<double>(problem.p_tangent(0, i)));
        ranks.print.items[CallPrint::parameters] ^= print.value();
    }
    /// The rows of sums over its lanes.
    [[nodiscard]] LaneBlocks blocks() const {
        return LaneBlocks::from(ranks.first_lane, num_lanes_);
    }

    /// The direction of a pushforward or of a Hessian-vector product.
    template <class Y0, class Parameters, class Memory = HostMemory>
    void prepare_tangents(const Y0& y0, const Parameters& p, const char* where,
                          const Memory& memory = {}) {
        problem.y0_tangent = ensemble_view(y0);
        problem.p_tangent = parameter_view(p);
        require_shape(array_shape(problem.y0_tangent), array_shape(problem.y0), "the tangent of y0",
                      where);
        static_assert(!HasTable<Parameters> || !Spec::shares_parameters,
                      "solve: p is eddy::shared(p), and so is its tangent");
        if (const auto* table = table_of(p)) {
            take_table(table_tangent_, *table, problem.p_tangent, problem.table_tangent,
                       "the tangent of p", where, memory);
            if (problem.table_tangent && !problem.table) {  // p lies in rows of its own
                gather_parameters(*table, num_lanes_, Spec::parameter_size, table_tangent_.rows);
                problem.p_tangent = std::as_const(table_tangent_.rows).view();
                problem.table_tangent = nullptr;
            }
        } else if (Spec::parameter_size > 0) {
            require_shape(array_shape(problem.p_tangent), array_shape(problem.p),
                          "the tangent of p", where);
            require_finite_in<Parameters>(memory, problem.p_tangent, "the tangent of p", where);
        }
        require_finite_in<Y0>(memory, problem.y0_tangent, "the tangent of y0", where);
        share_parameters(memory);
    }

    /// No direction: the tangents are zero where a lane begins.
    template <class Memory = HostMemory>
    void leave_tangents_zero(const Memory& memory = {}) {
        share_parameters(memory);
    }

    /// Lanes that are given these rows of a problem that has been prepared, and lives longer, by its plan: nothing is
    /// left to check.
    void take_rows_of(const PreparedProblem& whole, const Rows& rows, std::ptrdiff_t num_lanes) {
        plan_ = &whole.times();
        problem = whole.problem;
        problem.rows = rows;
        take_count(num_lanes);
    }
    /// Some of its lanes.
    void take_rows_of(const PreparedProblem& whole, const RowList& lanes) {
        plan_ = &whole.times();
        problem = whole.problem;
        take_lanes(whole.problem, lanes);
    }
    /// Follows the whole call along one direction of fixed signs. The problems are of the same equation, method,
    /// controller and types of numbers, except tangents.
    template <class WholeSpec, class Memory>
    void follow_along(const PreparedProblem<WholeSpec>& whole, const RowList& lanes,
                      const Memory& memory) {
        plan_ = &whole.times();
        problem.times = whole.problem.times;
        problem.inputs = whole.problem.inputs;
        problem.clock = whole.problem.clock;
        problem.controller = whole.problem.controller;
        problem.control = whole.problem.control;
        problem.rtol = whole.problem.rtol;
        problem.atol = whole.problem.atol;
        if constexpr (std::is_same_v<typename Spec::Method, typename WholeSpec::Method>)
            problem.method = whole.problem.method;
        take_lanes(whole.problem, lanes);
        problem.has_fixed_directions = true;
        share_parameters(memory);
    }
    /// Some lanes of a problem by another method, with a plan of its own.
    template <class WholeProblem, class Memory>
    void follow_by(const WholeProblem& whole, const RowList& lanes, const SolveOptions& options,
                   const typename Spec::Controller& controller, const char* where,
                   const Memory& memory) {
        ++edition;  // of options whose values may be others than in the call before
        plan_or_renew(options, controller, where);
        take_lanes(whole, lanes);
        share_parameters(memory);
    }

  private:
    using SharedParameter = typename Problem<Spec>::SharedParameter;

    /// Takes some lanes of a problem, which may itself have those of another one.
    template <class WholeProblem>
    void take_lanes(const WholeProblem& whole, const RowList& lanes) {
        list_.clear();
        for (const std::ptrdiff_t lane : lanes)
            list_.push_back(to_index(whole.rows(LaunchLane{lane})));
        problem.y0 = whole.y0;
        problem.p = whole.p;
        problem.y0_tangent = whole.y0_tangent;
        problem.p_tangent = whole.p_tangent;
        problem.table = whole.table;
        problem.table_tangent = whole.table_tangent;
        problem.rows = Rows::of(list_);
        take_count(static_cast<std::ptrdiff_t>(lanes.size()));
    }
    /// What a table of parameters is kept as: the table, or the rows that a device is sent.
    struct KeptTable {
        ParameterTable<Scalar> table;
        EnsembleArray<Scalar> rows;
    };
    template <class Memory>
    void take_table(KeptTable& kept, const ParameterTable<Scalar>& table,
                    EnsembleView<const Scalar>& view, const ParameterTable<Scalar>*& in_place,
                    const char* name, const char* where, const Memory& memory) {
        if (returns_early(memory)) require_asynchronous(Features().with(Feature::tables), where);
        require_table(table, num_lanes_, Spec::parameter_size, name, where);
        kept.table = table;
        if constexpr (is_of_host<Memory>) {
            view = {nullptr, num_lanes_, Spec::parameter_size};
            in_place = &kept.table;
        } else {
            gather_parameters(table, num_lanes_, Spec::parameter_size, kept.rows);
            view = std::as_const(kept.rows).view();
        }
    }
    /// Takes so many lanes, with room for their starts.
    void take_count(std::ptrdiff_t lanes) {
        num_lanes_ = lanes;
        if constexpr (keeps_starts<typename Spec::Field>) {
            starts_.resize(static_cast<std::size_t>(lanes));
            problem.starts = starts_.data();
        }
    }

    /// Plans a first call; for a later one puts new values of inputs and amounts of impulses into the plan.
    void plan_or_renew(const SolveOptions& options, const typename Spec::Controller& controller,
                       const char* where) {
        if (times_.tstops.empty()) {
            plan(options, controller, where);
        } else if (edition != planned_edition_) {
            renew_amounts(options.impulses, times_.impulses, where);
            renew_inputs(options.inputs, input_use, inputs_, where);
        }
        planned_edition_ = edition;
    }
    /// What depends on the options alone.
    void plan(const SolveOptions& options, const typename Spec::Controller& controller,
              const char* where) {
        require_tolerances(options, Spec::state_size, precision_of<Scalar>(Spec::is_adaptive),
                           where);
        require_valid(controller, where);
        if (Spec::has_noise) require_noisy_steps(options, where);
        TimePlan times =
            plan_times(options,
                       {Spec::is_adaptive, Spec::Stepper::steps_to_save_points,
                        std::is_same_v<Scalar, float>, Spec::input_room > 0, Spec::passes_knots},
                       where);
        require_impulses(times.impulses, Spec::state_size, where);
        const bool has_impulses = !times.impulses.empty();
        require_argument(!has_impulses || !LaneStart<Spec>::is_solved_for,
                         said_of(Refusal::algebraic_with_impulses), where);
        if (input_use.size > 0)
            inputs_ = plan_inputs<Scalar>(options.inputs, input_use, times, where);
        times_ = std::move(times);
        if constexpr (Spec::has_noise)
            problem.noise = plan_noise(options, Spec::is_adaptive, times_, cells_, where);
        problem.times = times_.view();
        problem.inputs = inputs_.view();
        if (std::is_same_v<typename Spec::Time, FloatFloat>) require_within_floats(times_, where);
        problem.clock = Clock<ScalarOf<typename Spec::Time>>(problem.times);
        problem.controller = controller;
        problem.control = in_single(controller);
        problem.rtol = static_cast<Scalar>(options.rtol);
        for (int i = 0; i < Spec::state_size; ++i)
            problem.atol[i] = static_cast<Scalar>(options.atol[i]);
        if constexpr (Spec::has_constant_size)
            problem.size = typename Problem<Spec>::Size(times_.dt0, times_.direction * times_.dt0);
    }
    template <class Memory>
    void share_parameters([[maybe_unused]] const Memory& memory) {
        if constexpr (Spec::shares_parameters) {
            if (are_side_by_side(memory)) return;
            shared_p_.resize(static_cast<std::size_t>(Spec::parameter_room));
            for (int i = 0; i < Spec::parameter_size; ++i)
                shared_p_[static_cast<std::size_t>(i)] = broadcast(shared_parameter(memory, i));
            problem.shared_p = shared_p_.data();
        }
    }
    /// Do shared parameters lie on a device, as its kernels read them?
    template <class Memory>
    [[nodiscard]] bool are_side_by_side([[maybe_unused]] const Memory& memory) {
        if constexpr (!is_of_host<Memory> && !Spec::is_dual && Spec::parameter_size > 0) {
            const bool is_whole = Spec::parameter_size == 1 || problem.p.component_stride == 1;
            if (is_whole && memory.holds(problem.p.first)) {
                problem.shared_p = problem.p.first;
                return true;
            }
        }
        require_argument(
            !returns_early(memory),
            "shared: an asynchronous call takes parameters that lie side by side, without "
            "tangents; give a row whose numbers are contiguous");
        return false;
    }
    template <class Memory>
    [[nodiscard]] typename Spec::Lane shared_parameter(const Memory& memory, int i) const {
        const Scalar value = number_of(memory, problem.p, 0, i);
        return number_of_parts<typename Spec::Lane>(value, [&] {
            if (problem.has_fixed_directions) return problem.fixed_direction(value, i);
            return problem.p_tangent.first ? number_of(memory, problem.p_tangent, 0, i) : Scalar(0);
        });
    }
    static SharedParameter broadcast(const typename Spec::Lane& x) {
        using Part = PrimalOf<SharedParameter>;
        return number_of_parts<SharedParameter>(convert<Part>(primal(x)),
                                                [&] { return convert<Part>(tangent_or_zero(x)); });
    }

    std::ptrdiff_t num_lanes_ = 0;
    KeptTable table_, table_tangent_;
    [[no_unique_address]] KeptIf<keeps_starts<typename Spec::Field>,
                                 std::vector<typename Spec::LaneState>>
        starts_;
    [[no_unique_address]] KeptIf<Spec::has_noise, std::vector<CellRow>> cells_;  // (tstop)
    [[no_unique_address]] KeptIf<Spec::shares_parameters, std::vector<SharedParameter>>
        shared_p_;              // (component)
    RowList list_;              // of a problem that has some of another's lanes
    InputPlan<Scalar> inputs_;  // of an equation that reads none: empty
    TimePlan times_;
    std::uint64_t planned_edition_ = 0;
    const TimePlan* plan_ = &times_;  // or that of a problem that this one follows
};

/// The place where the events of lanes are told, if the equation has events.
template <class Spec, class Outcomes>
[[nodiscard]] LaneEvents* events_for(Outcomes& outcomes) {
    return Spec::has_event ? outcomes.keep_events() : nullptr;
}

}  // namespace eddy::inline v0::detail
