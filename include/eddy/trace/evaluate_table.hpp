#pragma once
// Evaluation of what is read, added or found at a place of a vector that is computed. Constants lie once in
// memory, whatever the number of lanes and evaluations.
// Test: tests/trace/interpolate.cpp

#include <eddy/trace/graph.hpp>
#include <eddy/trace/tables.hpp>

namespace eddy::inline v0 {
namespace detail {

template <class Scalar, int size>
struct ConstantPool {
    Scalar value[size];
};
template <class P, class Scalar>
inline constexpr auto constant_pool = [] {
    ConstantPool<Scalar, P::code.sizes.constants + 1> pool{};
    for (int k = 0; k < P::code.sizes.constants; ++k)
        pool.value[k] = static_cast<Scalar>(P::code.constants[k]);
    return pool;
}();
/// Constant k of program P.
template <class P, class Scalar>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Scalar pooled_constant(int k) {
    if constexpr (compiling_for_device) {
        constexpr auto pool = constant_pool<P, Scalar>;  // which device compilers put into memory
        return pool.value[k];
    } else {
        return constant_pool<P, Scalar>.value[k];
    }
}

/// Node i, one of is_table_op.
template <int i, class Values>
EDDY_INLINE EDDY_HD constexpr void evaluate_table(Values& values) {
    using Real = typename Values::Number;
    using Code = typename Values::Code;
    constexpr auto& code = Code::code;
    constexpr Node node = code.nodes[i];
    constexpr int x = code.operands[node.first], second = code.operands[node.first + 1];
    constexpr int length = code.nodes[x].size;
    const auto place = primal(values.template load<second>(0));
    const auto store = [&](int k, const auto& value)
                           EDDY_INLINE { values.template store<i>(k, convert<Real>(value)); };
    const auto read = [&](int k, int lane)
                          EDDY_INLINE { return values.template load_lane<x>(k, lane); };
    if constexpr (node.op == Op::at) {
        components_at<Real, node.size>(place, length, read, store);
    } else if constexpr (node.op == Op::knot) {
        store(0, knots_below(place, length, node.index == 1,
                             [&](int k, int lane) EDDY_INLINE { return primal(read(k, lane)); }));
    } else if constexpr (is_bounds<Real>) {
        for_components<length>([&](int k) EDDY_INLINE { store(k, Real::line()); });
    } else {
        constexpr int added = code.operands[node.first + 2], size = code.nodes[added].size;
        if constexpr (!Values::template share_memory<i, x>)
            for_components<length>([&](int k)
                                       EDDY_INLINE { store(k, values.template load<x>(k)); });
        for_places(place, length, size, [&](int first, const auto& lanes) EDDY_INLINE {
            for_components<size>([&](int k) EDDY_INLINE {
                const int to = first + k;
                if (to < 0 || to >= length) return;
                const auto before = convert<Real>(values.template load<i>(to));
                store(to, select(lanes, before + convert<Real>(values.template load<added>(k)),
                                 before));
            });
        });
    }
}

/// Adds to the components of a result from `offset` on what sparse node i holds.
template <int output, int i, class Values, class Sink>
EDDY_INLINE EDDY_HD constexpr void emit_sparse(const Values& values, int offset, Sink& sink) {
    using Real = typename Values::Number;
    constexpr auto& code = Values::Code::code;
    constexpr Node node = code.nodes[i];
    constexpr int x = code.operands[node.first], index = code.operands[node.first + 1],
                  added = code.operands[node.first + 2], size = code.nodes[added].size;
    if constexpr (code.nodes[x].op == Op::add_at) emit_sparse<output, x>(values, offset, sink);
    for_places(primal(values.template load<index>(0)), node.size, size,
               [&](int first, const auto& lanes) EDDY_INLINE {
                   for_components<size>([&](int k) EDDY_INLINE {
                       const int to = first + k;
                       if (to < 0 || to >= node.size) return;
                       const auto value = convert<Real>(values.template load<added>(k));
                       sink.template operator()<output>(offset + to, select(lanes, value, Real(0)));
                   });
               });
}

/// A sink that adds up what it is given of one result.
template <int result, class Sink>
struct SummingSink : Sink {
    static constexpr int summed = result;
};
template <class Sink>
inline constexpr int summed_by = -1;
template <int result, class Sink>
inline constexpr int summed_by<SummingSink<result, Sink>> = result;

}  // namespace detail

/// The sink of an evaluation, where it adds up what it is given of result number `result`: components that
/// are known to be zero are left out, so that those of a table cost what is read of it.
template <int result, class Sink>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr detail::SummingSink<result, Sink> summing(
    const Sink& sink) {
    return {sink};
}

}  // namespace eddy::inline v0
