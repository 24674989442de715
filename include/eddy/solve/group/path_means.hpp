#pragma once
// Where the means over the paths of each lane go, of a solve and of a gradient (lane/path_lanes.hpp), and what is
// asked for them: a kernel whose arrays are those of the lanes, of which each is some paths.
// Test: tests/solve/device_paths.cpp, tests/device/path_lanes.cu

#include <eddy/solve/group/gradient_kernel.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <eddy/solve/lane/path_lanes.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Means and variances of what is saved, and means of tangents after them; NaN of none.
template <class RealType>
struct SavedMeans {
    using Real = RealType;
    using Sum = Moments;
    static constexpr std::ptrdiff_t num_of_block = 0;  // none is added over lanes

    SavedArrays<Real> means;
    const EnsembleView<Real>* variance = nullptr;  // (save point)
    std::ptrdiff_t num_saves = 0, num_columns = 0, num_numbers = 0;

    [[nodiscard]] EDDY_HD std::ptrdiff_t numbers_of_lane() const { return num_numbers; }
    [[nodiscard]] EDDY_HD static std::int64_t lanes_of_block() { return lanes_per_block; }
    EDDY_HD void put(std::int64_t lane, std::ptrdiff_t number, const Moments& all,
                     std::int64_t) const {
        const std::ptrdiff_t k = number / num_columns, i = number % num_columns;
        const auto nan = std::numeric_limits<Real>::quiet_NaN();
        const Real mean = all.count > 0 ? static_cast<Real>(all.mean) : nan;
        if (k >= num_saves) {
            means.tangent[k - num_saves](lane, i) = mean;
            return;
        }
        means.y[k](lane, i) = mean;
        variance[k](lane, i) =
            all.count > 1 ? static_cast<Real>(all.squares / (all.count - 1)) : nan;
    }
    /// Every number is of some run.
    [[nodiscard]] EDDY_HD static Moments sum_of_chunk(std::ptrdiff_t) { return {}; }
};

/// Means of the loss and its derivatives; zero of none. Those with respect to shared parameters are added over
/// the lanes of each block, in their order.
template <class Spec>
struct GradientMeans {
    using Real = typename Spec::Scalar;
    using Sum = double;
    using Numbers = GradientNumbers<Spec>;
    static constexpr std::ptrdiff_t num_p = Numbers::num_p, num_y0 = Numbers::num_y0;
    static constexpr std::ptrdiff_t num_of_block =
        Spec::shares_parameters ? num_p * Numbers::reals_per_number : 0;

    EnsembleView<Real> loss;
    GradientTarget<Real> target;
    Real* blocks = nullptr;          // (value or tangent, block, component)
    const Real* of_chunk = nullptr;  // (component), of more parameters than lanes hand out
    std::int64_t num_lanes = 0, num_blocks = 1;
    std::int64_t block_lanes = lanes_per_block;  // 1: each lane is a block of its own

    [[nodiscard]] EDDY_HD static std::ptrdiff_t numbers_of_lane() {
        return Numbers::count - num_of_block;
    }
    EDDY_HD void put(std::int64_t lane, std::ptrdiff_t number, double sum,
                     std::int64_t count) const {
        const Real mean = count > 0 ? this->mean(sum, count) : Real(0);
        if (number == 0) {
            loss(lane, 0) = mean;
        } else if (number < Numbers::first_of_p) {
            const std::ptrdiff_t i = number - 1;
            (i < num_y0 ? target.y0(lane, i) : target.y0_tangent(lane, i - num_y0)) = mean;
        } else {
            const std::ptrdiff_t i = number - Numbers::first_of_p;
            (i < num_p ? target.p(lane, i) : target.p_tangent(lane, i - num_p)) = mean;
        }
    }
    [[nodiscard]] EDDY_HD static Real mean(double sum, std::int64_t count) {
        return static_cast<Real>(sum / static_cast<double>(count));
    }
    [[nodiscard]] EDDY_HD std::int64_t lanes_of_block() const {
        return Spec::sums_by_lane ? block_lanes : num_lanes;
    }
    [[nodiscard]] EDDY_HD Real& sum_of_block(std::int64_t block, std::ptrdiff_t number) const {
        const std::ptrdiff_t i = number - Numbers::first_of_p;
        return blocks[(i / num_p * num_blocks + block) * num_p + i % num_p];
    }
    [[nodiscard]] EDDY_HD double sum_of_chunk(std::ptrdiff_t number) const {
        return static_cast<double>(of_chunk[number - Numbers::first_of_p]);
    }
};

/// What a call asks of a backend whose paths stay where they are solved. The arrays of the kernel are those of the
/// lanes, in which it sums up nothing. `PlanOf` divides so many rows among workers: plan_of(rows).
template <class KernelType, class PlanOf, class LanesType>
struct PathJob {
    using Kernel = KernelType;
    using Lanes = LanesType;

    Kernel kernel;
    PlanOf plan_of;
    Lanes lanes;
    PathChunks chunks;
    double* loss_total = nullptr;  // of a gradient
};

}  // namespace eddy::inline v0::detail
