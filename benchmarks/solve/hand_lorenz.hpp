#pragma once
// The Lorenz equations by Tsit5 as one writes it by hand for one trajectory: scalar loop, explicit
// stages, hand-derived adjoint, stored trajectory. The yardstick for a single lane and, in long
// double with small steps, the reference of all achieved errors: at 1/4000 the method's error is
// below 1e-15. The controller and the choice of the first step are eddy's, so that all arms take
// the same steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <limits>
#include <vector>

namespace benchmark {

template <class Real>
struct Vec3 {
    Real x, y, z;
    friend Vec3 operator+(const Vec3& a, const Vec3& b) {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
    friend Vec3 operator-(const Vec3& a, const Vec3& b) {
        return {a.x - b.x, a.y - b.y, a.z - b.z};
    }
    friend Vec3 operator*(Real s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
};

template <class Real>
class HandLorenz {
  public:
    using State = Vec3<Real>;
    struct Tolerances {
        Real rtol, atol;
    };
    struct Gradient {
        State y0, p;  // p: by σ, ρ, β
    };

    Real sigma = 10, rho = 28, beta = Real(8) / 3;

    /// y(t1) with steps of constant size.
    State solve_fixed(State y, Real t1, int num_steps) {
        steps_.clear();
        const Real dt = t1 / static_cast<Real>(num_steps);
        for (int step = 0; step < num_steps; ++step) {
            steps_.push_back({y, dt});
            State k[7];
            k[0] = f(y);
            y = attempt(y, dt, k);
        }
        return y;
    }

    /// y(t1) with steps chosen by eddy's default controller.
    State solve_adaptive(State y, Real t1, const Tolerances& tolerances) {
        steps_.clear();
        const eddy::PIDController controller;
        eddy::ControllerHistory<float> history;
        Real t = 0, dt = first_step(y, t1, tolerances);
        State k[7];
        k[0] = f(y);
        while (t < t1) {
            const Real left = t1 - t;
            const bool lands = dt * Real(1.01) >= left;
            const Real h = lands ? left : dt;
            const State next = attempt(y, h, k);
            k[6] = f(next);
            const auto norm = static_cast<float>(squared_norm(error(h, k), y, next, tolerances));
            const auto decision = controller.propose(norm, 5, history);
            history = decision.history;
            const Real proposed = h * static_cast<Real>(decision.factor);
            if (norm <= 1) {
                steps_.push_back({y, h});
                t = lands ? t1 : t + h;
                y = next;
                k[0] = k[6];
                dt = lands ? std::max(proposed, dt) : proposed;
            } else {
                dt = proposed;
            }
        }
        return y;
    }

    /// The gradient of a function of the last solve's end, from its gradient there.
    [[nodiscard]] Gradient pull_back(const State& end_cotangent) const {
        Gradient gradient{end_cotangent, {0, 0, 0}};
        for (std::size_t step = steps_.size(); step-- > 0;)
            gradient.y0 = pull_back_step(steps_[step].y, steps_[step].dt, gradient.y0, gradient.p);
        return gradient;
    }

    [[nodiscard]] std::size_t num_steps() const { return steps_.size(); }

  private:
    struct Step {
        State y;
        Real dt;
    };

    static constexpr Real a(int i, int j) {
        return static_cast<Real>(eddy::Tsit5::tableau.a[i][j]);
    }
    static constexpr Real b(int i) { return static_cast<Real>(eddy::Tsit5::tableau.b[i]); }
    static constexpr Real e(int i) { return static_cast<Real>(eddy::Tsit5::tableau.b_error[i]); }

    [[nodiscard]] State f(const State& y) const {
        return {sigma * (y.y - y.x), y.x * (rho - y.z) - y.y, y.x * y.y - beta * y.z};
    }

    /// The new state; computes k[1] to k[5] from k[0].
    [[nodiscard]] State attempt(const State& y, Real h, State (&k)[7]) const {
        k[1] = f(y + h * (a(1, 0) * k[0]));
        k[2] = f(y + h * (a(2, 0) * k[0] + a(2, 1) * k[1]));
        k[3] = f(y + h * (a(3, 0) * k[0] + a(3, 1) * k[1] + a(3, 2) * k[2]));
        k[4] = f(y + h * (a(4, 0) * k[0] + a(4, 1) * k[1] + a(4, 2) * k[2] + a(4, 3) * k[3]));
        k[5] = f(y + h * (a(5, 0) * k[0] + a(5, 1) * k[1] + a(5, 2) * k[2] + a(5, 3) * k[3] +
                          a(5, 4) * k[4]));
        return y + h * (b(0) * k[0] + b(1) * k[1] + b(2) * k[2] + b(3) * k[3] + b(4) * k[4] +
                        b(5) * k[5]);
    }

    [[nodiscard]] static State error(Real h, const State (&k)[7]) {
        return h * (e(0) * k[0] + e(1) * k[1] + e(2) * k[2] + e(3) * k[3] + e(4) * k[4] +
                    e(5) * k[5] + e(6) * k[6]);
    }

    [[nodiscard]] static Real squared_norm(const State& error, const State& y, const State& next,
                                           const Tolerances& tol) {
        const auto ratio = [&](Real of, Real from, Real to) {
            return of / (tol.atol + tol.rtol * std::max(std::abs(from), std::abs(to)));
        };
        const Real x = ratio(error.x, y.x, next.x), v = ratio(error.y, y.y, next.y),
                   z = ratio(error.z, y.z, next.z);
        return (x * x + v * v + z * z) / 3;
    }

    [[nodiscard]] Real first_step(const State& y, Real span, const Tolerances& tolerances) const {
        const auto norm = [&](const State& x) {
            return std::sqrt(squared_norm(x, y, y, tolerances));
        };
        const State f0 = f(y);
        const Real trial = eddy::initial_step_trial(norm(y), norm(f0), span);
        const Real slope = norm(f(y + trial * f0) - f0) / trial;
        return eddy::initial_step(trial, norm(f0), slope, eddy::Tsit5::order, span);
    }

    /// k̄ᵀ∂f/∂y at y; adds k̄ᵀ∂f/∂p.
    [[nodiscard]] State pull_back_f(const State& y, const State& k, State& p_cotangent) const {
        p_cotangent.x += (y.y - y.x) * k.x;
        p_cotangent.y += y.x * k.y;
        p_cotangent.z -= y.z * k.z;
        return {(rho - y.z) * k.y - sigma * k.x + y.y * k.z, sigma * k.x - k.y + y.x * k.z,
                -(y.x * k.y) - beta * k.z};
    }

    [[nodiscard]] State pull_back_step(const State& y0, Real h, const State& next,
                                       State& p_cotangent) const {
        const State k0 = f(y0);
        const State y1 = y0 + h * (a(1, 0) * k0), k1 = f(y1);
        const State y2 = y0 + h * (a(2, 0) * k0 + a(2, 1) * k1), k2 = f(y2);
        const State y3 = y0 + h * (a(3, 0) * k0 + a(3, 1) * k1 + a(3, 2) * k2), k3 = f(y3);
        const State y4 = y0 + h * (a(4, 0) * k0 + a(4, 1) * k1 + a(4, 2) * k2 + a(4, 3) * k3);
        const State k4 = f(y4);
        const State y5 =
            y0 + h * (a(5, 0) * k0 + a(5, 1) * k1 + a(5, 2) * k2 + a(5, 3) * k3 + a(5, 4) * k4);
        const auto pull = [&](const State& y, const State& sum) {
            return pull_back_f(y, h * sum, p_cotangent);
        };
        const State c5 = pull(y5, b(5) * next);
        const State c4 = pull(y4, b(4) * next + a(5, 4) * c5);
        const State c3 = pull(y3, b(3) * next + a(5, 3) * c5 + a(4, 3) * c4);
        const State c2 = pull(y2, b(2) * next + a(5, 2) * c5 + a(4, 2) * c4 + a(3, 2) * c3);
        const State c1 =
            pull(y1, b(1) * next + a(5, 1) * c5 + a(4, 1) * c4 + a(3, 1) * c3 + a(2, 1) * c2);
        const State c0 = pull(y0, b(0) * next + a(5, 0) * c5 + a(4, 0) * c4 + a(3, 0) * c3 +
                                      a(2, 0) * c2 + a(1, 0) * c1);
        return next + c0 + c1 + c2 + c3 + c4 + c5;
    }

    std::vector<Step> steps_;
};

}  // namespace benchmark
