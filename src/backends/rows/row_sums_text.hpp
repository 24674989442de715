#pragma once
// Sums of stages, norms of errors and dense output: of the text of the kernels, row_kernels_text.hpp.

#include <algorithm>
#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/solve/lane/tangent_tolerance.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

using namespace row_kernels;
/// Lanes of a vector, at most those of the narrowest tile.
template <class Real>
constexpr int lanes_of = std::min(native_lanes<Real>, 8);
template <class Real>
using PackOf = Pack<Real, lanes_of<Real>>;

/// Calls body(lane) for the first lane of each pack; times and verdicts fill packs: one lane has idle ones beside it.
template <class P>
void for_packs(int width, const auto& body) {
    for (int lane = 0; lane < width; lane += P::size) body(lane);
}
/// Of states. Rows of one lane are single numbers.
template <class Real>
void for_lanes(int width, const auto& body) {
    if (width == 1) return body.template operator()<Pack<Real, 1>>(0);
    for_packs<PackOf<Real>>(
        width, [&](int lane) EDDY_INLINE { body.template operator()<PackOf<Real>>(lane); });
}

/// Calls body(at, lane) along rows of packs, one after the other: in the order in which they lie in memory.
template <class P>
void for_rows(Shape shape, const auto& body) {
    for (int c = 0; c < shape.size; ++c)
        for (int lane = 0; lane < shape.width; lane += P::size)
            body(std::ptrdiff_t{c} * shape.width + lane, lane);
}

// Sums of stages

/// to = from + Σ_j weight_j x_j of `count` blocks; weights (block, lane).
template <int count, class Real>
void sum_few(Real* to, const Real* from, Shape shape, const Real* weights, const Real* const* x) {
    using P = PackOf<Real>;
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        P sum = from ? P::load(from + at) : P(0);
        static_for<0, count>([&]<int j>() EDDY_INLINE {
            sum = mul_add(P::load(weights + j * shape.width + lane), P::load(x[j] + at), sum);
        });
        sum.store(to + at);
    });
}
/// The same of one lane, whose weights are numbers of all components: they stay in registers.
template <int count, class Real>
void sum_one(Real* to, const Real* from, Shape shape, const Real* h, const Real* weights,
             const Real* const* x) {
    using P = PackOf<Real>;
    const Real of_h = h ? h[0] : 1;
    Real weight[count > 0 ? count : 1];
    static_for<0, count>([&]<int j>() EDDY_INLINE { weight[j] = weights[j] * of_h; });
    int c = 0;
    for (; c + P::size <= shape.size; c += P::size) {
        P sum = from ? P::load(from + c) : P(0);
        static_for<0, count>(
            [&]<int j>() EDDY_INLINE { sum = mul_add(P(weight[j]), P::load(x[j] + c), sum); });
        sum.store(to + c);
    }
    for (; c < shape.size; ++c) {
        Real sum = from ? from[c] : 0;
        static_for<0, count>([&]<int j>() EDDY_INLINE { sum = mul_add(weight[j], x[j][c], sum); });
        to[c] = sum;
    }
}
/// The same, down the components of one pack after the other, whose weights stay in registers.
template <int count, class Real>
void sum_columns(Real* to, const Real* from, Shape shape, const Real* h, const Real* weights,
                 const Real* const* x) {
    using P = PackOf<Real>;
    for_packs<P>(shape.width, [&](int lane) EDDY_INLINE {
        P weight[count > 0 ? count : 1];
        static_for<0, count>([&]<int j>() EDDY_INLINE {
            weight[j] = h ? P(weights[j]) * P::load(h + lane) : P(weights[j]);
        });
        for (int c = 0; c < shape.size; ++c) {
            const std::ptrdiff_t at = std::ptrdiff_t{c} * shape.width + lane;
            P sum = from ? P::load(from + at) : P(0);
            static_for<0, count>(
                [&]<int j>() EDDY_INLINE { sum = mul_add(weight[j], P::load(x[j] + at), sum); });
            sum.store(to + at);
        }
    });
}
/// Several blocks at once, of one lane: of few components what sum_blocks does first takes as long as the sum.
template <class Real, int... count>
void sum_blocks_of_one(Real* to, const Real* from, Shape shape, const Real* h, const Sum<Real>& sum,
                       std::integer_sequence<int, count...>) {
    static constexpr decltype(&sum_one<0, Real>) few[] = {sum_one<count, Real>...};
    constexpr int most = sizeof...(count) - 1;
    int first = 0;
    for (; sum.count - first > most; first += most) {
        few[most](to, from, shape, h, sum.weight + first, sum.x + first);
        from = to;
    }
    few[sum.count - first](to, from, shape, h, sum.weight + first, sum.x + first);
}
/// Several blocks at once; what some of them leave is where the next ones begin. Down columns where all of it
/// stays in the first-level cache.
template <class Real, int... count>
void sum_blocks(Real* to, const Real* from, Shape shape, const Real* h, const Sum<Real>& sum,
                std::integer_sequence<int, count...>) {
    using P = PackOf<Real>;
    constexpr int most = sizeof...(count) - 1;
    static constexpr decltype(&sum_few<0, Real>) few[] = {sum_few<count, Real>...};
    static constexpr decltype(&sum_columns<0, Real>) in_columns[] = {sum_columns<count, Real>...};
    constexpr int numbers_of_cache = 16384 / sizeof(Real);
    const bool is_small = shape.size * shape.width * (sum.count + 2) <= numbers_of_cache;
    alignas(64) Real weights[most * widest];
    int first = 0;
    do {
        const int num = std::min(sum.count - first, most);
        if (is_small) {
            in_columns[num](to, from, shape, h, sum.weight + first, sum.x + first);
        } else {
            for (int j = 0; j < num; ++j)
                for_packs<P>(shape.width, [&](int lane) EDDY_INLINE {
                    const P weight(sum.weight[first + j]);
                    (h ? weight * P::load(h + lane) : weight)
                        .store(weights + j * shape.width + lane);
                });
            few[num](to, from, shape, weights, sum.x + first);
        }
        from = to;
        first += num;
    } while (first < sum.count);
}
template <class Real>
void sum_rows(Real* to, const Real* from, Shape shape, const Real* h, const Sum<Real>& sum) {
    constexpr std::make_integer_sequence<int, 9> counts;
    if (shape.width == 1) return sum_blocks_of_one(to, from, shape, h, sum, counts);
    sum_blocks(to, from, shape, h, sum, counts);
}
/// Both of two_sums; weights (sum, block, lane).
template <int count, class Real>
void two_of_few(Real* to, Real* further, const Real* from, Shape shape, const Real* weights,
                const Real* const* x) {
    using P = PackOf<Real>;
    const Real* const further_weights = weights + count * shape.width;
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        P sum = P::load(from + at), other = sum;
        static_for<0, count>([&]<int j>() EDDY_INLINE {
            const P of = P::load(x[j] + at);
            sum = mul_add(P::load(weights + j * shape.width + lane), of, sum);
            other = mul_add(P::load(further_weights + j * shape.width + lane), of, other);
        });
        sum.store(to + at);
        other.store(further + at);
    });
}
template <class Real, int... count>
void two_sums_of(Real* to, Real* further, const Real* from, Shape shape, const Real* h,
                 const Sum<Real>& sum, const Real* further_weight,
                 std::integer_sequence<int, count...>) {
    using P = PackOf<Real>;
    static constexpr decltype(&two_of_few<0, Real>) few[] = {two_of_few<count, Real>...};
    alignas(64) Real weights[2 * Kernels<Real>::most_shared * widest];
    for (int j = 0; j < sum.count; ++j)
        for_packs<P>(shape.width, [&](int lane) EDDY_INLINE {
            const P of_h = P::load(h + lane);
            (P(sum.weight[j]) * of_h).store(weights + j * shape.width + lane);
            (P(further_weight[j]) * of_h).store(weights + (sum.count + j) * shape.width + lane);
        });
    few[sum.count](to, further, from, shape, weights, sum.x);
}
template <class Real>
void two_sums(Real* to, Real* further, const Real* from, Shape shape, const Real* h,
              const Sum<Real>& sum, const Real* further_weight) {
    two_sums_of(to, further, from, shape, h, sum, further_weight,
                std::make_integer_sequence<int, Kernels<Real>::most_shared + 1>());
}
template <class Real>
void add_rows(Real* to, const Real* x, Shape shape) {
    using P = PackOf<Real>;
    const std::ptrdiff_t size = std::ptrdiff_t{shape.size} * shape.width;
    std::ptrdiff_t at = 0;
    for (; at + P::size <= size; at += P::size) (P::load(to + at) + P::load(x + at)).store(to + at);
    for (; at < size; ++at) to[at] += x[at];
}
template <class Real>
void choose_rows(Real* to, const Real* x, Shape shape, const Real* chosen) {
    using P = PackOf<Real>;
    if (shape.width == 1) {
        if (chosen[0] != 0) std::copy_n(x, shape.size, to);
        return;
    }
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        select(P::load(chosen + lane) != P(0), P::load(x + at), P::load(to + at)).store(to + at);
    });
}
template <class Real>
void add_chosen_rows(Real* to, const Real* x, Shape shape, const Real* chosen) {
    if (shape.width == 1) {
        if (chosen[0] != 0) add_rows(to, x, shape);
        return;
    }
    using P = PackOf<Real>;
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        const P before = P::load(to + at);
        select(P::load(chosen + lane) != P(0), before + P::load(x + at), before).store(to + at);
    });
}

// Norms

/// squared_error_norm, of the components that count: their number is known when the program runs. add<count>(k)
/// has the sum of a few of them, from the k-th on.
void add_norms(int num_counted, const auto& add) {
    for (int k = 0; k < num_counted; k += 4) {
        switch (num_counted - k) {
            case 1: add.template operator()<1>(k); break;
            case 2: add.template operator()<2>(k); break;
            case 3: add.template operator()<3>(k); break;
            default: add.template operator()<4>(k);
        }
    }
}
/// Do the first ones count, without a gap?
template <class Real>
bool counts_in_a_row(const Tolerances<Real>& by) {
    return by.counted[by.num_counted - 1] == by.num_counted - 1;
}
/// Of one lane: h times the error of each component.
template <class Real>
void norm_of_one(float* to, const Real* error, const Real* y, const Real* next, Real h,
                 const Tolerances<Real>& by) {
    using P = PackOf<Real>;
    constexpr int few = 4;
    float sum = 0;
    int begin = 0;
    // As many fours at once as a pack has places; what they give is added in order.
    const int end = counts_in_a_row(by) ? by.num_counted : 0;
    for (; begin + few * P::size <= end; begin += few * P::size) {
        const auto fours = few_squared_ratios<few>(begin, [&](int c) EDDY_INLINE {
            const auto from = [&](const Real* x)
                                  EDDY_INLINE { return P::load_strided(x + c, few); };
            const P scale =
                mul_add(larger_magnitude(from(next), from(y)), P(by.rtol), from(by.atol));
            return Scaled<P>{P(h) * from(error), max(scale, P(std::numeric_limits<Real>::min()))};
        });
        for (int i = 0; i < P::size; ++i) sum += fours[i];
    }
    add_norms(by.num_counted - begin, [&]<int count>(int first) EDDY_INLINE {
        sum += few_squared_ratios<count>(begin + first, [&](int k) EDDY_INLINE {
            const int c = by.counted[k];
            return scaled_error(h * error[c], y[c], next[c], by.rtol, by.atol[c]);
        });
    });
    to[0] = sum * (1.f / static_cast<float>(by.num_counted));
}
template <class Real>
void squared_norms(float* to, const Sum<Real>& error, Real* work, const Real* y, const Real* next,
                   Shape shape, const Real* h, const Tolerances<Real>& by) {
    using P = PackOf<Real>;
    using Single = eddy::WithElement<P, float>;
    const int width = shape.width;
    if (width == 1) {
        sum_rows<Real>(work, nullptr, shape, nullptr, error);
        return norm_of_one(to, work, y, next, h[0], by);
    }
    add_norms(by.num_counted, [&]<int count>(int first) {
        for_packs<P>(width, [&](int lane) EDDY_INLINE {
            std::ptrdiff_t at[count];
            P errors[count];
            static_for<0, count>([&]<int k>() EDDY_INLINE {
                at[k] = std::ptrdiff_t{by.counted[first + k]} * width + lane;
                errors[k] = P(0);
            });
            for (int j = 0; j < error.count; ++j) {
                const P weight(error.weight[j]);
                const Real* const x = error.x[j];
                static_for<0, count>([&]<int k>() EDDY_INLINE {
                    errors[k] = mul_add(weight, P::load(x + at[k]), errors[k]);
                });
            }
            const P of_h = P::load(h + lane);
            const Single few = few_squared_ratios<count>(0, [&](int k) EDDY_INLINE {
                return scaled_error(of_h * errors[k], P::load(y + at[k]), P::load(next + at[k]),
                                    by.rtol, by.atol[by.counted[first + k]]);
            });
            (first == 0 ? few : Single::load(to + lane) + few).store(to + lane);
        });
    });
    const Single each(1.f / static_cast<float>(by.num_counted));
    for_packs<P>(width, [&](int lane) { (Single::load(to + lane) * each).store(to + lane); });
}
template <class Real, class P>
bool find_beyond(Real* to, const Real* x, const Real* next, Shape shape, const Real* h,
                 const Tolerances<Real>& by) {
    alignas(64) Real largest[widest] = {};
    std::fill_n(to, shape.width, Real(0));
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        max(P::load(largest + lane), abs(P::load(next + at))).store(largest + lane);
    });
    bool any_is = false;
    for (int c = 0; c < shape.size; ++c) {
        for (int lane = 0; lane < shape.width; lane += P::size) {
            const P error = P::load(h + lane) * P::load(x + std::ptrdiff_t{c} * shape.width + lane);
            const TangentTolerance allowed(by, P::load(largest + lane), tangent_limit);
            const auto is_beyond = abs(error) > allowed(c);
            if (!any(is_beyond)) continue;
            any_is = true;
            select(is_beyond, P(1), P::load(to + lane)).store(to + lane);
        }
    }
    return any_is;
}
template <class Real>
bool tangents_beyond(Real* to, const Real* x, const Real* next, Shape shape, const Real* h,
                     const Tolerances<Real>& by) {
    return shape.width == 1 ? find_beyond<Real, Pack<Real, 1>>(to, x, next, shape, h, by)
                            : find_beyond<Real, PackOf<Real>>(to, x, next, shape, h, by);
}
template <class Real>
void finite_sums(float* to, Real* sums, const Real* x, Shape shape) {
    using P = PackOf<Real>;
    using Single = eddy::WithElement<P, float>;
    if (shape.width == 1) {
        Real sum = 0;
        for (int c = 0; c < shape.size; ++c) sum += x[c];
        to[0] = sum - sum == 0 ? 1 : 0;
        return;
    }
    std::fill_n(sums, shape.width, Real(0));
    for_rows<P>(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        (P::load(sums + lane) + P::load(x + at)).store(sums + lane);
    });
    for_packs<P>(shape.width, [&](int lane) {
        const P sum = P::load(sums + lane);
        convert<Single>(select(sum - sum == P(0), P(1), P(0))).store(to + lane);
    });
}

// Dense output, of one lane

template <class Real>
void dense_weights(Real* to, const double* table, int stages, int powers, Real theta) {
    for (int i = 0; i < stages; ++i) {
        const double* const of = table + i * powers;
        auto value = static_cast<Real>(of[powers - 1]);
        for (int m = powers - 2; m >= 0; --m)
            value = mul_add(value, theta, static_cast<Real>(of[m]));
        to[i] = theta * value;
    }
}
template <class Real>
void add_column(Real* to, std::ptrdiff_t to_stride, Real weight, const Real* x,
                std::ptrdiff_t stride, int size) {
    for (int c = 0; c < size; ++c)
        to[c * to_stride] = mul_add(weight, x[c * stride], to[c * to_stride]);
}

}  // namespace
}  // namespace eddy::inline v0::detail
