// A step-size controller and the first step size decide on the device: logarithm and power are
// their own, no library calls.
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/pid.hpp>

__global__ void propose(const float* error_norms, float* factors,
                        eddy::ControllerHistory<float>* histories, eddy::PIDController controller,
                        int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const auto decision = controller.propose(error_norms[lane], 5, histories[lane]);
    factors[lane] = decision.factor;
    histories[lane] = decision.history;
}

__global__ void first_size(const double* f_norms, const double* slope_norms, double* sizes,
                           double span, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    sizes[lane] = eddy::initial_step(sizes[lane], f_norms[lane], slope_norms[lane], 5, span);
}
