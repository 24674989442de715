#include "same_program.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace eddy::inline v0::detail {
namespace {

template <class T, class Same>
[[nodiscard]] bool all_alike(const List<T>& a, const List<T>& b, const Same& same) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}
[[nodiscard]] bool have_same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
[[nodiscard]] bool are_same_nodes(const Graph& a, const Graph& b) {
    for (int i = 0; i < a.size(); ++i) {
        const Node &x = a[i], &y = b[i];
        if (x.op != y.op || x.size != y.size || x.first != y.first || x.count != y.count ||
            x.index != y.index || x.region != y.region || !(a.place_of(i) == b.place_of(i)) ||
            (has_offset(x.op) && x.offset != y.offset))
            return false;
    }
    return true;
}
[[nodiscard]] bool are_same_regions(const Region& a, const Region& b) {
    return a.parent == b.parent && a.policy == b.policy && a.kept_policy < 0 && b.kept_policy < 0;
}
[[nodiscard]] bool are_same_loops(const Loop& a, const Loop& b) {
    return a.length == b.length && a.has_condition == b.has_condition &&
           a.has_guard == b.has_guard && a.has_turns == b.has_turns &&
           a.is_backward == b.is_backward && a.fails_when_out == b.fails_when_out &&
           a.checkpoints == b.checkpoints && a.replays == b.replays;
}

}  // namespace

bool are_same_program(const Graph& a, const Graph& b) {
    const auto same = [](const auto& x, const auto& y) { return x == y; };
    const auto same_argument = [](const Argument& x, const Argument& y) {
        return x.size == y.size && x.is_scalar == y.is_scalar;
    };
    const auto same_output = [](const Output& x, const Output& y) {
        return x.first == y.first && x.count == y.count && x.size == y.size &&
               x.is_scalar == y.is_scalar;
    };
    return a.size() == b.size() && a.error == b.error && all_alike(a.operands, b.operands, same) &&
           all_alike(a.constants, b.constants, have_same_bits) &&
           all_alike(a.arguments, b.arguments, same_argument) &&
           all_alike(a.outputs, b.outputs, same_output) && all_alike(a.names, b.names, same) &&
           all_alike(a.places, b.places, same) &&
           all_alike(a.regions, b.regions, are_same_regions) &&
           all_alike(a.loops, b.loops, are_same_loops) && are_same_nodes(a, b);
}

}  // namespace eddy::inline v0::detail
