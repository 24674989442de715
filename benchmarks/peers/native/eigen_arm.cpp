// The neural ODE of case 5 as one writes it by hand with Eigen: blocks of lanes that stay in the cache, matrix products, activations kept
// for the way back.

#include <Eigen/Dense>

#include "arm.hpp"

namespace {

using namespace peers;
using Matrix = Eigen::MatrixXf;  // (unit, lane)

constexpr int block_size = 128, num_stages = 6;
constexpr float a[num_stages][num_stages] = {
    {},
    {1.f / 5},
    {3.f / 40, 9.f / 40},
    {44.f / 45, -56.f / 15, 32.f / 9},
    {19372.f / 6561, -25360.f / 2187, 64448.f / 6561, -212.f / 729},
    {9017.f / 3168, -355.f / 33, 46732.f / 5247, 49.f / 176, -5103.f / 18656}};
constexpr float b[num_stages] = {35.f / 384,     0,        500.f / 1113, 125.f / 192,
                                 -2187.f / 6784, 11.f / 84};

struct Weights {
    Matrix w1{64, 2}, w2{64, 64}, w3{2, 64};
    Eigen::VectorXf b1{64}, b2{64}, b3{2};

    void set_zero() {
        for (Matrix* w : {&w1, &w2, &w3}) w->setZero();
        for (Eigen::VectorXf* v : {&b1, &b2, &b3}) v->setZero();
    }
};

/// What the pullback of one evaluation of f needs.
struct Kept {
    Matrix y, h1, h2;
};

class Network {
  public:
    Weights weights, gradient;

    void forward(const Matrix& y, Kept& kept, Matrix& out) const {
        kept.y = y;
        kept.h1.noalias() = weights.w1 * y;
        kept.h1 = (kept.h1.colwise() + weights.b1).array().tanh();
        kept.h2.noalias() = weights.w2 * kept.h1;
        kept.h2 = (kept.h2.colwise() + weights.b2).array().tanh();
        out.noalias() = weights.w3 * kept.h2;
        out.colwise() += weights.b3;
    }
    void pull_back(const Kept& kept, const Matrix& cotangent, Matrix& of_y) {
        gradient.w3.noalias() += cotangent * kept.h2.transpose();
        gradient.b3 += cotangent.rowwise().sum();
        d2_.noalias() = weights.w3.transpose() * cotangent;
        d2_.array() *= 1 - kept.h2.array().square();
        gradient.w2.noalias() += d2_ * kept.h1.transpose();
        gradient.b2 += d2_.rowwise().sum();
        d1_.noalias() = weights.w2.transpose() * d2_;
        d1_.array() *= 1 - kept.h1.array().square();
        gradient.w1.noalias() += d1_ * kept.y.transpose();
        gradient.b1 += d1_.rowwise().sum();
        of_y.noalias() = weights.w1.transpose() * d1_;
    }

  private:
    Matrix d1_, d2_;
};

class EigenByHand : public Arm {
  public:
    explicit EigenByHand(const Options& options)
        : lanes_(options),
          steps_(options.integer("steps")),
          kept_(static_cast<std::size_t>(steps_ * num_stages)) {
        std::ifstream stream(options.text("inputs") + "/p", std::ios::binary);
        const auto fill = [&](auto& part) {  // row-major
            for (Eigen::Index i = 0; i < part.rows(); ++i) {
                for (Eigen::Index j = 0; j < part.cols(); ++j) {
                    double x = 0;
                    if (!stream.read(reinterpret_cast<char*>(&x), sizeof x))
                        throw std::runtime_error("weights of another network");
                    part(i, j) = static_cast<float>(x);
                }
            }
        };
        Weights& w = network_.weights;
        fill(w.w1), fill(w.b1), fill(w.w2), fill(w.b2), fill(w.w3), fill(w.b3);
        y0_ =
            Eigen::Map<const Eigen::MatrixXd>(lanes_.y0.data(), 2, lanes_.num_run()).cast<float>();
    }
    [[nodiscard]] std::string setting() const override {
        return "matrix products of Eigen on blocks of " + std::to_string(block_size) +
               " lanes, all activations kept, one thread, float";
    }
    Counts run() override {
        network_.gradient.set_zero();
        for (Eigen::Index first = 0; first < y0_.cols(); first += block_size)
            run_block(
                y0_.middleCols(first, std::min<Eigen::Index>(block_size, y0_.cols() - first)));
        const double all = static_cast<double>(y0_.cols()) * steps_;
        return {all, 0, all * num_stages};
    }
    [[nodiscard]] std::vector<double> values() const override {
        std::vector<double> values;
        const auto append = [&](const auto& part) {
            for (Eigen::Index i = 0; i < part.rows(); ++i) {
                for (Eigen::Index j = 0; j < part.cols(); ++j)
                    values.push_back(static_cast<double>(part(i, j)));
            }
        };
        const Weights& g = network_.gradient;
        append(g.w1), append(g.b1), append(g.w2), append(g.b2), append(g.w3), append(g.b3);
        return values;
    }

  private:
    void run_block(Matrix y) {
        const float dt = 1.f / static_cast<float>(steps_);
        for (int step = 0; step < steps_; ++step) {
            for (int i = 0; i < num_stages; ++i) {
                at_ = y;
                for (int j = 0; j < i; ++j) at_ += (dt * a[i][j]) * k_[j];
                network_.forward(at_, kept_at(step, i), k_[i]);
            }
            for (int i = 0; i < num_stages; ++i) y += (dt * b[i]) * k_[i];
        }
        Matrix cotangent = 2 * y;
        for (int step = steps_; step-- > 0;) {
            for (int i = 0; i < num_stages; ++i) k_[i] = (dt * b[i]) * cotangent;
            for (int i = num_stages; i-- > 0;) {
                network_.pull_back(kept_at(step, i), k_[i], at_);
                cotangent += at_;
                for (int j = 0; j < i; ++j) k_[j] += (dt * a[i][j]) * at_;
            }
        }
    }
    [[nodiscard]] Kept& kept_at(int step, int stage) {
        return kept_[static_cast<std::size_t>(step * num_stages + stage)];
    }

    Lanes lanes_;
    int steps_;
    Network network_;
    Matrix y0_, at_, k_[num_stages];
    std::vector<Kept> kept_;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<EigenByHand>(options);
    });
}
