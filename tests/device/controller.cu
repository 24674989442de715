// A step-size controller decides on the device: logarithm and power are its own, no library calls.
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
