// Error norm, step-size controller and first step size on the device: logarithm, power and
// reciprocal are their own, no library calls.
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>

__global__ void propose(const float* squared_norms, float* factors,
                        eddy::ControllerHistory<float>* histories, eddy::PIDController controller,
                        int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const auto decision = controller.propose(squared_norms[lane], 5, histories[lane]);
    factors[lane] = decision.factor;
    histories[lane] = decision.history;
}

__global__ void first_size(const double* f_norms, const double* slope_norms, double* sizes,
                           double span, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    sizes[lane] = eddy::initial_step(sizes[lane], f_norms[lane], slope_norms[lane], 5, span);
}

__global__ void squared_norm(const double* error, const double* y, const double* next, float* norms,
                             double rtol, double atol, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const auto load = [&](const double* of) {
        return eddy::vec(of[lane], of[lane + num_lanes], of[lane + 2 * num_lanes]);
    };
    norms[lane] = eddy::squared_error_norm(load(error), load(y), load(next), rtol, atol);
}
