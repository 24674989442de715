#pragma once
// Evaluation of a finished program: a fold over its nodes with compile-time indices. The compiler
// sees straight-line code on registers; only vectors longer than `longest_unrolled` become loops.
// The same text serves every scalar type, on the host and on the device.
// Test: tests/trace/random_functions.cpp, tests/trace/trace_graph.cpp

#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/apply.hpp>
#include <eddy/trace/arguments.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/emit.hpp>
#include <eddy/trace/evaluate_dense.hpp>
#include <eddy/trace/evaluate_loop.hpp>
#include <eddy/trace/evaluate_solution.hpp>
#include <eddy/trace/evaluate_table.hpp>
#include <eddy/trace/largest_program.hpp>
#include <eddy/trace/layout.hpp>
#include <eddy/trace/trace.hpp>
#include <tuple>

namespace eddy::inline v0 {
namespace detail {

/// One evaluation of Program P with values of type Real. Of result `summed`, sparse parts are not made.
template <class P, class Real, class Arguments, class Sink = NoSink, int summed = -1>
class Evaluation {
    static constexpr auto layout = make_layout(P::code, !std::is_same_v<Sink, NoSink>, summed);
    static constexpr bool has_tangents = !std::is_same_v<Real, PrimalOf<Real>>;
    static constexpr auto varying =
        read_tangents(P::code, varying_nodes(P::code, Arguments::has_tangent));
    static constexpr auto computed = computed_nodes(P::code, has_tangents);
    template <int size>
    static constexpr int at_least_one = size > 0 ? size : 1;

  public:
    EDDY_INLINE EDDY_HD constexpr Evaluation(const Arguments& arguments, Sink& sink)
        : arguments_(arguments), sink_(sink) {}

    using Code = P;
    using Number = Real;
    static constexpr auto blocks = make_loop_blocks(P::code);

    /// Computes those of nodes [first, first + sizeof...(i)) that are in this loop and in none inside it.
    template <int first, int loop, int... i>
    EDDY_INLINE EDDY_HD constexpr void steps(std::integer_sequence<int, i...>) {
        (step<first + i, loop>(), ...);
    }

    /// Component k of node i; a scalar is every component of itself. What has no tangent is loaded
    /// without one.
    template <int i>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto load(int k) const {
        if constexpr (has_tangents && !varying.node[i]) {
            return primal(load_stored<i>(k));
        } else {
            return load_stored<i>(k);
        }
    }
    template <int i>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto load_lane(int k,
                                                               [[maybe_unused]] int lane) const {
        if constexpr (layout.places[i].kind == Place::constant && layout.places[i].loop < 0) {
            return pooled_constant<P, ScalarOf<Real>>(layout.places[i].offset + k);
        } else if constexpr (num_lanes_of<Real> == 1) {
            return load<i>(k);
        } else {
            return get_lane(load<i>(k), lane);
        }
    }
    template <int i>
    static constexpr bool is_sparse_part = layout.places[i].kind == Place::none;
    template <int i, class Value>
    EDDY_INLINE EDDY_HD constexpr void store(int k, const Value& value) {
        constexpr Place place = layout.places[i];
        if constexpr (place.kind == Place::result)
            sink_.template operator()<place.index>(place.offset + k, value);
        else
            storage<place.kind>()[place.offset + k] = value;
    }
    /// Does node j lie where components [begin, …) of node i do?
    template <int i, int j, int begin = 0>
    static constexpr bool share_memory = lie_together(layout.places[i], layout.places[j], begin);
    /// Are the components of node i handed out already?
    template <int i>
    static constexpr bool is_written = layout.places[i].kind == Place::result;
    /// The turn of a loop.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr int& turn(int loop) { return turns_[loop]; }
    /// Which states of a loop with checkpoints are kept.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto& slots(int loop) { return slots_[loop]; }

  private:
    template <int i>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto load_stored(int k) const {
        constexpr Node node = P::code.nodes[i];
        constexpr Place place = layout.places[i];
        int c = node.size == 1 ? 0 : k;
        if constexpr (place.loop >= 0) c += turns_[place.loop] * place.stride;
        if constexpr (place.kind == Place::argument) {
            return argument_component<place.index>(place.offset + c);
        } else if constexpr (place.kind == Place::parts) {
            return load_part<place.node, 0>(place.offset + c);
        } else if constexpr (place.kind == Place::constant) {
            return convert<Real>(pooled_constant<P, ScalarOf<Real>>(place.offset + c));
        } else if constexpr (place.kind != Place::product) {
            return storage<place.kind>()[place.offset + c];
        } else {  // a component of an outer product, seen through any slices of it
            constexpr int u = operand<place.node>(0), v = operand<place.node>(1);
            constexpr int columns = P::code.nodes[v].size;
            const int flat = place.offset + c;
            return load<u>(flat / columns) * load<v>(flat % columns);
        }
    }

    /// Component c of the parts of concat i from part k on.
    template <int i, int k>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real load_part(int c) const {
        constexpr int part = operand<i>(k), length = P::code.nodes[part].size;
        if constexpr (k + 1 < P::code.nodes[i].count) {
            if (c >= length) return load_part<i, k + 1>(c - length);
        }
        return convert<Real>(load<part>(c));
    }

    template <int i>
    static consteval int operand(int k) {
        return P::code.operands[P::code.nodes[i].first + k];
    }

    template <int i, int loop>
    EDDY_INLINE EDDY_HD constexpr void step() {
        constexpr Instruction now = layout.instructions[i];
        if constexpr (blocks.loop_of[i] != loop || !computed.node[i]) {
            // in another loop, or of no use
        } else if constexpr (now.kind == Instruction::scalar && !has_tangents) {
            auto& to = storage<now.to_kind>()[now.to];
            if constexpr (now.count == 1) {
                to = apply<now.op, now.index>(storage<now.from_kind[0]>()[now.from[0]]);
            } else if constexpr (now.count == 2) {
                to = apply<now.op>(storage<now.from_kind[0]>()[now.from[0]],
                                   storage<now.from_kind[1]>()[now.from[1]]);
            } else {
                to = apply<now.op>(storage<now.from_kind[0]>()[now.from[0]],
                                   storage<now.from_kind[1]>()[now.from[1]],
                                   storage<now.from_kind[2]>()[now.from[2]]);
            }
        } else if constexpr (now.kind != Instruction::nothing) {
            general_step<i>();
        }
    }

    template <int i>
    EDDY_INLINE EDDY_HD constexpr void general_step() {
        constexpr Node node = P::code.nodes[i];
        constexpr Place place = layout.places[i];
        if constexpr (node.op == Op::loop) {
            evaluate_loop<i>(*this);
        } else if constexpr (node.op == Op::element && blocks.num_slots[operand<i>(0)] > 0) {
            // the loop that replays finds it
        } else if constexpr (node.op == Op::element) {
            const int begin = turns_[node.index] * node.size;
            for_components<node.size>([&](int k) EDDY_INLINE {
                store<i>(k, convert<Real>(load<operand<i>(0)>(begin + k)));
            });
        } else if constexpr (node.op == Op::barrier) {
            pass_barrier<i>();
        } else if constexpr (is_elementwise(node.op)) {
            elementwise<i>(std::make_integer_sequence<int, node.count>{});
        } else if constexpr (node.op == Op::argument) {
            constexpr int to = place.offset, from = node.offset;
            if constexpr (node.size == 1) {
                registers_[to] = argument_component<node.index>(from);
            } else {
                for_components<node.size>([&](int k) EDDY_INLINE {
                    registers_[to + k] = argument_component<node.index>(from + k);
                });
            }
        } else if constexpr (node.op == Op::constant) {
            static_for<0, node.size>([&]<int k>() EDDY_INLINE {
                constexpr double value = P::code.constants[node.offset + k];
                store<i>(k, Real(static_cast<ScalarOf<Real>>(value)));
            });
        } else {
            vector_operation<i>();
        }
    }

    template <int index>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real argument_component(
        [[maybe_unused]] int c) const {
        if constexpr (P::code.arguments[index].is_scalar) {
            return convert<Real>(get<index>(arguments_));
        } else {
            return convert<Real>(get<index>(arguments_)[c]);
        }
    }

    template <Place::Kind kind>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto& storage() {
        if constexpr (kind == Place::registers)
            return registers_;
        else if constexpr (kind == Place::scratch)
            return scratch_;
        else
            return masks_;
    }
    template <Place::Kind kind>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr const auto& storage() const {
        if constexpr (kind == Place::registers)
            return registers_;
        else if constexpr (kind == Place::scratch)
            return scratch_;
        else
            return masks_;
    }

    template <int i>
    EDDY_INLINE EDDY_HD constexpr void pass_barrier() {
        constexpr Node node = P::code.nodes[i];
        for_components<node.size>([&](int k) EDDY_INLINE {
            Real value = load<operand<i>(0)>(k);
            hide_from_optimizer(value);
            store<i>(k, value);
        });
    }

    template <int i, int... k>
    EDDY_INLINE EDDY_HD constexpr void elementwise(std::integer_sequence<int, k...>) {
        constexpr Node node = P::code.nodes[i];
        if constexpr (node.size == 1) {  // most are: no lambda to instantiate
            store<i>(0, apply<node.op, node.index>(load<operand<i>(k)>(0)...));
        } else {
            for_components<node.size>([&](int c) EDDY_INLINE {
                store<i>(c, apply<node.op, node.index>(load<operand<i>(k)>(c)...));
            });
        }
    }

    template <int i>
    EDDY_INLINE EDDY_HD constexpr void vector_operation() {
        constexpr Node node = P::code.nodes[i];
        constexpr int a = operand<i>(0);
        constexpr int length = P::code.nodes[a].size;
        if constexpr (node.op == Op::concat) {
            concatenate<i, 0, 0>();
        } else if constexpr (node.op == Op::broadcast) {
            const Real value = load<a>(0);
            for_components<node.size>([&](int c) EDDY_INLINE { store<i>(c, value); });
        } else if constexpr (node.op == Op::sum) {
            Real total = load<a>(0);
            for_components<length - 1>([&](int c) EDDY_INLINE { total = total + load<a>(c + 1); });
            store<i>(0, total);
        } else if constexpr (node.op == Op::dot) {
            store<i>(0, inner_product<a, operand<i>(1)>());
        } else if constexpr (node.op == Op::norm) {
            store<i>(0, root_of_squares(inner_product<a, a>()));
        } else if constexpr (node.op == Op::dense) {
            evaluate_dense<i>(*this);
        } else if constexpr (node.op == Op::dense_transposed) {
            evaluate_dense_transposed<i>(*this);
        } else if constexpr (is_table_op(node.op)) {
            evaluate_table<i>(*this);
        } else {
            evaluate_solution<i>(*this);
        }
    }

    template <int i, int part, int offset>
    EDDY_INLINE EDDY_HD constexpr void concatenate() {
        constexpr Node node = P::code.nodes[i];
        if constexpr (part < node.count) {
            constexpr int from = operand<i>(part), length = P::code.nodes[from].size;
            if constexpr (!share_memory<i, from, offset>)
                for_components<length>([&](int c)
                                           EDDY_INLINE { store<i>(offset + c, load<from>(c)); });
            concatenate<i, part + 1, offset + length>();
        }
    }

    template <int a, int b>
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real inner_product() const {
        Real total = load<a>(0) * load<b>(0);
        for_components<P::code.nodes[a].size - 1>(
            [&](int c) EDDY_INLINE { total = mul_add(load<a>(c + 1), load<b>(c + 1), total); });
        return total;
    }

    const Arguments& arguments_;
    [[no_unique_address]] std::conditional_t<std::is_same_v<Sink, NoSink>, NoSink, Sink&> sink_;
    [[no_unique_address]] SlotsOf<P::code.sizes.loops, blocks.most_slots> slots_;
    Real registers_[at_least_one<layout.num_registers>];
    MaskOf<Real> masks_[at_least_one<layout.num_masks>];
    ScratchOf<P, Real, layout.scratch_size> scratch_;
    int turns_[at_least_one<P::code.sizes.loops>];
};

/// The most instructions that are worth a copy at each place where a program is evaluated: a method
/// of seven stages with its adjoint evaluates it some forty times. Beyond, the call costs less than
/// the instructions that are fetched and the registers that are spilled.
inline constexpr int longest_inlined = compiling_for_device ? 256 : 64;
template <class P>
inline constexpr bool is_called = longest_inlined < program_length<P> || stacks_much<P>;

template <class P, class Real, class Sink, class... Arguments>
EDDY_INLINE EDDY_HD constexpr void evaluate_here(Sink& sink, const Arguments&... arguments) {
    const ArgumentList<Arguments...> list{{arguments}...};
    NoSink none;
    auto& early = early_sink<P>(sink, none);
    Evaluation<P, Real, ArgumentList<Arguments...>, std::remove_reference_t<decltype(early)>,
               sparse_result<P, std::remove_cvref_t<Sink>>>
        values(list, early);
    run_steps<0, P::code.size(), -1>(values);
    static_for<0, P::code.num_outputs()>([&]<int output>() EDDY_INLINE {
        emit<P, Real, output, 0, P::code.outputs[output].count>(values, sink);
    });
}

template <class P, class Real, class Sink, class... Arguments>
[[gnu::noinline]] EDDY_HD constexpr void evaluate_out_of_line(Sink& sink,
                                                              const Arguments&... arguments) {
    evaluate_here<P, Real>(sink, arguments...);
}

/// Parameters that are others at other times are told t before a program of (t, y, p, …) is evaluated there.
template <class Time, class State, class Parameters, class... Rest>
EDDY_INLINE EDDY_HD constexpr void tell_time([[maybe_unused]] const Time& t, const State&,
                                             [[maybe_unused]] const Parameters& p, const Rest&...) {
    if constexpr (requires { p.move_to(t); }) p.move_to(t);
}

}  // namespace detail

/// Evaluates Program P with values of type Real and hands every result component to
/// sink.template operator()<output>(component, value). Nothing is allocated. Host and device. On a
/// host the code of a long program is shared by all callers whose types are the same; on a device,
/// where a call puts registers into memory, that of one which would not leave them there anyway.
template <class P, class Real, class Sink, class... Arguments>
EDDY_INLINE EDDY_HD constexpr void evaluate(Sink&& sink, const Arguments&... arguments) {
    static_assert(sizeof...(Arguments) == P::code.num_arguments(),
                  "evaluate: one argument is needed for each argument of the program");
    if constexpr (detail::check_length<P>()) {
        if constexpr (sizeof...(Arguments) >= 3) detail::tell_time(arguments...);
        if constexpr (detail::is_called<P>)
            detail::evaluate_out_of_line<P, Real>(sink, arguments...);
        else
            detail::evaluate_here<P, Real>(sink, arguments...);
    }
}

namespace detail {

/// The results are named in the outermost block: only then is a long one made where it will be.
template <class P, class Real, int... k, class... Arguments>
EDDY_INLINE constexpr auto call(std::integer_sequence<int, k...>, const Arguments&... arguments) {
    using Results = std::conditional_t<sizeof...(k) == 1, OutputValue<P, Real, 0>,
                                       std::tuple<OutputValue<P, Real, k>...>>;
    Results results(Unset<OutputValue<P, Real, k>>{}...);
    evaluate<P, Real>(SinkApart{[&]<int output>(int c, const Real& value)
                                    EDDY_INLINE { component_of<output>(results, c) = value; }},
                      arguments...);
    return results;
}

}  // namespace detail

template <class Recipe>
template <class... Arguments>
constexpr auto Program<Recipe>::operator()(const Arguments&... arguments) const {
    if constexpr ((detail::is_structured<Arguments> || ...)) {
        return (*this)(detail::flattened(arguments)...);
    } else if constexpr (((is_symbolic<Arguments> || detail::is_traced_vec<Arguments>) || ...)) {
        return detail::in_form_of<Recipe>(embed(*this, arguments...));
    } else {
        detail::require_arguments<Program, Arguments...>();
        using Real = typename detail::RealOf<Arguments...>::type;
        constexpr std::make_integer_sequence<int, code.num_outputs()> outputs{};
        if constexpr (detail::returns_form<Recipe>)
            return detail::in_form_of<Recipe>(detail::call<Program, Real>(outputs, arguments...));
        else  // not passed on: a long result is copied nowhere
            return detail::call<Program, Real>(outputs, arguments...);
    }
}

}  // namespace eddy::inline v0
