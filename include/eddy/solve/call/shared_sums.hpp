#pragma once
// The gradient of shared parameters on its way from lanes to one sum: kept lane by lane, block by
// block or group by group, and what lanes that were solved apart bring later.

#include <algorithm>
#include <cstddef>
#include <eddy/solve/call/block_sums.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Spec>
class SharedSums {
  public:
    using Real = typename Spec::Scalar;
    using Lane = typename Spec::Lane;

    /// Do lanes add up in blocks, whatever the groups? Beyond 64 parameters it is groups that do, so
    /// that memory does not grow with lanes as it does here.
    static constexpr bool adds_blocks = Spec::shares_parameters && Spec::sums_by_lane;
    /// Up to so many lanes their parts are kept one by one, at most 4 MiB of dual numbers, and a
    /// group need not be whole blocks: few lanes still make many groups.
    static constexpr std::ptrdiff_t few_lanes = 64 * lanes_per_block;
    /// Of a sum over lanes: the numbers, and their tangents.
    static constexpr std::ptrdiff_t num_columns =
        Spec::shares_parameters ? Spec::parameter_size * (Spec::is_dual ? 2 : 1) : 0;

    /// `are_zero`: whoever adds finds zeros here; else all of it is overwritten by what comes from a device.
    void open(std::ptrdiff_t num_lanes, std::ptrdiff_t num_groups, bool are_zero = true) {
        apart_.clear();
        if constexpr (Spec::shares_parameters) {
            const bool keeps_parts = adds_blocks && num_lanes <= few_lanes;
            parts_.resize(size_of(keeps_parts ? num_lanes : 0));
            sums_.resize(size_of(keeps_parts   ? 0
                                 : adds_blocks ? num_blocks(num_lanes)
                                               : num_groups));
            if (!are_zero) return;
            std::fill(parts_.begin(), parts_.end(), Lane(0));
            forget_groups();
        }
    }
    /// Where the kernel adds.
    [[nodiscard]] SharedRows<Spec> rows() {
        if constexpr (!Spec::shares_parameters) return {};
        if (!parts_.empty()) return {parts_.data(), nullptr};
        return {nullptr, sums_.data()};
    }
    /// A lane's part, of few lanes.
    [[nodiscard]] const Lane& part(std::ptrdiff_t lane, std::ptrdiff_t i) const {
        return component(parts_, lane, i);
    }
    /// To a lane's part, from the mean of its paths.
    void add(std::ptrdiff_t lane, std::ptrdiff_t i, const Lane& value) {
        Lane& sum = !parts_.empty() ? component(parts_, lane, i)
                                    : component(sums_, adds_blocks ? lane / lanes_per_block : 0, i);
        sum = sum + value;
    }

    /// The sums over lanes that were solved apart.
    void add_apart(const GradientTarget<Real>& sums) {
        apart_.resize(size_of(1), Lane(0));
        for (std::ptrdiff_t i = 0; i < num_parameters; ++i) {
            Lane& sum = component(apart_, 0, i);
            if constexpr (Spec::is_dual)
                sum = sum + Lane{sums.p(0, i), sums.p_tangent(0, i)};
            else
                sum = sum + sums.p(0, i);
        }
    }
    [[nodiscard]] bool has_apart() const { return !apart_.empty(); }
    /// What groups have brought counts no more: their lanes are solved apart.
    void forget_groups() { std::fill(sums_.begin(), sums_.end(), Lane(0)); }

    /// The sums of blocks of lanes, into the columns from `first` on.
    void put_into(BlockSums& blocks, std::ptrdiff_t first, std::ptrdiff_t num_lanes) const {
        for (std::ptrdiff_t i = 0; i < num_parameters; ++i) {
            for (std::ptrdiff_t block = 0; adds_blocks && block < num_blocks(num_lanes); ++block)
                put(blocks, block, first + i, sum_of(block, i, num_lanes));
            if (!adds_blocks && num_lanes > 0) put(blocks, 0, first + i, sum_of_groups(i));
            if (has_apart()) add_to_first_block(blocks, first + i, component(apart_, 0, i));
        }
    }

  private:
    static constexpr std::ptrdiff_t num_parameters = Spec::parameter_size;

    static std::size_t size_of(std::ptrdiff_t num_rows) {
        return static_cast<std::size_t>(num_rows * num_parameters);
    }
    template <class Rows>
    static auto& component(Rows& rows, std::ptrdiff_t row, std::ptrdiff_t i) {
        return rows[static_cast<std::size_t>(row * num_parameters + i)];
    }
    [[nodiscard]] Lane sum_of(std::ptrdiff_t block, std::ptrdiff_t i,
                              std::ptrdiff_t num_lanes) const {
        if (parts_.empty()) return component(sums_, block, i);
        const std::ptrdiff_t first = block * lanes_per_block;
        return sum_of_block<Lane>(first, std::min(num_lanes, first + lanes_per_block),
                                  [&](std::ptrdiff_t lane) { return part(lane, i); });
    }
    [[nodiscard]] Lane sum_of_groups(std::ptrdiff_t i) const {
        PairwiseSum<Lane> sum;
        const auto num_groups = static_cast<std::ptrdiff_t>(sums_.size()) / num_parameters;
        for (std::ptrdiff_t group = 0; group < num_groups; ++group)
            sum.add(component(sums_, group, i));
        return sum.total();
    }
    static void put(BlockSums& blocks, std::ptrdiff_t block, std::ptrdiff_t column,
                    const Lane& sum) {
        blocks(block, column) = primal(sum);
        if constexpr (Spec::is_dual) blocks(block, column + num_parameters) = sum.tangent;
    }
    static void add_to_first_block(BlockSums& blocks, std::ptrdiff_t column, const Lane& sum) {
        blocks(0, column) += primal(sum);
        if constexpr (Spec::is_dual) blocks(0, column + num_parameters) += sum.tangent;
    }

    std::vector<Lane> parts_;  // (lane, component), of few lanes
    std::vector<Lane> sums_;   // (block, component), or (group, component) beyond 64 parameters
    std::vector<Lane> apart_;  // (component), of lanes that were solved apart; empty: of none
};

}  // namespace eddy::inline v0::detail
