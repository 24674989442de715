// A gradient over rows: groups of lanes for the workers of a call, sums over lanes.

#include <algorithm>
#include <eddy/backends/kept_threads.hpp>
#include <eddy/solve/call/collect_arrays.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/unread.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <memory>
#include "joint_rows.hpp"
#include "round_plan.hpp"
#include "row_arguments.hpp"
#include "row_tangents.hpp"
#include "row_work.hpp"
#include "row_workers.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Gradients of as many lanes and of one loss: results whose sizes are known when they are asked for, as those of any
/// other gradient.
template <class Real>
class GradientOnRows : public GradientResults<Real> {
    using Results = GradientResults<Real>;
    using Results::costs, Results::given, Results::shared_sums, Results::target;

  public:
    using Results::result;
    GradientOnRows(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds)
        : GradientResults<Real>({call.field->num_states(),
                                 {call.field->num_parameters(), arrays.shares_parameters,
                                  !sums_in_tiles<Real>(call, arrays.shares_parameters)},
                                 seeds.loss != nullptr,
                                 call.differentiates_times,
                                 false}),
          loss_maker_(seeds.loss),
          num_lanes_(arrays.y0.num_lanes),
          shares_parameters_(arrays.shares_parameters) {}

    /// Is this call one of those?
    [[nodiscard]] bool serves(const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds) const {
        return num_lanes_ == arrays.y0.num_lanes && loss_maker_ == seeds.loss &&
               shares_parameters_ == arrays.shares_parameters;
    }
    void run(const RowCall& call, const RowArrays<Real>& arrays, const RowSeeds<Real>& seeds,
             const GradientInto<Real>& into, const Cancellation& cancelled, KeptThreads& threads,
             const char* where);
    // The work of a worker, as threads see it.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    void begin(RowWorker<Real>& at) const;
    [[nodiscard]] const char* name_of_arrays() const {
        return seeds_->loss ? "data" : "cotangents";
    }
    void check_arrays(const char* where);
    void take(const GradientInto<Real>& into, const char* where);
    void find_joint_steps();
    void plan_groups();
    void plan_back(const FieldOnTileOf<Real>& field);
    [[nodiscard]] RowObjective<Real> objective(const RowWorker<Real>& at) const {
        return {at.loss.get(), seeds_->arrays, this->loss};
    }
    [[nodiscard]] GradientExtent extent() const {
        const CallTimes& times = prepared_.problem.times;
        return {LaneBlocks::from(0, prepared_.num_lanes()),
                times.saves_the_end ? 0 : times.num_saves,
                std::ptrdiff_t{times.num_impulses} * (1 + prepared_.problem.num_tangents)};
    }

    std::shared_ptr<const FieldMaker> loss_maker_;
    std::ptrdiff_t num_lanes_;
    bool shares_parameters_;
    PreparedRows<Real> prepared_;
    CallArrays call_arrays_;
    LaunchPlan groups_;
    GradientPlan plan_;
    int width_ = 0;
    SharedTarget<Real> shared_;
    EnsembleArray<Real> of_inputs_;  // (lane, piece · number)
    InputRoom input_numbers_;
    std::vector<RowWorker<Real>> workers_;      // none: nothing is planned yet
    std::unique_ptr<JointRows<Real>> joint_;    // where lanes share their steps
    std::vector<FieldOnTileOf<Real>*> fields_;  // (worker)
    ThreadLink link_{};
    const RowCall* call_ = nullptr;
    const RowSeeds<Real>* seeds_ = nullptr;
};

template <class Real>
void GradientOnRows<Real>::check_arrays(const char* where) {
    const RowViews<Real>& arrays = seeds_->arrays;
    GradientReport& report = result.report;
    report.num_values = 0;
    report.observed.clear();
    if (seeds_->loss && arrays.empty()) return;
    const char* const name = name_of_arrays();
    const std::ptrdiff_t columns =
        seeds_->loss ? seeds_->loss->num_parameters() - call_->field->num_parameters()
                     : call_->field->num_states();
    require_arrays(arrays, prepared_.times().num_saves, prepared_.num_lanes(), columns, name,
                   where);
    for (const auto& array : arrays) report.num_values += seeds_->loss ? array.num_components : 0;
    if (seeds_->may_miss_values)
        return count_observed(report.observed, arrays, prepared_.num_lanes(), prepared_.times(),
                              where);
    if (seeds_->loss && prepared_.times().is_own)
        count_given(report.observed, arrays, prepared_.num_lanes(), prepared_.times());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const ArrayName of_point{name, arrays.size() > 1 ? static_cast<std::ptrdiff_t>(k) : -1,
                                 seeds_->loss ? for_missing_data : ""};
        require_finite_at_points(arrays[k], prepared_.times(), k, of_point, where);
    }
}
/// The arrays that the call is to write into, checked.
template <class Real>
void GradientOnRows<Real>::take(const GradientInto<Real>& into, const char* where) {
    given = into;
    if (!gives_any(into)) return;
    call_arrays_.clear();
    call_arrays_.add_input(prepared_.problem.y0, "y0");
    call_arrays_.add_input(prepared_.problem.p, "p");
    for (std::size_t k = 0; k < seeds_->arrays.size(); ++k)
        call_arrays_.add_input(seeds_->arrays[k], name_of_arrays(), static_cast<std::ptrdiff_t>(k));
    this->require_outputs(extent(), HostMemory{}, call_arrays_, where);
}
/// Do rounds of wide states leave more for the way back than the second-level cache holds? Machine code makes as much of
/// one vector as of two: with 8 lanes in place of 16 gradients of 40 to 100 states took 0.75 to 0.85 of the time.
[[nodiscard]] bool is_better_narrow(const RowCall& call, std::size_t bytes_of_number) {
    const std::int64_t twice = 2 * std::int64_t{call.field->num_states()};
    const bool fills_vector = 8 * bytes_of_number == 64;
    return fills_vector && call.field->graph() && !call.method->is_implicit() &&
           has_machine_code() && most_row_width(twice, *call.method, true, bytes_of_number) == 16;
}
/// Groups of one tile, or of so many lanes that their sums over shared parameters are whole blocks.
template <class Real>
void GradientOnRows<Real>::plan_groups() {
    const std::ptrdiff_t lanes = prepared_.num_lanes();
    width_ = row_width(*call_->field, *call_->method, lanes, true, prepared_.problem.sums_tile,
                       sizeof(Real));
    // Where parameters are shared, who sums what would depend on the processor.
    if (!shares_parameters_ && width_ == 16 && is_better_narrow(*call_, sizeof(Real))) width_ = 8;
    const bool adds_blocks = shares_parameters_ && lanes > few_lanes;
    groups_ = {lanes, adds_blocks ? lanes_per_block : width_, 1};
    if (!call_->is_joint && RowGradient<Real>::refills(prepared_.problem, false)) {
        // Several tiles, whose lanes make room for each other, as long as there are groups for all threads.
        constexpr std::ptrdiff_t most_tiles = 8;
        const std::ptrdiff_t tiles = (lanes + width_ - 1) / width_;
        const std::ptrdiff_t workers = workers_of_threads(call_->threads, tiles);
        const std::ptrdiff_t wanted = workers == 1 ? 1 : 4 * workers;
        const std::ptrdiff_t size =
            std::clamp<std::ptrdiff_t>((tiles + wanted - 1) / wanted, 1, most_tiles) * width_;
        groups_.group_size =
            adds_blocks ? (size + lanes_per_block - 1) / lanes_per_block * lanes_per_block : size;
    }
    if (prepared_.problem.sums_tile) {
        // Each group has sums of its own, and which groups there are depends on the lanes alone.
        constexpr std::ptrdiff_t most_groups = 64;
        const std::ptrdiff_t tiles = (lanes + width_ - 1) / width_;
        groups_.group_size = (tiles + most_groups - 1) / most_groups * width_;
        groups_.group_size = std::max<std::ptrdiff_t>(groups_.group_size, width_);
    }
    groups_.num_workers = workers_of_threads(call_->threads, groups_.num_groups());
}
template <class Real>
void GradientOnRows<Real>::plan_back(const FieldOnTileOf<Real>& field) {
    const SolveOptions& options = call_->options;
    const int num_states = call_->field->num_states();
    const WorkerBudget budget =
        budget_of_worker({options.memory_budget, machine_memory_bytes()}, groups_.num_workers);
    plan_.num_lanes = static_cast<std::int32_t>(groups_.group_size);
    plan_rounds_of_tile(
        plan_, options, budget,
        most_rounds_of_lane(prepared_.problem.times, call_->method->estimates_error),
        {width_ * std::int64_t{sizeof(LoggedStep)},
         RowGradient<Real>::kept_bytes(num_states, field.num_kept(), *call_->method, width_)},
        [&](bool with_clocks) {
            return RowGradient<Real>::bytes_of_slot(num_states, width_, with_clocks,
                                                    call_->events ? call_->events->count() : 0);
        });
}
template <class Real>
void GradientOnRows<Real>::begin(RowWorker<Real>& at) const {
    if (!at.field) at.field = tile_of(*call_->field, prepared_.problem, width_);
    if (seeds_->loss) at.loss = tile_of(*seeds_->loss, prepared_.problem, width_);
    at.begin(prepared_.problem, objective(at), plan_);
}
template <class Real>
void GradientOnRows<Real>::operator()(std::ptrdiff_t worker, std::ptrdiff_t group) {
    ThreadTeam<1> team(link_, groups_, worker, group);
    RowWorker<Real>& at = workers_[static_cast<std::size_t>(worker)];
    if (!at.has_begun()) begin(at);
    SharedTarget<Real> of_group = shared_;
    if (prepared_.problem.sums_tile) of_group.sums += group * call_->field->num_parameters();
    at.run(team, prepared_.problem, objective(at), target, of_group, result.report.lanes().data(),
           costs[static_cast<std::size_t>(worker)]);
}
/// Lanes that share their steps find them first.
template <class Real>
void GradientOnRows<Real>::find_joint_steps() {
    fields_.clear();
    for (RowWorker<Real>& at : workers_) {
        if (!at.field) at.field = tile_of(*call_->field, prepared_.problem, width_);
        fields_.push_back(at.field.get());
    }
    if (!joint_) joint_ = std::make_unique<JointRows<Real>>();
    joint_->find_steps(prepared_.problem, {num_lanes_, width_, groups_.num_workers}, link_, fields_,
                       result.report.lanes().data());
}
template <class Real>
void GradientOnRows<Real>::run(const RowCall& call, const RowArrays<Real>& arrays,
                               const RowSeeds<Real>& seeds, const GradientInto<Real>& into,
                               const Cancellation& cancelled, KeptThreads& threads,
                               const char* where) {
    EmptyUnlessDone guard(result);
    call_ = &call;
    seeds_ = &seeds;
    prepared_.prepare(call, arrays, where);
    check_arrays(where);
    take(into, where);
    if (seeds.loss) this->open_loss(num_lanes_, HostMemory{});
    this->open_sums(extent().lanes);
    if (workers_.empty()) {
        plan_groups();
        std::vector<RowWorker<Real>> workers(static_cast<std::size_t>(groups_.num_workers));
        workers.front().field = tile_of(*call.field, prepared_.problem, width_);
        const char* const asks = call.differentiates_times ? "differentiate_times" : "events";
        require_argument(
            !prepared_.problem.differentiates_times || workers.front().field->pulls_time(),
            "{}: {}, and the equation, which reads t, is a FieldOnTile without "
            "pull_time; add that, or leave {} out",
            where, asks, asks);
        plan_back(*workers.front().field);
        workers_ = std::move(workers);
    }
    this->open(extent(), groups_.num_groups(), groups_.num_workers, HostMemory{}, 1, false);
    if (call.events) prepared_.problem.told_events = result.report.keep_events();
    const InputSizes& inputs = call.field->inputs();
    if (inputs.size > 0) {
        of_inputs_.assign(num_lanes_, prepared_.problem.inputs.coefficients.num_components,
                          Real(0));
        target.inputs = of_inputs_.view();
    }
    shared_ = shared_sums.rows();
    {
        CallLink to_caller(cancelled, call.options);
        const auto watching = to_caller.watch(call.options.progress, where, num_lanes_);
        to_caller.keep_states_in(&result.report.lost_states());
        link_ = {&to_caller, &threads};
        if (call.is_joint) find_joint_steps();
        threads.for_each_group(groups_.num_groups(), groups_.num_workers, *this);
        if (call.is_joint) {
            joint_->add_first_solve(result.report.lanes().data());
            costs[0].most_bytes += joint_->num_bytes();
        }
        to_caller.keep_states_in(nullptr);
        to_caller.rethrow();
    }
    pull_inputs(call.options.inputs, use_of(inputs), of_inputs_, input_numbers_,
                result.gradient.inputs);
    result.report.checkpoints = plan_.checkpoints;
    set_costs(result.report, costs);
    result.report.set_attempt_cost(cost_of_attempt(*call_->method));
    this->finish_sums(call.options.gather_sums, where);
    for (std::ptrdiff_t i = 0; arrays.shares_parameters && i < call.field->num_parameters(); ++i)
        target.p(0, i) = this->total_of_p(i);
    guard.done();
}

/// Tells which parameters neither the equation nor the loss nor a start reads.
template <class Real>
class UnreadOnRows {
  public:
    void tell(GradientReport& report, const RowCall& call, const RowArrays<Real>& arrays,
              const std::shared_ptr<const FieldMaker>& loss) {
        report.unread.clear();
        if (!loss || call.events) return;
        if (loss != loss_ || arrays.start != start_) look(call, loss, arrays.start);
        list_unread(report.unread, components_, arrays.has_table ? &arrays.table : nullptr,
                    report.num_lanes(), call.field->num_parameters(), is_used_);
    }

  private:
    void look(const RowCall& call, const std::shared_ptr<const FieldMaker>& loss,
              const std::shared_ptr<const FieldMaker>& start) {
        loss_ = loss;
        start_ = start;
        components_ = call.field->unread_parameters();
        for (const auto& other : {loss, start}) {
            if (!other) continue;
            const std::vector<int> also = other->unread_parameters();
            std::erase_if(components_,
                          [&](int i) { return !std::binary_search(also.begin(), also.end(), i); });
        }
    }

    std::shared_ptr<const FieldMaker> loss_, start_;
    std::vector<int> components_;
    std::vector<char> is_used_;
};

/// The gradients of one solver object.
template <class Real>
struct GradientsOnRows {
    RowArguments<Real> arguments;
    std::unique_ptr<GradientOnRows<Real>> latest;
    UnreadOnRows<Real> unread;
    KeptThreads threads;

    ValueAndGradient<Real>& run(const RowCall& call, const RowArrays<Real>& arrays,
                                const RowSeeds<Real>& seeds, const GradientInto<Real>& into,
                                const Cancellation& cancelled, const char* where) {
        const RowArrays<Real>& of_numbers = arguments.with_arrays(call, arrays, where);
        if (!latest || !latest->serves(of_numbers, seeds))
            latest = std::make_unique<GradientOnRows<Real>>(call, of_numbers, seeds);
        latest->run(call, of_numbers, seeds, into, cancelled, threads, where);
        arguments.bring_back(call, arrays, latest->result.gradient);
        return latest->result;
    }
};

/// Those with a direction.
template <class Real>
struct ProductsOnRows {
    RowTangents<Real> tangents;
    GradientsOnRows<Real> gradients;
    std::shared_ptr<const FieldMaker> loss;  // of y alone, whose tangent `seeds` have
    RowSeeds<Real> seeds;
};
/// Columns [first, first + count).
template <class Real>
[[nodiscard]] EnsembleArray<Real> columns_of(const EnsembleArray<Real>& all, std::ptrdiff_t first,
                                             std::ptrdiff_t count) {
    EnsembleArray<Real> some(all.rows(), count);
    for (std::ptrdiff_t c = 0; c < count; ++c)
        for (std::ptrdiff_t row = 0; row < all.rows(); ++row) some(row, c) = all(row, first + c);
    return some;
}
/// Half of what has been pulled back from the tangent of a loss: to y and p (0), the product; to their tangents (1),
/// the gradient.
template <class Real>
[[nodiscard]] Gradient<Real> half_of(const Gradient<Real>& both, const RowArrays<Real>& arrays,
                                     int which) {
    Gradient<Real> half;
    const auto take = [&](const EnsembleArray<Real>& from, EnsembleArray<Real>& to) {
        const std::ptrdiff_t size = from.cols() / 2;
        to = columns_of(from, which * size, size);
    };
    take(both.y0, half.y0);
    take(both.p, half.p);
    take(both.impulse_amounts, half.impulse_amounts);
    if (arrays.has_table) add_rows_of_table(arrays.table, half.p, half.shared);
    return half;
}

}  // namespace

template <class Real>
HessianVectorProduct<Real> multiply_hessian_on_rows(Workspace& kept, const RowCall& call,
                                                    const RowArrays<Real>& arrays,
                                                    const RowArrays<Real>& along,
                                                    const RowSeeds<Real>& seeds,
                                                    const Cancellation& cancelled) {
    constexpr const char* where = "hessian_vector_product";
    const OneCall only(kept, where);
    require_argument(!call.options.save_steps, said_of(Refusal::steps_of_loss), where);
    require_argument(call.field->inputs().size == 0,
                     "{}: an equation that inputs drive has no Hessian over rows; give a "
                     "compile-time functor without Rows",
                     where);
    require_argument(!call.differentiates_times,
                     "{}: differentiate_times with a Hessian over rows; leave it out, or give a "
                     "compile-time functor without Rows",
                     where);
    require_no_time(call, seeds.loss.get(), where);
    auto& products = kept.get<ProductsOnRows<Real>>();
    const std::vector<Direction> directions{Direction::given};
    const RowCall& both = products.tangents.with_tangents(call, directions, where);
    if (products.loss != seeds.loss)
        products.seeds.loss = with_tangents(seeds.loss, directions, where);
    products.loss = seeds.loss;
    products.seeds.arrays = seeds.arrays;
    products.seeds.may_miss_values = seeds.may_miss_values;
    const RowArrays<Real>& given = products.tangents.with_tangent(call, arrays, along, where);
    ValueAndGradient<Real>& found =
        products.gradients.run(both, given, products.seeds, {}, cancelled, where);
    products.gradients.unread.tell(found.report, call, arrays, seeds.loss);
    return {half_of(found.gradient, arrays, 1), half_of(found.gradient, arrays, 0),
            std::move(found.report), std::move(found.loss)};
}
template HessianVectorProduct<double> multiply_hessian_on_rows(Workspace&, const RowCall&,
                                                               const RowArrays<double>&,
                                                               const RowArrays<double>&,
                                                               const RowSeeds<double>&,
                                                               const Cancellation&);
template HessianVectorProduct<float> multiply_hessian_on_rows(Workspace&, const RowCall&,
                                                              const RowArrays<float>&,
                                                              const RowArrays<float>&,
                                                              const RowSeeds<float>&,
                                                              const Cancellation&);

template <class Real>
ValueAndGradient<Real>& differentiate_on_rows(Workspace& kept, const RowCall& call,
                                              const RowArrays<Real>& arrays,
                                              const RowSeeds<Real>& seeds,
                                              const GradientInto<Real>& into,
                                              const Cancellation& cancelled) {
    const char* const where = seeds.loss ? "value_and_gradient" : "pullback";
    const OneCall only(kept, where);
    require_argument(!seeds.loss || !call.options.save_steps, said_of(Refusal::steps_of_loss),
                     where);
    require_argument(
        !(arrays.start || arrays.has_table) || !(gives_any(into) || bool(call.options.gather_sums)),
        "{}: start_from(function), parameters(own, shared) and selected(theta, index) "
        "over rows go with no arrays to write a gradient into, and without "
        "gather_sums; leave these out, or give arrays of y0 and p",
        where);
    auto& gradients = kept.get<GradientsOnRows<Real>>();
    ValueAndGradient<Real>& found = gradients.run(call, arrays, seeds, into, cancelled, where);
    gradients.unread.tell(found.report, call, arrays, seeds.loss);
    return found;
}
template ValueAndGradient<double>& differentiate_on_rows(Workspace&, const RowCall&,
                                                         const RowArrays<double>&,
                                                         const RowSeeds<double>&,
                                                         const GradientInto<double>&,
                                                         const Cancellation&);
template ValueAndGradient<float>& differentiate_on_rows(Workspace&, const RowCall&,
                                                        const RowArrays<float>&,
                                                        const RowSeeds<float>&,
                                                        const GradientInto<float>&,
                                                        const Cancellation&);

}  // namespace eddy::inline v0::detail
