#pragma once
// What the way back begins with at save points: the terms of a loss, or cotangents of the caller's.
// Test: tests/solve/oracle_gradients.cpp

#include <eddy/solve/lane/objective.hpp>
#include <eddy/solve/lane/rows.hpp>

namespace eddy::inline v0::detail {

/// The terms of a loss: their derivative with respect to themselves is 1.
template <class Spec>
struct LossSeeds {
    using Real = typename Spec::Scalar;
    static constexpr bool has_report = true;  // of every lane, to the caller
    static constexpr bool has_loss = true;
    const EnsembleView<const Real>* data = nullptr;  // (save point)
    Real* loss = nullptr;                            // (lane)
    std::ptrdiff_t loss_stride = 1;
    /// (block of lanes); where it is not null, whoever launches adds the losses of each block, and
    /// makes those of lanes that failed NaN: they lie where the caller does not read.
    double* block_sums = nullptr;
    /// The sum of all blocks, where whoever launches may add those as well; else null.
    double* total = nullptr;

    /// The seeds for another method.
    template <class OtherSpec>
    using Of = LossSeeds<OtherSpec>;
    void refer_to(const EnsembleView<const Real>* arrays) { data = arrays; }
    /// Where losses are put, and their sums over blocks, if anybody wants these.
    void put_into(const EnsembleView<Real>& losses, double* sums) {
        loss = losses.first;
        loss_stride = losses.lane_stride;
        block_sums = sums;
    }
    /// Where the sum of all blocks may be put; null: nowhere.
    void add_up_into(double* sum) { total = sum; }
    [[nodiscard]] bool adds_up() const { return total != nullptr; }

    /// False where the sum is no number any more.
    [[nodiscard]] EDDY_HD bool add(std::ptrdiff_t lane,
                                   const Vec<typename Spec::Lane, 1>& term) const {
        Real& sum = loss[lane * loss_stride];
        sum += primal(term[0]);
        return is_number(sum);
    }
    [[nodiscard]] EDDY_HD DataRow<Real> data_of(Row row, std::int32_t k) const {
        return {data[k], row};
    }
    [[nodiscard]] EDDY_HD Vec<typename Spec::Lane, 1> cotangent(Row, std::int32_t) const {
        return {{typename Spec::Lane(1)}};
    }
};

/// Cotangents that the caller has computed.
template <class Spec, int num_outputs>
struct CotangentSeeds {
    using Real = typename Spec::Scalar;
    static constexpr bool has_report = false;
    static constexpr bool has_loss = false;
    const EnsembleView<const Real>* cotangents = nullptr;  // (save point)

    template <class OtherSpec>
    using Of = CotangentSeeds<OtherSpec, num_outputs>;
    void refer_to(const EnsembleView<const Real>* arrays) { cotangents = arrays; }
    static void put_into(const EnsembleView<Real>&, double*) {}
    static void add_up_into(double*) {}
    [[nodiscard]] static constexpr bool adds_up() { return false; }

    [[nodiscard]] EDDY_HD bool add(std::ptrdiff_t,
                                   const Vec<typename Spec::Lane, num_outputs>& values) const {
        return is_finite(values);  // or the solution's lane had ended here
    }
    [[nodiscard]] EDDY_HD NoData data_of(Row, std::int32_t) const { return {}; }
    [[nodiscard]] EDDY_HD Vec<typename Spec::Lane, num_outputs> cotangent(Row row,
                                                                          std::int32_t k) const {
        const auto& of_point = cotangents[k];
        Vec<typename Spec::Lane, num_outputs> values{};
        for (int i = 0; i < num_outputs; ++i)
            values[i] = of_point(of_point.num_lanes == 1 ? 0 : to_index(row), i);
        return values;
    }
};

}  // namespace eddy::inline v0::detail
