// The order in which the operations of a list are computed.

#include <algorithm>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

std::vector<int> schedule(const ScalarList& list) {
    const std::size_t size = list.values.size();
    std::vector<int> height(size, 0), order, open;
    for (std::size_t i = 0; i < size; ++i) {
        const ScalarValue& value = list.values[i];
        for (int k = 0; k < value.count; ++k)
            height[i] = std::max(height[i], height[static_cast<std::size_t>(value.operand[k])] + 1);
    }
    std::vector<char> is_done(size, 0);
    for (std::size_t i = 0; i < size; ++i) is_done[i] = is_leaf(list.values[i]);
    for (const ScalarList::Result& result : list.results) {
        open.push_back(result.value);
        while (!open.empty()) {
            const int i = open.back();
            const ScalarValue& value = list.values[static_cast<std::size_t>(i)];
            int next = -1;
            for (int k = 0; k < value.count && !is_done[static_cast<std::size_t>(i)]; ++k) {
                const auto o = static_cast<std::size_t>(value.operand[k]);
                if (!is_done[o] && (next < 0 || height[o] > height[static_cast<std::size_t>(next)]))
                    next = value.operand[k];
            }
            if (next >= 0) {
                open.push_back(next);
                continue;
            }
            open.pop_back();
            if (is_done[static_cast<std::size_t>(i)]) continue;
            is_done[static_cast<std::size_t>(i)] = 1;
            order.push_back(i);
        }
    }
    return order;
}

}  // namespace eddy::inline v0::detail
