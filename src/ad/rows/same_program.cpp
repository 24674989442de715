#include "same_program.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace eddy::inline v0::detail {
namespace {

[[nodiscard]] bool are_same_nodes(const Graph& a, const Graph& b) {
    for (int i = 0; i < a.size(); ++i) {
        Node node = a[i];
        if (!has_offset(node.op)) node.offset = b[i].offset;  // a place, compared below
        if (!(node == b[i] && a.place_of(i) == b.place_of(i))) return false;
    }
    return true;
}

}  // namespace

bool are_same_program(const Graph& a, const Graph& b) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    const auto has_values = [](const Region& region) { return region.kept_policy >= 0; };
    using std::ranges::equal;
    return a.size() == b.size() && a.error == b.error && equal(a.operands, b.operands) &&
           equal(a.constants, b.constants, {}, bits, bits) && equal(a.arguments, b.arguments) &&
           equal(a.outputs, b.outputs) && equal(a.names, b.names) && equal(a.places, b.places) &&
           equal(a.regions, b.regions) && std::ranges::none_of(a.regions, has_values) &&
           equal(a.loops, b.loops) && are_same_nodes(a, b);
}

}  // namespace eddy::inline v0::detail
