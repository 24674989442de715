#pragma once
// Sums of stages, norms of errors and dense output: of the text of the kernels, row_kernels_text.hpp.

#include <algorithm>
#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <utility>

namespace eddy::inline v0::detail {
namespace {

using namespace row_kernels;
using row_kernels::Times;  // not those of an option
using P = Pack<double, native_lanes<double>>;
using Single = eddy::WithElement<P, float>;
constexpr int lanes = native_lanes<double>;

using One = Pack<double, 1>;

/// Of times and verdicts, which fill packs: one lane has idle ones beside it.
void for_packs(int width, const auto& body) {
    for (int lane = 0; lane < width; lane += lanes) body(lane);
}
/// Of states. Rows of one lane are single numbers.
void for_lanes(int width, const auto& body) {
    if (width == 1) return body.template operator()<One>(0);
    for_packs(width, [&](int lane) EDDY_INLINE { body.template operator()<P>(lane); });
}

/// Calls body(at, lane) along rows of packs, one after the other: in the order in which they lie in memory.
void for_rows(Shape shape, const auto& body) {
    for (int c = 0; c < shape.size; ++c)
        for (int lane = 0; lane < shape.width; lane += lanes)
            body(std::ptrdiff_t{c} * shape.width + lane, lane);
}

// Sums of stages

/// to = from + Σ_j weight_j x_j of `count` blocks; weights (block, lane).
template <int count>
void sum_few(double* to, const double* from, Shape shape, const double* weights,
             const double* const* x) {
    for_rows(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        P sum = from ? P::load(from + at) : P(0.);
        static_for<0, count>([&]<int j>() EDDY_INLINE {
            sum = mul_add(P::load(weights + j * shape.width + lane), P::load(x[j] + at), sum);
        });
        sum.store(to + at);
    });
}
/// The same of one lane, whose weights are numbers of all components.
template <int count>
void sum_one(double* to, const double* from, int size, const double* weights,
             const double* const* x) {
    P weight[count > 0 ? count : 1];
    static_for<0, count>([&]<int j>() EDDY_INLINE { weight[j] = P(weights[j]); });
    int c = 0;
    for (; c + lanes <= size; c += lanes) {
        P sum = from ? P::load(from + c) : P(0.);
        static_for<0, count>([&]<int j>()
                                 EDDY_INLINE { sum = mul_add(weight[j], P::load(x[j] + c), sum); });
        sum.store(to + c);
    }
    for (; c < size; ++c) {
        double sum = from ? from[c] : 0;
        static_for<0, count>([&]<int j>() EDDY_INLINE { sum = mul_add(weights[j], x[j][c], sum); });
        to[c] = sum;
    }
}
/// The same, down the components of one pack after the other, whose weights stay in registers.
template <int count>
void sum_columns(double* to, const double* from, Shape shape, const double* h,
                 const double* weights, const double* const* x) {
    for_packs(shape.width, [&](int lane) EDDY_INLINE {
        P weight[count > 0 ? count : 1];
        static_for<0, count>([&]<int j>() EDDY_INLINE {
            weight[j] = h ? P(weights[j]) * P::load(h + lane) : P(weights[j]);
        });
        for (int c = 0; c < shape.size; ++c) {
            const std::ptrdiff_t at = std::ptrdiff_t{c} * shape.width + lane;
            P sum = from ? P::load(from + at) : P(0.);
            static_for<0, count>(
                [&]<int j>() EDDY_INLINE { sum = mul_add(weight[j], P::load(x[j] + at), sum); });
            sum.store(to + at);
        }
    });
}
/// Several blocks at once; what some of them leave is where the next ones begin. Down columns where all of it
/// stays in the first-level cache.
template <int... count>
void sum_blocks(double* to, const double* from, Shape shape, const double* h, const Sum& sum,
                std::integer_sequence<int, count...>) {
    constexpr int most = sizeof...(count) - 1;
    static constexpr decltype(&sum_few<0>) few[] = {sum_few<count>...};
    static constexpr decltype(&sum_columns<0>) in_columns[] = {sum_columns<count>...};
    static constexpr decltype(&sum_one<0>) of_one[] = {sum_one<count>...};
    constexpr int numbers_of_cache = 2048;
    const bool is_small = shape.size * shape.width * (sum.count + 2) <= numbers_of_cache;
    alignas(64) double weights[most * widest];
    int first = 0;
    do {
        const int num = std::min(sum.count - first, most);
        if (shape.width == 1) {
            for (int j = 0; j < num; ++j)
                weights[j] = h ? sum.weight[first + j] * h[0] : sum.weight[first + j];
            of_one[num](to, from, shape.size, weights, sum.x + first);
        } else if (is_small) {
            in_columns[num](to, from, shape, h, sum.weight + first, sum.x + first);
        } else {
            for (int j = 0; j < num; ++j)
                for_packs(shape.width, [&](int lane) EDDY_INLINE {
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
void sum_rows(double* to, const double* from, Shape shape, const double* h, const Sum& sum) {
    sum_blocks(to, from, shape, h, sum, std::make_integer_sequence<int, 9>());
}
/// Both of two_sums; weights (sum, block, lane).
template <int count>
void two_of_few(double* to, double* further, const double* from, Shape shape, const double* weights,
                const double* const* x) {
    const double* const further_weights = weights + count * shape.width;
    for_rows(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
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
template <int... count>
void two_sums_of(double* to, double* further, const double* from, Shape shape, const double* h,
                 const Sum& sum, const double* further_weight,
                 std::integer_sequence<int, count...>) {
    static constexpr decltype(&two_of_few<0>) few[] = {two_of_few<count>...};
    alignas(64) double weights[2 * Kernels::most_shared * widest];
    for (int j = 0; j < sum.count; ++j)
        for_packs(shape.width, [&](int lane) EDDY_INLINE {
            const P of_h = P::load(h + lane);
            (P(sum.weight[j]) * of_h).store(weights + j * shape.width + lane);
            (P(further_weight[j]) * of_h).store(weights + (sum.count + j) * shape.width + lane);
        });
    few[sum.count](to, further, from, shape, weights, sum.x);
}
void two_sums(double* to, double* further, const double* from, Shape shape, const double* h,
              const Sum& sum, const double* further_weight) {
    two_sums_of(to, further, from, shape, h, sum, further_weight,
                std::make_integer_sequence<int, Kernels::most_shared + 1>());
}
void add_rows(double* to, const double* x, Shape shape) {
    const std::ptrdiff_t size = std::ptrdiff_t{shape.size} * shape.width;
    std::ptrdiff_t at = 0;
    for (; at + lanes <= size; at += lanes) (P::load(to + at) + P::load(x + at)).store(to + at);
    for (; at < size; ++at) to[at] += x[at];
}
void choose_rows(double* to, const double* x, Shape shape, const double* chosen) {
    if (shape.width == 1) {
        if (chosen[0] != 0) std::copy_n(x, shape.size, to);
        return;
    }
    for_rows(shape, [&](std::ptrdiff_t at, int lane) EDDY_INLINE {
        select(P::load(chosen + lane) != P(0.), P::load(x + at), P::load(to + at)).store(to + at);
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
/// Of one lane: h times the error of each component.
void norm_of_one(float* to, const double* error, const double* y, const double* next, double h,
                 const Tolerances& by) {
    float sum = 0;
    add_norms(by.num_counted, [&]<int count>(int first) EDDY_INLINE {
        const float few = few_squared_ratios<count>(first, [&](int k) EDDY_INLINE {
            const int c = by.counted[k];
            return scaled_error(h * error[c], y[c], next[c], by.rtol, by.atol[c]);
        });
        sum = first == 0 ? few : sum + few;
    });
    to[0] = sum * (1.f / static_cast<float>(by.num_counted));
}
void squared_norms(float* to, const Sum& error, double* work, const double* y, const double* next,
                   Shape shape, const double* h, const Tolerances& by) {
    const int width = shape.width;
    if (width == 1) {
        sum_rows(work, nullptr, shape, nullptr, error);
        return norm_of_one(to, work, y, next, h[0], by);
    }
    add_norms(by.num_counted, [&]<int count>(int first) {
        for_packs(width, [&](int lane) EDDY_INLINE {
            std::ptrdiff_t at[count];
            P errors[count];
            static_for<0, count>([&]<int k>() EDDY_INLINE {
                at[k] = std::ptrdiff_t{by.counted[first + k]} * width + lane;
                errors[k] = P(0.);
            });
            for (int j = 0; j < error.count; ++j) {
                const P weight(error.weight[j]);
                const double* const x = error.x[j];
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
    for_packs(width, [&](int lane) { (Single::load(to + lane) * each).store(to + lane); });
}
void combine_norms(float* to, const float* coarse, int width) {
    for_packs(width, [&](int lane) {
        combined_square(Single::load(to + lane), Single::load(coarse + lane)).store(to + lane);
    });
}
void finite_sums(double* to, const double* x, Shape shape) {
    std::fill_n(to, shape.width, 0.);
    if (shape.width == 1) {
        double sum = 0;
        for (int c = 0; c < shape.size; ++c) sum += x[c];
        to[0] = sum - sum == 0 ? 1 : 0;
        return;
    }
    for_rows(shape, [&](std::ptrdiff_t at, int lane)
                        EDDY_INLINE { (P::load(to + lane) + P::load(x + at)).store(to + lane); });
    for_packs(shape.width, [&](int lane) {
        const P sum = P::load(to + lane);
        select(sum - sum == P(0.), P(1.), P(0.)).store(to + lane);
    });
}

// Dense output, of one lane

void dense_weights(double* to, const double* table, int stages, int powers, double theta) {
    for (int i = 0; i < stages; ++i) {
        const double* const of = table + i * powers;
        double value = of[powers - 1];
        for (int m = powers - 2; m >= 0; --m) value = mul_add(value, theta, of[m]);
        to[i] = theta * value;
    }
}
void add_column(double* to, std::ptrdiff_t to_stride, double weight, const double* x,
                std::ptrdiff_t stride, int size) {
    for (int c = 0; c < size; ++c)
        to[c * to_stride] = mul_add(weight, x[c * stride], to[c * to_stride]);
}

}  // namespace
}  // namespace eddy::inline v0::detail
