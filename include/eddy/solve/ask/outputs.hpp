#pragma once
// Arrays of the caller's that a call writes its results into, without a copy: whatever is read as a
// (lane, component) array can be written, too, if it is not const. Arrays of a device are written by
// the backend that computes there.
// Test: tests/solve/outputs.cpp

#include <concepts>
#include <cstddef>
#include <eddy/core/range.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

/// An array type that owns its numbers: one that is about to go would take the results along.
template <class Array>
inline constexpr bool owns_numbers = [] {
    if constexpr (requires { typename Array::PlainObject; })
        return std::is_same_v<typename Array::PlainObject, Array>;
    else
        return !OwnView<Array> && !DenseArray<Array> && !BorrowedRange<Array>;
}();
template <class Real>
inline constexpr bool owns_numbers<EnsembleArray<Real>> = true;

template <class Real>
[[nodiscard]] EnsembleView<Real> output_view(const EnsembleView<Real>& view) {
    return view;
}
template <class Real>
[[nodiscard]] EnsembleView<Real> output_view(EnsembleArray<Real>& array) {
    return array.view();
}
template <class Array>
requires(DenseArray<std::remove_const_t<Array>> || NumberRange<std::remove_const_t<Array>>)
    [[nodiscard]] auto output_view(Array& array) {
    const auto read = ensemble_view(array);
    using Real = std::remove_pointer_t<decltype(array.data())>;
    return EnsembleView<Real>{array.data(), read.num_lanes, read.num_components, read.lane_stride,
                              read.component_stride};
}

template <class Array, class Real>
concept WritableAs = requires(std::remove_reference_t<Array>& array) {
    { output_view(array) } -> std::same_as<EnsembleView<Real>>;
};

/// Arrays one after another in memory: a std::vector, std::array or std::span of them.
template <class List, class Real>
concept ListWritableAs = requires(std::remove_reference_t<List>& list) {
    static_cast<std::size_t>(list.size());
    { output_view(*list.data()) } -> std::same_as<EnsembleView<Real>>;
};

/// An array of the caller's that is only read. A view of our own converts to a read-only one, and
/// must not on its way to an output.
template <class Array>
concept ReadOnlyView = OwnView<Array> && requires(const Array& array) {
    { *array.first } -> std::same_as<const typename Array::Scalar&>;
};
template <class Array, class Output>
concept MayBeWritten = !std::is_same_v<std::remove_cvref_t<Array>, Output> &&
                       !ReadOnlyView<std::remove_cvref_t<Array>>;

}  // namespace detail

/// One array to be written. Nothing, where nothing was given: the result is then kept as usual.
template <class Real>
class OutputArray {
  public:
    OutputArray() = default;
    template <class Array>
    requires detail::MayBeWritten<Array, OutputArray> OutputArray(Array&& array) {
        using Plain = std::remove_cvref_t<Array>;
        static_assert(
            detail::WritableAs<Array, Real>,
            "outputs: give a (trajectory, component) array that can be written, with numbers of "
            "the type of y0 (an Eigen array or map, an EnsembleArray, an EnsembleView)");
        static_assert(std::is_lvalue_reference_v<Array> || !detail::owns_numbers<Plain>,
                      "outputs: this array is a temporary, which would be destroyed with the "
                      "results in it; give one that outlives the call");
        if constexpr (detail::WritableAs<Array, Real>) {
            view_ = detail::output_view(array);
            is_given_ = true;
            is_of_host_ = std::is_same_v<detail::MemoryOf<Plain>, HostMemory>;
        }
    }

    [[nodiscard]] bool is_given() const { return is_given_; }
    [[nodiscard]] const EnsembleView<Real>& view() const { return view_; }
    /// False where its type says that it lies on a device.
    [[nodiscard]] bool is_of_host() const { return is_of_host_; }

  private:
    EnsembleView<Real> view_;
    bool is_given_ = false, is_of_host_ = true;
};

/// One array where there is one save point, else a list with one for each, which must stay until the
/// call returns.
template <class Real>
class OutputArrays {
  public:
    OutputArrays() = default;
    template <class Arrays>
    requires detail::MayBeWritten<Arrays, OutputArrays> OutputArrays(Arrays&& arrays) {
        if constexpr (detail::ListWritableAs<Arrays, Real>) {
            static_assert(std::is_lvalue_reference_v<Arrays> ||
                              detail::BorrowedRange<std::remove_cvref_t<Arrays>>,
                          "outputs: this list is a temporary, which would be destroyed with the "
                          "results in it; give one that outlives the call");
            using Array = std::remove_pointer_t<decltype(arrays.data())>;
            is_of_host_ = std::is_same_v<detail::MemoryOf<std::remove_const_t<Array>>, HostMemory>;
            count_ = static_cast<std::size_t>(arrays.size());
            first_ = arrays.data();
            at_ = [](const void* first, std::size_t k) {
                return detail::output_view(const_cast<Array*>(static_cast<const Array*>(first))[k]);
            };
        } else {
            const OutputArray<Real> only(std::forward<Arrays>(arrays));
            single_ = only.view();
            is_of_host_ = only.is_of_host();
            count_ = 1;
        }
        is_given_ = true;
    }

    [[nodiscard]] bool is_given() const { return is_given_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] EnsembleView<Real> operator[](std::size_t k) const {
        return at_ ? at_(first_, k) : single_;
    }
    /// False where the type of the arrays says that they lie on a device.
    [[nodiscard]] bool is_of_host() const { return is_of_host_; }

  private:
    EnsembleView<Real> single_;
    const void* first_ = nullptr;
    EnsembleView<Real> (*at_)(const void*, std::size_t) = nullptr;
    std::size_t count_ = 0;
    bool is_given_ = false, is_of_host_ = true;
};

/// The arrays that `solver(y0, p, into)` of an `ensemble_solver` writes to: one array of the shape
/// of `solution.y(k)` for each save point.
template <class Real>
struct SolutionInto {
    OutputArrays<Real> y{};         ///< the states; with `.paths` the means
    OutputArrays<Real> tangent{};   ///< the tangents, for calls with tangents
    OutputArrays<Real> variance{};  ///< the variances, with `.paths`
};

/// The arrays that `solver(data, y0, p, into)` of a `gradient_solver`, or a `pullback_solver`,
/// writes its gradients to. The result keeps what is left out, as usual.
template <class Real>
struct GradientInto {
    OutputArray<Real> y0{};  ///< gradient with respect to initial values: (trajectory, component)
    /// with respect to parameters: (trajectory, component), or one row if shared
    OutputArray<Real> p{};
    OutputArray<Real> loss{};     ///< one number per trajectory, as a column or as a vector
    OutputArray<Real> t0{};       ///< with differentiate_times: one number per trajectory
    OutputArray<Real> t1{};       ///< with differentiate_times: one number per trajectory
    OutputArray<Real> save_at{};  ///< with differentiate_times: (trajectory, save point)
};

}  // namespace eddy::inline v0
