// A right-hand side by hand behind the interface that steppers over rows use.

#include <eddy/trace/rows/field_on_tile.hpp>
#include <memory>
#include <vector>
#include "support/catch.hpp"

namespace {

/// dy/dt = -p y.
class DecayOnTile : public eddy::FieldOnTile {
  public:
    DecayOnTile(const eddy::FieldSizes& sizes, int width) : FieldOnTileOf(sizes, width) {}
    int num_residuals() const override { return 0; }
    void f(const double*, const double* y, const double* p, double* dy) override {
        for (int lane = 0; lane < width(); ++lane) dy[lane] = -p[lane] * y[lane];
    }
    void forward(const double* t, const double* y, const double* p, double* dy, double*) override {
        f(t, y, p, dy);
    }
    void pull(const double*, const double* y, const double* p, const double*, const double* c,
              double* ybar, double* pbar) override {
        for (int lane = 0; lane < width(); ++lane) {
            ybar[lane] = -p[lane] * c[lane];
            pbar[lane] -= y[lane] * c[lane];
        }
    }
};

class DecayMaker : public eddy::FieldMaker {
  public:
    DecayMaker() : FieldMaker(eddy::FieldSizes{.states = 1, .parameters = 1}) {}
    std::unique_ptr<eddy::FieldOnTile> on_tile(int width) const override {
        return std::make_unique<DecayOnTile>(sizes(), width);
    }
};

}  // namespace

TEST_CASE("field_on_tile: an equation by hand writes dy and ybar, and adds to pbar") {
    const DecayMaker maker;
    const std::unique_ptr<eddy::FieldOnTile> field = maker.on_tile(8);
    const std::vector<double> t(8, 0.0), y(8, 2.0), p(8, 3.0), c(8, 5.0);
    std::vector<double> dy(8, 7.0), ybar(8, 7.0), pbar(8, 7.0);

    field->f(t.data(), y.data(), p.data(), dy.data());
    field->pull(t.data(), y.data(), p.data(), nullptr, c.data(), ybar.data(), pbar.data());

    CHECK(field->num_states() == 1);
    CHECK(field->num_parameters() == 1);
    CHECK(field->width() == 8);
    CHECK_FALSE(field->reads_time());
    CHECK(dy == std::vector<double>(8, -6.0));
    CHECK(ybar == std::vector<double>(8, -15.0));
    CHECK(pbar == std::vector<double>(8, -3.0));
}
