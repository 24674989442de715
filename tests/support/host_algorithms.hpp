#pragma once
// What a runtime has Thrust do on a device, by Thrust's host system CPP; by the standard library where there is no
// Thrust: tests build without it. Compiled once: Thrust is read by one source only.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/runtime.hpp>
#include <functional>

namespace support {

void for_each_index(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& work);
/// The first that is chosen, or `count`.
[[nodiscard]] std::ptrdiff_t first_index(std::ptrdiff_t count,
                                         const std::function<bool(std::ptrdiff_t)>& is_chosen);
void sort_descending(const eddy::detail::SortedNumbers& numbers);

}  // namespace support
