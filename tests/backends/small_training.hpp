#pragma once
// A small network on some trajectories: what solver objects of networks are tested on.

#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <eddy/trace/nn/mlp.hpp>
#include <vector>

namespace support {

template <class Real>
struct SmallTraining {
    static constexpr int lanes = 150;  // more than one tile, the last not full
    eddy::EnsembleArray<Real> y0{lanes, 2}, data{lanes, 2, Real(0.5)};
    std::vector<Real> p;

    explicit SmallTraining(const auto& network) : p(eddy::nn::glorot_uniform<Real>(network, 7)) {
        for (int lane = 0; lane < lanes; ++lane) {
            y0(lane, 0) = Real(1) - Real(0.013) * static_cast<Real>(lane % 71);
            y0(lane, 1) = Real(-0.4) + Real(0.051) * static_cast<Real>(lane % 53);
        }
    }
    /// A gradient, flat, with what it says of lanes.
    template <class Solver>
    std::vector<Real> gradient(Solver& solver) const {
        const auto& result = solver(data, y0, eddy::shared(p));
        std::vector<Real> all(result.gradient.p.data(), result.gradient.p.data() + p.size());
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            all.push_back(result.gradient.y0(lane, 1));
            all.push_back(static_cast<Real>(result.report.result(lane)));
        }
        return all;
    }
};

}  // namespace support
