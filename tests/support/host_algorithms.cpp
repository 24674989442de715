#include "support/host_algorithms.hpp"

#include <algorithm>

#if __has_include(<thrust/for_each.h>)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include <thrust/execution_policy.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#else
#include <functional>
#include <numeric>
#include <ranges>
#include <vector>
#endif

namespace support {

#if __has_include(<thrust/for_each.h>)

using Index = thrust::counting_iterator<std::ptrdiff_t>;

void for_each_index(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& work) {
    thrust::for_each_n(thrust::device, Index(0), count, work);
}
std::ptrdiff_t first_index(std::ptrdiff_t count,
                           const std::function<bool(std::ptrdiff_t)>& is_chosen) {
    return thrust::find_if(thrust::device, Index(0), Index(count), is_chosen) - Index(0);
}
void sort_descending(const eddy::detail::SortedNumbers& numbers) {
    std::copy_n(numbers.keys, numbers.count, numbers.sorted_keys);
    std::copy_n(numbers.values, numbers.count, numbers.sorted_values);
    thrust::stable_sort_by_key(thrust::device, numbers.sorted_keys,
                               numbers.sorted_keys + numbers.count, numbers.sorted_values,
                               thrust::greater<std::uint32_t>());
}

#else

void for_each_index(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& work) {
    std::ranges::for_each(std::views::iota(std::ptrdiff_t{0}, count), work);
}
std::ptrdiff_t first_index(std::ptrdiff_t count,
                           const std::function<bool(std::ptrdiff_t)>& is_chosen) {
    const auto all = std::views::iota(std::ptrdiff_t{0}, count);
    return static_cast<std::ptrdiff_t>(std::ranges::find_if(all, is_chosen) - all.begin());
}
void sort_descending(const eddy::detail::SortedNumbers& numbers) {
    std::vector<std::ptrdiff_t> order(static_cast<std::size_t>(numbers.count));
    std::iota(order.begin(), order.end(), std::ptrdiff_t{0});
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::ptrdiff_t i) { return numbers.keys[i]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
        numbers.sorted_keys[k] = numbers.keys[order[k]];
        numbers.sorted_values[k] = numbers.values[order[k]];
    }
}

#endif

}  // namespace support
