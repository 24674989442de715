#pragma once
// Lorenz's equation by hand, behind the interface to equations on rows.

#include <cmath>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <memory>

namespace test {

/// dy/dt = (σ (y₁ − y₀), y₀ (ρ − y₂) − y₁, y₀ y₁ − β y₂), contracted as eddy contracts it.
class LorenzOnTile : public eddy::FieldOnTile {
  public:
    using FieldOnTile::FieldOnTile;
    int num_residuals() const override { return 0; }
    void f(const double*, const double* y, const double* p, double* dy) override {
        const int w = width();
        for (int lane = 0; lane < w; ++lane) {
            const double x0 = y[lane], x1 = y[w + lane], x2 = y[2 * w + lane];
            dy[lane] = p[lane] * (x1 - x0);
            dy[w + lane] = std::fma(x0, p[w + lane] - x2, -x1);
            dy[2 * w + lane] = std::fma(x0, x1, -(p[2 * w + lane] * x2));
        }
    }
    void forward(const double* t, const double* y, const double* p, double* dy, double*) override {
        f(t, y, p, dy);
    }
    void pull(const double*, const double* y, const double* p, const double*, const double* c,
              double* ybar, double* pbar) override {
        const int w = width();
        for (int lane = 0; lane < w; ++lane) {
            const double x0 = y[lane], x1 = y[w + lane], x2 = y[2 * w + lane];
            const double c0 = c[lane], c1 = c[w + lane], c2 = c[2 * w + lane];
            ybar[lane] = -p[lane] * c0 + (p[w + lane] - x2) * c1 + x1 * c2;
            ybar[w + lane] = p[lane] * c0 - c1 + x0 * c2;
            ybar[2 * w + lane] = -x0 * c1 - p[2 * w + lane] * c2;
            pbar[lane] += (x1 - x0) * c0;
            pbar[w + lane] += x0 * c1;
            pbar[2 * w + lane] -= x2 * c2;
        }
    }
};

class LorenzMaker : public eddy::FieldMaker {
  public:
    LorenzMaker() : FieldMaker({.states = 3, .parameters = 3, .reads_time = false}) {}
    std::unique_ptr<eddy::FieldOnTile> on_tile(int width) const override {
        return std::make_unique<LorenzOnTile>(sizes(), width);
    }
};

}  // namespace test
