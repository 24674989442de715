#include "rank_message.hpp"

#include <algorithm>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/gathered.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

namespace {

struct LostState {
    std::int64_t lane = 0;
    std::vector<double> y;
    static void members(auto& self, const auto& visit) { visit(self.lane, self.y); }
};
template <class Real>
struct StepsToSend {
    std::vector<double> t;
    std::vector<Real> y;
    static void members(auto& self, const auto& visit) { visit(self.t, self.y); }
};

}  // namespace

/// What a rank has of its lanes.
template <class Real>
struct SolutionRows {
    std::vector<LaneOutcome> outcomes;
    std::vector<std::int64_t> failed_paths;
    std::vector<LaneEvents> events;
    std::vector<Real> y, tangent, variance;  // (save point, component, lane)
    std::vector<StepsToSend<Real>> steps;
    std::vector<TangentMark> marks;
    std::vector<LostState> lost;
    std::vector<double> t;  // (lane, save point), where lanes have times of their own

    static void members(auto& self, const auto& visit) {
        visit(self.outcomes, self.failed_paths, self.events, self.y, self.tangent, self.variance,
              self.steps, self.marks, self.lost, self.t);
    }

    static SolutionRows of(const Solution<Real>& solution) {
        const auto outcomes = solution.outcomes();  // first: they may still come
        SolutionRows rows{{outcomes.begin(), outcomes.end()},
                          solution.failed_paths_,
                          solution.events_,
                          solution.y_,
                          solution.tangent_,
                          solution.variance_,
                          {},
                          solution.marks_,
                          {},
                          {}};
        if (solution.saved_.is_own) rows.t = solution.saved_.t;
        for (const auto& steps : solution.steps_) rows.steps.push_back({steps.t, steps.y});
        for (std::ptrdiff_t lane = 0; lane < solution.num_lanes(); ++lane) {
            const Result result = outcomes[static_cast<std::size_t>(lane)].result;
            if (result != Result::loss_not_finite && result != Result::observed_not_finite)
                continue;
            if (auto y = solution.failure(lane).y; !y.empty())
                rows.lost.push_back({lane, std::move(y)});
        }
        return rows;
    }
    /// Puts the rows into a solution of all lanes, from `first` on.
    void put_into(Solution<Real>& all, std::ptrdiff_t first) const {
        const auto of_lanes = [&](const auto& rows, auto& place) {
            std::copy(rows.begin(), rows.end(), place.begin() + first);
        };
        of_lanes(outcomes, all.lanes_);
        of_lanes(failed_paths, all.failed_paths_);
        of_lanes(events, all.events_);
        of_lanes(marks, all.marks_);
        const auto num_rows = std::ssize(outcomes);
        const auto columns = [&](const auto& rows, auto& place) {
            for (std::ptrdiff_t column = 0; num_rows > 0 && column < std::ssize(rows) / num_rows;
                 ++column)
                std::copy_n(rows.begin() + column * num_rows, num_rows,
                            place.begin() + column * all.num_lanes() + first);
        };
        columns(y, all.y_);
        columns(tangent, all.tangent_);
        columns(variance, all.variance_);
        std::copy(t.begin(), t.end(),
                  all.saved_.t.begin() + (t.empty() ? 0 : first * all.num_saves()));
        for (std::size_t lane = 0; lane < steps.size(); ++lane)
            all.steps_[static_cast<std::size_t>(first) + lane] = {steps[lane].t, steps[lane].y};
        for (const LostState& lane : lost) all.lost_states_.add(first + lane.lane, lane.y);
    }
    /// What must be the same of the solutions of all ranks.
    static CallPrint print_of(const Solution<Real>& solution) {
        Fingerprint print;
        const SavedTimes& saved = solution.saved_;
        print.add(std::uint64_t{saved.num_saves});
        print.add(std::uint64_t{saved.is_own});
        for (std::size_t k = 0; !saved.is_own && k < saved.num_saves; ++k) print.add(saved.t[k]);
        const SolutionParts& parts = solution.parts_;
        for (const auto number :
             {std::int64_t{sizeof(Real)}, std::int64_t{solution.num_columns_}, parts.paths})
            print.add(static_cast<std::uint64_t>(number));
        for (const bool part : {parts.y, parts.tangent, parts.steps, parts.variance,
                                !solution.events_.empty(), !solution.marks_.empty()})
            print.add(std::uint64_t{part});
        return {{print_of_version(), print_of_text("gathered"), 0, print.value(), 0}};
    }
    static Solution<Real> gather(RankGroup& group, const Solution<Real>& solution) {
        const auto num_lanes = static_cast<std::ptrdiff_t>(
            group.agree(print_of(solution), solution.num_lanes()).num_lanes);
        const RankWire::Message rows = group.gather(message_of(of(solution)));
        Solution<Real> all = solution;
        SavedTimes saved = solution.saved_;
        if (saved.is_own) saved.t.resize(static_cast<std::size_t>(num_lanes) * saved.num_saves);
        all.reset(num_lanes, {saved.t, saved.num_saves, saved.is_own}, solution.num_columns_,
                  solution.num_state_, solution.parts_);
        if (!solution.events_.empty()) all.events_.resize(all.lanes_.size());
        if (!solution.marks_.empty()) all.marks_.resize(all.lanes_.size());
        std::ptrdiff_t first = 0;
        for (const std::byte* at = rows.data(); at != rows.data() + rows.size();) {
            SolutionRows of_rank;
            take(at, of_rank);
            of_rank.put_into(all, first);
            first += std::ssize(of_rank.outcomes);
        }
        return all;
    }
};

}  // namespace detail

template <class Real>
Solution<Real> gathered(const Solution<Real>& solution) {
    const std::shared_ptr<detail::RankGroup> group = solution.ranks();
    if (!group) return solution;
    return detail::RankLink(group).in_call(
        "gathered", [&] { return detail::SolutionRows<Real>::gather(*group, solution); });
}

template Solution<float> gathered(const Solution<float>&);
template Solution<double> gathered(const Solution<double>&);

}  // namespace eddy::inline v0
