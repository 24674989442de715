#pragma once
// The text of an engine, which each level compiles: handlers that call each other with the last result
// in registers. An instruction set is a namespace of its own: a source defines `v0` as another word first,
// so that nothing that is compiled here for one processor can be linked where another runs.

#include <algorithm>
#include <array>
#include <eddy/core/tile/outer.hpp>
#include <eddy/trace/tile/tile_operations.hpp>
#include <utility>

#include "row_engine.hpp"

// Clang keeps a call in a return a jump where it is told to, g++ where it optimises.
#if defined(__clang__)
#define EDDY_JUMP [[clang::musttail]] return
#else
#define EDDY_JUMP return
#endif

namespace eddy::inline v0::detail {

/// A vector of lanes, as it travels from handler to handler.
template <int lanes>
struct RowVector {
    using Number = Pack<double, lanes>;
    using Type = typename Number::Part;
    static constexpr int size = lanes;
    static Number wrap(Type x) { return Number::from_part(x); }
    static Type unwrap(const Number& x) { return x.part[0]; }
    static Type load(const double* from) { return Number::load(from).part[0]; }
    static void store(double* to, Type x) { wrap(x).store(to); }
    static Type spread(double x) { return Number(x).part[0]; }
};
template <>
struct RowVector<1> {
    using Number = double;
    using Type = double;
    static constexpr int size = 1;
    static double wrap(double x) { return x; }
    static double unwrap(double x) { return x; }
    static double load(const double* from) { return *from; }
    static void store(double* to, double x) { *to = x; }
    static double spread(double x) { return x; }
};

/// A function of rows. Its kernels are there once for all widths.
template <Op op, class Packed>
[[gnu::noinline]] void row_function(const RowInstruction& now, double* const* rows,
                                    std::ptrdiff_t lane, int lanes) {
    constexpr int count = row_operand_count(op);
    double* const to = rows[now.to] + lane;
    const double* const a = rows[now.a] + lane;
    [[maybe_unused]] const double* const b = count > 1 ? rows[now.b] + lane : nullptr;
    [[maybe_unused]] const double* const c = count > 2 ? rows[now.c] + lane : nullptr;
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
            OneOperation<op, 0>::apply(x, Packed::load(b + l), Packed::load(c + l)).store(to + l);
    }
}

// Operations on blocks. Rows of one lane are single numbers.

/// Some rows of a product of one lane: sums that do not wait for each other.
template <int rows>
void multiply_numbers(const double* matrix, int row_step, int column_step, int columns,
                      const double* bias, const double* x, double* to) {
    double total[rows];
    static_for<0, rows>([&]<int r>() EDDY_INLINE {
        total[r] = bias ? bias[r] : matrix[std::ptrdiff_t{r} * row_step] * x[0];
    });
    for (int c = bias ? 0 : 1; c < columns; ++c) {
        const double* const column = matrix + std::ptrdiff_t{c} * column_step;
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            total[r] = mul_add(column[std::ptrdiff_t{r} * row_step], x[c], total[r]);
        });
    }
    std::copy_n(total, rows, to);
}
inline void multiply_rows(const double* matrix, int row_step, int column_step, int rows,
                          int columns, const double* bias, const double* x, double* to, int width) {
    if (width > 1)
        return multiply<double>({matrix, row_step, column_step, rows, columns, bias}, x, to, width);
    const auto some = [&]<int count>(int r) EDDY_INLINE {
        multiply_numbers<count>(matrix + std::ptrdiff_t{r} * row_step, row_step, column_step,
                                columns, bias ? bias + r : nullptr, x, to + r);
    };
    int r = 0;
    for (; r + 8 <= rows; r += 8) some.template operator()<8>(r);
    for (; r < rows; ++r) some.template operator()<1>(r);
}
inline void add_outer_rows(double* sum, int rows, int columns, const double* u, const double* v,
                           int width, const int* lanes, int count, double* room) {
    using P = TilePack<double>;
    if (width > 1) {
        OuterSums<double> sums(room, 1);
        sums.begin(0, 1, {lanes, count, count == width});
        return sums.add({sum, columns, 1, rows, columns}, {u, width, false}, {v, width, false});
    }
    for (int r = 0; r < rows && count > 0; ++r, sum += columns) {
        int c = 0;
        for (; c + P::size <= columns; c += P::size)
            mul_add(P(u[r]), P::load(v + c), P::load(sum + c)).store(sum + c);
        for (; c < columns; ++c) sum[c] = mul_add(u[r], v[c], sum[c]);
    }
}
inline void add_lanes_of_rows(double* sum, int size, const double* x, int width, const int* lanes,
                              int count) {
    if (width > 1)
        return add_over_lanes<double>(sum, size, {x, width, false}, {lanes, count, count == width});
    for (int c = 0; c < size && count > 0; ++c) sum[c] += x[c];
}
inline const RowBlockKernels* row_block_kernels() {
    static const RowBlockKernels kernels{multiply_rows, add_outer_rows, add_lanes_of_rows};
    return &kernels;
}

template <class V, class Places>
class RowWalk;
/// Handlers for as many vectors as there are places.
template <class V, int... v>
class RowWalk<V, std::integer_sequence<int, v...>> {
    static constexpr int count = static_cast<int>(sizeof...(v));
    using Type = typename V::Type;
    template <int>
    using Same = Type;
    using Handler = void (*)(const RowInstruction*, double* const*, std::ptrdiff_t, Same<v>...);
    using AnyHandler = void (*)();

  public:
    static constexpr int lanes = count * V::size;

    static void walk(const void* list, double* const* rows, std::ptrdiff_t lane) {
        const auto* const first = static_cast<const RowInstruction*>(list);
        reinterpret_cast<Handler>(first->handler)(first, rows, lane,
                                                  (static_cast<void>(v), Type{})...);
    }
    /// Arguments in vectors of 32 bytes keep the compiler from clearing their upper halves, and whoever is called
    /// next, compiled for fewer instructions, would wait for them at each.
    static void stop(const RowInstruction*, double* const*, std::ptrdiff_t, Same<v>...) {
#ifdef __AVX__
        __builtin_ia32_vzeroupper();
#endif
    }

    template <Op op, RowOperand ka, RowOperand kb, RowOperand kc, bool is_stored>
    static void arithmetic(const RowInstruction* now, double* const* rows, std::ptrdiff_t lane,
                           Same<v>... last) {
        constexpr int operands = row_operand_count(op);
        [[maybe_unused]] const Source<ka> a(rows, now->a, lane);
        [[maybe_unused]] const Source<(operands > 1 ? kb : RowOperand::last)> b(rows, now->b, lane);
        [[maybe_unused]] const Source<(operands > 2 ? kc : RowOperand::last)> c(rows, now->c, lane);
        [[maybe_unused]] double* const to = is_stored ? rows[now->to] + lane : nullptr;
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

    template <Op op>
    static void function(const RowInstruction* now, double* const* rows, std::ptrdiff_t lane,
                         Same<v>...) {
        const double* from = rows[now->to] + lane;
        if constexpr (V::size == 1) {
            // Rows of one lane that follow each other are one row of several.
            const int num_rows = row_operand_count(op) == 1 ? 1 + static_cast<int>(now->c) : 1;
            const int in_packs = num_rows / TilePack<double>::size * TilePack<double>::size;
            if (in_packs > 0) row_function<op, TilePack<double>>(*now, rows, 0, in_packs);
            if (in_packs < num_rows)
                row_function<op, Pack<double, 1>>(*now, rows, in_packs, num_rows - in_packs);
            from += num_rows - 1;
        } else {
            row_function<op, TilePack<double>>(*now, rows, lane, lanes);
        }
        EDDY_JUMP reinterpret_cast<Handler>(now[1].handler)(now + 1, rows, lane,
                                                            V::load(from + v * V::size)...);
    }

  private:
    template <RowOperand kind>
    struct Source {
        const double* data = nullptr;
        Type same{};

        EDDY_INLINE Source(double* const* rows, std::uint32_t place, std::ptrdiff_t lane) {
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

    template <int place>
    static AnyHandler entry() {
        if constexpr (place >= num_row_arithmetic) {
            constexpr Op op = static_cast<Op>(place - num_row_arithmetic);
            if constexpr (is_elementwise(op) && !is_row_arithmetic(op))
                return reinterpret_cast<AnyHandler>(&function<op>);
        } else {
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
    template <int... place>
    static const AnyHandler* table(std::integer_sequence<int, place...>) {
        static const AnyHandler handlers[] = {entry<place>()...};
        return handlers;
    }

  public:
    static const RowEngine* engine() {
        static const RowEngine one{lanes,
                                   table(std::make_integer_sequence<int, num_row_handlers>{}),
                                   reinterpret_cast<AnyHandler>(&stop), &walk, row_block_kernels()};
        return &one;
    }
};

/// The engine for rows of a width: up to eight vectors travel in registers.
inline const RowEngine* row_engine_of(int width) {
    constexpr int of_vector = native_lanes<double>;
    using V = RowVector<of_vector>;
    if (width == 1) return RowWalk<RowVector<1>, std::integer_sequence<int, 0>>::engine();
    const int vectors = width / of_vector;
    if constexpr (of_vector == 8) {
        if (vectors == 1) return RowWalk<V, std::make_integer_sequence<int, 1>>::engine();
    }
    if constexpr (of_vector >= 4) {
        if (vectors == 2) return RowWalk<V, std::make_integer_sequence<int, 2>>::engine();
    }
    if (vectors == 4) return RowWalk<V, std::make_integer_sequence<int, 4>>::engine();
    return RowWalk<V, std::make_integer_sequence<int, 8>>::engine();
}

}  // namespace eddy::inline v0::detail

#undef EDDY_JUMP
