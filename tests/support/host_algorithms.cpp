#include "support/host_algorithms.hpp"

#if __has_include(<thrust/for_each.h>)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include <thrust/execution_policy.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#else
#include <algorithm>
#include <ranges>
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

#else

void for_each_index(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& work) {
    std::ranges::for_each(std::views::iota(std::ptrdiff_t{0}, count), work);
}
std::ptrdiff_t first_index(std::ptrdiff_t count,
                           const std::function<bool(std::ptrdiff_t)>& is_chosen) {
    const auto all = std::views::iota(std::ptrdiff_t{0}, count);
    return std::ranges::find_if(all, is_chosen) - all.begin();
}

#endif

}  // namespace support
