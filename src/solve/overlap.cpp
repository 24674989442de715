#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/overlap.hpp>
#include <string>
#include <utility>

namespace eddy::inline v0::detail {

namespace {

/// first + k·stride for k in [0, count)
struct Progression {
    std::ptrdiff_t first, stride, count;
};

/// The greatest common divisor g of a and b > 0, and x with a·x = g modulo b.
std::pair<std::ptrdiff_t, std::ptrdiff_t> divisor_and_inverse(std::ptrdiff_t a, std::ptrdiff_t b) {
    std::ptrdiff_t r0 = b, r1 = a % b, x0 = 0, x1 = 1;
    while (r1 != 0) {
        const std::ptrdiff_t quotient = r0 / r1;
        r0 = std::exchange(r1, r0 - quotient * r1);
        x0 = std::exchange(x1, x0 - quotient * x1);
    }
    return {r0, x0};
}

/// Is a member of one a member of the other?
bool meet(Progression a, Progression b) {
    if (a.stride == 0) a.stride = a.count = 1;
    if (b.stride == 0) b.stride = b.count = 1;
    // a.first + k·a.stride = b.first + m·b.stride: k = k0 modulo period.
    const auto [divisor, inverse] = divisor_and_inverse(a.stride, b.stride);
    const std::ptrdiff_t distance = b.first - a.first;
    if (distance % divisor != 0) return false;
    const std::ptrdiff_t period = b.stride / divisor;
    const auto product = static_cast<__int128>(distance / divisor) * inverse % period;
    const std::ptrdiff_t k0 = static_cast<std::ptrdiff_t>(product < 0 ? product + period : product);
    // The first such k at which b has begun, and whether either has ended by then.
    const std::ptrdiff_t begun =
        distance <= 0 ? 0 : (distance + a.stride - 1) / a.stride;  // a is at b.first or beyond
    const std::ptrdiff_t k = begun <= k0 ? k0 : k0 + (begun - k0 + period - 1) / period * period;
    return k < a.count && a.first + k * a.stride <= b.first + (b.count - 1) * b.stride;
}

/// The lanes of a component, in elements from `origin` on.
Progression lanes_of(const MemoryGrid& grid, std::ptrdiff_t component, std::uintptr_t origin) {
    const auto bytes = static_cast<std::ptrdiff_t>(grid.first - origin);
    return {(bytes + component * grid.component_stride) / grid.element_size,
            grid.lane_stride / grid.element_size, grid.num_lanes};
}

std::string called(const char* name, std::ptrdiff_t k) {
    return k < 0 ? std::string(name) : compose("{}[{}]", name, k);
}

}  // namespace

void MemoryGrid::tidy() {
    if (is_empty()) return;
    if (lane_stride < 0) first += static_cast<std::uintptr_t>((num_lanes - 1) * lane_stride);
    if (component_stride < 0)
        first += static_cast<std::uintptr_t>((num_components - 1) * component_stride);
    lane_stride = std::max(lane_stride, -lane_stride);
    component_stride = std::max(component_stride, -component_stride);
    end =
        first + static_cast<std::uintptr_t>((num_lanes - 1) * lane_stride +
                                            (num_components - 1) * component_stride + element_size);
}

bool share_memory(const MemoryGrid& a, const MemoryGrid& b) {
    if (a.is_empty() || b.is_empty() || a.end <= b.first || b.end <= a.first) return false;
    const std::uintptr_t origin = std::min(a.first, b.first);
    const auto size = static_cast<std::uintptr_t>(a.element_size);
    if (a.element_size != b.element_size || (a.first - b.first) % size != 0) return true;
    for (std::ptrdiff_t i = 0; i < a.num_components; ++i) {
        for (std::ptrdiff_t j = 0; j < b.num_components; ++j) {
            if (meet(lanes_of(a, i, origin), lanes_of(b, j, origin))) return true;
        }
    }
    return false;
}

bool repeats_itself(const MemoryGrid& grid) {
    if (grid.is_empty()) return false;
    if (grid.num_lanes > 1 && grid.lane_stride == 0) return true;
    for (std::ptrdiff_t i = 1; i < grid.num_components; ++i) {
        if (meet(lanes_of(grid, 0, grid.first), lanes_of(grid, i, grid.first))) return true;
    }
    return false;
}

void CallArrays::add(const Array& array) {
    if (!array.grid.is_empty()) arrays_.push_back(array);
}

void CallArrays::require_apart(const char* where) {
    std::ranges::sort(arrays_, {}, [](const Array& array) { return array.grid.first; });
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Array& one = arrays_[i];
        if (one.is_output && repeats_itself(one.grid))
            throw InvalidArgument(compose(
                "{}: two elements of {} are one in memory; give an array to write into whose "
                "elements all differ",
                where, called(one.name, one.k)));
        for (std::size_t j = i + 1; j < arrays_.size(); ++j) {
            const Array& other = arrays_[j];
            if (other.grid.first >= one.grid.end) break;
            if (!one.is_output && !other.is_output) continue;
            if (!share_memory(one.grid, other.grid)) continue;
            const Array& output = one.is_output ? one : other;
            const Array& second = one.is_output ? other : one;
            throw InvalidArgument(compose(
                "{}: {} and {} share memory; give arrays to write into that overlap no other",
                where, called(output.name, output.k), called(second.name, second.k)));
        }
    }
}

}  // namespace eddy::inline v0::detail
