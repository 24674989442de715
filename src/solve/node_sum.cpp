#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/solve/ranks/node_sum.hpp>
#include <utility>

namespace eddy::inline v0::detail {

void NodeSum::add_to(std::vector<double>& sum, const std::vector<double>& next) const {
    require_argument(sum.size() == next.size(),
                     "sums over rows: one part has {} numbers, another {}; give as many each time",
                     sum.size(), next.size());
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = is_float_
                     ? static_cast<double>(static_cast<float>(sum[i]) + static_cast<float>(next[i]))
                     : sum[i] + next[i];
}

void NodeSum::add(Node node) {
    const auto behind = [](const Node& a, const Node& b) { return a.first < b.first; };
    auto at = std::upper_bound(nodes_.begin(), nodes_.end(), node, behind);
    at = nodes_.insert(at, std::move(node));
    while (true) {
        const std::int64_t size = std::int64_t{1} << at->level;
        const bool is_left = at->first % (2 * size) == 0;
        if (!is_left && at == nodes_.begin()) return;
        const auto left = is_left ? at : at - 1, right = left + 1;
        if (right == nodes_.end() || left->level != right->level ||
            left->first + size != right->first)
            return;
        add_to(left->values, right->values);
        ++left->level;
        at = nodes_.erase(right) - 1;
    }
}

void NodeSum::append(const NodeSum& other) {
    for (const Node& node : other.nodes_) add(node);
}

std::vector<double> NodeSum::total() const {
    if (nodes_.empty()) return {};
    std::vector<double> total = nodes_.back().values;
    for (std::size_t k = nodes_.size() - 1; k-- > 0;) {
        internal_check(
            nodes_[k].first + (std::int64_t{1} << nodes_[k].level) == nodes_[k + 1].first,
            "all leaves of a sum have come");
        std::vector<double> sum = nodes_[k].values;
        add_to(sum, total);
        total = std::move(sum);
    }
    return total;
}

}  // namespace eddy::inline v0::detail
