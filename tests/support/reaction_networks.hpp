#pragma once
// Random networks of reactions by mass action, all of them parameters of one field, and where they come to
// rest by a text of their own: small steps.

#include <algorithm>
#include <cmath>
#include <eddy/core/vec_math.hpp>
#include <eddy/linalg/dense_lu.hpp>

#include "support/random.hpp"

namespace support {

/// Three species, and a fourth that an algebraic equation determines: what flows into each is the sum over
/// all products of at most two species, with weights from p (product, species).
struct ReactionNetwork {
    static constexpr int state_size = 4, num_products = 15;
    static constexpr int parameter_size = num_products * state_size;
    static constexpr double mass[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {}};
    /// How often each species is a factor.
    static constexpr int factors[num_products][4] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1},
        {2, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}, {0, 2, 0, 0},
        {0, 1, 1, 0}, {0, 1, 0, 1}, {0, 0, 2, 0}, {0, 0, 1, 1}, {0, 0, 0, 2}};

    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        auto flow = eddy::vec(p[0], p[1], p[2], p[3]);
        int product = 1;
        const auto add = [&](const auto& value) {
            for (int i = 0; i < 4; ++i) flow[i] += p[4 * product + i] * value;
            ++product;
        };
        for (int i = 0; i < 4; ++i) add(y[i]);
        for (int i = 0; i < 4; ++i) {
            for (int j = i; j < 4; ++j) add(y[i] * y[j]);
        }
        return flow;
    }
};

/// One of them, with a start.
class RandomNetwork {
  public:
    using State = eddy::Vec<double, 4>;
    using Parameters = eddy::Vec<double, ReactionNetwork::parameter_size>;
    State y0{};
    Parameters p{};

    /// Closed: the sum of masses is conserved, and by three of the reactions it is all that is; what stands
    /// for the fourth equation is a sum, unless `as_it_stands`. Open: species flow in and out, and the
    /// fourth, which takes part in reactions, is the sum of two.
    RandomNetwork(std::uint64_t seed, bool is_closed, bool as_it_stands = false) : random_(seed) {
        for (int i = 0; i < 4; ++i) y0[i] = power_of_ten(-2, 1);
        if (is_closed)
            close(as_it_stands);
        else
            open();
    }

    /// Where it comes to rest: Euler's linearly implicit steps, extrapolated, with errors of 1e-4. False
    /// where it runs away, or does not come to rest.
    [[nodiscard]] bool find_rest(State& y) const {
        y = y0;
        double h = 1e-9;
        for (int step = 0; step < 100000; ++step) {
            const State whole = euler(y, h), half = euler(euler(y, h / 2), h / 2);
            const State next = half + half - whole;
            double error = 0, moved = 0;
            for (int i = 0; i < 4; ++i) {
                const double scale = std::max(std::abs(y[i]), std::abs(next[i])) + 1e-9;
                error = std::max(error, 1e4 * std::abs(half[i] - whole[i]) / scale);
                moved = std::max(moved, std::abs(next[i] - y[i]) / scale);
                if (!(std::abs(next[i]) < 1e9)) return false;
            }
            if (error <= 1) y = next;
            if (error <= 1 && moved < 1e-7 && h > 1e4) return true;
            h *= std::clamp(0.8 / std::sqrt(error), 0.2, 5.);
        }
        return false;
    }

  private:
    using Lu = eddy::DenseLu<double, 4>;
    static constexpr double masses[4] = {1, 1, 2, 2};

    [[nodiscard]] double power_of_ten(double low, double high) {
        return std::pow(10., random_.uniform(low, high));
    }
    void react(int from, int to) {
        const double rate = power_of_ten(-2, 3);
        for (int i = 0; i < 4; ++i)
            p[4 * from + i] +=
                rate * (ReactionNetwork::factors[to][i] - ReactionNetwork::factors[from][i]);
    }
    void react_both_ways(int a, int b) {
        react(a, b);
        react(b, a);
    }
    void set_last_equation(double constant, const double (&weights)[4]) {
        for (int k = 0; k < ReactionNetwork::num_products; ++k) p[4 * k + 3] = 0;
        p[3] = constant;
        for (int i = 0; i < 4; ++i) p[4 * (1 + i) + 3] = weights[i];
    }
    void open() {
        const int last = ReactionNetwork::num_products;
        for (int k = 0; k < 2; ++k) react(0, 1 + random_.below(3));
        for (int i = 0; i < 3; ++i) react(1 + i, 0);
        for (int k = 0; k < 6; ++k) react(random_.below(last), random_.below(last));
        y0[3] = y0[0] + y0[1];
        set_last_equation(0, {1, 1, 0, -1});
    }
    void close(bool as_it_stands) {
        react_both_ways(1, 2);  // A ⇌ B, 2 A ⇌ C, A + B ⇌ D
        react_both_ways(5, 3);
        react_both_ways(6, 4);
        for (int k = 0; k < 3;) {
            const int a = random_.below(15), b = random_.below(15);
            if (a == b || mass_of(a) != mass_of(b)) continue;
            react_both_ways(a, b);
            ++k;
        }
        double total = 0;
        for (int i = 0; i < 4; ++i) total += masses[i] * y0[i];
        if (!as_it_stands) set_last_equation(total, {-1, -1, -2, -2});
    }
    [[nodiscard]] static double mass_of(int product) {
        double sum = 0;
        for (int i = 0; i < 4; ++i) sum += masses[i] * ReactionNetwork::factors[product][i];
        return sum;
    }

    [[nodiscard]] double derivative(const State& y, int i, int j) const {
        double sum = 0;
        for (int product = 0; product < ReactionNetwork::num_products; ++product) {
            const auto& factors = ReactionNetwork::factors[product];
            double value = factors[j];
            for (int k = 0; k < 4; ++k)
                value *= std::pow(y[k], std::max(factors[k] - (k == j ? 1 : 0), 0));
            sum += p[4 * product + i] * value;
        }
        return sum;
    }
    [[nodiscard]] State euler(const State& y, double h) const {
        Lu::Matrix matrix{};
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j)
                matrix[i][j] = (i == j && i < 3 ? 1 / h : 0) - derivative(y, i, j);
        }
        Lu lu;
        static_cast<void>(lu.factor(matrix));
        return y + lu.solve(ReactionNetwork{}(0., y, p));
    }

    Random random_;
};

}  // namespace support
