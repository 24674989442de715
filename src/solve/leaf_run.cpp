#include <eddy/core/error.hpp>
#include <eddy/solve/ranks/leaf_run.hpp>

namespace eddy::inline v0::detail {

void LeafRun::add_to(double* sum, const double* next) const {
    if (adds_) {
        adds_->push_back({static_cast<std::int32_t>(*sum), static_cast<std::int32_t>(*next)});
        return;
    }
    for (std::int64_t column = 0; column < shape_.num_columns; ++column) {
        if (shape_.is_float && column >= shape_.num_in_double)
            sum[column] = static_cast<double>(static_cast<float>(sum[column]) +
                                              static_cast<float>(next[column]));
        else
            sum[column] = sum[column] + next[column];
    }
}

void LeafRun::add_lane(const double* numbers) {
    const std::int64_t leaf = end_ / shape_.lanes_per_leaf;
    const auto columns = static_cast<std::size_t>(shape_.num_columns);
    ++end_;
    if (leaf * shape_.lanes_per_leaf < first_) {
        head_.insert(head_.end(), numbers, numbers + columns);
        return;
    }
    if (tail_.empty()) tail_.assign(columns, 0.);
    add_to(tail_.data(), numbers);
    if (end_ % shape_.lanes_per_leaf != 0) return;
    const std::vector<double> sum = std::move(tail_);
    tail_.clear();
    push(leaf, 0, sum.data());
}

void LeafRun::add_leaf(const double* sum, std::int64_t num_lanes) {
    internal_check(end_ % shape_.lanes_per_leaf == 0 && num_lanes <= shape_.lanes_per_leaf,
                   "sums of leaves begin where leaves begin");
    const std::int64_t leaf = end_ / shape_.lanes_per_leaf;
    end_ += num_lanes;
    if (num_lanes == shape_.lanes_per_leaf)
        push(leaf, 0, sum);
    else
        tail_.assign(sum, sum + shape_.num_columns);
}

void LeafRun::append(const LeafRun& next) {
    if (next.num_lanes() == 0) return;
    if (num_lanes() == 0) {
        auto* const adds = adds_;
        *this = next;
        adds_ = adds;
        return;
    }
    internal_check(shape_ == next.shape_ && end_ == next.first_, "runs of lanes follow each other");
    const auto columns = static_cast<std::size_t>(shape_.num_columns);
    for (std::size_t at = 0; at < next.head_.size(); at += columns) add_lane(&next.head_[at]);
    for (std::size_t k = 0; k < next.nodes_.size(); ++k)
        push(next.nodes_[k].first, next.nodes_[k].level, &next.values_[row(k)]);
    if (!next.tail_.empty()) tail_ = next.tail_;
    end_ = next.end_;
}

void LeafRun::push(std::int64_t leaf, int level, const double* sum) {
    nodes_.push_back({leaf, level});
    values_.insert(values_.end(), sum, sum + shape_.num_columns);
    while (nodes_.size() > 1) {
        const Node left = nodes_[nodes_.size() - 2], right = nodes_.back();
        const std::int64_t size = std::int64_t{1} << left.level;
        if (left.level != right.level || left.first % (2 * size) != 0) return;
        add_to(&values_[row(nodes_.size() - 2)], &values_[row(nodes_.size() - 1)]);
        nodes_.pop_back();
        nodes_.back().level = left.level + 1;
        values_.resize(row(nodes_.size()));
    }
}

std::vector<double> LeafRun::total() const {
    LeafRun all = *this;
    internal_check(first_ == 0, "a total begins with the first lane");
    if (!tail_.empty()) all.push(end_ / shape_.lanes_per_leaf, 0, tail_.data());
    if (all.nodes_.empty())
        return std::vector<double>(static_cast<std::size_t>(shape_.num_columns));
    // What is left over at the end joins from the right.
    for (std::size_t k = all.nodes_.size() - 1; k-- > 0;)
        add_to(&all.values_[row(k)], &all.values_[row(k + 1)]);
    all.values_.resize(row(1));
    return all.values_;
}

std::int64_t LeafRun::num_rows() const {
    const auto rows = head_.size() + values_.size() + tail_.size();
    return shape_.num_columns == 0 ? 0 : static_cast<std::int64_t>(rows) / shape_.num_columns;
}

std::vector<double> LeafRun::rows() const {
    std::vector<double> all(head_);
    all.insert(all.end(), values_.begin(), values_.end());
    all.insert(all.end(), tail_.begin(), tail_.end());
    return all;
}

LeafRun LeafRun::named(std::int64_t first, std::vector<RowAdd>& adds) const {
    LeafRun names = *this;
    names.adds_ = &adds;
    names.shape_.num_columns = 1;
    const auto name = [&](std::vector<double>& rows) {
        rows.resize(shape_.num_columns == 0
                        ? 0
                        : rows.size() / static_cast<std::size_t>(shape_.num_columns));
        for (double& row : rows) row = static_cast<double>(first++);
    };
    name(names.head_);
    name(names.values_);
    name(names.tail_);
    return names;
}

}  // namespace eddy::inline v0::detail
