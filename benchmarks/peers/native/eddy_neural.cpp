// The neural ODE of case 5: a gradient with respect to weights that all lanes share, in single precision.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

struct Network {
    static constexpr int width = 64, first = 2 * width + width, second = width * width + width,
                         third = 2 * width + 2;
    static constexpr int state_size = 2, parameter_size = first + second + third;

    template <int begin, int rows, int columns>
    static constexpr auto layer(const auto& x, const auto& p) {
        return eddy::dense(eddy::slice<begin, rows * columns>(p),
                           eddy::slice<begin + rows * columns, rows>(p), x);
    }
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto h1 = eddy::tanh(layer<0, width, 2>(y, p));
        const auto h2 = eddy::tanh(layer<first, width, width>(h1, p));
        return layer<first + second, 2, width>(h2, p);
    }
};

class EddyNeural : public Arm {
  public:
    explicit EddyNeural(const Options& options) : lanes_(options) {
        y0_ = to_array<float>(lanes_.y0, lanes_.num_run(), 2);
        std::ifstream stream(options.text("inputs") + "/p", std::ios::binary);
        for (double x = 0; stream.read(reinterpret_cast<char*>(&x), sizeof x);)
            weights_.push_back(static_cast<float>(x));
        if (weights_.size() != static_cast<std::size_t>(Network::parameter_size))
            throw std::runtime_error("weights of another network");
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
        std::vector<double> values;
        for (int i = 0; i < Network::parameter_size; ++i)
            values.push_back(static_cast<double>(result_->gradient.p(0, i)));
        return values;
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
