#pragma once
// The mean of the loss over the paths of each lane, and its gradient.

#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/path_rows.hpp>
#include <eddy/solve/call/shared_sums.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Runs a GradientWorkspace with several paths to a lane.
template <class GradientWorkspace, class Spec>
class PathGradient {
    using Real = typename Spec::Scalar;
    using Lane = typename Spec::Lane;
    /// Are parts of a shared gradient known of each path? Else those of a lane are summed together.
    static constexpr bool has_parts = Spec::shares_parameters && Spec::sums_by_lane;
    static constexpr bool sums_whole_lanes = Spec::shares_parameters && !Spec::sums_by_lane;
    static constexpr int num_parameters = Spec::parameter_size;

  public:
    template <class Backend>
    void run(GradientWorkspace& whole, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, const Cancellation& cancelled, const char* title) {
        rows_.begin(options, whole.prepared.num_lanes());
        CallLink call(cancelled, options);
        const auto watching = call.watch(options.progress, title, rows_.total());
        begin_lane();
        while (rows_.take(SharedSums<Spec>::few_lanes, sums_whole_lanes)) {
            prepare(whole, title);
            part_.within = &call;
            part_.run_kernel(rows_.options(), backend, kept, cancelled, title, false);
            if constexpr (sums_whole_lanes) add_shared(title);
            rows_.for_each_lane([&](std::ptrdiff_t lane, std::ptrdiff_t first, std::ptrdiff_t end) {
                for (std::ptrdiff_t row = first; row < end; ++row) add_row(whole, lane, row);
                if (rows_.ends_lane(end)) settle(whole, lane);
            });
            add_costs(whole.result.report);
            if (!call.is_cancelled()) continue;
            if (rows_.end() % rows_.paths() != 0) settle(whole, rows_.end() / rows_.paths());
            cancel_rest(rows_, options.t0, whole.result.report);
            return;
        }
    }

  private:
    /// Sums of a lane, in double: their rounding is far below the noise of the mean.
    struct Sums {
        double loss = 0;
        std::vector<double> y0, p, y0_tangent, p_tangent;
    };

    void begin_lane() {
        count_ = 0;
        sums_.loss = 0;
        for (auto* y0 : {&sums_.y0, &sums_.y0_tangent})
            y0->assign(static_cast<std::size_t>(Spec::state_size), 0.);
        for (auto* p : {&sums_.p, &sums_.p_tangent})
            p->assign(static_cast<std::size_t>(num_parameters), 0.);
    }
    void prepare(const GradientWorkspace& whole, const char* title) {
        rows_.prepare(part_.prepared, whole.prepared.problem, title);
        part_.arrays.clear();
        data_.resize(whole.arrays.size());
        for (std::size_t k = 0; k < data_.size(); ++k) {
            const EnsembleView<const Real>& of_lanes = whole.arrays[k];
            const bool has_rows = of_lanes.first && of_lanes.num_lanes > 1;
            if (has_rows) rows_.gather(of_lanes, data_[k]);
            part_.arrays.push_back(has_rows ? std::as_const(data_[k]).view() : of_lanes);
        }
        part_.keeps_parts = true;
        part_.seeds = whole.seeds;
        part_.seeds.data = part_.arrays.data();
        part_.open_loss();
    }

    void add_row(GradientWorkspace& whole, std::ptrdiff_t lane, std::ptrdiff_t row) {
        GradientReport& report = whole.result.report;
        const LaneOutcome& outcome = part_.result.report.outcomes()[static_cast<std::size_t>(row)];
        report.add_path(lane, outcome);
        if (!part_.result.report.marks.empty()) {
            const GradientMark& mark = part_.result.report.marks[static_cast<std::size_t>(row)];
            GradientMark& largest = report.marks[static_cast<std::size_t>(lane)];
            if (mark.ratio > largest.ratio) largest = mark;
        }
        if (is_failure(outcome.result)) return;
        ++count_;
        sums_.loss += static_cast<double>(part_.loss(row, 0));
        add(sums_.y0, part_.target.y0, row);
        if constexpr (Spec::is_dual) add(sums_.y0_tangent, part_.target.y0_tangent, row);
        if constexpr (!Spec::shares_parameters) {
            add(sums_.p, part_.target.p, row);
            if constexpr (Spec::is_dual) add(sums_.p_tangent, part_.target.p_tangent, row);
        } else if constexpr (has_parts) {
            for (std::size_t i = 0; i < sums_.p.size(); ++i) {
                const Lane& part = part_.shared_sums.part(row, static_cast<std::ptrdiff_t>(i));
                sums_.p[i] += static_cast<double>(primal(part));
                if constexpr (Spec::is_dual)
                    sums_.p_tangent[i] += static_cast<double>(part.tangent);
            }
        }
    }
    static void add(std::vector<double>& sums, const EnsembleView<Real>& values,
                    std::ptrdiff_t row) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += static_cast<double>(values(row, static_cast<std::ptrdiff_t>(i)));
    }
    /// The rows are of one lane, and failed ones bring nothing.
    void add_shared(const char* title) {
        part_.finish_sums({}, title);
        add(sums_.p, part_.target.p, 0);
        if constexpr (Spec::is_dual) add(sums_.p_tangent, part_.target.p_tangent, 0);
    }

    /// The means of a lane, from its sums.
    void settle(GradientWorkspace& whole, std::ptrdiff_t lane) {
        if (count_ > 0) {
            whole.loss(lane, 0) = mean(sums_.loss);
            put(whole.target.y0, lane, sums_.y0);
            if constexpr (Spec::is_dual) put(whole.target.y0_tangent, lane, sums_.y0_tangent);
            if constexpr (Spec::shares_parameters) {
                for (int i = 0; i < num_parameters; ++i)
                    whole.shared_sums.add(lane, i, mean_of_p(i));
            } else {
                put(whole.target.p, lane, sums_.p);
                if constexpr (Spec::is_dual) put(whole.target.p_tangent, lane, sums_.p_tangent);
            }
        }
        begin_lane();
    }
    [[nodiscard]] Real mean(double sum) const {
        return static_cast<Real>(sum / static_cast<double>(count_));
    }
    void put(const EnsembleView<Real>& values, std::ptrdiff_t lane,
             const std::vector<double>& sums) const {
        for (std::size_t i = 0; i < sums.size(); ++i)
            values(lane, static_cast<std::ptrdiff_t>(i)) = mean(sums[i]);
    }
    [[nodiscard]] Lane mean_of_p(int i) const {
        const auto index = static_cast<std::size_t>(i);
        if constexpr (Spec::is_dual)
            return {mean(sums_.p[index]), mean(sums_.p_tangent[index])};
        else
            return mean(sums_.p[index]);
    }
    void add_costs(GradientReport& report) const {
        const GradientReport& part = part_.result.report;
        eddy::detail::add(report.counters, part.counters);
        report.evaluations_back += part.evaluations_back;
        report.bytes_kept = std::max(report.bytes_kept, part.bytes_kept);
        report.checkpoints = std::max(report.checkpoints, part.checkpoints);
    }

    PathRows<Spec> rows_;
    GradientWorkspace part_;
    std::vector<EnsembleArray<Real>> data_;  // (save point)
    std::int64_t count_ = 0;                 // of one lane: paths that reached the end
    Sums sums_;
};

}  // namespace eddy::inline v0::detail
