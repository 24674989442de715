#pragma once
// (trajectory, component) arrays: what users pass, without a copy, and what they get. `solve` knows no
// array library: an Eigen array, map or block with any strides fits, and so does a contiguous range
// of numbers as a single row.
// Test: tests/solve/arrays.cpp, tests/solve/raw_arrays.cpp

#include <concepts>
#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/core/host_device.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// The memory of the host, where arrays lie that say nothing else. An array on a device says so by a
/// member type, `using memory = …`: see memory.hpp.
struct HostMemory {
    /// Whether a trajectory that is given numbers which are not finite is `non_finite`, and the others go
    /// on; else such numbers are refused.
    bool leaves_out_lanes = false;

    // What memories of devices say as well (ask/memory.hpp): it holds no address that one of them would.
    static constexpr const char* name = "the host";
    static constexpr bool takes_arrays_of_host = true;
    [[nodiscard]] static bool holds(const void*) { return false; }
    [[nodiscard]] static bool is_alone() { return false; }
    [[nodiscard]] static bool is_asynchronous() { return false; }
    static void forget_checks() {}
    static void copy_in(void*, const void*, std::size_t) {}
    static void copy_out(void*, const void*, std::size_t) {}
    static void wait() {}
    static void put_rows(const auto&, const auto&, const auto*) {}
};

/// A view of a (trajectory, component) array that is not eddy's. `Real` is float or double, const
/// if it is only read.
template <class Real>
struct EnsembleView {
    Real* first = nullptr;
    std::ptrdiff_t num_lanes = 0;
    std::ptrdiff_t num_components = 0;
    std::ptrdiff_t lane_stride = 1;       // between neighbouring trajectories, in elements
    std::ptrdiff_t component_stride = 0;  // between neighbouring components

    using Scalar = std::remove_const_t<Real>;

    [[nodiscard]] EDDY_HD Real& operator()(std::ptrdiff_t lane, std::ptrdiff_t component) const {
        return first[lane * lane_stride + component * component_stride];
    }
    [[nodiscard]] std::ptrdiff_t rows() const { return num_lanes; }
    [[nodiscard]] std::ptrdiff_t cols() const { return num_components; }

    /// A copy in an array type that is made as Array(rows, cols) and filled through array(i, j):
    /// `Eigen::ArrayXXd y = solution.y(0);`
    template <class Array>
    requires requires(Array array, const Array& filled) {
        typename Array::Index;
        Array(std::ptrdiff_t{}, std::ptrdiff_t{});
        array(0, 0) = filled(0, 0);
    }
    operator Array() const {
        Array array(num_lanes, num_components);
        for (std::ptrdiff_t j = 0; j < num_components; ++j) {
            for (std::ptrdiff_t i = 0; i < num_lanes; ++i) array(i, j) = (*this)(i, j);
        }
        return array;
    }
};

/// A raw array seen as (trajectory, component), component after component: as Fortran, MATLAB and Eigen
/// lay it out. It must live until the call returns; what is only read may be const.
template <class Real>
[[nodiscard]] EnsembleView<Real> column_major(Real* first, std::ptrdiff_t num_lanes,
                                              std::ptrdiff_t num_components) {
    return {first, num_lanes, num_components, 1, num_lanes};
}
/// A raw array seen as (trajectory, component), trajectory after trajectory: as C and NumPy lay it
/// out. `row_stride` numbers lie between the beginnings of two rows. It may be more than a row has,
/// as in a block of a larger array.
template <class Real>
[[nodiscard]] EnsembleView<Real> row_major(Real* first, std::ptrdiff_t num_lanes,
                                           std::ptrdiff_t num_components,
                                           std::ptrdiff_t row_stride) {
    return {first, num_lanes, num_components, row_stride, 1};
}
template <class Real>
[[nodiscard]] EnsembleView<Real> row_major(Real* first, std::ptrdiff_t num_lanes,
                                           std::ptrdiff_t num_components) {
    return row_major(first, num_lanes, num_components, num_components);
}

namespace detail {

/// All numbers of a range are one array of this shape.
EDDY_EXPORT void require_size(std::size_t size, std::ptrdiff_t num_lanes,
                              std::ptrdiff_t num_components, const char* where);

template <class Range>
concept NumbersInARow = requires(Range& range) {
    { *range.data() * 1.f } -> std::floating_point;
    { range.size() } -> std::convertible_to<std::size_t>;
};

}  // namespace detail

/// A view of the numbers of a std::vector, std::array or std::span, which must hold as many as the
/// array.
template <detail::NumbersInARow Range>
[[nodiscard]] auto column_major(Range& numbers, std::ptrdiff_t num_lanes,
                                std::ptrdiff_t num_components) {
    detail::require_size(numbers.size(), num_lanes, num_components, "column_major");
    return column_major(numbers.data(), num_lanes, num_components);
}
template <detail::NumbersInARow Range>
[[nodiscard]] auto row_major(Range& numbers, std::ptrdiff_t num_lanes,
                             std::ptrdiff_t num_components) {
    detail::require_size(numbers.size(), num_lanes, num_components, "row_major");
    return row_major(numbers.data(), num_lanes, num_components);
}

/// A view of a (trajectory, component) array outside the memory of the host: `ViewIn<DeviceMemory,
/// const double>`.
template <class Memory, class Real>
struct ViewIn : EnsembleView<Real> {
    using memory = Memory;
};

/// An array (trajectory, component) of float or double that owns its memory. Each component is
/// contiguous over the trajectories.
template <class Real>
class EDDY_EXPORT EnsembleArray {
  public:
    using Scalar = Real;

    EnsembleArray() = default;
    EnsembleArray(std::ptrdiff_t num_lanes, std::ptrdiff_t num_components, Real value = Real(0)) {
        assign(num_lanes, num_components, value);
    }
    EnsembleArray(const EnsembleArray&);  // in src/, as whatever makes, copies and frees vectors
    EnsembleArray(EnsembleArray&&) noexcept;
    EnsembleArray& operator=(const EnsembleArray&);
    EnsembleArray& operator=(EnsembleArray&&) noexcept;
    ~EnsembleArray();

    /// A copy of any other.
    explicit EnsembleArray(const EnsembleView<const Real>& view);

    /// Gives the array another shape and every number the same value. It keeps its memory if that
    /// suffices. If memory runs out, the array stays as it was.
    void assign(std::ptrdiff_t num_lanes, std::ptrdiff_t num_components, Real value);

    [[nodiscard]] Real& operator()(std::ptrdiff_t lane, std::ptrdiff_t component) {
        return values_[static_cast<std::size_t>(component * num_lanes_ + lane)];
    }
    [[nodiscard]] const Real& operator()(std::ptrdiff_t lane, std::ptrdiff_t component) const {
        return values_[static_cast<std::size_t>(component * num_lanes_ + lane)];
    }
    /// The number of trajectories.
    [[nodiscard]] std::ptrdiff_t rows() const { return num_lanes_; }
    /// The number of components.
    [[nodiscard]] std::ptrdiff_t cols() const { return num_components_; }
    /// The number of all numbers, trajectories times components. As a range, the array can be the
    /// state of a loop.
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    /// The first of all numbers, component after component.
    [[nodiscard]] auto begin() { return values_.begin(); }
    /// The end of all numbers.
    [[nodiscard]] auto end() { return values_.end(); }
    [[nodiscard]] auto begin() const { return values_.begin(); }
    [[nodiscard]] auto end() const { return values_.end(); }
    /// A copy of them: of shared parameters, as many as those have.
    operator std::vector<Real>() const { return values_; }
    /// All numbers: (trajectory, component) is at `component * rows() + trajectory`.
    [[nodiscard]] Real* data() { return values_.data(); }
    [[nodiscard]] const Real* data() const { return values_.data(); }

    /// A view of the whole array. It is valid while the array lives and keeps its shape.
    [[nodiscard]] EnsembleView<Real> view() & {
        return {data(), num_lanes_, num_components_, 1, num_lanes_};
    }
    [[nodiscard]] EnsembleView<const Real> view() const& {
        return {data(), num_lanes_, num_components_, 1, num_lanes_};
    }
    EnsembleView<const Real> view() const&& = delete;  // of an array that is about to go
    template <class Array>
    requires std::is_convertible_v<EnsembleView<const Real>, Array>
    operator Array() const { return view(); }

  private:
    std::vector<Real> values_;
    std::ptrdiff_t num_lanes_ = 0;
    std::ptrdiff_t num_components_ = 0;
};
extern template class EnsembleArray<float>;
extern template class EnsembleArray<double>;

namespace detail {

template <class Array>
concept DenseArray = requires(const Array& array) {
    array.data();
    array.rows();
    array.cols();
    array.innerStride();
    array.outerStride();
    { Array::IsRowMajor } -> std::convertible_to<bool>;
    { Array::IsVectorAtCompileTime } -> std::convertible_to<bool>;
};
template <class Array>
concept NumberRange = requires(const Array& array) {
    array.data();
    array.size();
    { *array.data() * 1.f } -> std::convertible_to<double>;  // an array times a number is no number
}
&&!requires(const Array& array) { array.rows(); };

/// A view of ours, wherever it lies; of what may be written, or is only read.
template <class Array>
concept OwnView = requires {
    typename Array::Scalar;
    requires std::is_base_of_v<EnsembleView<typename Array::Scalar>, Array> ||
        std::is_base_of_v<EnsembleView<const typename Array::Scalar>, Array>;
};
/// True for what `ensemble_view` takes.
template <class Array>
inline constexpr bool is_ensemble_array = DenseArray<Array> || NumberRange<Array> || OwnView<Array>;
template <class Real>
inline constexpr bool is_ensemble_array<EnsembleArray<Real>> = true;

template <class Array>
struct MemoryOfArray {
    using type = HostMemory;
};
template <class Array>
requires requires { typename Array::memory; }
struct MemoryOfArray<Array> {
    using type = typename Array::memory;
};
/// The memory in which an array lies.
template <class Array>
using MemoryOf = typename MemoryOfArray<Array>::type;

}  // namespace detail

/// The array seen as (trajectory, component). A one-dimensional array is a single row.
template <class Real>
[[nodiscard]] EnsembleView<const Real> ensemble_view(const EnsembleView<Real>& view) {
    return {view.first, view.num_lanes, view.num_components, view.lane_stride,
            view.component_stride};
}
template <class Real>
[[nodiscard]] EnsembleView<const Real> ensemble_view(const EnsembleArray<Real>& array) {
    return array.view();
}
template <class Array>
requires(detail::DenseArray<Array> || detail::NumberRange<Array>)
    [[nodiscard]] auto ensemble_view(const Array& array) {
    using Real = std::remove_cvref_t<decltype(*array.data())>;
    using View = EnsembleView<const Real>;
    if constexpr (detail::DenseArray<Array>) {
        if constexpr (Array::IsVectorAtCompileTime) {
            return View{array.data(), 1, array.size(), 0, array.innerStride()};
        } else if constexpr (Array::IsRowMajor) {
            return View{array.data(), array.rows(), array.cols(), array.outerStride(),
                        array.innerStride()};
        } else {
            return View{array.data(), array.rows(), array.cols(), array.innerStride(),
                        array.outerStride()};
        }
    } else {
        return View{array.data(), 1, static_cast<std::ptrdiff_t>(array.size()), 0, 1};
    }
}

template <class Array>
using EnsembleScalarOf = typename decltype(ensemble_view(std::declval<const Array&>()))::Scalar;

/// One row of parameters for all trajectories. Refers to `values`, which must live until the call returns.
template <class Real, class Memory = HostMemory>
struct SharedParameters {
    using memory = Memory;
    EnsembleView<const Real> values;
};

/// One parameter vector for all trajectories. Its gradient has one row, summed over the
/// trajectories.
template <class Array>
[[nodiscard]] auto shared(const Array& parameters) {
    static_assert(detail::is_ensemble_array<Array>,
                  "shared: the parameters must be an array of float or double with data() and "
                  "size(), such as Eigen::ArrayXd or std::vector<double>");
    using Shared = SharedParameters<EnsembleScalarOf<Array>, detail::MemoryOf<Array>>;
    return Shared{ensemble_view(parameters)};
}

}  // namespace eddy::inline v0
