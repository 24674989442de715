#pragma once
// Random functors f(t, x, w) of a scalar, a vector of 3 and a vector of 12 components: the seed
// decides at compile time which expression they are. They use every function of the DSL where it is
// finite and smooth almost everywhere, on plain numbers as on traced values.

#include <eddy/core/vec_math.hpp>
#include <eddy/trace/functions.hpp>

#include "support/random.hpp"

namespace support {

using Seed = std::uint64_t;

namespace random_function {

constexpr int choose(Seed seed, int bound) { return Random(seed).below(bound); }
constexpr Seed child(Seed seed, int k) { return Random(seed + static_cast<Seed>(k) * 77).bits(); }
constexpr double number(Seed seed) { return Random(seed + 5).uniform(-2, 2); }

/// The inputs that every subexpression may use.
template <class T, class X, class W>
struct Inputs {
    const T& t;
    const X& x;
    const W& w;
};

template <Seed seed, int depth>
constexpr auto scalar(const auto& in);
template <Seed seed, int depth>
constexpr auto vector(const auto& in);

template <Seed seed>
constexpr auto scalar_leaf(const auto& in) {
    constexpr int kind = choose(seed, 5);
    if constexpr (kind == 0)
        return in.t + number(seed);
    else if constexpr (kind == 1)
        return number(seed) * in.w[choose(child(seed, 1), 12)];
    else
        return in.x[choose(child(seed, 1), 3)];
}

template <int kind>
constexpr auto unary(const auto& s) {
    const auto small = 0.9 * eddy::tanh(s);
    if constexpr (kind == 0) return -s;
    if constexpr (kind == 1) return eddy::sqrt(1 + s * s);
    if constexpr (kind == 2) return eddy::cbrt(2 + eddy::sin(s));
    if constexpr (kind == 3) return eddy::exp(small);
    if constexpr (kind == 4) return eddy::expm1(-eddy::abs(s));
    if constexpr (kind == 5) return eddy::log(1.5 + s * s);
    if constexpr (kind == 6) return eddy::log1p(s * s);
    if constexpr (kind == 7) return eddy::sin(s);
    if constexpr (kind == 8) return eddy::cos(s);
    if constexpr (kind == 9) return eddy::tan(small);
    if constexpr (kind == 10) return eddy::asin(small);
    if constexpr (kind == 11) return eddy::acos(small);
    if constexpr (kind == 12) return eddy::atan(s);
    if constexpr (kind == 13) return eddy::sinh(small);
    if constexpr (kind == 14) return eddy::cosh(small);
    if constexpr (kind == 15) return eddy::erf(s);
    if constexpr (kind == 16) return eddy::floor(s) + small;
    if constexpr (kind == 17) return eddy::sign(s) * small;
    if constexpr (kind == 18) return eddy::sigmoid(s);
    if constexpr (kind == 19) return eddy::softplus(s);
    if constexpr (kind == 20) return eddy::relu(s);
    if constexpr (kind == 21) return eddy::silu(s);
    if constexpr (kind == 22) return eddy::gelu(s);
    if constexpr (kind == 23) return eddy::pow(small, 3) - eddy::pow(1 + small, 2);
    if constexpr (kind == 24) return eddy::pow(2 + small, -2);
    if constexpr (kind == 25) return eddy::checkpoint_name(s, "subexpression");
    if constexpr (kind == 26) return eddy::erfc(s);
    if constexpr (kind == 27) return eddy::erfcx(small) - eddy::log_erfc(small);
    if constexpr (kind == 28) return eddy::lgamma(1.5 + small);
    if constexpr (kind == 29) return eddy::digamma(1.5 + small);
    if constexpr (kind == 30) return eddy::trigamma(2 + small);
}
inline constexpr int num_unary = 31;

template <int kind>
constexpr auto binary(const auto& s, const auto& r) {
    if constexpr (kind == 0) return s + r;
    if constexpr (kind == 1) return s - r;
    if constexpr (kind == 2) return s * r;
    if constexpr (kind == 3) return s / (2 + r * r);
    if constexpr (kind == 4) return eddy::atan2(s, 1 + r * r);
    if constexpr (kind == 5) return eddy::min(s, r);
    if constexpr (kind == 6) return eddy::max(s, r);
    if constexpr (kind == 7) return eddy::clamp(s, -1.0, r);
    if constexpr (kind == 8) return eddy::fma(s, r, s);
    if constexpr (kind == 9) return eddy::pow(1 + s * s, 0.5 * eddy::tanh(r));
    if constexpr (kind == 10) return eddy::stop_gradient(s) * r;
    if constexpr (kind == 11) return eddy::select(s < r, s * s, r);
    if constexpr (kind == 12) return eddy::select(s >= r, r, 0.25);
    // Contraction finds these.
    if constexpr (kind == 13) return s * r + r;
    if constexpr (kind == 14) return s * r - s;
    if constexpr (kind == 15) return r - s * r;
}
inline constexpr int num_binary = 16;

template <Seed seed, int depth>
constexpr auto scalar(const auto& in) {
    if constexpr (depth == 0) {
        return scalar_leaf<seed>(in);
    } else {
        constexpr int kind = choose(seed, 12);
        constexpr Seed left = child(seed, 1), right = child(seed, 2);
        if constexpr (kind < 4) {
            return unary<choose(left, num_unary)>(scalar<child(left, 1), depth - 1>(in));
        } else if constexpr (kind < 7) {
            return binary<choose(left, num_binary)>(scalar<child(left, 1), depth - 1>(in),
                                                    scalar<right, depth - 1>(in));
        } else if constexpr (kind == 7) {
            const auto s = scalar<left, depth - 1>(in), r = scalar<right, depth - 1>(in);
            return eddy::select((s < r && !(in.t <= s)) || r > 1.0 || s == r, s - r, s + r);
        } else if constexpr (kind == 8) {
            return eddy::dot(vector<left, depth - 1>(in), vector<right, depth - 1>(in));
        } else if constexpr (kind == 9) {
            return eddy::norm(vector<left, depth - 1>(in));
        } else if constexpr (kind == 10) {
            return eddy::sum(vector<left, depth - 1>(in));
        } else {
            return vector<left, depth - 1>(in)[choose(right, 3)];
        }
    }
}

/// An expression of 3 components.
template <Seed seed, int depth>
constexpr auto vector(const auto& in) {
    if constexpr (depth == 0) {
        constexpr int first = choose(seed, 10);
        if constexpr (choose(child(seed, 1), 2) == 0)
            return eddy::slice<first, 3>(in.w) * 0.5;
        else
            return in.x - in.t;
    } else {
        constexpr int kind = choose(seed, 9);
        constexpr Seed left = child(seed, 1), right = child(seed, 2);
        const auto v = vector<left, depth - 1>(in);
        if constexpr (kind < 2) {
            return unary<choose(right, num_unary)>(v);
        } else if constexpr (kind < 4) {
            return binary<choose(right, num_binary)>(v, vector<child(right, 1), depth - 1>(in));
        } else if constexpr (kind == 4) {
            return binary<choose(right, num_binary)>(v, scalar<child(right, 1), depth - 1>(in));
        } else if constexpr (kind == 5) {
            return eddy::vec(v[2], scalar<right, depth - 1>(in), v[0]);
        } else if constexpr (kind == 6) {
            return eddy::slice<2, 3>(eddy::concat(v, vector<right, depth - 1>(in)));
        } else if constexpr (kind == 7) {
            return eddy::slice<1, 3>(
                eddy::concat(eddy::concat(scalar<right, depth - 1>(in), v), v));
        } else {
            return eddy::dense(eddy::slice<0, 9>(in.w), eddy::slice<9, 3>(in.w), v);
        }
    }
}

}  // namespace random_function

template <Seed seed, int depth = 3>
struct RandomFunction {
    static constexpr int x_size = 3, w_size = 12;
    constexpr auto operator()(const auto& t, const auto& x, const auto& w) const {
        namespace random = random_function;
        const random::Inputs<std::remove_cvref_t<decltype(t)>, std::remove_cvref_t<decltype(x)>,
                             std::remove_cvref_t<decltype(w)>>
            in{t, x, w};
        // Consecutive seeds meet every function, whatever the random expressions are made of.
        constexpr int place = static_cast<int>(seed);
        const auto every = random::binary<place % random::num_binary>(
            random::unary<2 * place % random::num_unary>(x[0]),
            random::unary<(2 * place + 1) % random::num_unary>(w[0]));
        return eddy::concat(eddy::concat(random::vector<random::child(seed, 1), depth>(in),
                                         random::scalar<random::child(seed, 2), depth>(in)),
                            every);
    }
};

}  // namespace support
