#include <algorithm>
#include <eddy/ad/dual.hpp>
#include <eddy/solve/call/shared_sums.hpp>

namespace eddy::inline v0::detail {

template <class Lane>
SharedSums<Lane>::SharedSums(const ParameterShape& parameters) : parameters_(parameters) {}

template <class Lane>
std::ptrdiff_t SharedSums<Lane>::num_columns() const {
    return parameters_.are_shared ? parameters_.count * (has_tangent<Lane> ? 2 : 1) : 0;
}

template <class Lane>
void SharedSums<Lane>::open(const LaneBlocks& lanes, std::ptrdiff_t num_groups, bool are_zero) {
    apart_.clear();
    if (!parameters_.are_shared) return;
    const bool adds_blocks = parameters_.adds_blocks();
    const bool keeps_addends = adds_blocks && (lanes.num_lanes <= few_lanes || lanes.num_alone > 0);
    addends_.resize(size_of(keeps_addends ? lanes.num_lanes : 0));
    sums_.resize(size_of(keeps_addends ? 0 : adds_blocks ? lanes.count() : num_groups));
    if (!are_zero) return;
    std::fill(addends_.begin(), addends_.end(), Lane(0));
    forget_groups();
}

template <class Lane>
SharedTarget<Lane> SharedSums<Lane>::rows() {
    if (!parameters_.are_shared) return {};
    if (!addends_.empty()) return {addends_.data(), nullptr};
    return {nullptr, sums_.data()};
}

template <class Lane>
void SharedSums<Lane>::add(std::ptrdiff_t lane, std::ptrdiff_t i, const Lane& value) {
    const std::ptrdiff_t row = parameters_.adds_blocks() ? lane / lanes_per_block : 0;
    Lane& sum = !addends_.empty() ? addends_[index(lane, i)] : sums_[index(row, i)];
    sum = sum + value;
}

template <class Lane>
void SharedSums<Lane>::add_apart(const GradientTarget<Real>& sums) {
    apart_.resize(size_of(1), Lane(0));
    for (std::ptrdiff_t i = 0; i < parameters_.count; ++i) {
        Lane& sum = apart_[index(0, i)];
        if constexpr (has_tangent<Lane>)
            sum = sum + Lane{sums.p(0, i), sums.p_tangent(0, i)};
        else
            sum = sum + sums.p(0, i);
    }
}

template <class Lane>
void SharedSums<Lane>::forget_groups() {
    std::fill(sums_.begin(), sums_.end(), Lane(0));
}

template <class Lane>
void SharedSums<Lane>::put_into(BlockSums& blocks, std::ptrdiff_t first,
                                const LaneBlocks& lanes) const {
    const bool adds_blocks = parameters_.adds_blocks();
    for (std::ptrdiff_t i = 0; i < parameters_.count; ++i) {
        for (std::ptrdiff_t block = 0; adds_blocks && block < lanes.count(); ++block)
            put(blocks, block, first + i, sum_of(block, i, lanes));
        if (!adds_blocks && lanes.num_lanes > 0) put(blocks, 0, first + i, sum_of_groups(i));
        if (has_apart()) add_to_first_block(blocks, first + i, apart_[index(0, i)]);
    }
}

template <class Lane>
void SharedSums<Lane>::put_groups_into(BlockSums& groups) const {
    groups.reset(num_groups(), num_columns());
    for (std::ptrdiff_t i = 0; i < parameters_.count; ++i) {
        for (std::ptrdiff_t group = 0; group < num_groups(); ++group)
            put(groups, group, i, sums_[index(group, i)]);
        if (has_apart()) add_to_first_block(groups, i, apart_[index(0, i)]);
    }
}

template <class Lane>
std::ptrdiff_t SharedSums<Lane>::num_groups() const {
    return static_cast<std::ptrdiff_t>(sums_.size()) / parameters_.count;
}
template <class Lane>
std::size_t SharedSums<Lane>::size_of(std::ptrdiff_t num_rows) const {
    return static_cast<std::size_t>(num_rows * parameters_.count);
}
template <class Lane>
std::size_t SharedSums<Lane>::index(std::ptrdiff_t row, std::ptrdiff_t i) const {
    return static_cast<std::size_t>(row * parameters_.count + i);
}

template <class Lane>
Lane SharedSums<Lane>::sum_of(std::ptrdiff_t block, std::ptrdiff_t i,
                              const LaneBlocks& lanes) const {
    if (addends_.empty()) return sums_[index(block, i)];
    return sum_of_block<Lane>(lanes.first(block), lanes.end(block),
                              [&](std::ptrdiff_t lane) { return addends_[index(lane, i)]; });
}

template <class Lane>
Lane SharedSums<Lane>::sum_of_groups(std::ptrdiff_t i) const {
    const std::ptrdiff_t count = num_groups();
    if (count == 1) return sums_[index(0, i)];
    PairwiseSum<Lane> sum;
    for (std::ptrdiff_t group = 0; group < count; ++group) sum.add(sums_[index(group, i)]);
    return sum.total();
}

template <class Lane>
void SharedSums<Lane>::put(BlockSums& blocks, std::ptrdiff_t block, std::ptrdiff_t column,
                           const Lane& sum) const {
    blocks(block, column) = primal(sum);
    if constexpr (has_tangent<Lane>) blocks(block, column + parameters_.count) = sum.tangent;
}

template <class Lane>
void SharedSums<Lane>::add_to_first_block(BlockSums& blocks, std::ptrdiff_t column,
                                          const Lane& sum) const {
    blocks(0, column) += primal(sum);
    if constexpr (has_tangent<Lane>) blocks(0, column + parameters_.count) += sum.tangent;
}

template class SharedSums<float>;
template class SharedSums<double>;
template class SharedSums<Dual<float>>;
template class SharedSums<Dual<double>>;

}  // namespace eddy::inline v0::detail
