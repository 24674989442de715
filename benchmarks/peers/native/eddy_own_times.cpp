// A neural ODE with data at times of each lane's own, case 12: a gradient with respect to weights that all lanes share.

#include "network.hpp"

namespace {

using namespace peers;

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

auto make_solver(const eddy::SolveOptions& options, const eddy::Rows& rows) {
    return eddy::gradient_solver(Network{}, eddy::Tsit5{}, SquaredError{}, options, rows);
}

class EddyOwnTimes : public Arm {
  public:
    explicit EddyOwnTimes(const Options& options) : options_(options), lanes_(options) {
        const int lanes = lanes_.num_run(), points = options.integer("points");
        y0_ = to_array<double>(lanes_.y0, lanes, 2);
        weights_ = weights_of<double>(options);
        times_ = to_array<double>(numbers_of(options, "times"), lanes, points);
        const auto data = to_array<double>(numbers_of(options, "data"), lanes, 2 * points);
        for (int k = 0; k < points; ++k) {
            data_.emplace_back(lanes, 2);
            for (int lane = 0; lane < lanes; ++lane) {
                for (int i = 0; i < 2; ++i) data_.back()(lane, i) = data(lane, 2 * k + i);
            }
        }
        set_tolerance(1e-4);
    }
    [[nodiscard]] std::string setting() const override {
        return "Tsit5, rtol = atol, PIDController, save_at = each(times), shared parameters, Rows, "
               "double";
    }
    void set_tolerance(double tolerance) override {
        solver_.emplace(make_solver({.t1 = options_.number("end"),
                                     .rtol = tolerance,
                                     .atol = tolerance,
                                     .save_at = eddy::each(times_)},
                                    eddy::Rows{.threads = options_.integer("cores", 1)}));
    }
    Counts run() override {
        auto& result = (*solver_)(data_, y0_, eddy::shared(weights_));
        gradient_ = &result.gradient;
        return counts_of(result.report);
    }
    [[nodiscard]] std::vector<double> values() const override {
        return gradient_of_weights(*gradient_);
    }

  private:
    Options options_;
    Lanes lanes_;
    eddy::EnsembleArray<double> y0_{0, 2};
    std::vector<double> weights_;
    eddy::EnsembleArray<double> times_{0, 0};
    std::vector<eddy::EnsembleArray<double>> data_;  // (save point)
    std::optional<decltype(make_solver({}, {}))> solver_;
    const eddy::Gradient<double>* gradient_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<EddyOwnTimes>(options);
    });
}
