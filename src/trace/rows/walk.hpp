#pragma once
// The text of an engine, which each level compiles: handlers that call each other with the last result
// in registers. An instruction set is a namespace of its own: a source defines `v0` as another word first,
// so that nothing that is compiled here for one processor can be linked where another runs.

#include <algorithm>
#include <array>
#include <utility>

#include "one_operation.hpp"
#include "row_blocks.hpp"

// Clang keeps a call in a return a jump where it is told to, g++ where it optimises.
#if defined(__clang__)
#define EDDY_JUMP [[clang::musttail]] return
#else
#define EDDY_JUMP return
#endif

namespace eddy::inline v0::detail {

/// Lanes of a vector, at most those of the narrowest tile.
template <class Real>
inline constexpr int lanes_of_vector = std::min(native_lanes<Real>, 8);

/// A vector of lanes, as it travels from handler to handler.
template <class Element, int lanes>
struct RowVector {
    using Real = Element;
    using Number = Pack<Real, lanes>;
    using Type = typename Number::Part;
    static constexpr int size = lanes;
    static Number wrap(Type x) { return Number::from_part(x); }
    static Type unwrap(const Number& x) { return x.part[0]; }
    static Type load(const Real* from) { return Number::load(from).part[0]; }
    static void store(Real* to, Type x) { wrap(x).store(to); }
    static Type spread(Real x) { return Number(x).part[0]; }
};
template <class Element>
struct RowVector<Element, 1> {
    using Real = Element;
    using Number = Real;
    using Type = Real;
    static constexpr int size = 1;
    static Real wrap(Real x) { return x; }
    static Real unwrap(Real x) { return x; }
    static Real load(const Real* from) { return *from; }
    static void store(Real* to, Real x) { *to = x; }
    static Real spread(Real x) { return x; }
};

/// A function of rows, of one number for `num_rows` of them that follow each other. Its kernels are there once for all widths.
template <Op op, class Packed>
[[gnu::noinline]] void row_function(const RowInstruction& now,
                                    typename Packed::value_type* const* rows, std::ptrdiff_t lane,
                                    int lanes, [[maybe_unused]] std::uint32_t num_rows) {
    using Real = typename Packed::value_type;
    constexpr int count = row_operand_count(op);
    const auto of_row = [&](std::uint32_t row) EDDY_INLINE {
        Real* const to = rows[now.to + row] + lane;
        const Real* const a = rows[now.a + row] + lane;
        [[maybe_unused]] const Real* const b = count > 1 ? rows[now.b] + lane : nullptr;
        [[maybe_unused]] const Real* const c = count > 2 ? rows[now.c] + lane : nullptr;
        for (int l = 0; l < lanes; l += Packed::size) {
            const Packed x = Packed::load(a + l);
            if constexpr (op == Op::powi)
                pow(x, static_cast<int>(now.b)).store(to + l);
            else if constexpr (op == Op::polygamma)
                polygamma(static_cast<int>(now.b), x).store(to + l);
            else if constexpr (count == 1)
                OneOperation<op, 0>::apply(x).store(to + l);
            else if constexpr (count == 2)
                OneOperation<op, 0>::apply(x, Packed::load(b + l)).store(to + l);
            else
                OneOperation<op, 0>::apply(x, Packed::load(b + l), Packed::load(c + l))
                    .store(to + l);
        }
    };
    if constexpr (count == 1)
        for (std::uint32_t row = 0; row < num_rows; ++row) of_row(row);
    else
        of_row(0);
}

template <class V, class Places>
class RowWalk;
/// Handlers for as many vectors as there are places.
template <class V, int... v>
class RowWalk<V, std::integer_sequence<int, v...>> {
    static constexpr int count = static_cast<int>(sizeof...(v));
    using Real = typename V::Real;
    using Type = typename V::Type;
    template <int>
    using Same = Type;
    // The instruction is plain memory: handlers of two levels call each other, and each has names of its own for its types.
    using Handler = void (*)(const void*, Real* const*, std::ptrdiff_t, Same<v>...);
    using AnyHandler = void (*)();

  public:
    static constexpr int lanes = count * V::size;

    static void walk(const void* list, Real* const* rows, std::ptrdiff_t lane) {
        const auto* const first = static_cast<const RowInstruction*>(list);
        reinterpret_cast<Handler>(first->handler)(list, rows, lane,
                                                  (static_cast<void>(v), Type{})...);
    }
    /// Arguments in vectors of 32 bytes keep the compiler from clearing their upper halves, and whoever is called
    /// next, compiled for fewer instructions, would wait for them at each.
    static void stop(const void*, Real* const*, std::ptrdiff_t, Same<v>...) {
#ifdef __AVX__
        __builtin_ia32_vzeroupper();
#endif
    }

    template <Op op, RowOperand ka, RowOperand kb, RowOperand kc, bool is_stored>
    static void arithmetic(const void* instruction, Real* const* rows, std::ptrdiff_t lane,
                           Same<v>... last) {
        const auto* const now = static_cast<const RowInstruction*>(instruction);
        constexpr int operands = row_operand_count(op);
        [[maybe_unused]] const Source<ka> a(rows, now->a, lane);
        [[maybe_unused]] const Source<(operands > 1 ? kb : RowOperand::last)> b(rows, now->b, lane);
        [[maybe_unused]] const Source<(operands > 2 ? kc : RowOperand::last)> c(rows, now->c, lane);
        [[maybe_unused]] Real* const to = is_stored ? rows[now->to] + lane : nullptr;
        const auto one = [&](int i, Type x) EDDY_INLINE {
            Type result;
            if constexpr (op == Op::name)
                result = a.get(i, x);
            else if constexpr (operands == 1)
                result = V::unwrap(eddy::apply<op>(V::wrap(a.get(i, x))));
            else if constexpr (operands == 2)
                result = V::unwrap(eddy::apply<op>(V::wrap(a.get(i, x)), V::wrap(b.get(i, x))));
            else
                result = V::unwrap(eddy::apply<op>(V::wrap(a.get(i, x)), V::wrap(b.get(i, x)),
                                                   V::wrap(c.get(i, x))));
            if constexpr (is_stored) V::store(to + i * V::size, result);
            return result;
        };
        const Type result[] = {one(v, last)...};
        EDDY_JUMP reinterpret_cast<Handler>(now[1].handler)(now + 1, rows, lane, result[v]...);
    }

    /// Of RowEngine::functions.
    template <Op op>
    static void call(const void* instruction, Real* const* rows, std::ptrdiff_t lane, int of_row,
                     std::uint32_t num_rows) {
        const auto& now = *static_cast<const RowInstruction*>(instruction);
        using RowPack = Pack<Real, std::min(native_lanes<Real>, V::size == 1 ? 8 : lanes)>;
        if constexpr (V::size == 1) {
            const int count = static_cast<int>(num_rows);
            const int in_packs = count / RowPack::size * RowPack::size;
            if (in_packs > 0) row_function<op, RowPack>(now, rows, 0, in_packs, 1);
            if (in_packs < count)
                row_function<op, Pack<Real, 1>>(now, rows, in_packs, count - in_packs, 1);
        } else {
            row_function<op, RowPack>(now, rows, lane, of_row, num_rows);
        }
    }
    template <Op op>
    static void function(const void* instruction, Real* const* rows, std::ptrdiff_t lane,
                         Same<v>...) {
        const auto* const now = static_cast<const RowInstruction*>(instruction);
        const std::uint32_t num_rows = row_operand_count(op) == 1 ? 1 + now->c : 1;
        const Real* from = rows[now->to + num_rows - 1] + lane;
        call<op>(instruction, rows, lane, lanes, num_rows);
        EDDY_JUMP reinterpret_cast<Handler>(now[1].handler)(now + 1, rows, lane,
                                                            V::load(from + v * V::size)...);
    }

  private:
    template <RowOperand kind>
    struct Source {
        const Real* data = nullptr;
        Type same{};

        EDDY_INLINE Source(Real* const* rows, std::uint32_t place, std::ptrdiff_t lane) {
            if constexpr (kind == RowOperand::row) data = rows[place] + lane;
            if constexpr (kind == RowOperand::shared) same = V::spread(*rows[place]);
        }
        [[nodiscard]] EDDY_INLINE Type get([[maybe_unused]] int i,
                                           [[maybe_unused]] Type last) const {
            if constexpr (kind == RowOperand::row)
                return V::load(data + i * V::size);
            else if constexpr (kind == RowOperand::shared)
                return same;
            else
                return last;
        }
    };

    template <int place, bool has_arithmetic>
    static AnyHandler entry() {
        if constexpr (place >= num_row_arithmetic) {
            constexpr Op op = static_cast<Op>(place - num_row_arithmetic);
            if constexpr (is_elementwise(op) && !is_row_arithmetic(op))
                return reinterpret_cast<AnyHandler>(&function<op>);
        } else if constexpr (has_arithmetic) {
            constexpr Op op = row_arithmetic[place / 54];
            constexpr RowOperand kind[3] = {static_cast<RowOperand>(place / 18 % 3),
                                            static_cast<RowOperand>(place / 6 % 3),
                                            static_cast<RowOperand>(place / 2 % 3)};
            if constexpr (has_row_handler(op, kind))
                return reinterpret_cast<AnyHandler>(
                    &arithmetic<op, kind[0], kind[1], kind[2], place % 2 == 1>);
        }
        return nullptr;
    }
    template <bool has_arithmetic, int... place>
    static const AnyHandler* table(std::integer_sequence<int, place...>) {
        static const AnyHandler handlers[] = {entry<place, has_arithmetic>()...};
        return handlers;
    }
    template <int... op>
    static const typename RowEngine<Real>::Function* calls(std::integer_sequence<int, op...>) {
        static constexpr auto entry = []<Op one>() -> typename RowEngine<Real>::Function {
            if constexpr (is_elementwise(one) && !is_row_arithmetic(one)) return &call<one>;
            return nullptr;
        };
        static const typename RowEngine<Real>::Function functions[] = {
            entry.template operator()<static_cast<Op>(op)>()...};
        return functions;
    }
    static const typename RowEngine<Real>::Function* calls() {
        return calls(std::make_integer_sequence<int, static_cast<int>(Op::select) + 1>{});
    }

  public:
    static const RowEngine<Real>* engine() {
        static const RowEngine<Real> one{
            lanes,
            table<true>(std::make_integer_sequence<int, num_row_handlers>{}),
            reinterpret_cast<AnyHandler>(&stop),
            &walk,
            row_block_kernels<Real>(),
            calls()};
        return &one;
    }
    /// Functions alone: what else travels in registers is the business of another level's engine.
    static const RowEngine<Real>* functions(const RowBlockKernels<Real>* blocks) {
        static const RowEngine<Real> one{
            lanes,   table<false>(std::make_integer_sequence<int, num_row_handlers>{}),
            nullptr, nullptr,
            blocks,  calls()};
        return &one;
    }
};

/// use<Walk>() of the handlers for rows of a width, of at least so many vectors: up to eight travel in registers, of floats up to four, for an
/// engine takes long to compile.
template <class Real, int of_vector, int least = 1, class Use>
const RowEngine<Real>* with_walk(int width, const Use& use) {
    const auto with = [&]<int count>() {
        return use.template
        operator()<RowWalk<RowVector<Real, of_vector>, std::make_integer_sequence<int, count>>>();
    };
    const int vectors = width / of_vector;
    if (vectors < least) return nullptr;
    if constexpr (of_vector == 8 && least == 1) {
        if (vectors == 1) return with.template operator()<1>();
    }
    if constexpr (of_vector >= 4) {
        if (vectors == 2) return with.template operator()<2>();
    }
    constexpr int most = std::is_same_v<Real, float> ? 4 : 8;
    if (vectors == 4) return with.template operator()<4>();
    return with.template operator()<most>();
}
template <class Real>
const RowEngine<Real>* row_engine_in(int width) {
    if (width == 1) return RowWalk<RowVector<Real, 1>, std::integer_sequence<int, 0>>::engine();
    return with_walk<Real, lanes_of_vector<Real>>(width,
                                                  []<class Walk>() { return Walk::engine(); });
}
inline const void* row_engine_of(int width, bool is_single) {
    return is_single ? static_cast<const void*>(row_engine_in<float>(width))
                     : row_engine_in<double>(width);
}

/// What wider vectors bring to the handlers of another level, whose vectors travel in so many bytes: functions, products and sums over lanes. All
/// else would take as long as these save to compile. Numbers keep their bits: a product sums over its columns in order, a sum over lanes
/// in packs that are as long in both.
template <class Real, int bytes, int least>
const RowEngine<Real>* wider_functions_in(int width) {
    return with_walk<Real, bytes / static_cast<int>(sizeof(Real)), least>(
        width, []<class Walk>() { return Walk::functions(row_block_kernels<Real>()); });
}
template <int bytes, int least>
const void* wider_functions_of(int width, bool is_single) {
    return is_single ? static_cast<const void*>(wider_functions_in<float, bytes, least>(width))
                     : wider_functions_in<double, bytes, least>(width);
}

}  // namespace eddy::inline v0::detail

#undef EDDY_JUMP
