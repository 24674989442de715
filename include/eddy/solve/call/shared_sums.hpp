#pragma once
// The gradient of shared parameters on its way from lanes to one sum: kept lane by lane, block by
// block or group by group, and what lanes that were solved apart bring later.
// Test: tests/solve/processes.cpp, tests/solve/oracle_gradients.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/solve/call/block_sums.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// Up to so many lanes the addends of shared parameters are kept one by one, at most 4 MiB of dual numbers, and a
/// group need not be whole blocks: few lanes still make many groups.
inline constexpr std::ptrdiff_t few_lanes = 64 * lanes_per_block;

/// Parameters of a gradient.
struct ParameterShape {
    std::ptrdiff_t count = 0;
    bool are_shared = false;
    /// Do lanes add up in blocks, whatever the groups? Beyond 64 parameters it is groups that do, so
    /// that memory does not grow with lanes as it does here.
    bool are_added_by_lane = false;

    [[nodiscard]] bool adds_blocks() const { return are_shared && are_added_by_lane; }
};
template <class Spec>
inline constexpr ParameterShape parameter_shape{Spec::parameter_size, Spec::shares_parameters,
                                                Spec::sums_by_lane};

template <class Lane>
inline constexpr bool has_tangent = !std::is_same_v<Lane, ScalarOf<Lane>>;

/// `Lane` is float or double, or a dual number of either. In src/.
template <class Lane>
class EDDY_EXPORT SharedSums {
    using Real = ScalarOf<Lane>;

  public:
    explicit SharedSums(const ParameterShape& parameters);

    /// How many columns a sum over lanes has: the numbers, and their tangents.
    [[nodiscard]] std::ptrdiff_t num_columns() const;

    /// `are_zero`: whoever adds finds zeros here; else all of it is overwritten by what comes from a device.
    void open(const LaneBlocks& lanes, std::ptrdiff_t num_groups, bool are_zero = true);
    /// The target to which the kernel adds: addends of lanes, or sums.
    [[nodiscard]] SharedTarget<Lane> rows();
    /// Adds a number to the addend of a lane, from the mean of its paths.
    void add(std::ptrdiff_t lane, std::ptrdiff_t i, const Lane& value);

    /// The sums over lanes that were solved apart.
    void add_apart(const GradientTarget<Real>& sums);
    [[nodiscard]] bool has_apart() const { return !apart_.empty(); }
    /// What groups have brought counts no more: their lanes are solved apart.
    void forget_groups();

    /// The sums of blocks of lanes, into the columns from `first` on.
    void put_into(BlockSums& blocks, std::ptrdiff_t first, const LaneBlocks& lanes) const;
    /// The sums of groups, a row each.
    void put_groups_into(BlockSums& groups) const;

  private:
    [[nodiscard]] std::size_t size_of(std::ptrdiff_t num_rows) const;
    [[nodiscard]] std::size_t index(std::ptrdiff_t row, std::ptrdiff_t i) const;
    [[nodiscard]] Lane sum_of(std::ptrdiff_t block, std::ptrdiff_t i,
                              const LaneBlocks& lanes) const;
    [[nodiscard]] std::ptrdiff_t num_groups() const;
    [[nodiscard]] Lane sum_of_groups(std::ptrdiff_t i) const;
    void put(BlockSums& blocks, std::ptrdiff_t block, std::ptrdiff_t column, const Lane& sum) const;
    void add_to_first_block(BlockSums& blocks, std::ptrdiff_t column, const Lane& sum) const;

    ParameterShape parameters_;
    std::vector<Lane> addends_;  // (lane, component), of few lanes
    std::vector<Lane> sums_;     // (block, component), or (group, component) beyond 64 parameters
    std::vector<Lane> apart_;    // (component), of lanes that were solved apart; empty: of none
};

}  // namespace eddy::inline v0::detail
