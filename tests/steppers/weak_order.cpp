// Weak orders without chance: the mean over one step is a sum over the nodes of a quadrature for the
// noise, its distance from the exact mean falls by one order more than the method has.

#include <cmath>
#include <eddy/solvers/dri1.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/milstein.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "support/catch.hpp"

namespace {

/// Nodes and weights of the mean over a normal: Gauss & Hermite (Abramowitz & Stegun, table 25.10).
struct Rule {
    int count;
    double node[8], weight[8];
};
constexpr Rule three{3, {-1.7320508075688772, 0, 1.7320508075688772}, {1. / 6, 2. / 3, 1. / 6}};
constexpr Rule eight{
    8,
    {-4.1445471861258945, -2.8024858612875416, -1.6365190424351080, -0.53907981135137511,
     0.53907981135137511, 1.6365190424351080, 2.8024858612875416, 4.1445471861258945},
    {1.1261453837536778e-4, 9.6352201207882630e-3, 0.11723990766175897, 0.37301225767907733,
     0.37301225767907733, 0.11723990766175897, 9.6352201207882630e-3, 1.1261453837536778e-4}};

/// The path of a step whose normals are given.
struct GivenPath {
    double z[2], root;

    template <class Real, int noises, bool with_area>
    eddy::BrownianIncrements<Real, noises, with_area> increments() const {
        static_assert(!with_area);
        eddy::BrownianIncrements<Real, noises, with_area> result{};
        for (int k = 0; k < noises; ++k) result.w[k] = root * z[k];
        return result;
    }
    template <class Real>
    Real root_of_size() const {
        return root;
    }
};

/// Geometric Brownian motion beside tan⁻¹ of Brownian motion: both have exact solutions.
struct Diagonal {
    static constexpr int state_size = 2, parameter_size = 2, num_noises = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        using std::sin, std::cos;
        const auto c = cos(y[1]);
        return eddy::vec(p[0] * y[0], -1. * sin(y[1]) * c * c * c);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        using std::cos;
        return eddy::vec(p[1] * y[0], cos(y[1]) * cos(y[1]));
    }
    static eddy::Vec<double, 2> exact(const double* p, double h, const double* w) {
        return {
            {std::exp((p[0] - p[1] * p[1] / 2) * h + p[1] * w[0]), std::atan(w[1] + std::tan(1.))}};
    }
};
/// One noise drives both components.
struct OneNoise {
    static constexpr int state_size = 2, parameter_size = 2, noise_size = 1, num_noises = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0], (p[0] + p[1] * p[1]) * y[1]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0], -p[1] * y[1]);
    }
    static eddy::Vec<double, 2> exact(const double* p, double h, const double* w) {
        return {{std::exp((p[0] - p[1] * p[1] / 2) * h + p[1] * w[0]),
                 std::exp((p[0] + p[1] * p[1] / 2) * h - p[1] * w[0])}};
    }
};
/// Additive noise that depends on time, of a linear equation: y1 and y2 are normal.
struct Additive {
    static constexpr int state_size = 2, parameter_size = 2, num_noises = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], -p[1] * y[1] + t);
    }
    constexpr auto diffusion(auto t, const auto&, const auto& p) const {
        return eddy::vec(p[1] * t, 0.3 + t);
    }
};

using State = eddy::Vec<double, 2>;
constexpr double p[2] = {0.4, 0.7}, begin = 0.5;

/// Functions of the state whose means are compared.
constexpr int num_functions = 4;
double function(int which, const State& y) {
    return which == 0   ? y[0]
           : which == 1 ? y[0] * y[0] * y[0]
           : which == 2 ? y[0] * y[1] * y[1]
                        : y[1] * y[1] * y[1];
}

/// Means over the nodes of one noise or two.
template <class Field, class End>
eddy::Vec<double, num_functions> means(const Rule& rule, const End& end) {
    eddy::Vec<double, num_functions> sums{};
    const int others = Field::num_noises == 2 ? rule.count : 1;
    for (int i = 0; i < rule.count; ++i) {
        for (int j = 0; j < others; ++j) {
            const double z[2] = {rule.node[i], rule.node[j]};
            const double weight = rule.weight[i] * (others > 1 ? rule.weight[j] : 1);
            const State y = end(z);
            for (int k = 0; k < num_functions; ++k) sums[k] += weight * function(k, y);
        }
    }
    return sums;
}
template <class Field, class Method>
auto means_of_step(const Rule& rule, double h) {
    using Stepper = eddy::StepperFor<eddy::TermOf<Field>, Method, false>;
    return means<Field>(rule, [&](const double* z) {
        const eddy::StepSize<double, double> dt{h, h};
        const double* const parameters = p;
        const State y{{1, 1}};
        const GivenPath path{{z[0], z[1]}, std::sqrt(h)};
        return Stepper::step(eddy::StepInput{begin, y, parameters, dt, path}, eddy::NoMemory{});
    });
}
template <class Field>
auto exact_means(double h) {
    return means<Field>(eight, [&](const double* z) {
        const double w[2] = {std::sqrt(h) * z[0], std::sqrt(h) * z[1]};
        return Field::exact(p, h, w);
    });
}

/// The least slope of log2 of the distances of the means over halvings of the step.
template <class Field, class Method, class Exact>
double local_order(const Rule& rule, const Exact& exact) {
    double order = 100;
    for (int k = 0; k < num_functions; ++k) {
        const auto distance = [&](double h) {
            return std::abs(means_of_step<Field, Method>(rule, h)[k] - exact(h)[k]);
        };
        const double coarse = distance(1. / 32), fine = distance(1. / 256);
        INFO("function " << k << ": " << coarse << ", " << fine);
        if (fine > 1e-13) order = std::fmin(order, std::log2(coarse / fine) / 3);
    }
    return order;
}
template <class Field, class Method>
double order_of(const Rule& rule) {
    return local_order<Field, Method>(rule, [](double h) { return exact_means<Field>(h); }) - 1;
}

}  // namespace

TEST_CASE("weak order: two of DRI1, for noise that is diagonal and one for all") {
    CHECK(order_of<Diagonal, eddy::DRI1>(three) > 1.9);
    CHECK(order_of<OneNoise, eddy::DRI1>(three) > 1.9);
}

TEST_CASE("weak order: two of DRI1, for additive noise that depends on time") {
    // Means of products of two independent normal variables, from their means and variances.
    const auto exact = [](double h) {
        const auto integral = [&](auto weight) {  // Simpson's rule, with an error of h^9
            double sum = 0;
            for (int k = 0; k <= 64; ++k)
                sum += (k == 0 || k == 64 ? 1 : k % 2 == 1 ? 4 : 2) * weight(k * h / 64);
            return sum * h / 192;
        };
        double m[2], v[2];
        for (int i = 0; i < 2; ++i) {
            const auto decay = [&](double s) { return std::exp(-p[i] * (h - s)); };
            m[i] = std::exp(-p[i] * h) +
                   (i == 1 ? integral([&](double s) { return decay(s) * (begin + s); }) : 0);
            v[i] = integral([&](double s) {
                return std::pow(decay(s) * (i == 0 ? p[1] * (begin + s) : 0.3 + begin + s), 2);
            });
        }
        return eddy::Vec<double, num_functions>{{m[0], m[0] * m[0] * m[0] + 3 * m[0] * v[0],
                                                 m[0] * (m[1] * m[1] + v[1]),
                                                 m[1] * m[1] * m[1] + 3 * m[1] * v[1]}};
    };
    CHECK(local_order<Additive, eddy::DRI1>(three, exact) - 1 > 1.9);
}

TEST_CASE("weak order: one of the others") {
    CHECK(order_of<Diagonal, eddy::EulerMaruyama>(eight) > 0.9);
    CHECK(order_of<Diagonal, eddy::Milstein>(eight) > 0.9);
    CHECK(order_of<OneNoise, eddy::EulerMaruyama>(eight) > 0.9);
    CHECK(order_of<OneNoise, eddy::EulerMaruyama>(eight) < 1.3);  // no better than it should be
}

TEST_CASE("weak order: the three values of DRI1 come as often as they should") {
    // Of 2^16 steps; bounds are five standard errors.
    constexpr int count = 1 << 16;
    eddy::NoisePlan plan;
    plan.key = eddy::PhiloxKey(3);
    int up = 0, down = 0;
    for (int step = 0; step < count; ++step) {
        const eddy::BrownianPath<double> path({0, 0, 0.25}, plan, {0, static_cast<double>(step)});
        const eddy::StepNoise<double, 1, eddy::DRI1> noise(path);
        const double w = noise.path.w[0];
        REQUIRE((w == 0 || std::abs(std::abs(w) - std::sqrt(0.75)) < 1e-15));
        up += w > 0 ? 1 : 0;
        down += w < 0 ? 1 : 0;
    }
    const double bound = 5 * std::sqrt(count * 5. / 36);
    CHECK(std::abs(up - count / 6.) < bound);
    CHECK(std::abs(down - count / 6.) < bound);
}
