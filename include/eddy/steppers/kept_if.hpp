#pragma once
// Members that are there only where somebody asks for them.
// Test: tests/steppers/explicit_rk.cpp

#include <eddy/core/lanes.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// In the place of a value that nobody keeps: what it is given is lost, and its lanes read as zero. Two of one type would be
/// laid out one way by g++ and another way by nvcc.
template <class Value>
struct NotKept {
    NotKept() = default;
    EDDY_HD constexpr NotKept(const Value&) {}
};
template <class Value>
[[nodiscard]] EDDY_HD constexpr auto get_lane(const NotKept<Value>&, int) {
    return decltype(get_lane(std::declval<const Value&>(), 0)){};
}
template <class Value, class Lane>
EDDY_HD constexpr void set_lane(NotKept<Value>&, int, const Lane&) {}
/// The type of a member that is there where `is_kept`, and else takes no room if it is declared
/// no_unique_address.
template <bool is_kept, class Value>
using KeptIf = std::conditional_t<is_kept, Value, NotKept<Value>>;

}  // namespace eddy::inline v0
