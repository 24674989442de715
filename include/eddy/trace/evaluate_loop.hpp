#pragma once
// Evaluation of a loop: its nodes inside a loop of C++ whose length is a constant. The lanes of a pack
// leave by masks, each after its own number of turns: one that has left keeps its state, and nothing of
// what it would compute is seen.
// Test: tests/trace/loops.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/trace/apply.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/replay_slots.hpp>
#include <eddy/trace/scratch_memory.hpp>
#include <eddy/trace/tables.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Where the nodes of each loop are, in the order of evaluation (passes/arrange.hpp).
template <int num_nodes, int num_loops>
struct LoopBlocks {
    int loop_of[num_nodes + 1];        // (node): the innermost loop around it; −1: none
    int stacked[num_nodes + 1];        // the nodes that loops stack, loop after loop
    int first_stacked[num_loops + 2];  // (loop): where its own begin
    int turns[num_loops + 1];          // (loop): the node that counts its turns; −1: none
    int begin[num_loops + 1];          // (loop): its first node
    int condition_end[num_loops + 1];  // (loop): behind the nodes that its condition needs
    int num_slots[num_nodes + 1];      // (node): of a tape of which not all states are kept; else 0
    int most_slots;
};
template <class Code>
[[nodiscard]] constexpr auto make_loop_blocks(const Code& code) {
    constexpr int num_nodes = Code::size(), count = Code::num_loops();
    LoopBlocks<num_nodes, count> blocks{};
    const List<int> loop_of = loops_of_nodes(code, num_nodes);
    const LoopTree tree(code, loop_of);
    int num_stacked = 0;
    for (int loop = 0; loop < count; ++loop) {
        blocks.turns[loop] = blocks.begin[loop] = -1;
        blocks.first_stacked[loop] = num_stacked;
        for (int i = 0; i < num_nodes; ++i) {
            const Node& node = code.nodes[i];
            if (node.op == Op::stacked && node.index == loop) blocks.stacked[num_stacked++] = i;
            if (node.op == Op::turns && node.index == loop) blocks.turns[loop] = i;
            if (blocks.begin[loop] < 0 &&
                tree.is_within(loop_of[static_cast<std::size_t>(i)], loop))
                blocks.begin[loop] = i;
        }
        blocks.first_stacked[loop + 1] = num_stacked;
        const int end = tree.ends[static_cast<std::size_t>(loop)];
        blocks.condition_end[loop] = blocks.begin[loop];
        if (end < 0 || !code.loops[loop].has_condition) continue;
        const int condition = code.operands[code.nodes[end].first + 3];
        if (condition >= blocks.begin[loop]) blocks.condition_end[loop] = condition + 1;
    }
    for (int i = 0; i < num_nodes; ++i) {
        blocks.loop_of[i] = loop_of[static_cast<std::size_t>(i)];
        blocks.num_slots[i] = num_slots(code, i);
        if (blocks.num_slots[i] > blocks.most_slots) blocks.most_slots = blocks.num_slots[i];
    }
    return blocks;
}

/// What an evaluation remembers of the states that its loops keep.
template <int loops, int most>
struct ReplaySlotsOfLoops {
    ReplaySlots<most> of[loops];
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr ReplaySlots<most>& operator[](int loop) {
        return of[loop];
    }
};
template <int loops, int most>
using SlotsOf = typename std::conditional_t<
    most == 0, std::type_identity<NoReplays>,
    std::type_identity<ReplaySlotsOfLoops<loops, (most > 0 ? most : 1)>>>::type;

/// Computes those of nodes [first, first + count) that are in a loop (−1: in none), not in one inside it.
template <int first, int count, int loop, class Values>
EDDY_INLINE EDDY_HD constexpr void run_steps(Values& values);
template <int first, int count, int loop, class Values, int... parts>
EDDY_INLINE EDDY_HD constexpr void run_parts(Values& values, std::integer_sequence<int, parts...>) {
    constexpr int part = part_of_range(count);
    (run_steps<first + parts * part, (count - parts * part < part ? count - parts * part : part),
               loop>(values),
     ...);
}
template <int first, int count, int loop, class Values>
EDDY_INLINE EDDY_HD constexpr void run_steps(Values& values) {
    if constexpr (count > fold_chunk) {
        run_parts<first, count, loop>(values,
                                      std::make_integer_sequence<int, parts_of_range(count)>{});
    } else {
        values.template steps<first, loop>(std::make_integer_sequence<int, count>{});
    }
}

/// How many turns the lane that takes most of them takes.
template <class Number>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr int most_turns(const Number& turns) {
    int most = 0;
    for (int lane = 0; lane < num_lanes_of<Number>; ++lane) {
        const int of_lane = static_cast<int>(get_lane(turns, lane));
        most = most < of_lane ? of_lane : most;
    }
    return most;
}

/// One run of loop node i.
template <int i, class Values>
class LoopRun {
    using Code = typename Values::Code;  // a reference to its code could not be read on a device
    static constexpr Node node = Code::code.nodes[i];
    static constexpr int id = node.index, carry = Code::code.operands[node.first],
                         init = Code::code.operands[node.first + 1],
                         next = Code::code.operands[node.first + 2];
    static constexpr Loop loop = Code::code.loops[id];
    static constexpr bool has_mask = loop.has_condition || loop.has_guard || loop.has_turns;
    static constexpr int mask = has_mask ? Code::code.operands[node.first + 3] : -1;
    static constexpr int num_turns =
        loop.has_turns ? Code::code.operands[node.first + 3 + loop.has_guard] : -1;
    static constexpr int tape = loop.replays && Code::code.nodes[init].op == Op::element
                                    ? Code::code.operands[Code::code.nodes[init].first]
                                    : i;
    static constexpr bool is_replay = tape != i && Values::blocks.num_slots[tape] > 0;
    static constexpr int begin = Values::blocks.begin[id],
                         middle = Values::blocks.condition_end[id];
    using Real = typename Values::Number;
    using Primal = PrimalOf<Real>;
    using Mask = MaskOf<Real>;

  public:
    EDDY_INLINE EDDY_HD static constexpr void run(Values& values) {
        if constexpr (is_replay) return run_replay(values);
        if constexpr (!Values::template share_memory<carry, init>) {
            for_components<node.size>([&](int k) EDDY_INLINE {
                values.template store<carry>(k, convert<Real>(values.template load<init>(k)));
            });
        }
        if constexpr (loop.replays) return;           // every state is kept
        if constexpr (has_mask && is_bounds<Real>) {  // what turns are taken is not known
            for_components<node.size>(
                [&](int k) EDDY_INLINE { values.template store<carry>(k, Real::line()); });
        } else if constexpr (loop.has_condition) {
            run_while(values);
        } else if constexpr (has_mask) {
            run_masked(values);
        } else {
            for (int t = 0; t < loop.length; ++t) {
                values.turn(id) = loop.is_backward ? loop.length - 1 - t : t;
                run_steps<begin, i - begin, id>(values);
                stack(values, [](const Real& y) EDDY_INLINE { return y; });
                advance(values, [](const Real& x, const Real&) EDDY_INLINE { return x; });
            }
        }
    }

  private:
    /// The state before the turn of the loop around, from the nearest one that is kept.
    EDDY_INLINE EDDY_HD static constexpr void run_replay(Values& values) {
        if constexpr (is_replay) {
            constexpr int of = Code::code.nodes[tape].index, around = Code::code.nodes[init].index;
            auto& slots = values.slots(of);
            const int turn = values.turn(around);
            const int from = slots.begin_replay(turn) * node.size;
            for_components<node.size>([&](int k) EDDY_INLINE {
                values.template store<carry>(k,
                                             convert<Real>(values.template load<tape>(from + k)));
            });
            for (int t = slots.first_turn(); t < turn;) {
                run_steps<begin, i - begin, id>(values);
                advance(values, [](const Real& x, const Real&) EDDY_INLINE { return x; });
                if (const int to = slots.place_again(++t); to >= 0) keep(values, to);
            }
        }
    }
    /// Keeps the state in a slot of the tape.
    template <int of = tape>
    EDDY_INLINE EDDY_HD static constexpr void keep(Values& values, int slot) {
        for_components<node.size>([&](int k) EDDY_INLINE {
            values.template store<of>(slot * node.size + k,
                                      convert<Real>(values.template load<carry>(k)));
        });
    }

    EDDY_INLINE EDDY_HD static constexpr void run_while(Values& values) {
        for_stacked([&]<int s>() EDDY_INLINE {
            constexpr int num_kept = Values::blocks.num_slots[s];
            if constexpr (num_kept > 0) values.slots(id).restart(num_kept);
        });
        Mask goes_on = Primal(0) == Primal(0);
        Primal count(0);
        int turn = 0;
        for (;; ++turn) {
            values.turn(id) = turn;
            run_steps<begin, middle - begin, id>(values);
            goes_on = apply<Op::mask_and>(goes_on, values.template load<mask>(0));
            if (!any(goes_on) || turn == loop.length) break;
            run_steps<middle, i - middle, id>(values);
            take(values, goes_on);
            count = select(goes_on, count + Primal(1), count);
        }
        if constexpr (loop.fails_when_out) {
            if (any(goes_on)) fail(values, goes_on);
        }
        if constexpr (Values::blocks.turns[id] >= 0)
            values.template store<Values::blocks.turns[id]>(0, convert<Real>(count));
        clear_stacks(values, turn, loop.length);
    }

    EDDY_INLINE EDDY_HD static constexpr void run_masked(Values& values) {
        Mask takes_part = Primal(0) == Primal(0);
        if constexpr (loop.has_guard) takes_part = values.template load<mask>(0);
        int most = any(takes_part) ? loop.length : 0;
        if constexpr (loop.has_turns) {
            const Primal count = primal(values.template load<num_turns>(0));
            if (most > 0) most = most_turns(count);
            for (int t = 0; t < most; ++t) {
                const int turn = loop.is_backward ? most - 1 - t : t;
                values.turn(id) = turn;
                run_steps<begin, i - begin, id>(values);
                take(values, apply<Op::mask_and>(
                                 takes_part, Primal(static_cast<ScalarOf<Real>>(turn)) < count));
            }
        } else {
            for (int t = 0; t < most; ++t) {
                values.turn(id) = loop.is_backward ? most - 1 - t : t;
                run_steps<begin, i - begin, id>(values);
                take(values, takes_part);
            }
        }
        clear_stacks(values, most, loop.length);
    }

    /// The end of a turn that only some lanes take.
    EDDY_INLINE EDDY_HD static constexpr void take(Values& values, const Mask& takes) {
        stack(values, [&](const Real& y) EDDY_INLINE { return select(takes, y, Real(0)); });
        advance(values,
                [&](const Real& x, const Real& old) EDDY_INLINE { return select(takes, x, old); });
    }
    EDDY_INLINE EDDY_HD static constexpr void fail(Values& values, const Mask& fails) {
        const Real nan(std::numeric_limits<ScalarOf<Real>>::quiet_NaN());
        for_components<node.size>([&](int k) EDDY_INLINE {
            const auto state = convert<Real>(values.template load<carry>(k));
            values.template store<carry>(k, select(fails, state * nan, state));
        });
    }

    /// The state becomes choose(next, state).
    template <class Choose>
    EDDY_INLINE EDDY_HD static constexpr void advance(Values& values, Choose choose) {
        if constexpr (!Values::template share_memory<carry, next>) {
            for_components<node.size>([&](int k) EDDY_INLINE {
                values.template store<carry>(k,
                                             choose(convert<Real>(values.template load<next>(k)),
                                                    convert<Real>(values.template load<carry>(k))));
            });
        }
    }

    /// Calls body<s>() for each node s that this loop stacks.
    template <class Body>
    EDDY_INLINE EDDY_HD static constexpr void for_stacked(Body body) {
        static_for<Values::blocks.first_stacked[id], Values::blocks.first_stacked[id + 1]>(
            [&]<int k>() EDDY_INLINE { body.template operator()<Values::blocks.stacked[k]>(); });
    }
    template <class Choose>
    EDDY_INLINE EDDY_HD static constexpr void stack(Values& values, Choose choose) {
        for_stacked([&]<int s>() EDDY_INLINE {
            constexpr int y = Code::code.operands[Code::code.nodes[s].first + 1],
                          size = Code::code.nodes[y].size;
            constexpr bool is_tape = Code::code.nodes[s].offset == 1;
            if constexpr (Values::blocks.num_slots[s] > 0) {
                const int slot = values.slots(id).place(values.turn(id));
                if (slot >= 0) keep<s>(values, slot);
                return;
            }
            const int first = values.turn(id) * size;
            for_components<size>([&](int k) EDDY_INLINE {
                const auto of_turn = convert<Real>(values.template load<y>(k));
                values.template store<s>(first + k, is_tape ? of_turn : choose(of_turn));
            });
        });
    }
    EDDY_INLINE EDDY_HD static constexpr void clear_stacks(Values& values, int first, int last) {
        for_stacked([&]<int s>() EDDY_INLINE {
            constexpr int size =
                Code::code.nodes[Code::code.operands[Code::code.nodes[s].first + 1]].size;
            if constexpr (Code::code.nodes[s].offset != 1) {
                for (int k = first * size; k < last * size; ++k)
                    values.template store<s>(k, Real(0));
            }
        });
    }
};

template <int i, class Values>
EDDY_INLINE EDDY_HD constexpr void evaluate_loop(Values& values) {
    LoopRun<i, Values>::run(values);
}

/// Programs whose loops stack more than this are called: their memory is not taken several times over.
inline constexpr int most_stacked_inlined = 256;
template <class P>
inline constexpr bool stacks_much = [] {
    int size = 0;
    for (const Node& node : P::code.nodes) size += node.op == Op::stacked ? node.size : 0;
    return size > most_stacked_inlined;
}();

/// Of a program that stacks much, more than a thread's stack should hold is taken elsewhere.
template <class P, class Real, int size>
using ScratchOf = ScratchMemory<Real, size,
                                !compiling_for_device && stacks_much<P> &&
                                    (most_scratch_bytes < sizeof(Real) * size)>;

}  // namespace eddy::inline v0::detail
