#pragma once
// Polynomials in time and two components, and what the generator of an Itô equation makes of them: means
// of functions of its solution over a short time, to rounding, whatever its noises.

#include <array>
#include <eddy/core/vec.hpp>
#include <map>
#include <tuple>

namespace support {

class Polynomial {
  public:
    using Powers = std::array<int, 3>;  // of t, y1, y2

    Polynomial(double constant = 0) { add({}, constant); }
    static Polynomial variable(int which) {
        Polynomial result;
        Powers powers{};
        powers[static_cast<std::size_t>(which)] = 1;
        result.add(powers, 1);
        return result;
    }

    friend Polynomial operator+(Polynomial x, const Polynomial& y) {
        for (const auto& [powers, factor] : y.terms_) x.add(powers, factor);
        return x;
    }
    friend Polynomial operator*(const Polynomial& x, const Polynomial& y) {
        Polynomial product;
        for (const auto& [a, factor] : x.terms_) {
            for (const auto& [b, other] : y.terms_)
                product.add({a[0] + b[0], a[1] + b[1], a[2] + b[2]}, factor * other);
        }
        return product;
    }
    friend Polynomial operator-(const Polynomial& x, const Polynomial& y) { return x + -1. * y; }

    [[nodiscard]] Polynomial derivative(int which) const {
        const auto i = static_cast<std::size_t>(which);
        Polynomial result;
        for (const auto& [powers, factor] : terms_) {
            Powers lower = powers;
            const double power = lower[i]--;
            if (power > 0) result.add(lower, power * factor);
        }
        return result;
    }
    [[nodiscard]] double at(double t, const eddy::Vec<double, 2>& y) const {
        double sum = 0;
        for (const auto& [powers, factor] : terms_)
            sum += factor * power(t, powers[0]) * power(y[0], powers[1]) * power(y[1], powers[2]);
        return sum;
    }

  private:
    static double power(double x, int exponent) {
        return exponent == 0 ? 1 : x * power(x, exponent - 1);
    }
    void add(const Powers& powers, double factor) {
        if (factor != 0) terms_[powers] += factor;
    }

    std::map<Powers, double> terms_;
};

/// Of dy = drift dt + Σ_k g_k dW_k, both polynomials: L φ = ∂φ/∂t + drift·∇φ + ½ Σ_k g_kᵀ (∇∇φ) g_k.
template <class Field>
class Generator {
  public:
    Generator() {
        const Polynomial t = Polynomial::variable(0);
        const eddy::Vec<Polynomial, 2> y{{Polynomial::variable(1), Polynomial::variable(2)}};
        const double* const no_parameters = nullptr;
        drift_ = Field{}.drift(t, y, no_parameters);
        std::apply([&](const auto&... column) { (add_squares(column), ...); },
                   Field{}.diffusion(t, y, no_parameters).column);
    }
    [[nodiscard]] Polynomial operator()(const Polynomial& of) const {
        Polynomial result = of.derivative(0);
        for (int i = 0; i < 2; ++i) {
            result = result + drift_[i] * of.derivative(1 + i);
            for (int j = 0; j < 2; ++j)
                result = result + 0.5 * squares_[i][j] * of.derivative(1 + i).derivative(1 + j);
        }
        return result;
    }
    /// E φ(y(t + h)) for y(t) = y, by the first six terms of Σ_k h^k/k! L^k φ.
    [[nodiscard]] double mean(Polynomial of, double t, const eddy::Vec<double, 2>& y,
                              double h) const {
        double sum = 0, factor = 1;
        for (int k = 0; k < 6; ++k) {
            sum += factor * of.at(t, y);
            of = (*this)(of);
            factor *= h / (k + 1);
        }
        return sum;
    }

  private:
    void add_squares(const auto& column) {
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j)
                squares_[i][j] = squares_[i][j] + Polynomial(column[i]) * Polynomial(column[j]);
        }
    }

    eddy::Vec<Polynomial, 2> drift_;
    Polynomial squares_[2][2];  // Σ_k g_k g_kᵀ
};

}  // namespace support
