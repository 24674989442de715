// What a loop over lanes asks of a number of one lane compiles for the device. Dense output and its adjoint stay in registers.
#include <cstddef>
#include <eddy/ad/dual_lanes.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/interpolant.hpp>

template <class Number>
EDDY_HD Number larger_lane(Number first, const Number& second) {
    const bool larger = eddy::primal(second) > eddy::primal(first);
    if (eddy::any(larger) && eddy::all(eddy::get_lane(larger, 0)))
        eddy::set_lane(first, 0, eddy::get_lane(second, 0));
    return first;
}

template <class Number>
__global__ void one_lane(const Number* x, Number* larger, bool* taken, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    larger[lane] = larger_lane(larger[lane], x[lane]);
    eddy::set_lane(taken[lane], 0, true);
}

template __global__ void one_lane<double>(const double*, double*, bool*, int);
template __global__ void one_lane<eddy::Dual<double>>(const eddy::Dual<double>*,
                                                      eddy::Dual<double>*, bool*, int);

using Dense = eddy::Interpolant<eddy::Tsit5>;
using State = eddy::Vec<double, 3>;

/// A (lane, component) array.
struct Array {
    double* first;
    std::ptrdiff_t num_lanes;
    EDDY_HD double& operator()(std::ptrdiff_t lane, std::ptrdiff_t component) const {
        return first[component * num_lanes + lane];
    }
};

EDDY_HD State load(const Array& array, std::ptrdiff_t lane) {
    return {{array(lane, 0), array(lane, 1), array(lane, 2)}};
}
EDDY_HD void store(const Array& array, std::ptrdiff_t lane, const State& y) {
    eddy::static_for<0, 3>([&]<int i>() { array(lane, i) = y.data[i]; });
}

/// The stages of a step, one array each.
struct Stages {
    Array k[Dense::num_stages];
};

EDDY_HD void dense_output_of(const Array& y, const Stages& stages, double dt, double theta,
                             std::ptrdiff_t lane) {
    State k[Dense::num_stages];
    eddy::static_for<0, Dense::num_stages>([&]<int i>() { k[i] = load(stages.k[i], lane); });
    store(y, lane, Dense::evaluate(load(y, lane), dt, k, theta));
}

EDDY_HD void dense_adjoint_of(const Array& cotangent, const Stages& stages, double dt, double theta,
                              std::ptrdiff_t lane) {
    State y_cotangent{}, k_cotangent[Dense::num_stages] = {};
    Dense::pullback(dt, theta, load(cotangent, lane), y_cotangent, k_cotangent);
    store(cotangent, lane, y_cotangent);
    eddy::static_for<0, Dense::num_stages>(
        [&]<int i>() { store(stages.k[i], lane, k_cotangent[i]); });
}

__global__ void dense_output(Array y, Stages stages, double dt, double theta) {
    const std::ptrdiff_t lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane < y.num_lanes) dense_output_of(y, stages, dt, theta, lane);
}

__global__ void dense_adjoint(Array cotangent, Stages stages, double dt, double theta) {
    const std::ptrdiff_t lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane < cotangent.num_lanes) dense_adjoint_of(cotangent, stages, dt, theta, lane);
}
