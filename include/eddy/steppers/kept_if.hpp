#pragma once
// Members that are there only where somebody asks for them.
// Test: tests/steppers/explicit_rk.cpp

#include <type_traits>

namespace eddy::inline v0 {

/// In the place of a value that nobody asks for. Two of one type would be laid out one way by g++ and another way by nvcc.
template <class Value>
struct NotKept {};
/// The type of a member that is there where `is_kept`, and else takes no room if it is declared
/// no_unique_address.
template <bool is_kept, class Value>
using KeptIf = std::conditional_t<is_kept, Value, NotKept<Value>>;

}  // namespace eddy::inline v0
