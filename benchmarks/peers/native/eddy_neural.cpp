// The neural ODE of case 5: a gradient with respect to weights that all lanes share, in single precision.

#include "network.hpp"

namespace {

using namespace peers;

class EddyNeural : public Arm {
  public:
    explicit EddyNeural(const Options& options) : lanes_(options) {
        y0_ = to_array<float>(lanes_.y0, lanes_.num_run(), 2);
        weights_ = weights_of<float>(options);
        const int steps = options.integer("steps");
        solver_ = std::make_unique<Solver>(eddy::SolveOptions{.t1 = 1, .dt0 = 1. / steps},
                                           eddy::ConstantController{},
                                           eddy::Tiles{.threads = options.integer("cores", 1)});
    }
    [[nodiscard]] std::string setting() const override {
        return "Dopri5, ConstantController, Tiles, dense layers, shared parameters, float";
    }
    Counts run() override {
        result_ = &(*solver_)(y0_, eddy::shared(weights_));
        return counts_of(result_->report);
    }
    [[nodiscard]] std::vector<double> values() const override {
        return gradient_of_weights(result_->gradient);
    }

  private:
    using Solver = eddy::GradientSolver<Network, eddy::Dopri5, SquaredNorm,
                                        eddy::ConstantController, eddy::Tiles>;
    using Shared = decltype(eddy::shared(std::declval<const std::vector<float>&>()));
    using Result = std::remove_cvref_t<decltype(std::declval<Solver&>()(
        std::declval<eddy::EnsembleArray<float>&>(), std::declval<Shared>()))>;
    Lanes lanes_;
    eddy::EnsembleArray<float> y0_{0, 2};
    std::vector<float> weights_;
    std::unique_ptr<Solver> solver_;
    const Result* result_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<EddyNeural>(options);
    });
}
