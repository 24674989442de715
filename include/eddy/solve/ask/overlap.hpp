#pragma once
// Which arrays of a call share memory: an output must overlap neither an input nor another output,
// nor may two of its own elements be one. Exact for strided arrays: the columns of one matrix may be
// inputs and outputs side by side.
// Test: tests/solve/outputs.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The memory of a (lane, component) array, strides in bytes, none negative.
struct EDDY_EXPORT MemoryGrid {
    std::uintptr_t first = 0, end = 0;  // of all elements
    std::ptrdiff_t lane_stride = 0, component_stride = 0;
    std::ptrdiff_t num_lanes = 0, num_components = 0;
    std::ptrdiff_t element_size = 0;

    template <class Real>
    [[nodiscard]] static MemoryGrid of(const EnsembleView<Real>& view) {
        constexpr auto size = std::ptrdiff_t{sizeof(Real)};
        MemoryGrid grid{reinterpret_cast<std::uintptr_t>(view.first),
                        0,
                        view.lane_stride * size,
                        view.component_stride * size,
                        view.num_lanes,
                        view.num_components,
                        size};
        grid.tidy();
        return grid;
    }
    [[nodiscard]] bool is_empty() const { return num_lanes == 0 || num_components == 0; }

  private:
    void tidy();
};

/// Do two arrays have a byte in common?
[[nodiscard]] EDDY_EXPORT bool share_memory(const MemoryGrid& a, const MemoryGrid& b);
/// Do two elements of one array?
[[nodiscard]] EDDY_EXPORT bool repeats_itself(const MemoryGrid& grid);

/// The arrays of one call. Keeps its memory from call to call.
class EDDY_EXPORT CallArrays {
  public:
    void clear() { arrays_.clear(); }
    /// `k` is its number in a list, −1 where it is the only one.
    template <class Real>
    void add_input(const EnsembleView<Real>& view, const char* name, std::ptrdiff_t k = -1) {
        add({MemoryGrid::of(view), name, k, false});
    }
    template <class Real>
    void add_output(const EnsembleView<Real>& view, const char* name, std::ptrdiff_t k = -1) {
        add({MemoryGrid::of(view), name, k, true});
    }
    /// "where: y and y0 share memory; …" where an output overlaps anything.
    void require_apart(const char* where);

  private:
    struct Array {
        MemoryGrid grid;
        const char* name;
        std::ptrdiff_t k;
        bool is_output;
    };
    void add(const Array& array);
    std::vector<Array> arrays_;
};

}  // namespace eddy::inline v0::detail
