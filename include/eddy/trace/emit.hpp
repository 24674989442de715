#pragma once
// What an evaluation hands out, the components of its results, and what a call makes of them.
// Test: tests/trace/random_functions.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/evaluate_table.hpp>
#include <eddy/trace/sparse_parts.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0::detail {

template <int count>
struct PartOffsets {
    int of[count > 0 ? count : 1] = {};
};
/// Where the components of each part of an output begin.
template <class P, int output>
inline constexpr auto part_offsets = [] {
    PartOffsets<P::code.outputs[output].count> offsets;
    const Output description = P::code.outputs[output];
    for (int part = 1; part < description.count; ++part)
        offsets.of[part] = offsets.of[part - 1] +
                           P::code.nodes[P::code.operands[description.first + part - 1]].size;
    return offsets;
}();

/// The result of which a sink wants sparse parts alone; −1: none.
template <class P, class Sink>
inline constexpr int sparse_result = has_sparse_parts(P::code, summed_by<Sink>) ? summed_by<Sink>
                                                                                : -1;

/// Hands the components of `count` parts of output `output` to sink(k, value). By halves: of a wide state, component
/// by component, the compiler would meet its limit of depth.
template <class P, class Real, int output, int first, int count, class Values, class Sink>
EDDY_INLINE EDDY_HD constexpr void emit(const Values& values, Sink& sink) {
    if constexpr (count > 1) {
        emit<P, Real, output, first, count / 2>(values, sink);
        emit<P, Real, output, first + count / 2, count - count / 2>(values, sink);
    } else if constexpr (count == 1) {
        constexpr int node = P::code.operands[P::code.outputs[output].first + first],
                      length = P::code.nodes[node].size, offset = part_offsets<P, output>.of[first];
        constexpr bool is_summed = summed_by<std::remove_cvref_t<Sink>> == output;
        if constexpr (Values::template is_sparse_part<node>) {
            emit_sparse<output, node>(values, offset, sink);
        } else if constexpr (!Values::template is_written<node> &&
                             !(is_summed && is_zeros(P::code, node))) {
            if constexpr (length == 1) {
                sink.template operator()<output>(offset,
                                                 convert<Real>(values.template load<node>(0)));
            } else {
                for_components<length>([&](int c) EDDY_INLINE {
                    sink.template operator()<output>(offset + c,
                                                     convert<Real>(values.template load<node>(c)));
                });
            }
        }
    }
}

/// The value of output k of P: a Real for a scalar, else a Vec.
template <class P, class Real, int k>
using OutputValue =
    std::conditional_t<P::code.outputs[k].is_scalar, Real, Vec<Real, P::code.outputs[k].size>>;

/// A result that will be written: for a long one, no time for zeros. What g++ can compute, it does, and fills with zeros.
template <class Value>
struct Unset {
    EDDY_INLINE constexpr operator Value() const { return Value{}; }
};
template <class Real, int size>
requires(size > 64) struct Unset<Vec<Real, size>> {
    EDDY_INLINE constexpr operator Vec<Real, size>() const {
        Vec<Real, size> unset;
        if (std::is_constant_evaluated()) unset = {};
        return unset;
    }
};

/// A component of a result; a number is its only one.
template <int, class Real>
[[nodiscard]] EDDY_INLINE constexpr Real& component_of(Real& result, int) {
    return result;
}
template <int, class Real, int size>
[[nodiscard]] EDDY_INLINE constexpr Real& component_of(Vec<Real, size>& result, int c) {
    return result[c];
}
template <int output, class... Value>
[[nodiscard]] EDDY_INLINE constexpr auto& component_of(std::tuple<Value...>& results, int c) {
    return component_of<output>(std::get<output>(results), c);
}

}  // namespace eddy::inline v0::detail
