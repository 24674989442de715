#include "rank_message.hpp"

#include <eddy/core/message.hpp>
#include <eddy/solve/ranks/rank_report.hpp>
#include <utility>

namespace eddy::inline v0::detail {

namespace {

constexpr const char* names_of_items[] = {"another version of eddy", "another call",
                                          "another equation, method or type of numbers",
                                          "other options", "other shared parameters"};

}  // namespace

void RankReport::append(const RankReport& next) {
    num_lanes += next.num_lanes;
    using Kind = RankFailure::Kind;
    if (!failure.is_for_good() && next.failure.is_for_good()) failure = next.failure;
    if (failure) return;
    failure = next.failure;
    if (failure && failure.kind != Kind::differs) return;
    // Those behind have been compared with the first of them.
    for (int item = 0; item < CallPrint::num_items; ++item) {
        if (print.items[item] == next.print.items[item]) continue;
        failure = {Kind::differs, next.first_rank, names_of_items[item]};
        break;
    }
    if (failure) return;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].append(next.sums[k]);
    rows.insert(rows.end(), next.rows.begin(), next.rows.end());
    nodes.append(next.nodes);
}

RankWire::Message RankReport::write() const { return message_of(*this); }
RankReport RankReport::read(const std::byte* message) { return read_as<RankReport>(message); }

RankVerdict RankVerdict::of(RankReport all) {
    RankVerdict verdict{0, all.num_lanes, all.failure, {}};
    auto& [kind, rank, text] = verdict.failure;
    if (kind == RankFailure::Kind::differs)
        text = compose("rank {} has been given {} than rank {}; give all ranks the same", rank,
                       text, all.first_rank);
    if (all.failure) return verdict;
    for (const LeafRun& run : all.sums) verdict.totals.push_back(run.total());
    if (all.nodes.num_nodes() > 0) verdict.totals.push_back(all.nodes.total());
    verdict.rows = std::move(all.rows);
    return verdict;
}

RankWire::Message RankVerdict::write() const { return message_of(*this); }
RankVerdict RankVerdict::read(const std::byte* message) { return read_as<RankVerdict>(message); }

}  // namespace eddy::inline v0::detail
