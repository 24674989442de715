#include <algorithm>
#include <bit>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/stealing.hpp>
#include <eddy/solve/ranks/work_share.hpp>
#include <utility>

#include "rank_message.hpp"

namespace eddy::inline v0::detail {

namespace {

constexpr const char* stealing_call = "sum_by_stealing";

/// The leaves that a rank has to do.
class RestOfRows {
  public:
    RestOfRows(PartRange leaves, std::int64_t most) : leaves_(leaves), most_(most) {}

    [[nodiscard]] bool is_empty() const { return leaves_.count == 0; }
    void put(PartRange leaves) { leaves_ = leaves; }
    /// The first of them that are an aligned subtree.
    [[nodiscard]] PartRange take() {
        std::int64_t size = most_;
        while (leaves_.first % size != 0 || size > leaves_.count) size /= 2;
        const PartRange taken{leaves_.first, size};
        leaves_ = {leaves_.first + size, leaves_.count - size};
        return taken;
    }
    /// The last half, so that what is cut stays in aligned subtrees.
    [[nodiscard]] PartRange give() {
        const std::int64_t end = leaves_.first + leaves_.count;
        const std::int64_t middle = leaves_.first + (leaves_.count + 1) / 2;
        const std::int64_t cut = std::min(end, (middle + most_ - 1) / most_ * most_);
        leaves_.count = cut - leaves_.first;
        return {cut, end - cut};
    }

  private:
    PartRange leaves_;
    std::int64_t most_;
};

}  // namespace

std::vector<double> sum_by_stealing(RankGroup& group, std::ptrdiff_t num_rows,
                                    std::ptrdiff_t rows_at_a_time, bool is_float,
                                    const SumOfRows& work) {
    require_argument(num_rows >= 0 && rows_at_a_time >= lanes_per_block,
                     "{}: {} rows, {} at a time; give 0 or more, and {} or more at a time",
                     stealing_call, num_rows, rows_at_a_time, lanes_per_block);
    const auto most = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(rows_at_a_time / lanes_per_block)));
    const RankRows mine =
        rows_by_count(num_rows, group.rank(), group.num_ranks(), most * lanes_per_block);
    Fingerprint asked;
    for (const std::int64_t number : {std::int64_t{num_rows}, most, std::int64_t{is_float}})
        asked.add(static_cast<std::uint64_t>(number));
    return RankLink(group.shared_from_this()).in_call(stealing_call, [&] {
        static_cast<void>(group.agree(
            {{print_of_version(), print_of_text(stealing_call), 0, asked.value(), 0}}, mine.count));
        RestOfRows rest({mine.first / lanes_per_block, num_blocks(mine.count)}, most);
        group.give_when_asked([&](int, std::uint64_t) { return message_of(rest.give()); });
        NodeSum sum(is_float);
        const std::vector<int> others = others_to_ask(group.rank(), group.num_ranks());
        const auto take_from_others = [&] {
            for (const int other : others) {
                const RankWire::Message given = group.ask(other, 0);
                if (!given.empty()) rest.put(read_as<PartRange>(given.data()));
                if (!rest.is_empty()) return;
            }
        };
        while (group.goes_on()) {
            if (rest.is_empty()) take_from_others();
            if (rest.is_empty()) break;
            const PartRange leaves = rest.take();
            const std::ptrdiff_t first = leaves.first * lanes_per_block;
            const RankRows rows{first, std::min(num_rows - first, leaves.count * lanes_per_block)};
            sum.add({leaves.first, std::countr_zero(static_cast<std::uint64_t>(leaves.count)),
                     work(rows)});
        }
        return group.add_up(std::move(sum));
    });
}

}  // namespace eddy::inline v0::detail
