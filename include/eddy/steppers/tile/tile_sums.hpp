#pragma once
// The weighted sums that steps are made of, over the rows of a tile. Weights are those of a tableau
// times the size of the step, which each lane has for itself.
// Test: tests/solve/tiles_oracle.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/core/tile/tile.hpp>

namespace eddy::inline v0::detail {

/// Σ_j weight_j x_j, of blocks of rows.
template <class Real, int count>
struct TileTerms {
    Real weight[count > 0 ? count : 1]{};
    const Real* x[count > 0 ? count : 1]{};
};

/// to = first + Σ_j (weight_j h) x_j; first(c, lane, h) is where each sum begins.
template <class Real, int count, class First>
[[gnu::noinline]] void add_steps(Real* to, int size, int width, const Real* h,
                                 const TileTerms<Real, count>& terms, const First& first) {
    using P = TilePack<Real>;
    for_vectors<Real>(width, [&](int lane) EDDY_INLINE {
        const P of_h = P::load(h + lane);
        P weight[count > 0 ? count : 1];
        static_for<0, count>([&]<int j>() EDDY_INLINE { weight[j] = P(terms.weight[j]) * of_h; });
        for (int c = 0; c < size; ++c) {
            const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(c) * width + lane;
            P sum = first(at, of_h);
            static_for<0, count>([&]<int j>() EDDY_INLINE {
                sum = mul_add(weight[j], P::load(terms.x[j] + at), sum);
            });
            sum.store(to + at);
        }
    });
}

/// to = h Σ_j weight_j x_j.
template <class Real, int count>
[[gnu::noinline]] void scale_sum(Real* to, int size, int width, const Real* h,
                                 const TileTerms<Real, count>& terms) {
    using P = TilePack<Real>;
    for_vectors<Real>(width, [&](int lane) EDDY_INLINE {
        const P of_h = P::load(h + lane);
        for (int c = 0; c < size; ++c) {
            const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(c) * width + lane;
            P sum(Real(0));
            static_for<0, count>([&]<int j>() EDDY_INLINE {
                sum = mul_add(P(terms.weight[j]), P::load(terms.x[j] + at), sum);
            });
            (of_h * sum).store(to + at);
        }
    });
}

/// to += x.
template <class Real>
[[gnu::noinline]] void add_rows(Real* to, int size, int width, const Real* x) {
    fill_rows(to, size, width, [&](int c, int lane) EDDY_INLINE {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(c) * width + lane;
        return TilePack<Real>::load(to + at) + TilePack<Real>::load(x + at);
    });
}

/// to = x in the lanes where `chosen` is not zero.
template <class Real>
[[gnu::noinline]] void choose_rows(Real* to, int size, int width, const Real* chosen,
                                   const Real* x) {
    using P = TilePack<Real>;
    fill_rows(to, size, width, [&](int c, int lane) EDDY_INLINE {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(c) * width + lane;
        return select(P::load(chosen + lane) != P(Real(0)), P::load(x + at), P::load(to + at));
    });
}

}  // namespace eddy::inline v0::detail
