// The stochastic equation of case 9: moments of its paths, and the gradient of the second one with respect to parameters that all paths
// share.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

struct Geometric {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};

eddy::SolveOptions noise_options(const Options& options) {
    const int steps = options.integer("steps");
    return {.t1 = 1, .dt0 = 1. / steps, .checkpoints = options.integer("checkpoints"), .seed = 7};
}

/// One solver object, called again and again; `Solver` solves or differentiates.
template <class Solver>
class EddyNoise : public Arm {
  public:
    explicit EddyNoise(const Options& options)
        : lanes_(options),
          setting_("EulerMaruyama, Cpu with " + options.text("cores", "1") +
                   " thread(s), solver object kept from call to call"),
          y0_(to_array<double>(lanes_.y0, lanes_.num_run(), 1)),
          p_(lanes_.p.begin(), lanes_.p.begin() + 2),
          solver_(noise_options(options), eddy::ConstantController{},
                  make_backend<eddy::Cpu>(options)) {
        if (const int checkpoints = options.integer("checkpoints"); checkpoints > 0)
            setting_ += ", " + std::to_string(checkpoints) + " checkpoints";
    }
    [[nodiscard]] std::string setting() const override { return setting_; }
    Counts run() override {
        result_ = &solver_(y0_, eddy::shared(p_));
        return counts_of(outcomes(*result_));
    }
    [[nodiscard]] std::vector<double> values() const override {
        const double paths = lanes_.num_run();
        if constexpr (requires { result_->gradient; }) {
            return {result_->gradient.p(0, 0) / paths, result_->gradient.p(0, 1) / paths};
        } else {
            double first = 0, second = 0;
            for (int lane = 0; lane < lanes_.num_run(); ++lane) {
                const double y = result_->y()(lane, 0);
                first += y / paths;
                second += y * y / paths;
            }
            return {first, second};
        }
    }

  private:
    using Array = eddy::EnsembleArray<double>;
    using Shared = decltype(eddy::shared(std::declval<const std::vector<double>&>()));
    using Result = std::remove_cvref_t<decltype(std::declval<Solver&>()(
        std::declval<const Array&>(), std::declval<Shared>()))>;
    Lanes lanes_;
    std::string setting_;
    Array y0_;
    std::vector<double> p_;
    Solver solver_;
    const Result* result_ = nullptr;
};

using Forward =
    eddy::EnsembleSolver<Geometric, eddy::EulerMaruyama, eddy::ConstantController, eddy::Cpu>;
using Gradient = eddy::GradientSolver<Geometric, eddy::EulerMaruyama, SquaredNorm,
                                      eddy::ConstantController, eddy::Cpu>;

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) {
        return choose(options.text("task"), options,
                      {{"noise", make_arm<EddyNoise<Forward>>},
                       {"noise-gradient", make_arm<EddyNoise<Gradient>>}});
    });
}
