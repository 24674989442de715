#include "rank_message.hpp"

#include <algorithm>
#include <cstring>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>

namespace eddy::inline v0::detail {

namespace {

/// Rows that stay together: as many as are asked for, else blocks of lanes, unless ranks would have few of them.
std::ptrdiff_t rows_per_block(std::ptrdiff_t num_rows, int num_ranks, std::ptrdiff_t multiple) {
    require_argument(num_rows >= 0 && multiple >= 0,
                     "rank_rows: {} rows in multiples of {}; give numbers of at least 0", num_rows,
                     multiple);
    if (multiple > 0) return multiple;
    return num_rows >= 8 * lanes_per_block * num_ranks ? lanes_per_block : 1;
}

CallPrint print_of_call(const char* where, std::uint64_t asked) {
    return {{print_of_version(), print_of_text(where), 0, asked, 0}};
}

/// The costs of blocks from `first` on.
struct CostsOfBlocks {
    std::int64_t first = 0;
    std::vector<std::int64_t> costs;
    static void members(auto& self, const auto& visit) { visit(self.first, self.costs); }
};

std::int64_t steps_of(const LaneOutcome& lane) { return lane.accepted + lane.rejected; }

}  // namespace

RankRows rows_by_count(std::ptrdiff_t num_rows, int rank, int num_ranks, std::ptrdiff_t multiple) {
    const std::ptrdiff_t block = rows_per_block(num_rows, num_ranks, multiple);
    const std::ptrdiff_t blocks = (num_rows + block - 1) / block;
    const auto begin = [&](std::ptrdiff_t of) {
        return std::min(num_rows, blocks * of / num_ranks * block);
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
}

RankRows rows_by_cost(std::span<const std::int64_t> costs, std::ptrdiff_t block,
                      std::ptrdiff_t num_rows, int rank, int num_ranks) {
    double all = 0;
    for (const std::int64_t cost : costs) all += static_cast<double>(cost);
    if (all == 0) return rows_by_count(num_rows, rank, num_ranks, block);
    // A block goes to the rank in whose share its middle lies.
    const auto begin = [&](int of) {
        if (of == num_ranks) return num_rows;
        const double wanted = all * of / num_ranks;
        double before = 0;
        std::size_t k = 0;
        for (; k < costs.size() && before + static_cast<double>(costs[k]) / 2 < wanted; ++k)
            before += static_cast<double>(costs[k]);
        return std::min(num_rows, static_cast<std::ptrdiff_t>(k) * block);
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
}

RankRows rows_by_steps(const RankLink& ranks, const Outcomes& last, std::ptrdiff_t multiple) {
    RankGroup* const group = ranks.get();
    if (!group) return {0, last.num_lanes()};
    constexpr const char* where = "rank_rows";
    return ranks.in_call(where, [&] {
        const auto outcomes = last.outcomes();
        const RankVerdict verdict = group->agree(
            print_of_call(where, static_cast<std::uint64_t>(multiple)), last.num_lanes());
        const auto num_rows = static_cast<std::ptrdiff_t>(verdict.num_lanes);
        const auto first = static_cast<std::ptrdiff_t>(verdict.first_lane);
        const std::ptrdiff_t block = rows_per_block(num_rows, group->num_ranks(), multiple);
        CostsOfBlocks own{first / block, {}};
        for (std::ptrdiff_t lane = 0; lane < last.num_lanes(); ++lane) {
            own.costs.resize(static_cast<std::size_t>((first + lane) / block - own.first) + 1);
            own.costs.back() += steps_of(outcomes[static_cast<std::size_t>(lane)]);
        }
        const RankWire::Message rows = group->gather(message_of(own));
        std::vector<std::int64_t> costs(static_cast<std::size_t>((num_rows + block - 1) / block));
        for (const std::byte* at = rows.data(); at != rows.data() + rows.size();) {
            CostsOfBlocks of_rank;
            take(at, of_rank);
            for (std::size_t k = 0; k < of_rank.costs.size(); ++k)
                costs[static_cast<std::size_t>(of_rank.first) + k] += of_rank.costs[k];
        }
        return rows_by_cost(costs, block, num_rows, group->rank(), group->num_ranks());
    });
}

void copy_from_first(RankGroup& group, const char* where, const std::function<void()>& work,
                     std::span<const std::span<std::byte>> numbers) {
    Fingerprint sizes;
    for (const auto& range : numbers) sizes.add(std::uint64_t{range.size()});
    RankLink(group.shared_from_this()).in_call(where, [&] {
        static_cast<void>(group.agree(print_of_call(where, sizes.value()), 0));
        RankWire::Message mine;
        if (group.rank() == 0) {
            work();
            for (const auto& range : numbers) mine.insert(mine.end(), range.begin(), range.end());
        }
        const RankWire::Message of_first = group.gather(std::move(mine));
        const std::byte* at = of_first.data();
        for (const auto& range : numbers) {
            if (!range.empty()) std::memcpy(range.data(), at, range.size());
            at += range.size();
        }
    });
}

}  // namespace eddy::inline v0::detail
