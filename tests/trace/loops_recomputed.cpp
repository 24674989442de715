// Loops whose turns are kept, computed again in groups, or from checkpoints: the same bits, and the counts of the
// theory.

#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/core/pack_math.hpp>

#include "support/catch.hpp"
#include "support/interpret.hpp"

namespace {

using eddy::Dual;
using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;

/// Layers of width 8, grouped as the options say.
template <int... lengths>
struct Layers {
    template <class T, class W>
    constexpr auto operator()(const T& x, const W& w) const {
        return eddy::repeat<64>(
            x,
            [&](const auto& h) {
                return tanh(eddy::dense(eddy::slice<0, 64>(w), eddy::slice<64, 8>(w), h));
            },
            {.nested_lengths = {lengths...}});
    }
};
/// 64 turns over parts of a vector, grouped as the options say.
template <int... lengths>
struct Sines {
    template <class T, class X>
    constexpr auto operator()(const T& x, const X& xs) const {
        const auto [last, outs] = eddy::scan<64>(x * 1.0, xs,
                                                 [&](const auto& h, const auto& u) {
                                                     const auto next = sin(h) * u + x;
                                                     return eddy::carry_and_out(next, next * h);
                                                 },
                                                 {.nested_lengths = {lengths...}});
        return eddy::concat(outs * last, last);
    }
};

/// A number that counts the sines taken of it.
struct Counted {
    static inline int sines = 0;
    double number = 0;
    Counted() = default;
    explicit Counted(double x) : number(x) {}

    friend Counted operator+(Counted a, Counted b) { return Counted(a.number + b.number); }
    friend Counted operator*(Counted a, Counted b) { return Counted(a.number * b.number); }
    friend bool operator<(Counted a, Counted b) { return a.number < b.number; }
    friend bool operator==(Counted a, Counted b) { return a.number == b.number; }
    friend Counted select(bool mask, Counted a, Counted b) { return mask ? a : b; }
    explicit operator int() const { return static_cast<int>(number); }
    Counted operator[](int) const { return *this; }  // its only lane
    friend Counted mul_add(Counted a, Counted b, Counted c) { return a * b + c; }
    friend Counted sin(Counted x) {
        ++sines;
        return Counted(std::sin(x.number));
    }
    friend Counted cos(Counted x) { return Counted(std::cos(x.number)); }
};
/// How many sines a program takes.
template <class Program, class... Arguments>
int sines_of(const Program&, const Arguments&... x) {
    Counted::sines = 0;
    eddy::evaluate<Program, Counted>([]<int>(int, const Counted&) {}, x...);
    return Counted::sines;
}
template <class Program>
constexpr int scratch_of(const Program&) {
    return eddy::make_layout(Program::code).scratch_size;
}

/// Turns until a number is reached, of which some states are kept for the way back.
template <int checkpoints>
struct Climb {
    template <class T>
    constexpr auto operator()(const T& x, const T& p, const T& end) const {
        const auto [z, height] = eddy::bounded_while<300>(
            std::tuple(x * 1.0, 0.0 * x), [&](const auto& s) { return std::get<1>(s) < end; },
            [&](const auto& s) {
                const auto& [z, height] = s;
                return std::tuple(z + p * sin(z), height + 1.0);
            },
            {.checkpoints = checkpoints});
        return z;
    }
};
/// The same steps as a body of a loop outside of traced functions.
struct ClimbBody {
    double advance(double x, std::int64_t) const { return x + 0.1 * std::sin(x); }
    double pullback(double x, std::int64_t, double c) const { return c + c * (0.1 * std::cos(x)); }
};

/// A while, and a loop in a loop, for what is kept and what is computed again.
struct Mixed {
    template <class T>
    constexpr auto operator()(const T& x, const T& p) const {
        const auto a = eddy::bounded_while<40>(
            x * 1.0, [](const auto& z) { return z < 5; },
            [&](const auto& z) { return z + p * exp(-z * z) + 0.3; });
        const auto b = eddy::repeat<4>(a, [&](const auto& z) {
            return eddy::repeat<3>(z, [&](const auto& w) { return sin(w) * p + z * 0.1; });
        });
        return sin(a) * b;
    }
};
struct MixedInRegions {
    template <class T>
    constexpr auto operator()(const T& x, const T& p) const {
        return eddy::remat(Mixed{})(x, p) * eddy::remat(Mixed{})(x * p, p);
    }
};
struct MixedProduct {
    template <class T>
    constexpr auto operator()(const T& x, const T& p) const {
        return Mixed{}(x, p) * Mixed{}(x * p, p);
    }
};

}  // namespace

TEST_CASE("a gradient through loops has the same bits whatever is kept of them") {
    constexpr auto program = eddy::trace<Scalar, Scalar>(Mixed{});
    const auto [x, p] = vjp(program)(0.3, 0.7, 1.0);
    const double h = 1e-6;
    CHECK(x == Approx((program(0.3 + h, 0.7) - program(0.3 - h, 0.7)) / (2 * h)).epsilon(1e-6));
    const eddy::Graph graph = decltype(program)::graph.thaw();
    const auto check = [&, x = x, p = p](const eddy::SplitGraph& split) {
        std::vector<eddy::LaneArray<double>> arguments{{1, 1, 0.3}, {1, 1, 0.7}};
        auto forward = eddy::interpret<double>(split.forward, arguments);
        arguments.push_back(split.residual_size > 0 ? forward[1] : eddy::LaneArray<double>(0, 1));
        arguments.push_back({1, 1, 1.0});
        const auto backward = eddy::interpret<double>(split.backward, arguments);
        CHECK(backward[0](0, 0) == x);
        CHECK(backward[1](0, 0) == p);
    };
    const std::vector<char> all{1, 1};
    check(eddy::split_graph(graph, all));
    check(eddy::split_graph(graph, all, eddy::nothing_saveable));
    check(eddy::split_graph(graph, all, eddy::dots_saveable));
    CHECK(eddy::split_graph(graph, all, eddy::nothing_saveable).residual_size == 0);

    const auto [x_again, p_again] =
        vjp(eddy::trace<Scalar, Scalar>(MixedInRegions{}))(0.3, 0.7, 1.0);
    const auto [x_once, p_once] = vjp(eddy::trace<Scalar, Scalar>(MixedProduct{}))(0.3, 0.7, 1.0);
    CHECK(x_again == Approx(x_once).epsilon(1e-13));
    CHECK(p_again == Approx(p_once).epsilon(1e-13));
}

TEST_CASE("nested_lengths keep the sum of the lengths, take turns again, and give the same bits") {
    constexpr auto kept = eddy::vjp<0, 1>(eddy::trace<Scalar, Vector<64>>(Sines<>{}));
    constexpr auto two = eddy::vjp<0, 1>(eddy::trace<Scalar, Vector<64>>(Sines<8, 8>{}));
    constexpr auto three = eddy::vjp<0, 1>(eddy::trace<Scalar, Vector<64>>(Sines<4, 4, 4>{}));
    Vec<double, 64> xs{};
    Vec<double, 65> c{};
    for (int k = 0; k < 64; ++k) xs[k] = std::cos(1.0 + k), c[k] = std::sin(3.0 + k);
    c[64] = 0.7;
    const auto [x_kept, xs_kept] = kept(0.3, xs, c);
    const auto [x_two, xs_two] = two(0.3, xs, c);
    const auto [x_three, xs_three] = three(0.3, xs, c);
    CHECK(x_two == x_kept);
    CHECK(x_three == x_kept);
    for (int k = 0; k < 64; ++k) {
        CHECK(xs_two[k] == xs_kept[k]);
        CHECK(xs_three[k] == xs_kept[k]);
    }

    Vec<Counted, 64> counted_xs{};
    Vec<Counted, 65> counted_c{};
    CHECK(sines_of(kept, Counted(0.3), counted_xs, counted_c) == 64);
    CHECK(sines_of(two, Counted(0.3), counted_xs, counted_c) == 2 * 64);
    CHECK(sines_of(three, Counted(0.3), counted_xs, counted_c) == 3 * 64);
}

TEST_CASE("64 layers in groups of 8 take a quarter of the memory, with the same bits") {
    constexpr auto kept = eddy::vjp<0, 1>(eddy::trace<Vector<8>, Vector<72>>(Layers<>{}));
    constexpr auto nested = eddy::vjp<0, 1>(eddy::trace<Vector<8>, Vector<72>>(Layers<8, 8>{}));
    Vec<double, 72> w{};
    Vec<double, 8> x{}, c{};
    for (int k = 0; k < 72; ++k) w[k] = 0.4 * std::sin(3.0 * k);
    for (int k = 0; k < 8; ++k) x[k] = 0.1 * k, c[k] = 1;
    const auto [x_kept, w_kept] = kept(x, w, c);
    const auto [x_nested, w_nested] = nested(x, w, c);
    for (int k = 0; k < 8; ++k) CHECK(x_kept[k] == x_nested[k]);
    for (int k = 0; k < 72; ++k) CHECK(w_kept[k] == w_nested[k]);

    CHECK(4 * scratch_of(nested) <= scratch_of(kept));
}

TEST_CASE("checkpoints of a while give the bits of kept states, and the counts of the theory") {
    constexpr auto kept = eddy::vjp<0, 1>(eddy::trace<Scalar, Scalar, Scalar>(Climb<0>{}));
    constexpr auto few = eddy::vjp<0, 1>(eddy::trace<Scalar, Scalar, Scalar>(Climb<4>{}));
    CHECK(scratch_of(few) < scratch_of(kept) / 20);
    for (int turns : {0, 1, 2, 3, 5, 14, 15, 40, 300}) {
        const auto [x, p] = kept(0.3, 0.1, static_cast<double>(turns), 1.0);
        const auto [few_x, few_p] = few(0.3, 0.1, static_cast<double>(turns), 1.0);
        CHECK(few_x == x);
        CHECK(few_p == p);

        eddy::CheckpointedLoop<double, ClimbBody> loop(
            ClimbBody{}, {.checkpoints = 4, .placement = eddy::Placement::online_treeverse});
        loop.run(0.3, [&](double, std::int64_t step) { return step < turns; });
        CHECK(loop.reverse(1.0) == Approx(x).epsilon(1e-13));
        // A turn forward, a turn on the way back, and what is taken again between.
        const int sines = sines_of(few, Counted(0.3), Counted(0.1),
                                   Counted(static_cast<double>(turns)), Counted(1.0));
        CHECK(sines == 2 * turns + loop.counters().recomputed);
    }
    Lanes turns(0.0), x(0.0);
    for (int lane = 0; lane < 8; ++lane) {
        turns.set(lane, 7 * lane);
        x.set(lane, 0.1 * lane);
    }
    const auto [together, of_p] = few(x, Lanes(0.1), turns, Lanes(1.0));
    for (int lane = 0; lane < 8; ++lane) {
        const auto [alone, p_alone] =
            kept(Lanes(x[lane]), Lanes(0.1), Lanes(turns[lane]), Lanes(1.0));
        CHECK(together[lane] == alone[0]);
        CHECK(of_p[lane] == p_alone[0]);
    }
}

TEST_CASE("second derivatives, halves and the interpreter go through checkpoints of a while") {
    constexpr auto kept = eddy::vjp<0, 1>(eddy::trace<Scalar, Scalar, Scalar>(Climb<0>{}));
    constexpr auto few = eddy::vjp<0, 1>(eddy::trace<Scalar, Scalar, Scalar>(Climb<4>{}));
    const auto [x, p] = eddy::vjp<0, 1>(kept)(0.3, 0.1, 21.0, 1.0, 1.0, 0.5);
    const auto [few_x, few_p] = eddy::vjp<0, 1>(few)(0.3, 0.1, 21.0, 1.0, 1.0, 0.5);
    CHECK(few_x == Approx(x).epsilon(1e-13));
    CHECK(few_p == Approx(p).epsilon(1e-13));
    const auto [dual, dual_p] = few(Dual<double>(0.3, 1.0), Dual<double>(0.1, 0.5), 21.0, 1.0);
    CHECK(dual.tangent == Approx(x).epsilon(1e-12));
    CHECK(dual_p.tangent == Approx(p).epsilon(1e-12));
    const auto [jvp_x, jvp_p] = eddy::jvp<0, 1>(few)(0.3, 0.1, 21.0, 1.0, 1.0, 0.5);
    CHECK(jvp_x == Approx(x).epsilon(1e-12));
    CHECK(jvp_p == Approx(p).epsilon(1e-12));

    const auto [once, once_p] = kept(0.3, 0.1, 21.0, 1.0);
    const std::vector<eddy::LaneArray<double>> arguments{
        {1, 1, 0.3}, {1, 1, 0.1}, {1, 1, 21.0}, {1, 1, 1.0}};
    const auto interpreted = eddy::interpret<double>(decltype(few)::code.thaw(), arguments);
    CHECK(interpreted[0](0, 0) == once);
    CHECK(interpreted[1](0, 0) == once_p);
    using F = eddy::Program<decltype(eddy::trace<Scalar, Scalar, Scalar>(Climb<4>{}))::recipe>;
    const auto half = eddy::differentiable<0, 1>(F{}, eddy::nothing_saveable);
    const auto [half_x, half_p] = half.linearize(0.3, 0.1, 21.0).pullback(1.0);
    CHECK(half_x == once);
    CHECK(half_p == once_p);
}
