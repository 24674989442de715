// A Brownian path without memory, against its law. Seeds are fixed: a failure is a change, never
// chance. Statistical bounds are five standard errors.

#include <cmath>
#include <cstdint>
#include <eddy/steppers/brownian/brownian_path.hpp>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

using eddy::BrownianPath;
using eddy::NoisePlan;
using Piece = eddy::BrownianPiece<double>;
using Increments = eddy::BrownianIncrements<double, 1, true>;

NoisePlan plan_of(std::uint64_t seed, int level = 0) {
    NoisePlan plan;
    plan.key = eddy::PhiloxKey(seed);
    plan.level = level;
    return plan;
}

/// Step `step` of a path; cells have length `cell`.
template <int noises, bool with_area = true>
auto step_of(const NoisePlan& plan, double path, std::int64_t step, double cell = 1) {
    const double size = std::ldexp(cell, -plan.level);
    const BrownianPath<double> at({path, 0, size}, plan, {0, static_cast<double>(step)});
    return at.template increments<double, noises, with_area>();
}
Piece piece_of(const NoisePlan& plan, double path, std::int64_t step, double cell = 1) {
    const auto found = step_of<1>(plan, path, step, cell);
    return {found.w[0], found.h[0]};
}
/// Steps [first, last) joined one after another.
Piece joined(const NoisePlan& plan, double path, std::int64_t first, std::int64_t last,
             double cell = 1) {
    const double size = std::ldexp(cell, -plan.level);
    Piece sum = piece_of(plan, path, first, cell);
    for (std::int64_t step = first + 1; step < last; ++step)
        sum = eddy::join(sum, static_cast<double>(step - first) * size,
                         piece_of(plan, path, step, cell), size);
    return sum;
}

struct Moments {
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, xxyy = 0;
    void add(double a, double b) {
        n += 1, x += a, y += b, xx += a * a, yy += b * b, xy += a * b, xxyy += a * a * b * b;
    }
    /// The mean of x·y is `expected`, within five standard errors.
    void require_product(double expected) const {
        const double error = std::sqrt((xxyy / n - (xy / n) * (xy / n)) / n);
        CHECK(std::abs(xy / n - expected) < 5 * error);
    }
    void require_uncorrelated() const {
        CHECK(std::abs(xy) / std::sqrt(xx * yy) < 5 / std::sqrt(n));
    }
};

template <int lanes>
void require_same_in_packs(int level) {
    using Pack = eddy::Pack<double, lanes>;
    const NoisePlan plan = plan_of(11, level);
    Pack lane(0.), step(0.), size(0.);
    for (int i = 0; i < lanes; ++i) {
        lane.set(i, 3 + i);
        step.set(i, 100 * i + 5);
        size.set(i, 0.01 * (i + 1));
    }
    const BrownianPath<Pack> at({lane, Pack(0.), size}, plan, {Pack(2.), step});
    const auto found = at.template increments<Pack, 3, true>();
    for (int i = 0; i < lanes; ++i) {
        const BrownianPath<double> alone({lane[i], 0, size[i]}, plan, {2, step[i]});
        const auto expected = alone.increments<double, 3, true>();
        for (int c = 0; c < 3; ++c) {
            REQUIRE(found.w[c][i] == expected.w[c]);
            REQUIRE(found.h[c][i] == expected.h[c]);
        }
    }
}

}  // namespace

TEST_CASE("brownian: finer steps have the path of coarser ones") {
    for (int coarse = 0; coarse < 5; ++coarse) {
        for (int fine = coarse + 1; fine <= 12; fine += 3) {
            const NoisePlan plan = plan_of(5, coarse), finer = plan_of(5, fine);
            for (std::int64_t step = 0; step < 24; ++step) {
                const std::int64_t parts = std::int64_t{1} << (fine - coarse);
                const Piece whole = piece_of(plan, 2, step);
                const Piece sum = joined(finer, 2, step * parts, (step + 1) * parts);
                // Rounding of as many sums as there are parts, each of a few √length.
                const double root = std::sqrt(std::ldexp(1, -coarse));
                const double rounding = 4e-16 * root * static_cast<double>(parts);
                CHECK(sum.w == Approx(whole.w).margin(rounding + 4 * 2.3e-16 * root));
                CHECK(sum.h == Approx(whole.h).margin(rounding + 4 * 2.3e-16 * root));
            }
        }
    }
}

TEST_CASE("brownian: W(s,u) = W(s,t) + W(t,u) and Chen's relation, for any t") {
    const NoisePlan plan = plan_of(6, 6);
    for (std::int64_t middle = 1; middle < 200; middle += 13) {
        const Piece whole = joined(plan, 1, 0, 200);
        const double size = std::ldexp(1, -6);
        const Piece first = joined(plan, 1, 0, middle), second = joined(plan, 1, middle, 200);
        const Piece sum = eddy::join(first, static_cast<double>(middle) * size, second,
                                     static_cast<double>(200 - middle) * size);
        CHECK(sum.w == Approx(whole.w).margin(1e-13));
        CHECK(sum.h == Approx(whole.h).margin(1e-13));
    }
}

TEST_CASE("brownian: every method meets the same W") {
    for (const int level : {0, 1, 5}) {
        const NoisePlan plan = plan_of(3, level);
        for (std::int64_t step = 0; step < 64; ++step) {
            const auto both = step_of<3, true>(plan, 9, step);
            const auto alone = step_of<3, false>(plan, 9, step);
            for (int c = 0; c < 3; ++c) REQUIRE(both.w[c] == alone.w[c]);
        }
    }
}

TEST_CASE("brownian: variances and covariances of random nested intervals") {
    std::mt19937 random(1);  // of intervals, not of noise
    for (int trial = 0; trial < 12; ++trial) {
        const int level = 3;
        const auto first = static_cast<std::int64_t>(random() % 7);
        const auto last = first + 1 + static_cast<std::int64_t>(random()) % (8 - first - 1);
        CAPTURE(first, last);
        const NoisePlan whole_plan = plan_of(17), plan = plan_of(17, level);
        const double cell = 0.37, a = static_cast<double>(first) / 8,
                     length = static_cast<double>(last - first) / 8;
        Moments ww, hh, wh, w_in_w, w_in_h, h_in_w, h_in_h, residual;
        for (int path = 0; path < 20000; ++path) {
            const Piece whole = piece_of(whole_plan, path, trial, cell);
            const Piece part = joined(plan, path, 8 * trial + first, 8 * trial + last, cell);
            ww.add(part.w, part.w);
            hh.add(part.h, part.h);
            wh.add(part.w, part.h);
            w_in_w.add(part.w, whole.w);
            w_in_h.add(part.w, whole.h);
            h_in_w.add(part.h, whole.w);
            h_in_h.add(part.h, whole.h);
            // Given the whole: the mean of W is length·W + 6·length·(1 − length − 2a)·H.
            const double rest =
                part.w - length * whole.w - 6 * length * (1 - length - 2 * a) * whole.h;
            residual.add(rest, whole.w);
            CHECK(std::isfinite(rest));
        }
        // ∫ over the part of the product of two of the functions 1 and ½ − x, of their intervals.
        ww.require_product(cell * length);
        hh.require_product(cell * length / 12);
        wh.require_product(0);
        w_in_w.require_product(cell * length);
        w_in_h.require_product(cell * length * (0.5 - a - length / 2));
        h_in_w.require_product(0);
        h_in_h.require_product(cell * length * length / 12);
        residual.require_product(0);
        // Var[W of the part | the whole] = L − L² − 3L²(1 − L − 2a)².
        const double conditional =
            cell * (length - length * length -
                    3 * length * length * (1 - length - 2 * a) * (1 - length - 2 * a));
        const double seen = residual.xx / residual.n;
        CHECK(std::abs(seen - conditional) < 5 * conditional * std::sqrt(2 / residual.n) + 1e-15);
    }
}

TEST_CASE("brownian: independent over paths, seeds, noises and cells") {
    Moments paths, seeds, noises, cells, areas, levels;
    const NoisePlan plan = plan_of(1), other = plan_of(2), fine = plan_of(1, 2);
    for (int path = 0; path < 100000; ++path) {
        const auto here = step_of<3>(plan, path, 4);
        paths.add(here.w[0], step_of<3>(plan, path + 1, 4).w[0]);
        seeds.add(here.w[0], step_of<3>(other, path, 4).w[0]);
        noises.add(here.w[0], here.w[2]);
        cells.add(here.w[1], step_of<3>(plan, path, 5).w[1]);
        areas.add(here.w[1], here.h[1]);
        levels.add(step_of<3>(fine, path, 17).w[1], step_of<3>(fine, path, 18).w[1]);
    }
    for (const Moments& of : {paths, seeds, noises, cells, areas, levels})
        of.require_uncorrelated();
    CHECK(std::abs(paths.xx / paths.n - 1) < 5 * std::sqrt(2 / paths.n));
    CHECK(std::abs(areas.yy / areas.n - 1. / 12) < 5 * std::sqrt(2 / areas.n) / 12);
}

TEST_CASE("brownian: one or two noises share blocks, and every cell has normals of its own") {
    Moments next, second, far;
    for (std::int64_t cell = 0; cell < 100000; ++cell) {
        const NoisePlan plan = plan_of(8);
        const double here = step_of<1, false>(plan, 0, cell).w[0];
        next.add(here, step_of<1, false>(plan, 0, cell + 1).w[0]);
        far.add(here, step_of<1, false>(plan, 0, cell + 4).w[0]);
        const auto two = step_of<2, false>(plan, 0, cell);
        second.add(two.w[0], two.w[1]);
    }
    for (const Moments& of : {next, second, far}) of.require_uncorrelated();
    CHECK(std::abs(next.xx / next.n - 1) < 5 * std::sqrt(2 / next.n));
}

TEST_CASE("brownian: a pack has the path of each of its lanes") {
    for (const int level : {0, 1, 4}) {
        require_same_in_packs<2>(level);
        require_same_in_packs<4>(level);
        require_same_in_packs<8>(level);
        require_same_in_packs<16>(level);
    }
}

TEST_CASE(
    "brownian: paths are numbered from the first, odd ones mirrored where that is asked for") {
    NoisePlan plan = plan_of(4, 2), shifted = plan, mirrored = plan;
    shifted.first_path = 1000;
    mirrored.antithetic = true;
    for (std::int64_t step = 0; step < 16; ++step) {
        CHECK(piece_of(shifted, 7, step).w == piece_of(plan, 1007, step).w);
        CHECK(piece_of(mirrored, 6, step).w == piece_of(plan, 6, step).w);
        CHECK(piece_of(mirrored, 7, step).w == -piece_of(plan, 6, step).w);
        CHECK(piece_of(mirrored, 7, step).h == -piece_of(plan, 6, step).h);
    }
}

TEST_CASE("brownian: a step cut short has the variance of its length") {
    const NoisePlan plan = plan_of(13, 1);
    Moments of;
    for (int path = 0; path < 100000; ++path) {
        const BrownianPath<double> before({static_cast<double>(path), 0, 0.5}, plan, {0, 0});
        const BrownianPath<double> cut({static_cast<double>(path), 0, 0.2}, plan, {0, 1});
        of.add(before.increments<double, 1, false>().w[0], cut.increments<double, 1, false>().w[0]);
    }
    of.require_uncorrelated();
    CHECK(std::abs(of.yy / of.n - 0.2) < 5 * 0.2 * std::sqrt(2 / of.n));
}

namespace {

using Moments3 = eddy::BrownianMoments<double>;

Moments3 moments_of(const NoisePlan& plan, double path, std::int64_t step, double cell = 1) {
    const double size = std::ldexp(cell, -plan.level);
    const BrownianPath<double> at({path, 0, size}, plan, {0, static_cast<double>(step)});
    const auto found = at.increments<double, 1, 2>();
    return {found.w[0], found.h[0], found.k[0]};
}

}  // namespace

TEST_CASE("brownian: finer steps have the W, H and K of coarser ones") {
    for (int coarse = 0; coarse < 4; ++coarse) {
        for (int fine = coarse + 1; fine <= 9; fine += 3) {
            const NoisePlan plan = plan_of(5, coarse), finer = plan_of(5, fine);
            for (std::int64_t step = 0; step < 24; ++step) {
                const std::int64_t parts = std::int64_t{1} << (fine - coarse);
                const double size = std::ldexp(1, -fine);
                const Moments3 whole = moments_of(plan, 2, step);
                Moments3 sum = moments_of(finer, 2, step * parts);
                for (std::int64_t part = 1; part < parts; ++part)
                    sum = eddy::join(sum, static_cast<double>(part) * size,
                                     moments_of(finer, 2, step * parts + part), size);
                const double rounding =
                    1e-15 * std::sqrt(std::ldexp(1, -coarse)) * static_cast<double>(parts + 4);
                CHECK(sum.w == Approx(whole.w).margin(rounding));
                CHECK(sum.h == Approx(whole.h).margin(rounding));
                CHECK(sum.k == Approx(whole.k).margin(rounding));
            }
        }
    }
}

TEST_CASE("brownian: W, H and K have their law at any depth") {
    for (const int level : {0, 3}) {
        const NoisePlan plan = plan_of(8, level);
        const double size = std::ldexp(0.5, -level);
        Moments ww, hh, kk, wh, wk, hk, neighbours;
        for (int path = 0; path < 20'000; ++path) {
            const Moments3 x = moments_of(plan, path, 5, 0.5), y = moments_of(plan, path, 6, 0.5);
            ww.add(x.w, x.w), hh.add(x.h, x.h), kk.add(x.k, x.k);
            wh.add(x.w, x.h), wk.add(x.w, x.k), hk.add(x.h, x.k);
            neighbours.add(x.k, y.k + y.h + y.w);
        }
        ww.require_product(size);
        hh.require_product(size / 12);
        kk.require_product(size / 720);
        for (const Moments* of : {&wh, &wk, &hk, &neighbours}) of->require_uncorrelated();
    }
}

TEST_CASE("brownian: who asks for K meets the W and H of others where a step is a cell") {
    const NoisePlan plan = plan_of(3);
    for (std::int64_t step = 0; step < 64; ++step) {
        const Moments3 all = moments_of(plan, 7, step);
        const Piece two = piece_of(plan, 7, step);
        CHECK(all.w == two.w);
        CHECK(all.h == two.h);
    }
}

TEST_CASE("brownian: a cell's H and K have the variances of their law, for unit normals") {
    const float z[] = {1, 1, 1};
    // Of squares of constants that are rounded once, and multiplied: a few units in the last place.
    const auto check = [&]<class Number>(Number) {
        using Moments = eddy::BrownianMoments<Number>;
        const Number rounding = 4 * std::numeric_limits<Number>::epsilon();
        const auto all = eddy::detail::root_piece<Moments, 1>(z, 0);
        const auto two = eddy::detail::root_piece<eddy::BrownianPiece<Number>, 1>(z, 0);
        CHECK(all.w == 1);
        CHECK(std::abs(all.h * all.h * 12 - 1) <= rounding);
        CHECK(std::abs(all.k * all.k * 720 - 1) <= rounding);
        CHECK(two.h == all.h);
    };
    check(1.);
    check(1.f);
}

TEST_CASE("brownian: the counter of a block has node, cell and path in their words, all 48 bits") {
    constexpr std::uint64_t ones = 1;
    const eddy::PhiloxKey key(5);
    for (const std::uint64_t path : {ones, ones << 32 | 3, ones << 47 | 5}) {
        for (const std::uint64_t cell : {ones << 1, ones << 32 | 7, ones << 47 | 1}) {
            const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
            const auto high = static_cast<std::uint32_t>(cell >> 32 | path >> 32 << 16);
            const eddy::detail::PathNoise<double> noise(key, path, false);
            for (const std::uint32_t node : {0u, 6u}) {
                const auto wanted = eddy::normals(eddy::philox(
                    eddy::PhiloxWords<std::uint32_t>{{node << 8, low(cell), low(path), high}},
                    key));
                float z[4];
                if (node == 0)
                    noise.root(cell, 0, z);
                else
                    noise.splitting(cell, std::uint64_t{node}, z);
                for (int i = 0; i < 4; ++i) CHECK(z[i] == wanted.z[i]);
            }
        }
    }
}

TEST_CASE("brownian: whole numbers in pairs of floats are counted beyond what one float holds") {
    for (const double count : {0., 7., 0x1p24 - 1, 0x1p24 + 1, 0x1p40 + 0x1p17 + 1, 0x1p47 + 1})
        CHECK(eddy::detail::as_counts(eddy::FloatFloat(count)) ==
              static_cast<std::uint64_t>(count));
}
