#include <algorithm>
#include <eddy/ad/dual.hpp>
#include <eddy/solve/call/gradient_results.hpp>

namespace eddy::inline v0::detail {

ValueAndGradient<float> taken(ValueAndGradient<float>& found) { return std::move(found); }
ValueAndGradient<double> taken(ValueAndGradient<double>& found) { return std::move(found); }

void set_costs(GradientReport& report, const std::vector<BackCost>& costs) {
    report.counters = {};
    report.bytes_kept = report.evaluations_back = 0;
    for (const BackCost& cost : costs) {
        add(report.counters, cost.loops);
        report.evaluations_back += cost.evaluations;
        report.bytes_kept += cost.most_bytes;
    }
}

template <class Lane>
GradientResults<Lane>::GradientResults(const GradientKind& kind)
    : shared_sums(kind.parameters), kind_(kind) {}
template <class Lane>
GradientResults<Lane>::~GradientResults() = default;

template <class Lane>
GradientShapes GradientResults<Lane>::shapes_of(const GradientExtent& extent) const {
    const ParameterShape& parameters = kind_.parameters;
    return {{extent.lanes.num_lanes, kind_.state_size},
            {parameters.are_shared ? 1 : extent.lanes.num_lanes, parameters.count},
            extent.num_save_times,
            kind_.with_times,
            kind_.has_loss};
}

template <class Lane>
void GradientResults<Lane>::require_outputs(const GradientExtent& extent, const AnyMemory& memory,
                                            CallArrays& inputs, const char* where) const {
    require_gradient_outputs(given, memory, shapes_of(extent), inputs, where);
}

template <class Lane>
void GradientResults<Lane>::open_loss(std::ptrdiff_t num_lanes, const AnyMemory& memory) {
    std::vector<Real>& own = result.loss.of_lane;
    own.assign(static_cast<std::size_t>(given.loss.is_given() ? 0 : num_lanes), Real(0));
    loss = {own.data(), num_lanes, 1, 1, 0};
    if (given.loss.is_given()) {
        loss = shaped(given.loss.view(), {num_lanes, 1});
        fill_here(memory, loss, Real(0));
    }
    // What was there is overwritten, or not looked at: nobody clears it.
    loss_sums.resize(memory.lies_in(loss.first) ? static_cast<std::size_t>(num_blocks(num_lanes))
                                                : 0);
}

template <class Lane>
void GradientResults<Lane>::open(const GradientExtent& extent, std::ptrdiff_t num_groups,
                                 std::ptrdiff_t num_workers, const AnyMemory& memory,
                                 std::int64_t num_paths, bool comes_later) {
    lanes_ = extent.lanes;
    const std::ptrdiff_t lanes = lanes_.num_lanes, num_save_times = extent.num_save_times;
    costs.assign(static_cast<std::size_t>(num_workers), {});
    GradientReport& report = result.report;
    if (comes_later)
        report.reset_later(static_cast<std::size_t>(lanes), num_paths);
    else
        report.reset(static_cast<std::size_t>(lanes), num_paths);
    if (!comes_later) report.marks.clear();
    report.marks.resize(kind_.is_marked ? static_cast<std::size_t>(lanes) : 0);
    report.was_redone.clear();
    report.is_watched = false;
    shared_is_added_ = loss_is_added_ = false;
    const GradientShapes shapes = shapes_of(extent);
    Gradient<Real>& own = result.gradient;
    target = {};
    target.y0 = open_output(given.y0, memory, own.y0, shapes.y0);
    target.p = open_output(given.p, memory, own.p, shapes.p);
    if constexpr (has_tangent<Lane>) {
        target.y0_tangent = open_output({}, memory, tangent.y0, shapes.y0);
        target.p_tangent = open_output({}, memory, tangent.p, shapes.p);
    }
    const ArrayShape impulses{lanes, extent.num_impulses};
    target.impulse_amounts = open_output({}, memory, own.impulse_amounts, impulses);
    if (kind_.with_times) {
        target.impulse_times = open_output({}, memory, own.impulse_times, impulses);
        target.t0 = open_output(given.t0, memory, own.t0, {lanes, 1});
        target.t1 = open_output(given.t1, memory, own.t1, {lanes, 1});
        target.save_at = open_output(given.save_at, memory, own.save_at, {lanes, num_save_times});
    }
    shared_sums.open(lanes_, num_groups, !comes_later);
}

template <class Lane>
void GradientResults<Lane>::sum_blocks(const EnsembleArray<Real>& losses) {
    std::fill(loss_sums.begin(), loss_sums.end(), 0.);
    for (std::ptrdiff_t lane = 0; lane < lanes_.num_lanes; ++lane) {
        double& sum = loss_sums[static_cast<std::size_t>(lane / lanes_per_block)];
        if (!is_failure(result.report.result(lane)))
            sum = sum + static_cast<double>(losses(lane, 0));
    }
}

template <class Lane>
void GradientResults<Lane>::open_sums(const LaneBlocks& lanes) {
    const std::ptrdiff_t columns = first_column_of_p() + shared_sums.num_columns();
    if (columns > 0) block_sums_.reset(lanes.count(), columns);
}

template <class Lane>
void GradientResults<Lane>::finish_sums(const GatherSums& gather, const char* where,
                                        const RankShare& ranks) {
    const std::ptrdiff_t columns_of_p = shared_sums.num_columns(), first_of_p = first_column_of_p();
    const bool adds_loss = kind_.has_loss && !loss_is_added_,
               adds_p = columns_of_p > 0 && !shared_is_added_;
    if (adds_loss || adds_p) {
        open_sums(lanes_);
        if (adds_loss) add_losses();
        if (adds_p) shared_sums.put_into(block_sums_, first_of_p, lanes_);
        if (ranks)
            add_over(ranks);
        else
            block_sums_.gather(gather, where);
        const auto total = [&](Column column) {
            return block_sums_.template total<double>(column);
        };
        if (adds_loss) put_loss(total(of_loss), {total(of_counted), total(of_failed)});
    }
    if (!kind_.has_loss || adds_loss) return;
    if (result.report.success())  // known before what became of lanes has come
        put_loss(loss_total, Tally{static_cast<double>(lanes_.num_lanes), 0});
    else
        set_loss(loss_total, result.report.outcomes());
}

/// Totals take the place of what this rank has.
template <class Lane>
void GradientResults<Lane>::add_over(const RankShare& ranks) {
    constexpr bool is_float = std::is_same_v<Real, float>;
    const std::int64_t first_of_p = first_column_of_p(), of_p = shared_sums.num_columns();
    std::vector<LeafRun> runs;
    LeafRun& run = runs.emplace_back(
        LeafShape{lanes_per_block, first_of_p + of_p, first_of_p, is_float}, ranks.first_lane);
    for (std::ptrdiff_t row = 0; row < lanes_.count(); ++row) {
        if (row < lanes_.num_alone)
            run.add_lane(block_sums_.row(row));
        else
            run.add_leaf(block_sums_.row(row), lanes_.end(row) - lanes_.first(row));
    }
    const bool adds_groups = of_p > 0 && !kind_.parameters.adds_blocks();
    if (adds_groups) {
        BlockSums groups;
        shared_sums.put_groups_into(groups);
        LeafRun& of_groups =
            runs.emplace_back(LeafShape{1, of_p, 0, is_float}, std::int64_t{first_group_});
        for (std::ptrdiff_t group = 0; group < groups.num_rows(); ++group)
            of_groups.add_leaf(groups.row(group), 1);
    }
    const auto totals = ranks.group->add_up(std::move(runs));
    block_sums_.reset(1, first_of_p + of_p);
    for (std::int64_t column = 0; column < first_of_p + of_p; ++column)
        block_sums_(0, column) = adds_groups && column >= first_of_p
                                     ? totals[1][static_cast<std::size_t>(column - first_of_p)]
                                     : totals[0][static_cast<std::size_t>(column)];
}

template <class Lane>
typename GradientResults<Lane>::Real GradientResults<Lane>::total_of_p(std::ptrdiff_t i) const {
    return block_sums_.template total<Real>(first_column_of_p() + i);
}

template <class Lane>
void GradientResults<Lane>::add_losses() {
    const GradientReport& report = result.report;
    const bool is_added = !loss_sums.empty();  // of each block
    const bool all_succeeded = is_added && report.success();
    for (std::ptrdiff_t block = 0; block < lanes_.count(); ++block) {
        const std::ptrdiff_t first = lanes_.first(block), end = lanes_.end(block);
        Tally tally{all_succeeded ? static_cast<double>(end - first) : 0., 0};
        const auto counts = [&](std::ptrdiff_t lane) {
            return tally.add(report.failed_paths(lane), report.num_paths());
        };
        if (is_added) {
            for (std::ptrdiff_t lane = first; lane < end && !all_succeeded; ++lane) counts(lane);
            block_sums_(block, of_loss) = loss_sums[static_cast<std::size_t>(block)];
        } else {
            block_sums_(block, of_loss) =
                sum_of_block<double>(first, end, [&](std::ptrdiff_t lane) {
                    if (counts(lane)) return static_cast<double>(loss(lane, 0));
                    loss(lane, 0) = std::numeric_limits<Real>::quiet_NaN();
                    return 0.;
                });
        }
        block_sums_(block, of_counted) = tally.counted;
        block_sums_(block, of_failed) = tally.failed;
    }
}

template <class Lane>
void GradientResults<Lane>::set_loss(double sum, std::span<const LaneOutcome> lanes) {
    GradientReport& report = result.report;
    Tally tally;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (report.num_paths() > 1)
            tally.add(report.failed_paths_of_lanes()[i], report.num_paths());
        else
            tally.add(is_failure(lanes[i].result) ? 1 : 0, 1);
    }
    put_loss(sum, tally);
}

template <class Lane>
void GradientResults<Lane>::put_loss(double sum, const Tally& tally) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    auto& of = result.loss;
    of.num_successful = static_cast<std::int64_t>(tally.counted);
    of.total_of_successful = tally.counted == 0 && tally.failed > 0 ? unknown : sum;
    of.mean_of_successful = tally.counted == 0 ? unknown : sum / tally.counted;
    of.total = tally.failed > 0 ? unknown : of.total_of_successful;
    of.mean = tally.failed > 0 ? unknown : of.mean_of_successful;
}

template class GradientResults<float>;
template class GradientResults<double>;
template class GradientResults<Dual<float>>;
template class GradientResults<Dual<double>>;
template class EmptyUnlessDone<ValueAndGradient<float>>;
template class EmptyUnlessDone<ValueAndGradient<double>>;

}  // namespace eddy::inline v0::detail
