#pragma once
// A compiled program against the interpreter, bit for bit.

#include <eddy/trace/evaluate.hpp>
#include <tuple>

#include "support/lane_arrays.hpp"

namespace support {

/// Lane `lane` of argument k of P: a number or a Vec.
template <class P, class Real, int k>
auto argument_of_lane(const Arrays<Real>& arguments, int lane) {
    constexpr eddy::Argument argument = P::graph.arguments[k];
    if constexpr (argument.is_scalar) {
        return arguments[k](0, lane);
    } else {
        eddy::Vec<Real, argument.size> vector{};
        for (int c = 0; c < argument.size; ++c) vector[c] = arguments[k](c, lane);
        return vector;
    }
}

template <class Real>
void append_result(Arrays<Real>& results, const Real& value) {
    results.emplace_back(1, 1, value);
}
template <class Real, int length>
void append_result(Arrays<Real>& results, const eddy::Vec<Real, length>& value) {
    auto& array = results.emplace_back(length, 1);
    for (int c = 0; c < length; ++c) array(c, 0) = value[c];
}
template <class Real, class... T>
void append_result(Arrays<Real>& results, const std::tuple<T...>& values) {
    std::apply([&](const auto&... value) { (append_result(results, value), ...); }, values);
}

/// What `function` returns for lane `lane` of the arguments of P.
template <class P, class Real, class Function, int... k>
Arrays<Real> call_lane(const Function& function, const Arrays<Real>& arguments, int lane,
                       std::integer_sequence<int, k...>) {
    Arrays<Real> results;
    append_result(results, function(argument_of_lane<P, Real, k>(arguments, lane)...));
    return results;
}

/// Is function(arguments of the lane) the same as `expected`, bit for bit, in every lane?
template <class P, class Real, class Function>
bool gives_same_bits(const Function& function, const Arrays<Real>& arguments,
                     const Arrays<Real>& expected) {
    const auto num_lanes = static_cast<int>(expected[0].num_lanes());
    for (int lane = 0; lane < num_lanes; ++lane) {
        Arrays<Real> expected_lane;
        for (const auto& array : expected) {
            auto& one = expected_lane.emplace_back(array.num_components(), 1);
            for (int c = 0; c < array.num_components(); ++c) one(c, 0) = array(c, lane);
        }
        const auto indices =
            std::make_integer_sequence<int, static_cast<int>(P::graph.num_arguments())>{};
        if (!same_bits(call_lane<P, Real>(function, arguments, lane, indices), expected_lane))
            return false;
    }
    return true;
}

/// Does the compiled program give what the interpreter gives for its code?
template <class Real, class P>
bool agrees_with_interpreter(const P& program, std::uint64_t seed) {
    const eddy::Graph code = P::code.thaw();
    const auto arguments = moderate_arguments<Real>(code.arguments, seed, 4);
    return gives_same_bits<P>(program, arguments, eddy::interpret(code, arguments));
}

}  // namespace support
