#pragma once
// The training step that somebody writes by hand with Eigen: a multilayer perceptron with tanh, Dormand–Prince
// steps of constant size, all activations kept, batches of columns.

#include <Eigen/Core>
#include <cstddef>
#include <eddy/solvers/dopri5.hpp>
#include <vector>

namespace by_hand {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

template <class Real>
struct Layer {
    Matrix<Real> weight;
    Column<Real> bias;
};

/// The inputs of all layers, of one evaluation.
template <class Real>
using Kept = std::vector<Matrix<Real>>;

template <class Real>
class Training {
  public:
    std::vector<Layer<Real>> layers, gradient;

    /// The loss of a batch, whose gradient is added: the squared distance from `data` at the end.
    double add(const Matrix<Real>& y0, const Matrix<Real>& data, int num_steps, Real h) {
        std::vector<std::vector<Kept<Real>>> kept(static_cast<std::size_t>(num_steps),
                                                  std::vector<Kept<Real>>(stages));
        Matrix<Real> y = y0, k[stages], pulled[stages];
        for (auto& of_step : kept) {
            for (int i = 0; i < stages; ++i) {
                Matrix<Real> stage = y;
                for (int j = 0; j < i; ++j)
                    if (a(i, j) != 0) stage += (a(i, j) * h) * k[j];
                k[i] = value(std::move(stage), of_step[static_cast<std::size_t>(i)]);
            }
            for (int i = 0; i < stages; ++i)
                if (b(i) != 0) y += (b(i) * h) * k[i];
        }
        Matrix<Real> cotangent = 2 * (y - data);
        for (auto of_step = kept.rbegin(); of_step != kept.rend(); ++of_step) {
            Matrix<Real> sum = cotangent;
            for (int i = stages; i-- > 0;) {
                Matrix<Real> of_k = (b(i) * h) * cotangent;
                for (int j = i + 1; j < stages; ++j)
                    if (a(j, i) != 0) of_k += (a(j, i) * h) * pulled[j];
                pulled[i] = pull((*of_step)[static_cast<std::size_t>(i)], std::move(of_k));
                sum += pulled[i];
            }
            cotangent = sum;
        }
        return static_cast<double>((y - data).squaredNorm());
    }

  private:
    static constexpr int stages = 6;
    static Real a(int i, int j) { return static_cast<Real>(eddy::Dopri5::tableau.a[i][j]); }
    static Real b(int i) { return static_cast<Real>(eddy::Dopri5::tableau.b[i]); }

    Matrix<Real> value(Matrix<Real> x, Kept<Real>& kept) const {
        kept.clear();
        for (std::size_t l = 0; l < layers.size(); ++l) {
            kept.push_back(std::move(x));
            x.noalias() = layers[l].weight * kept.back();
            x.colwise() += layers[l].bias;
            if (l + 1 < layers.size()) x = x.array().tanh().matrix();
        }
        return x;
    }
    Matrix<Real> pull(const Kept<Real>& kept, Matrix<Real> cotangent) {
        for (std::size_t l = layers.size(); l-- > 0;) {
            gradient[l].weight.noalias() += cotangent * kept[l].transpose();
            gradient[l].bias += cotangent.rowwise().sum();
            Matrix<Real> of_input(kept[l].rows(), kept[l].cols());
            of_input.noalias() = layers[l].weight.transpose() * cotangent;
            if (l > 0) of_input.array() *= 1 - kept[l].array().square();
            cotangent = std::move(of_input);
        }
        return cotangent;
    }
};

}  // namespace by_hand
