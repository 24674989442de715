// The adjoint of CVODES: that of benchmarks/solve/cvodes_lorenz.cpp, as an arm.

#include "../../solve/peers.hpp"

#include "arm.hpp"

namespace {

using namespace peers;
using benchmark::CvodesAdjoint;

class Cvodes : public Arm {
  public:
    explicit Cvodes(const Options& options)
        : lanes_(options),
          choices_{options.text("method") == "bdf" ? CvodesAdjoint::Method::bdf
                                                   : CvodesAdjoint::Method::adams,
                   CvodesAdjoint::Interpolation::polynomial, 1},
          gradients_(static_cast<std::size_t>(lanes_.num_run())) {
        if (options.text("problem") != "lorenz")
            throw std::runtime_error("not built for " + options.text("problem"));
        set_tolerance(options.number("tolerance", 1e-6));
    }
    [[nodiscard]] std::string setting() const override {
        return std::string(choices_.method == CvodesAdjoint::Method::adams
                               ? "Adams, fixed-point iteration"
                               : "BDF, dense Jacobian by hand") +
               ", polynomial interpolation, same tolerances forward, backward and in quadratures, "
               "all steps kept, CVodeAdjReInit";
    }
    void set_tolerance(double tolerance) override {
        adjoint_ = std::make_unique<CvodesAdjoint>(choices_, tolerance);
    }
    Counts run() override {
        for (std::size_t lane = 0; lane < gradients_.size(); ++lane) {
            const double *y = &lanes_.y0[3 * lane], *p = &lanes_.p[3 * lane];
            gradients_[lane] = adjoint_->gradient({y[0], y[1], y[2]}, {p[0], p[1], p[2]});
        }
        return {};
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(lanes_, 3, [&](int lane, int i) {
            return gradients_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
        });
    }

  private:
    Lanes lanes_;
    CvodesAdjoint::Choices choices_;
    std::unique_ptr<CvodesAdjoint> adjoint_;
    std::vector<benchmark::State> gradients_;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<Cvodes>(options);
    });
}
